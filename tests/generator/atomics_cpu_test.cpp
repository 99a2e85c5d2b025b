// Combined atomics and cheaper divisions compute on the CPU backend what the original computes.
//
// Sizes are odd, so that warps are not full; integers are compared exactly.
#include "tests/generator/cpu_runner.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::test;

TEST_CASE("atomics of a warp at one address, in branches, loops and the kernel's own function") {
  if (auto client = connect_or_skip())
    check_moves_on_cpu(*client, R"cuda(
__device__ void note(int *flags, int value) {
  if (value % 3 != 0)
    atomicOr(flags, value);
}
template <typename T>
__global__ void ^totals(const T *x, T *out, int *flags, int n) {
  size_t tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid >= n) return;
  atomicAdd(&out[0], x[tid]);
  atomicMax(&out[1], x[tid]);
  for (int k = 0; k < (int)(tid % 5); ++k)
    atomicAdd(&out[2], x[tid] + k);
  if (x[tid] % 2)
    atomicMin(&out[3], x[tid]);
  else
    atomicXor(&out[4], (T)tid);
  note(flags, x[tid]);
}
int main() {
  int n = 1003, *x, *out, *flags;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&out, 5 * sizeof(int));
  cudaMalloc(&flags, sizeof(int));
  totals<int><<<(n + 127) / 128, 128>>>(x, out, flags, n);
}
)cuda",
                       {{"combine_atomics(kind=warp)"}, {"combine_atomics(kind=peers)"}});
}

TEST_CASE("atomics of a warp at equal addresses from data, in blocks of two dimensions") {
  if (auto client = connect_or_skip())
    check_moves_on_cpu(*client, R"cuda(
__global__ void ^bins(const unsigned char *keys, const int *x, int *counts, int *most, int n) {
  int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int bin = keys[i] % 16;
  atomicAdd(&counts[bin], 1);
  if (bin != 5)
    atomicMax(&most[bin], x[i]);
}
int main() {
  int n = 1003;
  unsigned char *keys;
  int *x, *counts, *most;
  cudaMalloc(&keys, n);
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&counts, 16 * sizeof(int));
  cudaMalloc(&most, 16 * sizeof(int));
  bins<<<(n + 63) / 64, dim3(16, 4)>>>(keys, x, counts, most, n);
}
)cuda",
                       {{"combine_atomics(kind=peers)"}, {"combine_atomics(kind=test)"},
                        {"combine_atomics(kind=test)", "combine_atomics(kind=peers)"}});
}

TEST_CASE("quotients and powers in a loop and in the kernel's own function") {
  if (auto client = connect_or_skip())
    check_moves_on_cpu(*client, R"cuda(
__device__ float weight(float a, float b) { return a / (1.0f + b * b) + powf(b, 5.0f) / sqrtf(1.0f + b * b); }
__global__ void ^blend(const float *x, float *out, int n, int columns, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < columns; ++k)
    sum += weight(x[i * columns + k], 0.5f) / (1.5f + scale) / (2 + x[k] * x[k]);
  sum /= 3;
  out[i] = sum;
}
int main() {
  int n = 101, columns = 9;
  float *x, *out;
  cudaMalloc(&x, n * columns * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  blend<<<(n + 63) / 64, 64>>>(x, out, n, columns, 0.7f);
}
)cuda",
                       {{"fast_division(kind=reciprocals)"}, {"fast_division(kind=approximate)"},
                        {"fast_functions(kind=powers)", "fast_division(kind=approximate)"}});
}
