// parallel_loop: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("parallel_loop: the first thread's sum over shared memory becomes the block's") {
  check_move(R"cuda(__global__ void ^sums(const float *x, float *out, int n) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  part[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  if (t == 0) {
    float sum = 0.0f;
    for (int k = 0; k < 256; k++)
      sum += part[k];
    out[blockIdx.x] = sum;
  }
}
void run(float *x, float *out, int n) { sums<<<n / 256, 256>>>(x, out, n); }
)cuda",
             "parallel_loop()",
             R"cuda(__global__ void sums(const float *x, float *out, int n) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  part[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  {
    const int lane = threadIdx.x;
    __syncthreads();
    float sum = 0.0f;
    for (int k = lane; k < 256; k += 256)
      sum += part[k];
    {
      __shared__ float partials[8];
      #pragma unroll
      for (int offset = 16; offset > 0; offset >>= 1)
        sum = sum + __shfl_xor_sync(0xffffffffu, sum, offset);
      if (threadIdx.x % 32 == 0)
        partials[threadIdx.x / 32] = sum;
      __syncthreads();
      sum = partials[threadIdx.x % 8];
      #pragma unroll
      for (int offset = 4; offset > 0; offset >>= 1)
        sum = sum + __shfl_xor_sync(0xffffffffu, sum, offset);
      __syncthreads();
    }
    if (lane == 0)
      out[blockIdx.x] = sum;
  }
}
void run(float *x, float *out, int n) { sums<<<n / 256, 256>>>(x, out, n); }
)cuda");
}

TEST_CASE("parallel_loop: a branch that not all threads reach, or with values of one thread, is refused") {
  check_refused(R"cuda(__global__ void ^fill(float *out, int n, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (threadIdx.x == 0) {
    for (int k = 0; k < columns; k++)
      out[blockIdx.x * columns + k] = 0;
  }
}
void run(float *out, int n, int columns) { fill<<<n / 64, 64>>>(out, n, columns); }
)cuda",
                "parallel_loop()", "not all threads of the block reach the branch of the first thread");
  check_refused(R"cuda(__global__ void ^fill(const float *x, float *out, int columns) {
  float scale = x[threadIdx.x];
  if (threadIdx.x == 0) {
    for (int k = 0; k < columns; k++)
      out[blockIdx.x * columns + k] = scale;
  }
}
void run(float *x, float *out, int n, int columns) { fill<<<n, 64>>>(x, out, columns); }
)cuda",
                "parallel_loop()", "the branch of the first thread uses scale, which depends on the thread");
}
