// row_reduction: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("row_reduction: a thread's loop becomes a warp a row") {
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
             "row_reduction(row=warp,threads=128)",
             R"cuda(__global__ void norms(const float *x, float *out, int rows, int cols) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32;
  if (row >= rows)
    return;
  float sum = 0.0f;
  const float *x_row = x + static_cast<size_t>(row) * cols;
  auto accumulate = [&](float element) { sum += element * element; };
  if (reinterpret_cast<size_t>(x_row) % 16 == 0) {
    const int vectors = cols / 4;
    #pragma unroll 4
    for (int vector = threadIdx.x % 32; vector < vectors; vector += 32) {
      alignas(16) float quad[4];
      *reinterpret_cast<uint4 *>(quad) = reinterpret_cast<const uint4 *>(x_row)[vector];
      #pragma unroll
      for (int part = 0; part < 4; ++part)
        accumulate(quad[part]);
    }
    for (int j = vectors * 4 + threadIdx.x % 32; j < cols; j += 32)
      accumulate(x_row[j]);
  } else {
    for (int j = threadIdx.x % 32; j < cols; j += 32)
      accumulate(x_row[j]);
  }
  #pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1)
    sum = sum + __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) {
    out[row] = sqrtf(sum);
  }
}
void run(float *x, float *out, int rows, int cols) { norms<<<(rows + 3) / 4, 128>>>(x, out, rows, cols); }
)cuda");
}

TEST_CASE("row_reduction: or a block a row") {
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
             "row_reduction(row=block,threads=256)",
             R"cuda(__global__ void norms(const float *x, float *out, int rows, int cols) {
  const int row = blockIdx.x;
  if (row >= rows)
    return;
  float sum = 0.0f;
  const float *x_row = x + static_cast<size_t>(row) * cols;
  auto accumulate = [&](float element) { sum += element * element; };
  if (reinterpret_cast<size_t>(x_row) % 16 == 0) {
    const int vectors = cols / 4;
    #pragma unroll 4
    for (int vector = threadIdx.x; vector < vectors; vector += 256) {
      alignas(16) float quad[4];
      *reinterpret_cast<uint4 *>(quad) = reinterpret_cast<const uint4 *>(x_row)[vector];
      #pragma unroll
      for (int part = 0; part < 4; ++part)
        accumulate(quad[part]);
    }
    for (int j = vectors * 4 + threadIdx.x; j < cols; j += 256)
      accumulate(x_row[j]);
  } else {
    for (int j = threadIdx.x; j < cols; j += 256)
      accumulate(x_row[j]);
  }
  #pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1)
    sum = sum + __shfl_xor_sync(0xffffffffu, sum, offset);
  __shared__ float partials[32];
  if (threadIdx.x % 32 == 0)
    partials[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partials[threadIdx.x] : 0.0f;
    #pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
      sum = sum + __shfl_xor_sync(0xffffffffu, sum, offset);
  }
  if (threadIdx.x == 0) {
    out[row] = sqrtf(sum);
  }
}
void run(float *x, float *out, int rows, int cols) { norms<<<rows, 256>>>(x, out, rows, cols); }
)cuda");
}

TEST_CASE("row_reduction: a loop with another step is refused") {
  check_refused(R"cuda(__global__ void ^norms(const float *x, float *out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int j = 0; j < cols; j += 2)
      sum += x[row * cols + j] * x[row * cols + j];
    out[row] = sqrtf(sum);
  }
}
void run(float *x, float *out, int rows, int cols) { norms<<<(rows + 255) / 256, 256>>>(x, out, rows, cols); }
)cuda",
                "row_reduction(row=warp,threads=128)",
                "there is no loop that accumulates over a row");
}
