// Input of edit_latency.py: an ordinary CUDA file, kernels and the host code around them.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

__global__ void scale(float *x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= factor;
}

__global__ void transpose(const float *in, float *out, int rows, int columns) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  if (x < columns && y < rows)
    tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  if (x < rows && y < columns)
    out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void sum(const float *x, float *result, int n) {
  __shared__ float partial[256];
  float total = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    total += x[i];
  partial[threadIdx.x] = total;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      partial[threadIdx.x] += partial[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    atomicAdd(result, partial[0]);
}

int main() {
  const int rows = 1024, columns = 2048, n = rows * columns;
  std::vector<float> host(n, 1.0f);
  float *in, *out, *result;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMalloc(&result, sizeof(float));
  cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<(n + 255) / 256, 256>>>(in, 2.0f, n);
  transpose<<<dim3(columns / 32, rows / 32), dim3(32, 32)>>>(in, out, rows, columns);
  sum<<<256, 256>>>(out, result, n);
  float value = 0;
  cudaMemcpy(&value, result, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%f\n", value);
  return 0;
}
