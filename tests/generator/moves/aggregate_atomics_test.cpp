// aggregate_atomics: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("aggregate_atomics: one atomic a block") {
  check_move(R"cuda(__global__ void ^count(const float *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (x[i] > 0)
      atomicAdd(out, 1);
  }
}
void run(int n, float *x, int *out) { count<<<(n + 255) / 256, 256>>>(x, out, n); }
)cuda",
             "aggregate_atomics(scope=block)",
             R"cuda(__global__ void count(const float *x, int *out, int n) {
  int partial = 0;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (x[i] > 0)
      partial += 1;
  }
  #pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1)
    partial = partial + __shfl_xor_sync(0xffffffffu, partial, offset);
  __shared__ int partials[32];
  if (threadIdx.x % 32 == 0)
    partials[threadIdx.x / 32] = partial;
  __syncthreads();
  if (threadIdx.x < 32) {
    partial = threadIdx.x < blockDim.x / 32 ? partials[threadIdx.x] : 0;
    #pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
      partial = partial + __shfl_xor_sync(0xffffffffu, partial, offset);
  }
  if (threadIdx.x == 0)
    atomicAdd(out, partial);
}
void run(int n, float *x, int *out) { count<<<(n + 255) / 256, 256>>>(x, out, n); }
)cuda");
}

TEST_CASE("aggregate_atomics: one atomic a warp") {
  check_move(R"cuda(__global__ void ^count(const float *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (x[i] > 0)
      atomicAdd(out, 1);
  }
}
void run(int n, float *x, int *out) { count<<<(n + 255) / 256, 256>>>(x, out, n); }
)cuda",
             "aggregate_atomics(scope=warp)",
             R"cuda(__global__ void count(const float *x, int *out, int n) {
  int partial = 0;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (x[i] > 0)
      partial += 1;
  }
  #pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1)
    partial = partial + __shfl_xor_sync(0xffffffffu, partial, offset);
  if (threadIdx.x % 32 == 0)
    atomicAdd(out, partial);
}
void run(int n, float *x, int *out) { count<<<(n + 255) / 256, 256>>>(x, out, n); }
)cuda");
}

TEST_CASE("aggregate_atomics: an address that depends on data is refused") {
  check_refused(R"cuda(__global__ void ^hist(const int *keys, unsigned int *counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  atomicAdd(&counts[keys[i]], 1u);
}
void run(int n, int *k, unsigned int *c) { hist<<<(n + 255) / 256, 256>>>(k, c, n); }
)cuda",
                "aggregate_atomics(scope=warp)", "the atomicAdd's address depends on data");
}
