// A gated activation, y = x * sigmoid(x) * gate, as a program would call it. Bound by memory.
#include <cstdio>

__global__ void swish_gate(const float *x, const float *gate, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sigmoid = 1.0f / (1.0f + expf(-x[i]));
    y[i] = x[i] * sigmoid * gate[i];
  }
}

int main() {
  const int n = 8000000;
  float *x, *gate, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&gate, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cudaMemset(gate, 0, n * sizeof(float));
  swish_gate<<<(n + 127) / 128, 128>>>(x, gate, y, n);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
