// Access patterns, affine indices and bank conflicts of single kernels.
//
// check(body, expected) wraps the body into a kernel; each expected line describes one access in the order of the
// text: buffer, read|write|atomic, pattern, stride if known, "ways=N" if shared memory conflicts.
// Thread: one.
#include "tests/analysis/kernel_source.h"

#include "analysis/facts/kernel_context.h"

namespace {

using namespace warpwright;
using namespace warpwright::analysis;
using namespace warpwright::analysis::test;

std::string pattern_name(AccessPattern pattern) {
  switch (pattern) {
  case AccessPattern::Coalesced:
    return "coalesced";
  case AccessPattern::Broadcast:
    return "broadcast";
  case AccessPattern::Strided:
    return "strided";
  case AccessPattern::Irregular:
    return "irregular";
  }
  return "?";
}

std::string described(const Kernel &kernel) {
  std::string text;
  for (const Access &access : kernel.accesses) {
    if (access.space == MemorySpace::Local)
      continue;
    text += access.buffer +
            (access.is_atomic  ? " atomic "
             : access.is_write ? " write "
                               : " read ") +
            pattern_name(access.pattern);
    if (access.pattern == AccessPattern::Strided)
      text +=
          access.stride ? " " + std::to_string(*access.stride) : " " + access.index.symbolic_stride;
    if (access.bank_conflict_ways > 1)
      text += " ways=" + std::to_string(access.bank_conflict_ways);
    text += "\n";
  }
  return text;
}

/// A whole file, for cases that need launches or templates.
void check_file(const std::string &source, const std::string &expected) {
  CAPTURE(source);
  CHECK(described(only_kernel(source)) == expected);
}

void check(const std::string &body, const std::string &expected) {
  check_file("__global__ void k(float *x, const float *y, int *data, int n, int m) {\n" + body +
                 "\n}\n",
             expected);
}

} // namespace

TEST_CASE("neighbouring threads at neighbouring elements are coalesced") {
  check("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = y[i];",
        "x write coalesced\ny read coalesced\n");
  check("int i; i = threadIdx.x + 4; x[i + n] = y[n - 1 - i];",
        "x write coalesced\ny read coalesced\n");
}

TEST_CASE("compound assignments and increments are a read and a write") {
  check("int i = threadIdx.x; x[i] += 2.0f; data[i]++;",
        "x read coalesced\nx write coalesced\ndata read coalesced\ndata write coalesced\n");
}

TEST_CASE("constant and symbolic strides are told apart") {
  check("int i = blockIdx.x * blockDim.x + threadIdx.x; x[2 * i] = y[(i << 2) + 1];",
        "x write strided 2\ny read strided 4\n");
  check("int row = threadIdx.x; for (int j = 0; j < n; ++j) x[row * n + j] = 0;",
        "x write strided n\n");
  check("x[threadIdx.x * n * m] = 0;", "x write strided m*n\n");
}

TEST_CASE("uniform indices are broadcasts, loaded ones irregular") {
  check("int i = threadIdx.x; x[i] = y[blockIdx.x] + y[n] + y[data[i]];",
        "x write coalesced\ny read broadcast\ny read broadcast\ny read irregular\ndata read "
        "coalesced\n");
}

TEST_CASE("grid-stride loops stay coalesced, in for and in while") {
  check("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) "
        "x[i] = y[i];",
        "x write coalesced\ny read coalesced\n");
  check("int i = threadIdx.x; while (i < n) { x[i] = 1; i += blockDim.x; }", "x write coalesced\n");
}

TEST_CASE("a variable that branches set differently is irregular") {
  check("int i = threadIdx.x; if (data[threadIdx.x] > 3) i = 7; x[i] = 0;",
        "data read coalesced\nx write irregular\n");
  check("int i = threadIdx.x; i = i * 4; i += 2; x[i] = 0;", "x write strided 4\n");
}

TEST_CASE("pointers are followed through arithmetic, variables and casts") {
  check("const float *row = y + blockIdx.x * n; float v = *(row + threadIdx.x); *x = v;",
        "y read coalesced\nx write broadcast\n");
  check(
      "float4 *wide = reinterpret_cast<float4 *>(x); wide[threadIdx.x] = make_float4(0, 0, 0, 0);",
      "x write coalesced\n");
  check("float4 v = ((const float4 *)y)[threadIdx.x * 2]; x[threadIdx.x] = v.x;",
        "y read strided 2\nx write coalesced\n");
  check("x[threadIdx.x] = __ldg(&y[threadIdx.x]) + __ldg(y + n);",
        "x write coalesced\ny read coalesced\ny read broadcast\n");
  check("for (const float *p = y + threadIdx.x; p < y + n; p += blockDim.x) x[threadIdx.x] += *p;",
        "x read coalesced\nx write coalesced\ny read coalesced\n");
}

