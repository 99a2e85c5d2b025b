// register_accumulator: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("register_accumulator: the element is loaded before the outermost loop and stored behind it") {
  check_move(R"cuda(__global__ void ^sums(const float *a, float *out, int rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = 0;
    #pragma unroll 4
    for (int row = 0; row < rows; ++row) {
      for (int k = 0; k < n; ++k)
        out[i] += a[row * n + k];
    }
  }
}
void run(float *a, float *out, int rows, int n) { sums<<<(n + 255) / 256, 256>>>(a, out, rows, n); }
)cuda",
             "register_accumulator()",
             R"cuda(__global__ void sums(const float *a, float *out, int rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = 0;
    float accumulated = out[i];
    #pragma unroll 4
    for (int row = 0; row < rows; ++row) {
      for (int k = 0; k < n; ++k)
        accumulated += a[row * n + k];
    }
    out[i] = accumulated;
  }
}
void run(float *a, float *out, int rows, int n) { sums<<<(n + 255) / 256, 256>>>(a, out, rows, n); }
)cuda");
}

TEST_CASE("register_accumulator: an element of a template's type") {
  check_move(R"cuda(template <typename T>
__global__ void ^counts(T *out, unsigned size) {
  unsigned tid = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned k = tid * size; k < (tid + 1) * size; k++)
    out[tid] += k % 2;
}
)cuda",
             "register_accumulator()",
             R"cuda(template <typename T>
__global__ void counts(T *out, unsigned size) {
  unsigned tid = blockIdx.x * blockDim.x + threadIdx.x;
  T accumulated = out[tid];
  for (unsigned k = tid * size; k < (tid + 1) * size; k++)
    accumulated += k % 2;
  out[tid] = accumulated;
}
)cuda");
}

TEST_CASE("register_accumulator: an array that the loop also uses elsewhere is refused") {
  check_refused(R"cuda(__global__ void ^scan(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < i; ++k)
    x[i] += x[k];
}
void run(float *x, int n) { scan<<<(n + 255) / 256, 256>>>(x, n); }
)cuda",
                "register_accumulator()", "no loop updates an element of memory that stays in its place");
}
