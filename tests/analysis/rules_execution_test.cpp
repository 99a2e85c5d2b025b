// Rules about execution: double-arithmetic, divergent-barrier, block-size, tree-reduction.
// Thread: one.
#include "tests/analysis/rules_support.h"

namespace {
using namespace warpwright;
using namespace warpwright::analysis;
using namespace warpwright::analysis::test;

void check_body_fix(const std::string &rule, const std::string &body, const std::string &fixed,
                    Severity severity = Severity::Warning) {
  const std::string head =
      "__global__ void k(float *x, const float *y, int n) {\n  int i = blockIdx.x * blockDim.x + "
      "threadIdx.x;\n";
  check_fix(rule, head + body + "\n}\n", head + fixed + "\n}\n", severity);
}
} // namespace

TEST_CASE("double literals in float arithmetic become float") {
  check_body_fix("double-arithmetic", "  x[i] = y[i] * [[0.5]];", "  x[i] = y[i] * 0.5f;");
  check_body_fix("double-arithmetic", "  x[i] *= [[1e-3]];", "  x[i] *= 1e-3f;");
  check_body_fix("double-arithmetic", "  if (y[i] > [[1.]]) x[i] = 0.0;",
                 "  if (y[i] > 1.f) x[i] = 0.0;");
  check_body_fix("double-arithmetic", "  x[i] = y[i] * ([[1.0]] / 3.0);",
                 "  x[i] = y[i] * (1.0f / 3.0f);");
  check_body_fix("double-arithmetic", "  x[i] = i < n ? y[i] : [[0.0]];",
                 "  x[i] = i < n ? y[i] : 0.0f;");
}

TEST_CASE("one fix covers the whole expression, through functions with float overloads") {
  check_body_fix("double-arithmetic",
                 "  x[i] = [[0.5]] * y[i] * (1.0 + tanh(0.79 * (y[i] + 0.04 * y[i])));",
                 "  x[i] = 0.5f * y[i] * (1.0f + tanh(0.79f * (y[i] + 0.04f * y[i])));");
}

TEST_CASE("functions of two arguments are called by their float name") {
  check_body_fix("double-arithmetic", "  x[i] = [[pow]](y[i], 2.0);", "  x[i] = powf(y[i], 2.0f);");
}

TEST_CASE("double literals are found in device functions and behind macros") {
  check_fix("double-arithmetic", "__device__ float half_of(float v) { return v * [[0.5]]; }",
            "__device__ float half_of(float v) { return v * 0.5f; }", Severity::Warning);
  check_body_fix("double-arithmetic", "#define SCALE 0.5\n  x[i] = y[i] * [[SCALE]];",
                 "#define SCALE 0.5\n  x[i] = y[i] * (float)SCALE;");
}

TEST_CASE("double is left alone where it is meant or costs nothing") {
  check_quiet("double-arithmetic", R"(
float host(float v) { return v * 0.5; }
template <class T> __global__ void t(T *x) { x[0] = x[1] * 0.5; }
__global__ void k(float *x, double *d, double a) {
  float half = 0.5;
  x[0] = half * 2.0f;
  x[1] = 1.0;
  d[0] = d[1] * 0.5 + a;
  d[2] += x[2];
  x[3] = (float)(a * x[4]);
})");
}

TEST_CASE("a barrier at the end of a branch moves behind it") {
  check_body_fix("divergent-barrier", R"(  __shared__ float s[64];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = y[i];
    [[__syncthreads()]];
  }
  x[i] = s[0];)",
                 R"(  __shared__ float s[64];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = y[i];
  }
  __syncthreads();
  x[i] = s[0];)");
}

TEST_CASE("a barrier inside a branch splits it") {
  check_body_fix("divergent-barrier", R"(  __shared__ float s[64];
  if (i < n) {
    s[threadIdx.x] = y[i];
    [[__syncthreads()]];
    x[i] = s[0];
  })",
                 R"(  __shared__ float s[64];
  if (i < n) {
    s[threadIdx.x] = y[i];
  }
  __syncthreads();
  if (i < n) {
    x[i] = s[0];
  })");
}

TEST_CASE("an early return before a barrier becomes guards") {
  check_body_fix("divergent-barrier", R"(  __shared__ float s[64];
  if (i >= n) return;
  s[threadIdx.x] = y[i];
  [[__syncthreads()]];
  x[i] = s[0];)",
                 R"(  __shared__ float s[64];
  s[threadIdx.x] = i < n ? y[i] : 0.0f;
  __syncthreads();
  if (i < n) x[i] = s[0];)",
                 Severity::Information);
}

