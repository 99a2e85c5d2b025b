// fast_functions: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("fast_functions: powers become products and roots, quotients by roots become products") {
  check_move(R"cuda(__global__ void ^price(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float distance = powf(x[i], 2.0f) + pow(x[i] - 1, 3.0f) + powf(x[i], 0.5f);
    out[i] = 1.0f / sqrtf(distance + powf(x[i], x[0]));
  }
}
)cuda",
             "fast_functions(kind=powers)",
             R"cuda(__global__ void price(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float distance = (x[i] * x[i]) + ((x[i] - 1) * (x[i] - 1) * (x[i] - 1)) + sqrtf(x[i]);
    out[i] = 1.0f * rsqrtf(distance + powf(x[i], x[0]));
  }
}
)cuda");
}

TEST_CASE("fast_functions: calls of float become intrinsics, those of double stay") {
  check_move(R"cuda(__global__ void ^decay(const float *x, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = exp(double(x[i])) + expf(-x[i]) * sin(x[i]);
}
)cuda",
             "fast_functions(kind=approximate)",
             R"cuda(__global__ void decay(const float *x, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = exp(double(x[i])) + __expf(-x[i]) * __sinf(x[i]);
}
)cuda");
}

TEST_CASE("fast_functions: larger powers by squaring, of double and of a widened float, in the kernel's own functions") {
  check_move(R"cuda(__device__ double lift(double b) { return pow(b, 6) / sqrt(b); }
__global__ void ^lifts(const double *x, const float *y, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = lift(x[i]) + pow((double)y[i], 2.0) + pow(x[i], 0.5) + pow(x[i], 2.5);
}
)cuda",
             "fast_functions(kind=powers)",
             R"cuda(__device__ double lift(double b) { return ((b * b * b) * (b * b * b)) * rsqrt(b); }
__global__ void lifts(const double *x, const float *y, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = lift(x[i]) + (((double)y[i]) * ((double)y[i])) + sqrt(x[i]) + pow(x[i], 2.5);
}
)cuda");
}

TEST_CASE("fast_functions: one group of functions alone") {
  check_move(R"cuda(__global__ void ^decay(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = expf(-x[i]) * sinf(x[i]);
}
)cuda",
             "fast_functions(kind=exponentials)",
             R"cuda(__global__ void decay(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = __expf(-x[i]) * sinf(x[i]);
}
)cuda");
}

TEST_CASE("fast_functions: a kernel without such functions is refused") {
  check_refused(R"cuda(__global__ void ^scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= 2;
}
)cuda",
                "fast_functions(kind=powers)", "the kernel calls no float function that has a cheaper one");
}
