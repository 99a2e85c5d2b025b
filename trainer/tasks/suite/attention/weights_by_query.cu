// Attention weights of all heads from their logits: one thread for a query of a head.
#include <cstdio>

#define HEADS 16
#define STEPS 512

__global__ void attention_softmax(const float *logit, float *weight, int queries, int keys) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q < queries) {
    float biggest = -1e30f;
    for (int k = 0; k < keys; ++k)
      biggest = fmaxf(biggest, logit[q * keys + k]);
    float total = 0.0f;
    for (int k = 0; k < keys; ++k)
      total += expf(logit[q * keys + k] - biggest);
    for (int k = 0; k < keys; ++k)
      weight[q * keys + k] = expf(logit[q * keys + k] - biggest) / total;
  }
}

int main() {
  float *logit, *weight;
  cudaMalloc(&logit, HEADS * STEPS * STEPS * sizeof(float));
  cudaMalloc(&weight, HEADS * STEPS * STEPS * sizeof(float));
  attention_softmax<<<(HEADS * STEPS + 255) / 256, 256>>>(logit, weight, HEADS * STEPS, STEPS);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
