// A 1 x 1 convolution, one thread a pixel of a filter: a matrix product in disguise.
// warpwright: channels = 128, filters = 128, pixels = 3136, check channels = 3 filters = 5 pixels = 17
__global__ void pointwise_conv(const float *x, const float *w, float *y, int channels, int filters,
                               int pixels) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  int f = blockIdx.y;
  if (p < pixels) {
    float sum = 0.0f;
    for (int c = 0; c < channels; c++)
      sum += w[f * channels + c] * x[c * pixels + p];
    y[f * pixels + p] = sum;
  }
}

void launch(const float *x, const float *w, float *y, int channels, int filters, int pixels) {
  dim3 grid((pixels + 255) / 256, filters);
  pointwise_conv<<<grid, 256>>>(x, w, y, channels, filters, pixels);
}
