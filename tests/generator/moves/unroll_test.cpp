// unroll: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("unroll: the innermost loop gets a pragma") {
  check_move(R"cuda(__global__ void ^norms(const float *x, float *out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int j = 0; j < cols; j++)
      sum += x[row * cols + j] * x[row * cols + j];
    out[row] = sqrtf(sum);
  }
}
void run(float *x, float *out, int rows, int cols) { norms<<<(rows + 255) / 256, 256>>>(x, out, rows, cols); }
)cuda",
             "unroll(factor=4)",
             R"cuda(__global__ void norms(const float *x, float *out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    #pragma unroll 4
    for (int j = 0; j < cols; j++)
      sum += x[row * cols + j] * x[row * cols + j];
    out[row] = sqrtf(sum);
  }
}
void run(float *x, float *out, int rows, int cols) { norms<<<(rows + 255) / 256, 256>>>(x, out, rows, cols); }
)cuda");
}

TEST_CASE("unroll: a pragma that is there is respected") {
  check_refused(R"cuda(__global__ void ^norms(const float *x, float *out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < cols; j++)
      sum += x[row * cols + j] * x[row * cols + j];
    out[row] = sqrtf(sum);
  }
}
void run(float *x, float *out, int rows, int cols) { norms<<<(rows + 255) / 256, 256>>>(x, out, rows, cols); }
)cuda",
                "unroll(factor=4)", "there is no loop without a barrier and without a pragma");
}

TEST_CASE("unroll: loops without a pragma, also those of a function that only this kernel calls") {
  check_move(R"cuda(__device__ float norm(const float *x, int n) {
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += x[k] * x[k];
  return sum;
}
__global__ void ^norms(const float *x, float *out, int n) {
  float most = 0;
  #pragma unroll
  for (int k = 0; k < 4; ++k)
    most = fmaxf(most, norm(x + k * n, n));
  out[threadIdx.x] = most;
}
)cuda",
             "unroll(factor=2)",
             R"cuda(__device__ float norm(const float *x, int n) {
  float sum = 0;
  #pragma unroll 2
  for (int k = 0; k < n; ++k)
    sum += x[k] * x[k];
  return sum;
}
__global__ void norms(const float *x, float *out, int n) {
  float most = 0;
  #pragma unroll
  for (int k = 0; k < 4; ++k)
    most = fmaxf(most, norm(x + k * n, n));
  out[threadIdx.x] = most;
}
)cuda");
}

TEST_CASE("unroll: no loop is refused") {
  check_refused(R"cuda(__global__ void ^saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y); }
)cuda",
                "unroll(factor=2)",
                "there is no loop without a barrier and without a pragma");
}
