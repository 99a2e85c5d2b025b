// Facts of kernels and launches other than accesses: parameters, shared arrays, barriers, divergence, intensity,
// recognized patterns.
// Thread: one.
#include "tests/analysis/kernel_source.h"

namespace {

using namespace warpwright;
using namespace warpwright::analysis;
using namespace warpwright::analysis::test;

/// "name:element flags" for each parameter; flags c(onst) R(estrict) r(ead) w(ritten).
std::string parameters_of(const Kernel &kernel) {
  std::string text;
  for (const Parameter &p : kernel.parameters)
    text += p.name + ":" + p.element_type + (p.is_pointer ? "* " : " ") + (p.is_const ? "c" : "") +
            (p.is_restrict ? "R" : "") + (p.is_read ? "r" : "") + (p.is_written ? "w" : "") + "\n";
  return text;
}

void check_parameters(const std::string &source, const std::string &expected) {
  CAPTURE(source);
  auto unit = parsed(source);
  REQUIRE(unit->kernels().size() == 1);
  CHECK(parameters_of(kernel_facts(*unit, *unit->kernels()[0])) == expected);
}

/// The kernel's barriers as "kind divergent?" lines.
void check_barriers(const std::string &body, const std::string &expected) {
  CAPTURE(body);
  const Kernel kernel =
      only_kernel("__global__ void k(float *x, int *flags, int n) {\n" + body + "\n}\n");
  std::string text;
  for (const Barrier &barrier : kernel.barriers)
    text += barrier.kind + (barrier.is_divergent ? " divergent" : "") + "\n";
  CHECK(text == expected);
}

void check_pattern(const std::string &source, const std::string &expected) {
  CAPTURE(source);
  CHECK(only_kernel(source).pattern.value_or("none") == expected);
}

TEST_CASE("hash rounds, in which each value is used often, take no time") {
  // As in bitcracker's attack.cu: without short names the text of a value doubles in each round.
  std::string body = "unsigned a = x[threadIdx.x], b = x[n];\n";
  for (int round = 0; round < 200; ++round)
    body += "a = (b >> 7) ^ (b << 3) ^ (b >> 18) ^ a; b += (a >> 6) ^ (a / 11) ^ (a & b);\n";
  const Kernel kernel =
      only_kernel("__global__ void hash(unsigned *x, int n) {\n" + body + "x[a % n] = b;\n}\n");
  REQUIRE(!kernel.accesses.empty());
  for (const Access &access : kernel.accesses)
    for (const auto &[symbol, factor] : access.index.coefficients)
      CHECK(symbol.size() < 1000);
}

} // namespace

TEST_CASE("parameters say what is read and written") {
  check_parameters(
      "__global__ void k(float *__restrict__ x, const int *y, double *z, int n, const float a) {"
      " x[n] = y[0] + a; z[1] += 1; }",
      "x:float* Rw\ny:int* cr\nz:double* rw\nn:int r\na:float cr\n");
}

TEST_CASE("reads and writes are followed into device functions and local pointers") {
  check_parameters("__device__ float get(float *p, int i) { return p[i]; }\n"
                   "__device__ void put(float *p, float v) { *p = v; }\n"
                   "__global__ void k(float *a, float *b, float *c, float *d) {"
                   " float *q = c; q += 4; b[0] = get(a, 1); put(b + 1, *q); put(&d[3], 1); }",
                   "a:float* r\nb:float* w\nc:float* r\nd:float* w\n");
}

TEST_CASE("a pointer that cannot be followed counts as read and written") {
  check_parameters("struct S { float *p; };\n__device__ void unknown(float *p);\n"
                   "__global__ void k(float *a, float *b, float *c, bool f) {"
                   " S s{a}; unknown(b); float *q = f ? c : nullptr; *s.p = *q; }",
                   "a:float* rw\nb:float* rw\nc:float* rw\nf:bool r\n");
}

TEST_CASE("parameters of templates keep their dependent types") {
  check_parameters(
      "template <class T> __device__ T load(const T *p, int i) { return p[i]; }\n"
      "template <class T> __global__ void k(T *x, const T *y, int n) { x[n] = load(y, n); }",
      "x:T* w\ny:T* cr\nn:int r\n");
}

