// vectorize: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("vectorize: float4 with a scalar tail and an alignment check") {
  check_move(R"cuda(__global__ void ^saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i]; // in place
}
void run(int n, float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y); }
)cuda",
             "vectorize(width=4)",
             R"cuda(__global__ void saxpy(int n, float a, float *x, float *y) {
  const bool aligned = reinterpret_cast<size_t>(x) % 16 == 0 &&
      reinterpret_cast<size_t>(y) % 16 == 0;
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (aligned && first + 3 < n) {
    alignas(16) float x_part[4];
    alignas(16) float y_part[4];
    *reinterpret_cast<float4 *>(x_part) = *reinterpret_cast<const float4 *>(x + first);
    *reinterpret_cast<float4 *>(y_part) = *reinterpret_cast<const float4 *>(y + first);
    #pragma unroll
    for (int lane = 0; lane < 4; ++lane) {
      y_part[lane] = a * x_part[lane] + y_part[lane]; // in place
    }
    *reinterpret_cast<float4 *>(y + first) = *reinterpret_cast<const float4 *>(y_part);
  } else {
    for (int i = first; i < first + 4 && i < n; ++i) {
      y[i] = a * x[i] + y[i]; // in place
    }
  }
}
void run(int n, float *x, float *y) { saxpy<<<((n + 255) / 256 + 3) / 4, 256>>>(n, 2.0f, x, y); }
)cuda");
}

TEST_CASE("vectorize: a loop over the grid takes vectors too") {
  check_move(R"cuda(__global__ void ^add(const int *a, int *b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    b[i] += a[i];
  }
}
void run(int n, int *a, int *b) { add<<<120, 256>>>(a, b, n); }
)cuda",
             "vectorize(width=2)", R"cuda(__global__ void add(const int *a, int *b, int n) {
  const bool aligned = reinterpret_cast<size_t>(a) % 8 == 0 &&
      reinterpret_cast<size_t>(b) % 8 == 0;
  for (int first = (blockIdx.x * blockDim.x + threadIdx.x) * 2; first < n; first += (gridDim.x * blockDim.x) * 2) {
    if (aligned && first + 1 < n) {
      alignas(8) int a_part[2];
      alignas(8) int b_part[2];
      *reinterpret_cast<int2 *>(a_part) = *reinterpret_cast<const int2 *>(a + first);
      *reinterpret_cast<int2 *>(b_part) = *reinterpret_cast<const int2 *>(b + first);
      #pragma unroll
      for (int lane = 0; lane < 2; ++lane) {
        b_part[lane] += a_part[lane];
      }
      *reinterpret_cast<int2 *>(b + first) = *reinterpret_cast<const int2 *>(b_part);
    } else {
      for (int i = first; i < first + 2 && i < n; ++i) {
        b[i] += a[i];
      }
    }
  }
}
void run(int n, int *a, int *b) { add<<<120, 256>>>(a, b, n); }
)cuda");
}

TEST_CASE("vectorize: locals of the work stay, and a pure output is not loaded") {
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
             "vectorize(width=4)",
             R"cuda(__global__ void scale(const float *in, float *out, int n) {
    const bool aligned = reinterpret_cast<size_t>(in) % 16 == 0 &&
            reinterpret_cast<size_t>(out) % 16 == 0;
    const int first = (blockDim.x * blockIdx.x + threadIdx.x) * 4;
    if (aligned && first + 3 < n) {
        alignas(16) float in_part[4];
        alignas(16) float out_part[4];
        *reinterpret_cast<float4 *>(in_part) = *reinterpret_cast<const float4 *>(in + first);
        #pragma unroll
        for (int lane = 0; lane < 4; ++lane) {
            float v = in_part[lane];
            out_part[lane] = v * v;
        }
        *reinterpret_cast<float4 *>(out + first) = *reinterpret_cast<const float4 *>(out_part);
    } else {
        for (int i = first; i < first + 4 && i < n; ++i) {
            float v = in[i];
            out[i] = v * v;
        }
    }
}
void run(int n, float *x, float *y) {
    int threads = 128;
    int blocks = ((n + threads - 1) / threads + 3) / 4;
    scale<<<blocks, threads>>>(x, y, n);
}
)cuda");
}

TEST_CASE("vectorize: an array written and read elsewhere is refused") {
  check_refused(R"cuda(__global__ void ^k(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = x[i + 1];
}
void run(int n, float *x) { k<<<(n + 255) / 256, 256>>>(x, n); }
)cuda",
                "vectorize(width=4)", "x is written and also used at another element");
}

TEST_CASE("vectorize: a barrier is refused") {
  check_refused(R"cuda(__global__ void ^k(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] = 1;
    __syncthreads();
  }
}
void run(int n, float *x) { k<<<n / 256, 256>>>(x, n); }
)cuda",
                "vectorize(width=4)", "the work contains a barrier or a warp operation");
}

