// tiled_transpose: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("tiled_transpose: a scaled transpose goes through a padded tile") {
  check_move(R"cuda(__global__ void ^transpose(const float *in, float *out, int rows, int cols) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < cols && y < rows)
    out[x * rows + y] = 2.0f * in[y * cols + x];
}
void run(float *a, float *b, int rows, int cols) {
  transpose<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(a, b, rows, cols);
}
)cuda",
             "tiled_transpose(rows=8,tile=32)",
             R"cuda(__global__ void transpose(const float *in, float *out, int rows, int cols) {
  __shared__ float tile[32][32 + 1];
  const int first_row = blockIdx.y * 32;
  const int first_col = blockIdx.x * 32;
  {
    const int x = first_col + threadIdx.x;
    #pragma unroll
    for (int i = threadIdx.y; i < 32; i += 8) {
      const int y = first_row + i;
      if (y < rows && x < cols)
        tile[i][threadIdx.x] = in[static_cast<size_t>(y) * cols + x];
    }
  }
  __syncthreads();
  {
    const int y = first_row + threadIdx.x;
    #pragma unroll
    for (int i = threadIdx.y; i < 32; i += 8) {
      const int x = first_col + i;
      if (y < rows && x < cols)
        out[static_cast<size_t>(x) * rows + y] = 2.0f * tile[threadIdx.x][i];
    }
  }
}
void run(float *a, float *b, int rows, int cols) {
  transpose<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(a, b, rows, cols);
}
)cuda");
}

TEST_CASE("tiled_transpose: a copy is refused") {
  check_refused(R"cuda(__global__ void ^transpose(const float *in, float *out, int rows, int cols) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < cols && y < rows)
    out[y * cols + x] = 2.0f * in[y * cols + x];
}
void run(float *a, float *b, int rows, int cols) {
  transpose<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(a, b, rows, cols);
}
)cuda",
                "tiled_transpose(rows=8,tile=32)",
                "there is no single store of an element at exchanged indices");
}
