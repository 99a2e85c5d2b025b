// shared_tiling: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("shared_tiling: operands go through square tiles") {
  check_move(
      R"cuda(__global__ void ^sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
      acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * acc + beta * C[row * N + col];
  }
}
void run(int m, int n, int k, float *a, float *b, float *c) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (m + 15) / 16);
  sgemm<<<grid, block>>>(m, n, k, 1.0f, a, b, 0.0f, c);
}
)cuda",
      "shared_tiling(padding=1,tile=16)",
      R"cuda(__global__ void sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  __shared__ float tile_a[16][16 + 1];
  __shared__ float tile_b[16][16 + 1];
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int col = blockIdx.x * 16 + threadIdx.x;
  float acc = 0.0f;
  for (int step = 0; step < K; step += 16) {
    const int left = step + threadIdx.x;
    const int top = step + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] =
        row < M && left < K ? A[static_cast<size_t>(row) * K + left] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] =
        top < K && col < N ? B[static_cast<size_t>(top) * N + col] : 0.0f;
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < 16; ++k)
      acc += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) {
    C[row * N + col] = alpha * acc + beta * C[row * N + col];
  }
}
void run(int m, int n, int k, float *a, float *b, float *c) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (m + 15) / 16);
  sgemm<<<grid, block>>>(m, n, k, 1.0f, a, b, 0.0f, c);
}
)cuda");
}

TEST_CASE("shared_tiling: a transposed operand is refused") {
  check_refused(
      R"cuda(__global__ void ^sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
      acc += A[k * M + row] * B[col * K + k];
    C[row * N + col] = alpha * acc + beta * C[row * N + col];
  }
}
void run(int m, int n, int k, float *a, float *b, float *c) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (m + 15) / 16);
  sgemm<<<grid, block>>>(m, n, k, 1.0f, a, b, 0.0f, c);
}
)cuda",
      "shared_tiling(padding=1,tile=16)", "an operand is transposed");
}
