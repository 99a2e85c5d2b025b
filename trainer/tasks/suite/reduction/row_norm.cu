// Euclidean norm of each row, one block a row: a tree in shared memory with a modulo, so that warps diverge at every level.
#include <vector>

#define THREADS 128

__global__ void row_norm(const float *x, float *norm, int cols) {
  __shared__ float scratch[THREADS];
  int tid = threadIdx.x;
  float sum = 0.0f;
  for (int j = tid; j < cols; j += THREADS) {
    float v = x[blockIdx.x * cols + j];
    sum += v * v;
  }
  scratch[tid] = sum;
  __syncthreads();
  for (int s = 1; s < THREADS; s *= 2) {
    if (tid % (2 * s) == 0)
      scratch[tid] += scratch[tid + s];
    __syncthreads();
  }
  if (tid == 0)
    norm[blockIdx.x] = sqrtf(scratch[0]);
}

int main() {
  const int rows = 8192;
  const int cols = 2048;
  float *x, *norm;
  cudaMalloc(&x, rows * cols * sizeof(float));
  cudaMalloc(&norm, rows * sizeof(float));
  row_norm<<<rows, THREADS>>>(x, norm, cols);
  cudaFree(x);
  cudaFree(norm);
}