TEST_CASE("atomics are writes through their pointer") {
  check("atomicAdd(&data[threadIdx.x % 8], 1); atomicAdd(x, 1.0f);",
        "data atomic coalesced\nx atomic broadcast\n");
}

TEST_CASE("functions of one return statement are looked into") {
  check_file(R"(__device__ int at(int row, int column, int width) { return row * width + column; }
__global__ void k(float *x, int n) { x[at(blockIdx.x, threadIdx.x, n)] = 0; x[at(threadIdx.x, 0, n)] = 0; })",
             "x write coalesced\nx write strided n\n");
}

TEST_CASE("the shape of the block decides where launches show it") {
  const std::string kernel = R"(__global__ void k(float *x, const float *y, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  x[row * n + col] = y[col * n + row];
}
)";
  check_file(
      kernel +
          "void run(float *x, float *y, int n) { dim3 block(16, 16); k<<<n, block>>>(x, y, n); }",
      "x write coalesced\ny read strided n\n");
  check_file(kernel + "void run(float *x, float *y, int n) { k<<<n, dim3(1, 256)>>>(x, y, n); }",
             "x write strided \ny read coalesced\n");
}

TEST_CASE("bank conflicts of shared tiles follow from their padding") {
  const std::string store = "tile[threadIdx.y][threadIdx.x] = y[threadIdx.x]; __syncthreads();"
                            " x[threadIdx.x] = tile[threadIdx.x][threadIdx.y];";
  check(
      "__shared__ float tile[32][32]; " + store,
      "tile write coalesced\ny read coalesced\nx write coalesced\ntile read strided 32 ways=32\n");
  check("__shared__ float tile[32][33]; " + store,
        "tile write coalesced\ny read coalesced\nx write coalesced\ntile read strided 33\n");
  check("__shared__ double tile[64]; tile[threadIdx.x * 2] = 0;", "tile write strided 2 ways=2\n");
  check("extern __shared__ float s[]; s[threadIdx.x] = s[2 * threadIdx.x];",
        "s write coalesced\ns read strided 2 ways=2\n");
}

TEST_CASE("template extents come from the launch") {
  check_file(
      R"(template <int TILE, class T> __global__ void k(T *x, const T *y) {
  __shared__ T tile[TILE][TILE];
  tile[threadIdx.y][threadIdx.x] = y[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void run(float *x, float *y) { k<32, float><<<1, dim3(32, 32)>>>(x, y); })",
      "tile write coalesced\ny read coalesced\nx write coalesced\ntile read strided 32 ways=32\n");
}

TEST_CASE("lanes and warps from division and remainder are evaluated") {
  check("int lane = threadIdx.x % 32, warp = threadIdx.x / 32; x[warp * n + lane] = y[warp];",
        "x write coalesced\ny read broadcast\n");
  check("int lane = threadIdx.x & 31, warp = threadIdx.x >> 5; x[lane * 4 + warp] = 0;",
        "x write strided 4\n");
  check("int i = blockIdx.x * blockDim.x + threadIdx.x; int row = i / n, col = i % n; x[row * n + "
        "col] = y[col * m + row];",
        "x write coalesced\ny read strided \n");
}

TEST_CASE("affine indices carry their coefficients by name") {
  const Kernel kernel = only_kernel("__global__ void k(float *x, int n) {\n"
                                    "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
                                    "  for (int j = 0; j < 8; ++j)\n"
                                    "    x[row * n + 2 * j + threadIdx.x + 5] = 0;\n"
                                    "}\n");
  REQUIRE(kernel.accesses.size() == 1);
  const Access &access = kernel.accesses[0];
  CHECK(access.index.affine);
  CHECK(access.index.text == "row * n + 2 * j + threadIdx.x + 5");
  CHECK(access.index.constant == 5);
  const std::map<std::string, std::int64_t> expected{
      {"threadIdx.x", 1}, {"j", 2}, {"n*threadIdx.y", 1}, {"blockDim.y*blockIdx.y*n", 1}};
  CHECK(access.index.coefficients == expected);
  CHECK(access.loop_depth == 1);
  CHECK(access.line == 4);
  CHECK(access.column == 5);
  CHECK(access.element_type == "float");
  CHECK(access.element_bytes == 4);
}
