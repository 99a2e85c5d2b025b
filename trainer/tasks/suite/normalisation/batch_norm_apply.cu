// Batch normalisation at inference with ReLU: two divisions and a square root for every element of NCHW images.
// warpwright: batch = 32, channels = 64, pixels = 3136, check batch = 2 channels = 3 pixels = 17
// warpwright: variance: positive
__global__ void batch_norm_apply(const float *x, const float *mean, const float *variance,
                                 const float *gamma, const float *beta, float *y, int batch,
                                 int channels, int pixels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < batch * channels * pixels) {
    int c = (i / pixels) % channels;
    float v = (x[i] - mean[c]) / sqrtf(variance[c] + 1e-5f) * gamma[c] + beta[c];
    y[i] = v > 0.0f ? v : 0.0f;
  }
}

void launch(const float *x, const float *mean, const float *variance, const float *gamma,
            const float *beta, float *y, int batch, int channels, int pixels) {
  int total = batch * channels * pixels;
  batch_norm_apply<<<(total + 255) / 256, 256>>>(x, mean, variance, gamma, beta, y, batch, channels,
                                                 pixels);
}
