// Depthwise 3 x 3 convolution, a plane in blockIdx.z, nine loads and nine weights a thread.
// warpwright: planes = 512, side = 112, check planes = 3 side = 5
__global__ void depthwise_conv(const float *x, const float *w, float *y, int planes, int side) {
  int ox = blockIdx.x * blockDim.x + threadIdx.x;
  int oy = blockIdx.y * blockDim.y + threadIdx.y;
  int plane = blockIdx.z;
  if (ox >= side || oy >= side)
    return;
  float sum = 0.0f;
  for (int ky = 0; ky < 3; ky++)
    for (int kx = 0; kx < 3; kx++) {
      int iy = oy + ky - 1;
      int ix = ox + kx - 1;
      if (iy >= 0 && iy < side && ix >= 0 && ix < side)
        sum += x[(plane * side + iy) * side + ix] * w[plane * 9 + ky * 3 + kx];
    }
  y[(plane * side + oy) * side + ox] = sum;
}

void launch(const float *x, const float *w, float *y, int planes, int side) {
  dim3 block(16, 16);
  dim3 grid((side + 15) / 16, (side + 15) / 16, planes);
  depthwise_conv<<<grid, block>>>(x, w, y, planes, side);
}
