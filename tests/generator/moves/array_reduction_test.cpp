// array_reduction: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("array_reduction: a tree with one atomic a block") {
  check_move(R"cuda(#define BLOCK 256
__global__ void ^total(const float *x, float *out, int n) {
  __shared__ float part[BLOCK];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (t < s)
      part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0)
    atomicAdd(out, part[0]);
}
void run(int n, float *x, float *out) { total<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, out, n); }
)cuda",
             "array_reduction(blocks=1056,threads=256)", R"cuda(#define BLOCK 256
__global__ void total(const float *x, float *out, int n) {
  float sum = 0.0f;
  const int first = static_cast<int>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int stride = static_cast<int>(gridDim.x) * blockDim.x;
  auto accumulate = [&](float element) { sum += element; };
  if (reinterpret_cast<size_t>(x) % 16 == 0) {
    const int vectors = n / 4;
    #pragma unroll 4
    for (int vector = first; vector < vectors; vector += stride) {
      alignas(16) float quad[4];
      *reinterpret_cast<uint4 *>(quad) = reinterpret_cast<const uint4 *>(x)[vector];
      #pragma unroll
      for (int part = 0; part < 4; ++part)
        accumulate(quad[part]);
    }
    for (int i = vectors * 4 + first; i < n; i += stride)
      accumulate(x[i]);
  } else {
    for (int i = first; i < n; i += stride)
      accumulate(x[i]);
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
    atomicAdd(out, sum);
  }
}
void run(int n, float *x, float *out) { total<<<n < 1081344 ? (n + 1023) / 1024 : 1056, 256>>>(x, out, n); }
)cuda");
}

TEST_CASE("array_reduction: a tree that stores a result a block is refused") {
  check_refused(R"cuda(#define BLOCK 256
__global__ void ^total(const float *x, float *out, int n) {
  __shared__ float part[BLOCK];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (t < s)
      part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = part[0];
}
void run(int n, float *x, float *out) { total<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, out, n); }
)cuda",
                "array_reduction(blocks=1056,threads=256)",
                "the tree's result is not added atomically");
}