TEST_CASE("shared arrays have extents over all dimensions") {
  const Kernel kernel =
      only_kernel("#define B 16\nconstexpr int kPad = 1;\n"
                  "__global__ void k() { __shared__ float tile[B][B + kPad]; __shared__ int flag;\n"
                  "  extern __shared__ double dynamic[]; }\n");
  REQUIRE(kernel.shared_arrays.size() == 3);
  CHECK(kernel.shared_arrays[0].extent == 272);
  CHECK(kernel.shared_arrays[0].element_type == "float");
  CHECK(kernel.shared_arrays[0].line == 3);
  CHECK(kernel.shared_arrays[1].extent == 1);
  CHECK(kernel.shared_arrays[2].is_dynamic);
  CHECK_FALSE(kernel.shared_arrays[2].extent);
}

TEST_CASE("barriers under conditions that depend on the thread are divergent") {
  check_barriers("__syncthreads();", "__syncthreads\n");
  check_barriers("if (threadIdx.x < 32) __syncthreads();", "__syncthreads divergent\n");
  check_barriers("int i = threadIdx.x; if (i >= n) return; __syncthreads();",
                 "__syncthreads divergent\n");
  check_barriers("for (int i = threadIdx.x; i < n; i += blockDim.x) __syncthreads();",
                 "__syncthreads divergent\n");
  check_barriers("if (threadIdx.x < 32) __syncwarp();", "__syncwarp\n");
}

TEST_CASE("barriers under uniform conditions are not divergent") {
  check_barriers("if (n > 3) __syncthreads();", "__syncthreads\n");
  check_barriers("if (flags[blockIdx.x]) return; __syncthreads();", "__syncthreads\n");
  check_barriers("for (int s = blockDim.x / 2; s > 0; s >>= 1) { if (threadIdx.x < s) x[0] += 1; "
                 "__syncthreads(); }",
                 "__syncthreads\n");
  check_barriers("for (int b = blockIdx.x * 4; b < n; b += gridDim.x) __syncthreads();",
                 "__syncthreads\n");
  check_barriers(
      "__shared__ int done; while (true) { if (threadIdx.x == 0) done = flags[0]; __syncthreads();"
      " if (done) break; }",
      "__syncthreads\n");
  check_barriers("for (int t = 0; t < n; ++t) { for (int j = 0; j < n; ++j) { if (j + threadIdx.x "
                 "> n) break; x[j] = 0; }"
                 " __syncthreads(); }",
                 "__syncthreads\n");
}

TEST_CASE("a break in the barrier's own loop makes it divergent") {
  check_barriers("for (int t = 0; t < n; ++t) { __syncthreads(); if (t + threadIdx.x > n) break; }",
                 "__syncthreads divergent\n");
}

TEST_CASE("bounds checks are no divergence, other branches on the thread are") {
  const auto divergence = [](const std::string &body) {
    return only_kernel("__global__ void k(float *x, int n) { int i = blockIdx.x * blockDim.x + "
                       "threadIdx.x; " +
                       body + " }")
        .has_divergence;
  };
  CHECK_FALSE(divergence("if (i < n) x[i] = 0;"));
  CHECK_FALSE(divergence("if (i >= n || threadIdx.y >= n) return; x[i] = 0;"));
  CHECK(divergence("if (threadIdx.x % 2) x[i] = 0;"));
  CHECK(divergence("if (i < n && x[i] > 0) x[i] = 0;"));
}

TEST_CASE("warp operations and atomics are noted") {
  const Kernel kernel =
      only_kernel("__global__ void k(float *x) { float v = __shfl_down_sync(~0u, x[0], 1);"
                  " atomicAdd(x, v); }");
  CHECK(kernel.uses_warp_operations);
  CHECK(kernel.uses_atomics);
}

