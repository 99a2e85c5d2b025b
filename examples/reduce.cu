// The sum of 16 million floats: a tree in shared memory, then one atomicAdd a block, as in many a tutorial.
//
//   nvcc -O3 reduce.cu -o reduce && ./reduce
//   warpwright optimize reduce.cu
#include <cstdio>
#include <vector>

#define BLOCK 256

__global__ void reduce_sum(const float *data, float *total, int n) {
  __shared__ float partial[BLOCK];
  int tid = threadIdx.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  partial[tid] = i < n ? data[i] : 0.0f;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (tid < s)
      partial[tid] += partial[tid + s];
    __syncthreads();
  }
  if (tid == 0)
    atomicAdd(total, partial[0]);
}

int main() {
  const int n = 1 << 24;
  // Small integers, so that the sum is the same in every order of adding.
  std::vector<float> data(n);
  for (int i = 0; i < n; ++i)
    data[i] = (int)((i * 2654435761u) >> 28) - 8;

  float *d_data, *d_total;
  cudaMalloc(&d_data, n * sizeof(float));
  cudaMalloc(&d_total, sizeof(float));
  cudaMemcpy(d_data, data.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(d_total, 0, sizeof(float));

  reduce_sum<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_data, d_total, n);

  float total = 0;
  cudaMemcpy(&total, d_total, sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaError_t error = cudaGetLastError()) {
    printf("reduce: %s\n", cudaGetErrorString(error));
    return 1;
  }
  printf("reduce: sum %.1f\n", total);
  cudaFree(d_data);
  cudaFree(d_total);
  return 0;
}
