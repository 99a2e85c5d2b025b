// A program with two kernels, which the tests build for the CPU and run on a driver without a GPU.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void scale(float *x, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = x[i] * factor;
}

__global__ void shift(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] + 1.0f;
}

int main(int argc, char **argv) {
  const int n = atoi(argv[1]);
  const auto start = std::chrono::steady_clock::now();
  float *host = (float *)malloc(n * sizeof(float));
  for (int i = 0; i < n; ++i)
    host[i] = i % 10;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice);
  for (int step = 0; step < 30; ++step)
    scale<<<(n + 255) / 256, 256>>>(x, n, 1.25f);
  for (int step = 0; step < 10; ++step)
    shift<<<(n + 255) / 256, 256>>>(x, y, n);
  cudaMemcpy(host, y, n * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += host[i];
  FILE *file = fopen("result.txt", "w");
  fprintf(file, "sum %.6f\n", sum);
  fclose(file);
  const auto end = std::chrono::steady_clock::now();
  printf("checksum %.3f\ntook %ld ns\n", sum, (long)(end - start).count());
  return 0;
}
