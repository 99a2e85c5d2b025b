// Binary cross entropy of scores, element by element, with three calls of the mathematics library.
#include <cstdio>

__global__ void binary_cross_entropy(const float *score, const float *target, float *loss, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = score[i];
    float positive = s > 0.0f ? s : 0.0f;
    loss[i] = positive - s * target[i] + log1pf(expf(-fabsf(s)));
  }
}

int main() {
  const int n = 4000000;
  float *score, *target, *loss;
  cudaMalloc(&score, n * sizeof(float));
  cudaMalloc(&target, n * sizeof(float));
  cudaMalloc(&loss, n * sizeof(float));
  binary_cross_entropy<<<(n + 511) / 512, 512>>>(score, target, loss, n);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
