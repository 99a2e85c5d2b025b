// Images doubled by nearest neighbours and smoothed by a 2 x 2 mean, one thread an output.
// warpwright: planes = 128, side = 56, check planes = 3 side = 3
__global__ void upsample_conv(const float *x, float *y, int planes, int side) {
  int wide = 2 * side;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= planes * wide * wide)
    return;
  int ox = i % wide;
  int oy = (i / wide) % wide;
  int plane = i / (wide * wide);
  float sum = 0.0f;
  for (int ky = 0; ky < 2; ky++)
    for (int kx = 0; kx < 2; kx++) {
      int iy = min((oy + ky) / 2, side - 1);
      int ix = min((ox + kx) / 2, side - 1);
      sum += x[(plane * side + iy) * side + ix];
    }
  y[i] = 0.25f * sum;
}

void launch(const float *x, float *y, int planes, int side) {
  int total = planes * 4 * side * side;
  upsample_conv<<<(total + 255) / 256, 256>>>(x, y, planes, side);
}
