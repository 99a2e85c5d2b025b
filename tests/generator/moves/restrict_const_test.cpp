// restrict_const: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("restrict_const: pointers that are only read become const") {
  check_move(
      R"cuda(__global__ void ^saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y); }
)cuda",
      "restrict_const()",
      R"cuda(__global__ void saxpy(int n, float a, const float *__restrict__ x, float *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y); }
)cuda");
}

TEST_CASE("restrict_const: parameters that are written as arrays become pointers to rows") {
  check_move(R"cuda(__global__ void ^twice(double in[][8], double out[], int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 2 * in[i][0];
}
void run(int n, double (*x)[8], double *y) { twice<<<(n + 255) / 256, 256>>>(x, y, n); }
)cuda",
             "restrict_const()",
             R"cuda(__global__ void twice(double (*__restrict__ in)[8], double (*__restrict__ out), int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 2 * in[i][0];
}
void run(int n, double (*x)[8], double *y) { twice<<<(n + 255) / 256, 256>>>(x, y, n); }
)cuda");
}

TEST_CASE("restrict_const: a pointer that is const already stays") {
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
      "restrict_const()",
      R"cuda(__global__ void scale(const float *__restrict__ in, float *__restrict__ out, int n) {
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

TEST_CASE("restrict_const: a launch with one pointer twice is refused") {
  check_refused(R"cuda(__global__ void ^saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, x); }
)cuda",
                "restrict_const()", "a launch passes the same pointer twice");
}
