// Means of overlapping 3 x 3 windows with stride one inside the image: each value is read nine times.
// warpwright: planes = 256, side = 112, check planes = 3 side = 5
// warpwright: x: in float[planes * side * side], y: out float[planes * (side - 2) * (side - 2)]
__global__ void window_mean2d(const float *x, float *y, int planes, int side) {
  int out = side - 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= planes * out * out)
    return;
  int ox = i % out;
  int oy = (i / out) % out;
  int plane = i / (out * out);
  float sum = 0.0f;
  for (int ky = 0; ky < 3; ky++)
    for (int kx = 0; kx < 3; kx++)
      sum += x[(plane * side + oy + ky) * side + ox + kx];
  y[i] = sum / 9.0f;
}

void launch(const float *x, float *y, int planes, int side) {
  int total = planes * (side - 2) * (side - 2);
  window_mean2d<<<(total + 255) / 256, 256>>>(x, y, planes, side);
}
