// launch_bounds: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("launch_bounds: the block's size goes before the name") {
  check_move(
      R"cuda(__global__ void ^saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y); }
)cuda",
      "launch_bounds(blocks=2,threads=256)",
      R"cuda(__global__ void __launch_bounds__(256, 2) saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y); }
)cuda");
}

TEST_CASE("launch_bounds: the least form") {
  check_move(
      R"cuda(__global__ void ^scale(const float *in, float *out, int n) {
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
      "launch_bounds(blocks=1,threads=128)",
      R"cuda(__global__ void __launch_bounds__(128) scale(const float *in, float *out, int n) {
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
)cuda");
}

TEST_CASE("launch_bounds: bounds that are there are respected") {
  check_refused(
      R"cuda(__global__ void __launch_bounds__(256) ^saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y); }
)cuda",
      "launch_bounds(blocks=2,threads=256)", "the kernel has __launch_bounds__ already");
}