TEST_CASE("arithmetic intensity counts constant loops") {
  CHECK(only_kernel("__global__ void k(float *x) { x[threadIdx.x] = 2 * x[threadIdx.x] + 1; }")
            .arithmetic_intensity == doctest::Approx(2.0 / 8));
  CHECK(only_kernel("__global__ void k(float *x) { float s = x[0]; for (int i = 0; i < 16; ++i) s "
                    "= s * s; x[0] = s; }")
            .arithmetic_intensity == doctest::Approx(16.0 / 8));
  CHECK_FALSE(only_kernel("__global__ void k() { float s = 1; s *= 2; }").arithmetic_intensity);
}

TEST_CASE("launches keep their expressions as written") {
  auto unit = parsed("template <int B> __global__ void k(float *x, int n) {}\n"
                     "void run(float *x, int n, cudaStream_t s) {\n"
                     "  dim3 grid((n + 15) / 16, 2);\n"
                     "  k<16><<<grid, dim3(16, 16), 4 * n, s>>>(x + 1, n);\n"
                     "}\n");
  REQUIRE(unit->launches().size() == 1);
  const Launch launch = launch_facts(*unit, *unit->launches()[0]);
  CHECK(launch.kernel == "k");
  CHECK(launch.enclosing_function == "run");
  CHECK(launch.grid == "grid");
  CHECK(launch.block == "dim3(16, 16)");
  CHECK(launch.shared == "4 * n");
  CHECK(launch.stream == "s");
  CHECK(launch.arguments == std::vector<std::string>{"x + 1", "n"});
  CHECK(launch.template_arguments == std::vector<std::string>{"16"});
  CHECK(launch.line == 4);
  CHECK(launch.column == 3);
  CHECK(unit->text().substr(launch.block_range.begin, launch.block_range.size()) == "dim3(16, 16)");
  CHECK(unit->text().substr(launch.range.begin, launch.range.size()) ==
        "k<16><<<grid, dim3(16, 16), 4 * n, s>>>(x + 1, n)");
}

TEST_CASE("a kernel's ranges cover its template head and attributes") {
  auto unit = parsed("namespace a {\ntemplate <class T>\n__global__ void __launch_bounds__(256) "
                     "k(T *x) { x[0] = 1; }\n}\n");
  REQUIRE(unit->kernels().size() == 1);
  const Kernel kernel = kernel_facts(*unit, *unit->kernels()[0]);
  const auto text = [&](Range range) {
    return std::string(unit->text().substr(range.begin, range.size()));
  };
  CHECK(text(kernel.range) ==
        "template <class T>\n__global__ void __launch_bounds__(256) k(T *x) { x[0] = 1; }");
  CHECK(text(kernel.name_range) == "k");
  CHECK(text(kernel.body_range) == "{ x[0] = 1; }");
  CHECK(kernel.qualified_name == "a::k");
  CHECK(kernel.is_template);
  CHECK(kernel.line == 3);
}

TEST_CASE("well-known computations are recognised") {
  check_pattern(R"(__global__ void k(const float *A, const float *B, float *C, int N) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < N; ++k) sum += A[row * N + k] * B[k * N + col];
  C[row * N + col] = sum; })",
                "matmul");
  check_pattern(R"(__global__ void k(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) out[x * h + y] = in[y * w + x]; })",
                "transpose");
  check_pattern(R"(__global__ void k(const float *in, float *out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int j = 0; j < cols; ++j) sum += in[row * cols + j];
  out[row] = sum; })",
                "row_reduction");
  check_pattern(R"(__global__ void k(const float *in, float *out, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float top = in[row * cols];
  for (int j = 1; j < cols; ++j) top = fmaxf(top, in[row * cols + j]);
  float sum = 0;
  for (int j = 0; j < cols; ++j) sum += expf(in[row * cols + j] - top);
  for (int j = 0; j < cols; ++j) out[row * cols + j] = expf(in[row * cols + j] - top) / sum; })",
                "softmax");
  check_pattern(R"(__global__ void k(const int *data, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[data[i]], 1); })",
                "histogram");
  check_pattern(R"(__global__ void k(const float *in, float *out, int n) {
  __shared__ float s[256];
  s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0]; })",
                "block_reduction");
  check_pattern(R"(__global__ void k(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1]; })",
                "stencil");
  check_pattern(R"(__global__ void k(const float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i]; })",
                "elementwise");
}