TEST_CASE("vectorize: elements of several sizes, with a return and a condition that not all elements pass") {
  check_move(R"cuda(__global__ void ^mix(const unsigned char *mask, const double *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (mask[i] == 0) return;
  y[i] = x[i];
}
void run(int n, unsigned char *mask, double *x, float *y) { mix<<<n / 256, 256>>>(mask, x, y, n); }
)cuda",
             "vectorize(width=4)", R"cuda(__global__ void mix(const unsigned char *mask, const double *x, float *y, int n) {
  const bool aligned = reinterpret_cast<size_t>(mask) % 4 == 0;
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (aligned && first + 3 < n) {
    alignas(4) unsigned char mask_part[4];
    *reinterpret_cast<unsigned int *>(mask_part) = *reinterpret_cast<const unsigned int *>(mask + first);
    #pragma unroll
    for (int lane = 0; lane < 4; ++lane) {
      if (mask_part[lane] == 0) continue;
      y[(first + lane)] = x[(first + lane)];
    }
  } else {
    for (int i = first; i < first + 4 && i < n; ++i) {
      if (mask[i] == 0) continue;
      y[i] = x[i];
    }
  }
}
void run(int n, unsigned char *mask, double *x, float *y) { mix<<<(n / 256 + 3) / 4, 256>>>(mask, x, y, n); }
)cuda");
}

TEST_CASE("vectorize: rows of a grid with two axes, and structures read whole") {
  check_move(R"cuda(struct Pair { float x, y; };
__global__ void ^rows(const Pair *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int at = y * w + x;
  if (x < w && y < h) {
    out[at] = in[at].x + in[at].y;
  }
}
void run(int w, int h, Pair *in, float *out) {
  dim3 grid(w / 32, h / 4);
  rows<<<grid, dim3(32, 4)>>>(in, out, w, h);
}
)cuda",
             "vectorize(width=2)", R"cuda(struct Pair { float x, y; };
__global__ void rows(const Pair *in, float *out, int w, int h) {
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  const bool aligned = reinterpret_cast<size_t>(in + (long long)(blockIdx.y * blockDim.y + threadIdx.y) * w) % 16 == 0 &&
      reinterpret_cast<size_t>(out + (long long)(blockIdx.y * blockDim.y + threadIdx.y) * w) % 8 == 0;
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  if (aligned && first + 1 < w && (y < h)) {
    alignas(16) Pair in_part[2];
    alignas(8) float out_part[2];
    *reinterpret_cast<uint4 *>(in_part) = *reinterpret_cast<const uint4 *>(in + (long long)(blockIdx.y * blockDim.y + threadIdx.y) * w + first);
    #pragma unroll
    for (int lane = 0; lane < 2; ++lane) {
      int at = y * w + (first + lane);
      out_part[lane] = in_part[lane].x + in_part[lane].y;
    }
    *reinterpret_cast<float2 *>(out + (long long)(blockIdx.y * blockDim.y + threadIdx.y) * w + first) = *reinterpret_cast<const float2 *>(out_part);
  } else {
    for (int x = first; x < first + 2; ++x) {
      int y = blockIdx.y * blockDim.y + threadIdx.y;
      int at = y * w + x;
      if (x < w && y < h) {
        out[at] = in[at].x + in[at].y;
      }
    }
  }
}
void run(int w, int h, Pair *in, float *out) {
  dim3 grid((w / 32 + 1) / 2, h / 4);
  rows<<<grid, dim3(32, 4)>>>(in, out, w, h);
}
)cuda");
}

TEST_CASE("vectorize: all loops of a block over its row take the same elements per thread") {
  check_parses(R"cuda(__global__ void ^scale(const float *in, float *out, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += in[blockIdx.x * n + i];
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = in[blockIdx.x * n + i] * sum;
}
)cuda",
               "vectorize(width=4)");
  check_refused(R"cuda(__global__ void ^scale(float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = i;
  out[0] = 1;
}
)cuda",
                "vectorize(width=4)", "out is written, and used both in a loop and outside");
}

TEST_CASE("vectorize: what depends on the thread's place, or has no bounds check, is refused") {
  check_refused(R"cuda(__global__ void ^k(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = threadIdx.x;
}
void run(int n, float *x) { k<<<n / 256, 256>>>(x, n); }
)cuda",
                "vectorize(width=4)", "the work uses the thread's place apart from the index");
  check_refused(R"cuda(__global__ void ^k(float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 1;
}
void run(float *x) { k<<<64, 256>>>(x); }
)cuda",
                "vectorize(width=4)", "the index has no bounds check");
}

TEST_CASE("vectorize: a loop loses the pragma above it, and casts to vectors stay") {
  const char *program = R"cuda(__global__ void ^fill(const float *in, float *out, int n) {
  const float4 *fours = reinterpret_cast<const float4 *>(in);
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 four = fours[i];
    out[i] = four.x + four.w;
  }
}
void run(float *in, float *out, int n) { fill<<<64, 256>>>(in, out, n); }
)cuda";
  check_move(program, "vectorize(width=4)", R"cuda(__global__ void fill(const float *in, float *out, int n) {
  const float4 *fours = reinterpret_cast<const float4 *>(in);
  const bool aligned = reinterpret_cast<size_t>(out) % 16 == 0;
  for (int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4; first < n; first += (gridDim.x * blockDim.x) * 4) {
    if (aligned && first + 3 < n) {
      alignas(16) float out_part[4];
      #pragma unroll
      for (int lane = 0; lane < 4; ++lane) {
        const float4 four = fours[(first + lane)];
        out_part[lane] = four.x + four.w;
      }
      *reinterpret_cast<float4 *>(out + first) = *reinterpret_cast<const float4 *>(out_part);
    } else {
      for (int i = first; i < first + 4 && i < n; ++i) {
        const float4 four = fours[i];
        out[i] = four.x + four.w;
      }
    }
  }
}
void run(float *in, float *out, int n) { fill<<<64, 256>>>(in, out, n); }
)cuda");
}
