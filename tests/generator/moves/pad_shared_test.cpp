// pad_shared: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("pad_shared: rows of 32 words get one more") {
  check_move(R"cuda(__global__ void ^t(const float *in, float *out) {
  __shared__ float tile[8][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.x * 8 + threadIdx.y] = tile[threadIdx.y][threadIdx.x];
}
void run(float *x, float *y) { t<<<1, dim3(32, 8)>>>(x, y); }
)cuda",
             "pad_shared(padding=1)", R"cuda(__global__ void t(const float *in, float *out) {
  __shared__ float tile[8][33];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.x * 8 + threadIdx.y] = tile[threadIdx.y][threadIdx.x];
}
void run(float *x, float *y) { t<<<1, dim3(32, 8)>>>(x, y); }
)cuda");
}

TEST_CASE("pad_shared: a macro is padded in place") {
  check_move(R"cuda(#define T 32
__global__ void ^t(const float *in, float *out) {
  __shared__ float tile[T][T];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.x * 8 + threadIdx.y] = tile[threadIdx.y][threadIdx.x];
}
void run(float *x, float *y) { t<<<1, dim3(32, 8)>>>(x, y); }
)cuda",
             "pad_shared(padding=1)", R"cuda(#define T 32
__global__ void t(const float *in, float *out) {
  __shared__ float tile[T][T + 1];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.x * 8 + threadIdx.y] = tile[threadIdx.y][threadIdx.x];
}
void run(float *x, float *y) { t<<<1, dim3(32, 8)>>>(x, y); }
)cuda");
}

TEST_CASE("pad_shared: an array used other than by its elements is refused") {
  check_refused(R"cuda(__global__ void ^t(const float *in, float *out) {
  __shared__ float tile[8][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.x * 8 + threadIdx.y] = *(tile[0] + threadIdx.y * 32 + threadIdx.x);
}
void run(float *x, float *y) { t<<<1, dim3(32, 8)>>>(x, y); }
)cuda",
                "pad_shared(padding=1)",
                "there is no two-dimensional shared array with rows that fill all banks");
}
