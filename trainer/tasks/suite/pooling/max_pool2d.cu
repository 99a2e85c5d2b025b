// Maxima of 2 x 2 windows, one thread an output; the image is twice as wide as the result.
// warpwright: planes = 1024, side = 56, check planes = 3 side = 5
__global__ void max_pool2d(const float *x, float *y, int planes, int side) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= planes * side * side)
    return;
  int ox = i % side;
  int oy = (i / side) % side;
  int plane = i / (side * side);
  float best = -3.0e38f;
  for (int ky = 0; ky < 2; ky++)
    for (int kx = 0; kx < 2; kx++)
      best = fmaxf(best, x[(plane * 2 * side + 2 * oy + ky) * 2 * side + 2 * ox + kx]);
  y[i] = best;
}

void launch(const float *x, float *y, int planes, int side) {
  int total = planes * side * side;
  max_pool2d<<<(total + 255) / 256, 256>>>(x, y, planes, side);
}
