// A 3 x 3 convolution of NCHW images, one thread an output, weights from global memory.
// warpwright: batch = 8, channels = 32, filters = 32, side = 56, check batch = 2 channels = 3 filters = 2 side = 5
// warpwright: x: in float[batch * channels * side * side], w: in float[filters * channels * 9]
// warpwright: y: out float[batch * filters * side * side]
__global__ void conv2d_direct(const float *x, const float *w, float *y, int batch, int channels,
                              int filters, int side) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch * filters * side * side)
    return;
  int ox = i % side;
  int oy = (i / side) % side;
  int f = (i / (side * side)) % filters;
  int b = i / (side * side * filters);
  float sum = 0.0f;
  for (int c = 0; c < channels; c++)
    for (int ky = 0; ky < 3; ky++)
      for (int kx = 0; kx < 3; kx++) {
        int iy = oy + ky - 1;
        int ix = ox + kx - 1;
        if (iy >= 0 && iy < side && ix >= 0 && ix < side)
          sum += x[((b * channels + c) * side + iy) * side + ix] *
                 w[((f * channels + c) * 3 + ky) * 3 + kx];
      }
  y[i] = sum;
}

void launch(const float *x, const float *w, float *y, int batch, int channels, int filters,
            int side) {
  int total = batch * filters * side * side;
  conv2d_direct<<<(total + 255) / 256, 256>>>(x, w, y, batch, channels, filters, side);
}
