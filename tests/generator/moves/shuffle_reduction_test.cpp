// shuffle_reduction: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("shuffle_reduction: a tree of sums becomes shuffles") {
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
    out[blockIdx.x] = part[0];
}
void run(int n, float *x, float *out) { total<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, out, n); }
)cuda",
             "shuffle_reduction()", R"cuda(#define BLOCK 256
__global__ void total(const float *x, float *out, int n) {
  __shared__ float part[BLOCK];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  {
    float value = part[t];
    #pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
      value = value + __shfl_xor_sync(0xffffffffu, value, offset);
    __syncthreads();
    if (t % 32 == 0)
      part[t / 32] = value;
    __syncthreads();
    if (t < 32) {
      value = t < blockDim.x / 32 ? part[t] : 0.0f;
      #pragma unroll
      for (int offset = 16; offset > 0; offset >>= 1)
        value = value + __shfl_xor_sync(0xffffffffu, value, offset);
      if (t == 0)
        part[0] = value;
    }
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = part[0];
}
void run(int n, float *x, float *out) { total<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, out, n); }
)cuda");
}

TEST_CASE("shuffle_reduction: a tree of maxima in integers too") {
  check_move(R"cuda(__global__ void ^largest(const int *x, int *out) {
  __shared__ int m[128];
  m[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s)
      m[threadIdx.x] = max(m[threadIdx.x], m[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = m[0];
}
void run(int n, int *x, int *out) { largest<<<n / 128, 128>>>(x, out); }
)cuda",
             "shuffle_reduction()", R"cuda(__global__ void largest(const int *x, int *out) {
  __shared__ int m[128];
  m[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  {
    int value = m[threadIdx.x];
    #pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
      value = max(value, __shfl_xor_sync(0xffffffffu, value, offset));
    __syncthreads();
    if (threadIdx.x % 32 == 0)
      m[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
      value = threadIdx.x < blockDim.x / 32 ? m[threadIdx.x] : -2147483647 - 1;
      #pragma unroll
      for (int offset = 16; offset > 0; offset >>= 1)
        value = max(value, __shfl_xor_sync(0xffffffffu, value, offset));
      if (threadIdx.x == 0)
        m[0] = value;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = m[0];
}
void run(int n, int *x, int *out) { largest<<<n / 128, 128>>>(x, out); }
)cuda");
}

TEST_CASE("shuffle_reduction: an unknown block is refused") {
  check_refused(R"cuda(__global__ void ^largest(const int *x, int *out) {
  __shared__ int m[128];
  m[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s)
      m[threadIdx.x] = max(m[threadIdx.x], m[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = m[0];
}
void run(int b, int n, int *x, int *out) { largest<<<n / b, b>>>(x, out); }
)cuda",
                "shuffle_reduction()", "the block is not known to be whole warps in one dimension");
}

TEST_CASE("shuffle_reduction: a kernel without a tree is refused") {
  check_refused(R"cuda(__global__ void ^saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y); }
)cuda",
                "shuffle_reduction()", "there is no tree reduction over a shared array");
}
