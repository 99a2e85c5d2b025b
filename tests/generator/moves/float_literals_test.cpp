// float_literals: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("float_literals: double literals become float") {
  check_move(R"cuda(__global__ void ^halve(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = 0.5 * x[i] + 1e-3 + 2.0f;
}
void run(int n, float *x) { halve<<<(n + 255) / 256, 256>>>(x, n); }
)cuda",
             "float_literals()", R"cuda(__global__ void halve(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = 0.5f * x[i] + 1e-3f + 2.0f;
}
void run(int n, float *x) { halve<<<(n + 255) / 256, 256>>>(x, n); }
)cuda");
}

TEST_CASE("float_literals: double that is meant is refused") {
  check_refused(R"cuda(__global__ void ^halve(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = 0.5 * (double)x[i] + 1e-3 + 2.0f;
}
void run(int n, float *x) { halve<<<(n + 255) / 256, 256>>>(x, n); }
)cuda",
                "float_literals()", "the kernel uses double on purpose");
}

TEST_CASE("float_literals: no double literal is refused") {
  check_refused(R"cuda(__global__ void ^saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y); }
)cuda",
                "float_literals()", "the kernel has no double literal");
}
