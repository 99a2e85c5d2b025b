// Hinge loss of scores and labels of -1 to 1: a tree in shared memory, then one atomic a block.
#include <cstdio>

#define BLOCK 128

// warpwright: sum: inout float[1]
__global__ void hinge(const float *score, const float *label, float *sum, int n) {
  __shared__ float margin[BLOCK];
  int local = threadIdx.x;
  int global = blockIdx.x * blockDim.x + local;
  margin[local] = global < n ? fmaxf(0.0f, 1.0f - score[global] * label[global]) : 0.0f;
  __syncthreads();
  for (int stride = BLOCK / 2; stride > 0; stride >>= 1) {
    if (local < stride)
      margin[local] += margin[local + stride];
    __syncthreads();
  }
  if (local == 0)
    atomicAdd(sum, margin[0]);
}

int main() {
  const int n = 6000000;
  float *score, *label, *sum;
  cudaMalloc(&score, n * sizeof(float));
  cudaMalloc(&label, n * sizeof(float));
  cudaMalloc(&sum, sizeof(float));
  cudaMemset(sum, 0, sizeof(float));
  hinge<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(score, label, sum, n);
  float total;
  cudaMemcpy(&total, sum, sizeof(float), cudaMemcpyDeviceToHost);
  printf("%f\n", total / n);
}
