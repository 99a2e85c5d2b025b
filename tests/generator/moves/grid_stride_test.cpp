// grid_stride: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("grid_stride: a guarded kernel becomes a loop over a capped grid") {
  check_move(R"cuda(__global__ void ^saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y); }
)cuda",
             "grid_stride(blocks=1056)",
             R"cuda(__global__ void saxpy(int n, float a, float *x, float *y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256 < 1056 ? (n + 255) / 256 : 1056, 256>>>(n, 2.0f, x, y); }
)cuda");
}

TEST_CASE("grid_stride: an early return becomes the loop's bound") {
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
             "grid_stride(blocks=528)",
             R"cuda(__global__ void scale(const float *in, float *out, int n) {
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float v = in[i];
        out[i] = v * v;
    }
}
void run(int n, float *x, float *y) {
    int threads = 128;
    int blocks = (n + threads - 1) / threads < 528 ? (n + threads - 1) / threads : 528;
    scale<<<blocks, threads>>>(x, y, n);
}
)cuda");
}

TEST_CASE("grid_stride: a barrier in the work is refused") {
  check_refused(R"cuda(__global__ void ^k(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] = 1;
    __syncthreads();
  }
}
void run(int n, float *x) { k<<<n / 256, 256>>>(x, n); }
)cuda",
                "grid_stride(blocks=528)", "the work contains a return or a barrier");
}

TEST_CASE("grid_stride: a kernel without a bounds check is refused") {
  check_refused(
      R"cuda(__global__ void ^k(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
void run(int n, float *x) { k<<<n / 256, 256>>>(x); }
)cuda",
      "grid_stride(blocks=528)",
      "the kernel has no one-dimensional global index with a bounds check");
}

TEST_CASE("grid_stride: what follows from what follows from the index goes into the loop with it") {
  check_move(R"cuda(__global__ void ^gather(float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int row = i / 32;
  int base = n / 2;
  int at = row * 32;
  if (i < n) x[i] = y[at] + y[base];
}
void run(int n, float *x, float *y) { gather<<<(n + 255) / 256, 256>>>(x, y, n); }
)cuda",
             "grid_stride(blocks=1056)",
             R"cuda(__global__ void gather(float *x, const float *y, int n) {
  int base = n / 2;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    int row = i / 32;
    int at = row * 32;
    x[i] = y[at] + y[base];
  }
}
void run(int n, float *x, float *y) { gather<<<(n + 255) / 256 < 1056 ? (n + 255) / 256 : 1056, 256>>>(x, y, n); }
)cuda");
}

TEST_CASE("grid_stride: what follows from the index is not moved past other statements, nor used "
          "behind") {
  check_refused(R"cuda(__global__ void ^count(float *x, int k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = i * k;
  k = 3;
  if (i < n) x[at] = k;
}
void run(int n, float *x) { count<<<(n + 255) / 256, 256>>>(x, 2, n); }
)cuda",
                "grid_stride(blocks=1056)",
                "what follows from the index is computed before other statements");
  check_refused(R"cuda(__global__ void ^count(float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = i / 2;
  if (i < n) x[i] = 1.0f;
  y[at] = 2.0f;
}
void run(int n, float *x, float *y) { count<<<(n + 255) / 256, 256>>>(x, y, n); }
)cuda",
                "grid_stride(blocks=1056)", "the index is used after the bounds check");
}
