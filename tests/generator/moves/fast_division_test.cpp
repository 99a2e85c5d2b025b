// fast_division: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

namespace {

constexpr const char *kQuotients = R"cuda(__device__ float weight(float a, float b) {
  return a / b; // of this kernel alone
}
__device__ float shared(float a, float b) { return a / b; }
__global__ void other(float *x) { x[0] = shared(x[0], x[1]); }
__global__ void ^filter(const float *x, float *out, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = x[i] / 4.0f;
    for (int k = 0; k < n; ++k)
      sum += x[k] / (2 * scale) + shared(weight(x[k], 3) , x[i]);
    sum /= 3;
    out[i] = sum / x[i] / (x[i]+1.0f);
  }
}
)cuda";

} // namespace

TEST_CASE("fast_division: divisors that a loop keeps, and literals, become reciprocals") {
  check_move(kQuotients, "fast_division(kind=reciprocals)",
             R"cuda(__device__ float weight(float a, float b) {
  return a / b; // of this kernel alone
}
__device__ float shared(float a, float b) { return a / b; }
__global__ void other(float *x) { x[0] = shared(x[0], x[1]); }
__global__ void filter(const float *x, float *out, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = x[i] / 4.0f;
    for (int k = 0; k < n; ++k)
      sum += x[k] * (1.0f / (2 * scale)) + shared(weight(x[k], 3) , x[i]);
    sum *= (1.0f / 3);
    out[i] = sum / x[i] / (x[i]+1.0f);
  }
}
)cuda");
}

TEST_CASE("fast_division: other quotients of float are approximate, also in the kernel's own functions") {
  check_move(kQuotients, "fast_division(kind=approximate)",
             R"cuda(__device__ float weight(float a, float b) {
  return __fdividef(a, b); // of this kernel alone
}
__device__ float shared(float a, float b) { return a / b; }
__global__ void other(float *x) { x[0] = shared(x[0], x[1]); }
__global__ void filter(const float *x, float *out, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = x[i] / 4.0f;
    for (int k = 0; k < n; ++k)
      sum += x[k] * (1.0f / (2 * scale)) + shared(weight(x[k], 3) , x[i]);
    sum *= (1.0f / 3);
    out[i] = __fdividef(__fdividef(sum, x[i]), (x[i]+1.0f));
  }
}
)cuda");
}

TEST_CASE("fast_division: of double, only divisors that stay become reciprocals") {
  check_move(R"cuda(__global__ void ^steps(const double *x, double *out, int n, double h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0;
  for (int k = 0; k < n; ++k) {
    double step = h * k;
    sum += x[k] / h / step + x[k] / 0.3;
  }
  if (i < n)
    out[i] = sum / h;
}
)cuda",
             "fast_division(kind=reciprocals)",
             R"cuda(__global__ void steps(const double *x, double *out, int n, double h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0;
  for (int k = 0; k < n; ++k) {
    double step = h * k;
    sum += x[k] * (1.0 / h) / step + x[k] * (1.0 / 0.3);
  }
  if (i < n)
    out[i] = sum / h;
}
)cuda");
}

TEST_CASE("fast_division: quotients of integers and of constants are refused") {
  check_refused(R"cuda(__global__ void ^scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i / 2 < n)
    x[i] *= 1.0f / 3.0f;
}
)cuda",
                "fast_division(kind=approximate)", "the kernel has no quotient that can be cheaper");
}
