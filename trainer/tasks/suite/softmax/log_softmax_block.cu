// Logarithm of the softmax of each row, one block a row, two trees in shared memory.
#include <cstdio>

#define THREADS 256

__global__ void log_softmax_block(const float *x, float *y, int cols) {
  __shared__ float scratch[THREADS];
  int tid = threadIdx.x;
  int base = blockIdx.x * cols;
  float largest = -3.0e38f;
  for (int j = tid; j < cols; j += THREADS)
    largest = fmaxf(largest, x[base + j]);
  scratch[tid] = largest;
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s >>= 1) {
    if (tid < s)
      scratch[tid] = fmaxf(scratch[tid], scratch[tid + s]);
    __syncthreads();
  }
  largest = scratch[0];
  __syncthreads();
  float sum = 0.0f;
  for (int j = tid; j < cols; j += THREADS)
    sum += expf(x[base + j] - largest);
  scratch[tid] = sum;
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s >>= 1) {
    if (tid < s)
      scratch[tid] += scratch[tid + s];
    __syncthreads();
  }
  float shift = largest + logf(scratch[0]);
  for (int j = tid; j < cols; j += THREADS)
    y[base + j] = x[base + j] - shift;
}

int main() {
  const int rows = 4096;
  const int cols = 2048;
  float *x, *y;
  cudaMalloc(&x, rows * cols * sizeof(float));
  cudaMalloc(&y, rows * cols * sizeof(float));
  log_softmax_block<<<rows, THREADS>>>(x, y, cols);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
