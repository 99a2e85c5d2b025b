// G = X^T X of samples by features: the whole square, though it is symmetric.
// warpwright: features = 512, samples = 2048, check features = 17 samples = 5
__global__ void gram_matrix(const float *x, float *g, int features, int samples) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < features && j < features) {
    float sum = 0.0f;
    for (int s = 0; s < samples; s++)
      sum += x[s * features + i] * x[s * features + j];
    g[i * features + j] = sum / samples;
  }
}

void launch(const float *x, float *g, int features, int samples) {
  dim3 block(16, 16);
  dim3 grid((features + 15) / 16, (features + 15) / 16);
  gram_matrix<<<grid, block>>>(x, g, features, samples);
}