TEST_CASE("barriers in loops of thread-dependent length are reported without a fix") {
  const auto diagnostics = check_reports(
      "divergent-barrier",
      "__global__ void k(float *x, int n) {\n"
      "  for (int i = threadIdx.x; i < n; i += blockDim.x) { x[i] = 0; [[__syncthreads()]]; }\n}",
      Severity::Warning);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].fixes.empty());
}

TEST_CASE("odd block sizes are rounded up where the number is written") {
  const std::string kernel =
      "__global__ void k(float *x, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) x[i] = 0;\n}\n";
  check_fix("block-size",
            kernel + "void run(float *x, int n) { k<<<(n + 99) / 100, [[100]]>>>(x, n); }",
            kernel + "void run(float *x, int n) { k<<<(n + 99) / 100, 128>>>(x, n); }",
            Severity::Information);
  check_fix("block-size",
            kernel + "void run(float *x, int n) { const int threads = 40; k<<<(n + threads - 1) / "
                     "threads, [[threads]]>>>(x, n); }",
            kernel + "void run(float *x, int n) { const int threads = 64; k<<<(n + threads - 1) / "
                     "threads, threads>>>(x, n); }",
            Severity::Warning);
  check_fix("block-size",
            "#define THREADS 16\n" + kernel +
                "void run(float *x, int n) { k<<<n, [[THREADS]]>>>(x, n); }",
            "#define THREADS 32\n" + kernel +
                "void run(float *x, int n) { k<<<n, THREADS>>>(x, n); }",
            Severity::Warning);
  check_fix("block-size",
            kernel + "void run(float *x, int n) { dim3 b(10, 10); k<<<n, [[b]]>>>(x, n); }",
            kernel + "void run(float *x, int n) { dim3 b(16, 10); k<<<n, b>>>(x, n); }",
            Severity::Information);
}

TEST_CASE("whole warps, single threads and unknown sizes are quiet") {
  const std::string kernel =
      "__global__ void k(float *x, int n) { if (threadIdx.x < n) x[0] = 0; }\n";
  for (const char *block : {"256", "dim3(16, 16)", "1", "dim3(8, 8, 8)", "n", "dim3(n, 3)"})
    check_quiet("block-size",
                kernel + "void run(float *x, int n) { k<<<1, " + block + ">>>(x, n); }");
}

TEST_CASE("a tree in shared memory ends in shuffles") {
  check_body_fix("tree-reduction", R"(  __shared__ float s[256];
  int tid = threadIdx.x;
  s[tid] = y[i];
  __syncthreads();
  [[for (unsigned int d = blockDim.x / 2; d > 0; d >>= 1)]] {
    if (tid < d) {
      s[tid] += s[tid + d];
    }
    __syncthreads();
  }
  if (tid == 0) x[blockIdx.x] = s[0];)",
                 R"(  __shared__ float s[256];
  int tid = threadIdx.x;
  s[tid] = y[i];
  __syncthreads();
  for (unsigned int d = blockDim.x / 2; d >= 32; d >>= 1) {
    if (tid < d) {
      s[tid] += s[tid + d];
    }
    __syncthreads();
  }
  if (tid < 32) {
    float sum = s[tid];
    for (int offset = 16; offset > 0; offset >>= 1)
      sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (tid == 0)
      s[0] = sum;
  }
  __syncthreads();
  if (tid == 0) x[blockIdx.x] = s[0];)",
                 Severity::Information);
}

TEST_CASE("an interleaved tree is put in order too, and maxima stay maxima") {
  check_body_fix("tree-reduction", R"(  extern __shared__ float s[];
  s[threadIdx.x] = y[i];
  __syncthreads();
  [[for (int d = 1; d < blockDim.x; d *= 2)]] {
    if (threadIdx.x % (2 * d) == 0)
      s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
    __syncthreads();
  })",
                 R"(  extern __shared__ float s[];
  s[threadIdx.x] = y[i];
  __syncthreads();
  for (int d = blockDim.x / 2; d >= 32; d >>= 1) {
    if (threadIdx.x < d)
      s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    float value = s[threadIdx.x];
    for (int offset = 16; offset > 0; offset >>= 1)
      value = fmaxf(value, __shfl_down_sync(0xffffffff, value, offset));
    if (threadIdx.x == 0)
      s[0] = value;
  }
  __syncthreads();)",
                 Severity::Information);
}

TEST_CASE("scans and trees that stop at a warp are no tree reductions") {
  check_quiet("tree-reduction", R"(
__global__ void k(float *s, int n) {
  __shared__ float t[512];
  for (int d = blockDim.x / 2; d >= 32; d >>= 1) { if (threadIdx.x < d) t[threadIdx.x] += t[threadIdx.x + d]; __syncthreads(); }
  for (int d = 1; d < n; d *= 2) { if (threadIdx.x >= d) t[threadIdx.x] += t[threadIdx.x - d]; __syncthreads(); }
  s[0] = t[0];
})");
}
