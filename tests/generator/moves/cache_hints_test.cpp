// cache_hints: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("cache_hints: an element that is read and written once is streamed") {
  check_move(R"cuda(__global__ void ^scale(const float *in, double *out, float *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i] * 2.0f + sum[i];
    sum[i] += 1;
  }
}
)cuda",
             "cache_hints(kind=streams)", R"cuda(__global__ void scale(const float *in, double *out, float *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    __stcs(&out[i], __ldcs(&in[i]) * 2.0f + sum[i]);
    sum[i] += 1;
  }
}
)cuda");
}

TEST_CASE("cache_hints: rows count each of their axes, and neighbors are only read") {
  const std::string kernel = R"cuda(__global__ void ^blur(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x + 1 < w && y < h)
    out[y * w + x] = in[y * w + x] + in[y * w + x + 1];
}
)cuda";
  check_move(kernel, "cache_hints(kind=read_only)", R"cuda(__global__ void blur(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x + 1 < w && y < h)
    out[y * w + x] = __ldg(&in[y * w + x]) + __ldg(&in[y * w + x + 1]);
}
)cuda");
  check_refused(kernel, "cache_hints(kind=loads)", "these parameters are not among the legal ones");
}

TEST_CASE("cache_hints: vectors and their scalar tails are streamed alike") {
  check_move(R"cuda(__global__ void ^copy(const float *in, float *out, int n) {
  const bool aligned = reinterpret_cast<size_t>(in) % 16 == 0;
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (aligned && first + 3 < n) {
    *reinterpret_cast<float4 *>(out + first) = *reinterpret_cast<const float4 *>(in + first);
  } else {
    for (int i = first; i < first + 4 && i < n; ++i) {
      out[i] = in[i];
    }
  }
}
)cuda",
             "cache_hints(kind=loads)", R"cuda(__global__ void copy(const float *in, float *out, int n) {
  const bool aligned = reinterpret_cast<size_t>(in) % 16 == 0;
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (aligned && first + 3 < n) {
    *reinterpret_cast<float4 *>(out + first) = __ldcs(reinterpret_cast<const float4 *>(in + first));
  } else {
    for (int i = first; i < first + 4 && i < n; ++i) {
      out[i] = __ldcs(&in[i]);
    }
  }
}
)cuda");
}

TEST_CASE("cache_hints: data that all blocks of y read is not streamed") {
  check_refused(R"cuda(__global__ void ^add(float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&out[i], blockIdx.y);
}
)cuda",
                "cache_hints(kind=streams)",
                "the kernel has no array of numbers that is only read, or accessed once at the thread's own element");
}

TEST_CASE("cache_hints: an argument that a macro uses several times is loaded once in the text") {
  check_move(R"cuda(#define SQUARE(x) ((x) * (x))
__global__ void ^squares(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = SQUARE(in[i]);
}
)cuda",
             "cache_hints(kind=read_only)", R"cuda(#define SQUARE(x) ((x) * (x))
__global__ void squares(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = SQUARE(__ldg(&in[i]));
}
)cuda");
}

TEST_CASE("cache_hints: an array with an operator that nobody declares may be written") {
  check_refused(R"cuda(__global__ void ^add(float4 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] += make_float4(1, 1, 1, 1);
}
)cuda",
                "cache_hints(kind=read_only)",
                "the kernel has no array of numbers that is only read, or accessed once at the thread's own element");
}
