// Softmax over the channels of images (NCHW), one thread a pixel: coalesced, three passes.
// warpwright: batch = 8, channels = 21, pixels = 65536, check batch = 2 channels = 3 pixels = 17
__global__ void channel_softmax(const float *x, float *y, int batch, int channels, int pixels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch * pixels)
    return;
  int image = i / pixels;
  int pixel = i % pixels;
  float largest = -3.0e38f;
  for (int c = 0; c < channels; c++)
    largest = fmaxf(largest, x[(image * channels + c) * pixels + pixel]);
  float sum = 0.0f;
  for (int c = 0; c < channels; c++)
    sum += expf(x[(image * channels + c) * pixels + pixel] - largest);
  for (int c = 0; c < channels; c++)
    y[(image * channels + c) * pixels + pixel] =
        expf(x[(image * channels + c) * pixels + pixel] - largest) / sum;
}

void launch(const float *x, float *y, int batch, int channels, int pixels) {
  channel_softmax<<<(batch * pixels + 255) / 256, 256>>>(x, y, batch, channels, pixels);
}
