// thread_tile: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("thread_tile: loads that do not depend on the element are shared") {
  check_move(R"cuda(__global__ void ^pull(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0.0f;
    for (int j = 0; j < n; j++)
      sum += x[j] - x[i];
    out[i] = sum;
  }
}
void run(float *x, float *out, int n) { pull<<<(n + 255) / 256, 256>>>(x, out, n); }
)cuda",
             "thread_tile(axis=x,factor=4)",
             R"cuda(__global__ void pull(const float *x, float *out, int n) {
  const int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  int i[4];
  #pragma unroll
  for (int lane = 0; lane < 4; ++lane)
    i[lane] = first + lane * blockDim.x;
  bool whole = true;
  #pragma unroll
  for (int lane = 0; lane < 4; ++lane)
    whole = whole && (i[lane] < n);
  if (whole) {
    float sum[4];
    #pragma unroll
    for (int lane = 0; lane < 4; ++lane)
      sum[lane] = 0.0f;
    for (int j = 0; j < n; j++) {
      #pragma unroll
      for (int lane = 0; lane < 4; ++lane)
        sum[lane] += x[j] - x[i[lane]];
    }
    #pragma unroll
    for (int lane = 0; lane < 4; ++lane)
      out[i[lane]] = sum[lane];
  } else {
    for (int lane = 0; lane < 4; ++lane) {
      const int i = first + lane * blockDim.x;
      if (i < n) {
        float sum = 0.0f;
        for (int j = 0; j < n; j++)
          sum += x[j] - x[i];
        out[i] = sum;
      }
    }
  }
}
void run(float *x, float *out, int n) { pull<<<((n + 255) / 256 + 3) / 4, 256>>>(x, out, n); }
)cuda");
}

TEST_CASE("thread_tile: a loop whose bounds depend on the element is not shared") {
  check_refused(R"cuda(__global__ void ^sums(const int *rows, const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = rows[i]; j < rows[i + 1]; ++j)
    sum += x[j];
  out[i] = sum;
}
void run(int *rows, float *x, float *out, int n) { sums<<<(n + 255) / 256, 256>>>(rows, x, out, n); }
)cuda",
                "thread_tile(axis=x,factor=2)", "the bounds of each loop depend on the element");
}

TEST_CASE("thread_tile: a kernel without a bounds check is refused") {
  check_refused(R"cuda(__global__ void ^pull(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int j = 0; j < n; j++)
    sum += x[j] - x[i];
  out[i] = sum;
}
void run(float *x, float *out, int n) { pull<<<n / 256, 256>>>(x, out, n); }
)cuda",
                "thread_tile(axis=x,factor=2)", "the global index has no bounds check");
}

TEST_CASE("thread_tile: an object without a default constructor cannot be one for each element") {
  check_refused(R"cuda(struct Random {
  unsigned state;
  __device__ Random(unsigned seed) : state(seed) {}
  __device__ float next() { return state = state * 1664525u + 1013904223u; }
};
__global__ void ^noise(float *out, int n, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    Random random(i);
    float sum = 0;
    for (int j = 0; j < steps; ++j)
      sum += random.next();
    out[i] = sum;
  }
}
void run(float *out, int n) { noise<<<(n + 255) / 256, 256>>>(out, n, 100); }
)cuda",
                "thread_tile(axis=x,factor=2)", "random has no default constructor");
}
