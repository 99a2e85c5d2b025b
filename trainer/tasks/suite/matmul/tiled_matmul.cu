// Square matrices by tiles of 16 x 16 in shared memory, one output a thread: the textbook's second step.
#include <vector>

#define TILE 16

__global__ void tiled_matmul(const float *a, const float *b, float *c, int n) {
  __shared__ float as[TILE][TILE];
  __shared__ float bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y;
  int col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < (n + TILE - 1) / TILE; t++) {
    int ak = t * TILE + threadIdx.x;
    int bk = t * TILE + threadIdx.y;
    as[threadIdx.y][threadIdx.x] = row < n && ak < n ? a[row * n + ak] : 0.0f;
    bs[threadIdx.y][threadIdx.x] = bk < n && col < n ? b[bk * n + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; k++)
      sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && col < n)
    c[row * n + col] = sum;
}

int main() {
  const int n = 2048;
  float *a, *b, *c;
  cudaMalloc(&a, n * n * sizeof(float));
  cudaMalloc(&b, n * n * sizeof(float));
  cudaMalloc(&c, n * n * sizeof(float));
  dim3 block(TILE, TILE);
  dim3 grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
  tiled_matmul<<<grid, block>>>(a, b, c, n);
  cudaDeviceSynchronize();
}
