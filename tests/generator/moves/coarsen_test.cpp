// coarsen: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("coarsen: each thread does four elements, a block apart") {
  check_move(R"cuda(__global__ void ^saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y); }
)cuda",
             "coarsen(factor=4)", R"cuda(__global__ void saxpy(int n, float a, float *x, float *y) {
  #pragma unroll
  for (int step = 0; step < 4; ++step) {
    const int i = (blockIdx.x * 4 + step) * blockDim.x + threadIdx.x;
    if (i < n)
      y[i] = a * x[i] + y[i]; // in place
  }
}
void run(int n, float *x, float *y) { saxpy<<<((n + 255) / 256 + 3) / 4, 256>>>(n, 2.0f, x, y); }
)cuda");
}

TEST_CASE("coarsen: a grid in a variable of its own is edited there") {
  check_move(R"cuda(__global__ void ^scale(const float *in, float *out, int n) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
    out[i] = v * v;
}
void run(int n, float *x, float *y) {
    int threads = 128;
    int blocks = (n + threads - 1) / threads;
    scale<<<blocks, threads>>>(x, y, n);
}
)cuda",
             "coarsen(factor=2)", R"cuda(__global__ void scale(const float *in, float *out, int n) {
    #pragma unroll
    for (int step = 0; step < 2; ++step) {
        const int i = (blockIdx.x * 2 + step) * blockDim.x + threadIdx.x;
        if (i < n) {
            float v = in[i];
            out[i] = v * v;
        }
    }
}
void run(int n, float *x, float *y) {
    int threads = 128;
    int blocks = ((n + threads - 1) / threads + 1) / 2;
    scale<<<blocks, threads>>>(x, y, n);
}
)cuda");
}

TEST_CASE("coarsen: a grid that is launched as a copy is edited where it is made") {
  check_move(R"cuda(__global__ void ^scale(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * in[i];
}
void run(int n, float *x, float *y) {
  dim3 grid((n + 127) / 128, 1, 1), block(128);
  scale<<<dim3(grid), dim3(block)>>>(x, y, n);
}
)cuda",
             "coarsen(factor=2)", R"cuda(__global__ void scale(const float *in, float *out, int n) {
  #pragma unroll
  for (int step = 0; step < 2; ++step) {
    const int i = (blockIdx.x * 2 + step) * blockDim.x + threadIdx.x;
    if (i < n)
      out[i] = in[i] * in[i];
  }
}
void run(int n, float *x, float *y) {
  dim3 grid(((n + 127) / 128 + 1) / 2, 1, 1), block(128);
  scale<<<dim3(grid), dim3(block)>>>(x, y, n);
}
)cuda");
}

TEST_CASE("coarsen: a grid that is a macro with a cast keeps its name") {
  check_move(R"cuda(#define BLOCKS ((int)32)
__global__ void ^scale(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * in[i];
}
void run(int n, float *x, float *y) { scale<<<BLOCKS, 128>>>(x, y, n); }
)cuda",
             "coarsen(factor=2)", R"cuda(#define BLOCKS ((int)32)
__global__ void scale(const float *in, float *out, int n) {
  #pragma unroll
  for (int step = 0; step < 2; ++step) {
    const int i = (blockIdx.x * 2 + step) * blockDim.x + threadIdx.x;
    if (i < n)
      out[i] = in[i] * in[i];
  }
}
void run(int n, float *x, float *y) { scale<<<(BLOCKS + 1) / 2, 128>>>(x, y, n); }
)cuda");
}

TEST_CASE("coarsen: a loop over the grid is refused") {
  check_refused(R"cuda(__global__ void ^add(const int *a, int *b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    b[i] += a[i];
  }
}
void run(int n, int *a, int *b) { add<<<120, 256>>>(a, b, n); }
)cuda",
                "coarsen(factor=2)", "the kernel already loops over the grid");
}

TEST_CASE("coarsen: an index of 64 bits is computed in 64 bits") {
  check_move(R"cuda(__global__ void ^scale(float *x, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2.0f;
}
void run(float *x, size_t n) { scale<<<(n + 255) / 256, 256>>>(x, n); }
)cuda",
             "coarsen(factor=2)",
             R"cuda(__global__ void scale(float *x, size_t n) {
  #pragma unroll
  for (int step = 0; step < 2; ++step) {
    const size_t i = ((size_t)blockIdx.x * 2 + step) * blockDim.x + threadIdx.x;
    if (i < n)
      x[i] *= 2.0f;
  }
}
void run(float *x, size_t n) { scale<<<((n + 255) / 256 + 1) / 2, 256>>>(x, n); }
)cuda");
}
