// Rules about memory: uncoalesced-access, bank-conflict, missing-bounds-check, missing-const, missing-restrict,
// shared-memory-race, atomic-contention.
// Thread: one.
#include "tests/analysis/rules_support.h"

namespace {
using namespace warpwright;
using namespace warpwright::analysis;
using namespace warpwright::analysis::test;
} // namespace

TEST_CASE("strided accesses are reported with what they cost") {
  const auto diagnostics = check_reports("uncoalesced-access", R"(
__global__ void k(float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = [[y[i * 8]]] + [[y[i * n]]];
})",
                                         Severity::Warning);
  REQUIRE(diagnostics.size() == 2);
  CHECK(diagnostics[0].message == "Uncoalesced read: neighbouring threads access 'y' 8 elements "
                                  "apart, which moves 8 times the memory traffic of "
                                  "neighbouring elements.");
  CHECK(diagnostics[1].message.find("n elements apart") != std::string::npos);
}

TEST_CASE("swapped thread indices are swapped back, with their launch") {
  check_fix("uncoalesced-access", R"(
__global__ void scale(float *x, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) [[x[row * cols + col]]] *= 2.0f;
}
void run(float *x, int rows, int cols) {
  dim3 block(16, 16);
  dim3 grid((rows + 15) / 16, (cols + 15) / 16);
  scale<<<grid, block>>>(x, rows, cols);
})",
            R"(
__global__ void scale(float *x, int rows, int cols) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && col < cols) x[row * cols + col] *= 2.0f;
}
void run(float *x, int rows, int cols) {
  dim3 block(16, 16);
  dim3 grid((cols + 15) / 16, (rows + 15) / 16);
  scale<<<grid, block>>>(x, rows, cols);
})",
            Severity::Warning);
}

TEST_CASE("a transpose is reported, but swapping would not help it") {
  const auto diagnostics = check_reports("uncoalesced-access", R"(
__global__ void k(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) [[out[x * h + y]]] = in[y * w + x];
}
void run(float *a, float *b, int w, int h) { k<<<dim3(w / 16, h / 16), dim3(16, 16)>>>(a, b, w, h); })",
                                         Severity::Warning);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].fixes.empty());
}

TEST_CASE("accesses of one thread, of whole structures and of covered strides are no waste") {
  const auto quiet = [](const std::string &body) {
    check_quiet("uncoalesced-access", "__global__ void k(float *x, float4 *v, int n) {"
                                      " int i = blockIdx.x * blockDim.x + threadIdx.x; " +
                                          body + " }");
  };
  quiet("if (threadIdx.x == 0) x[i * n] = 0;");
  quiet("v[i].x = v[i].y;");
  quiet("x[3 * i] = 0; x[3 * i + 1] = 0; x[3 * i + 2] = 0;");
  quiet("for (int j = i; j < n; j += gridDim.x * blockDim.x) x[j] = 0;");
}

TEST_CASE("column access of a square tile is fixed by padding its rows") {
  check_fix("bank-conflict", R"(
__global__ void k(float *x, const float *y) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = y[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = [[tile[threadIdx.x][threadIdx.y]]];
})",
            R"(
__global__ void k(float *x, const float *y) {
  __shared__ float tile[32][33];
  tile[threadIdx.y][threadIdx.x] = y[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
})",
            Severity::Warning);
}

TEST_CASE("padding keeps a named extent by name") {
  check_fix("bank-conflict", R"(#define TILE 32
__global__ void k(float *x) {
  __shared__ float tile[TILE][TILE];
  [[tile[threadIdx.x][threadIdx.y]]] = x[threadIdx.x];
})",
            R"(#define TILE 32
__global__ void k(float *x) {
  __shared__ float tile[TILE][TILE + 1];
  tile[threadIdx.x][threadIdx.y] = x[threadIdx.x];
})",
            Severity::Warning);
}

TEST_CASE("an array that is used as a vector is not padded") {
  const auto diagnostics = check_reports("bank-conflict", R"(
__global__ void k(float *x) {
  __shared__ float tile[32][32];
  [[tile[threadIdx.x][threadIdx.y]]] = x[threadIdx.x];
  float4 v = *reinterpret_cast<float4 *>(&tile[0][0]);
  x[0] = v.x;
})",
                                         Severity::Warning);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].fixes.empty());
}

TEST_CASE("conflict-free shared accesses are quiet") {
  check_quiet("bank-conflict", R"(__global__ void k(float *x) {
  __shared__ float tile[16][17];
  __shared__ double wide[256];
  tile[threadIdx.y][threadIdx.x] = 1; wide[threadIdx.x] = tile[0][threadIdx.x]; x[0] = wide[blockIdx.x];
})");
}

TEST_CASE("a missing bounds check becomes an early return") {
  check_fix("missing-bounds-check", R"(
__global__ void k(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  [[x[i]]] = 0;
}
void run(float *x, int n) { k<<<(n + 255) / 256, 256>>>(x, n); })",
            R"(
__global__ void k(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] = 0;
}
void run(float *x, int n) { k<<<(n + 255) / 256, 256>>>(x, n); })",
            Severity::Warning);
}

TEST_CASE("two-dimensional positions are checked against both sizes") {
  check_fix("missing-bounds-check", R"(
__global__ void k(float *out, const float *in, int height, int width) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    [[out[row * width + col]]] = in[row * width + col];
}
void run(float *o, float *i, int h, int w) {
    dim3 grid((w + 15) / 16, (h + 15) / 16);
    k<<<grid, dim3(16, 16)>>>(o, i, h, w);
})",
            R"(
__global__ void k(float *out, const float *in, int height, int width) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;
    out[row * width + col] = in[row * width + col];
}
void run(float *o, float *i, int h, int w) {
    dim3 grid((w + 15) / 16, (h + 15) / 16);
    k<<<grid, dim3(16, 16)>>>(o, i, h, w);
})",
            Severity::Warning);
}

TEST_CASE("a kernel with barriers gets guards around its accesses instead of a return") {
  check_fix("missing-bounds-check", R"(
__global__ void k(const float *in, float *out, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = [[in[i]]];
  __syncthreads();
  out[i] = s[255 - threadIdx.x];
})",
            R"(
__global__ void k(const float *in, float *out, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  if (i < n) out[i] = s[255 - threadIdx.x];
})",
            Severity::Information);
}

TEST_CASE("exact grids, guards of any form and kernels without sizes need no check") {
  const std::string index = "int i = blockIdx.x * blockDim.x + threadIdx.x; ";
  const auto quiet = [&](const std::string &body) {
    check_quiet("missing-bounds-check",
                "__global__ void k(float *x, int n) {" + index + body + "}");
  };
  quiet("if (i < n) x[i] = 0;");
  quiet("if (i >= n) { return; } x[i] = 0;");
  quiet("for (; i < n; i += blockDim.x * gridDim.x) x[i] = 0;");
  quiet("float v = i < n ? x[i] : 0.0f; if (i < n) x[i] = v;");
  quiet("x[i < n ? i : n - 1] = 0;");
  check_quiet("missing-bounds-check", "__global__ void k(float *x) {" + index + "x[i] = 0;}");
  check_quiet("missing-bounds-check",
              "__global__ void k(float *x, int offset, char c) {" + index + "x[i] = offset + c;}");
  check_quiet("missing-bounds-check",
              "__global__ void k(float *x, int cols) {" + index +
                  "x[i] = cols;}\n"
                  "void run(float *x, int rows, int cols) { k<<<rows, cols>>>(x, cols); }");
}

TEST_CASE("pointers that are only read get const in every declaration") {
  check_fix("missing-const", R"(
__global__ void k(float *in, float* other, float *out);
__global__ void k([[float *in]], float* other, float *out) { out[threadIdx.x] = in[threadIdx.x] + *other; })",
            R"(
__global__ void k(const float *in, const float* other, float *out);
__global__ void k(const float *in, const float* other, float *out) { out[threadIdx.x] = in[threadIdx.x] + *other; })",
            Severity::Hint);
}

TEST_CASE("pointers that are written, or handed on as mutable, stay as they are") {
  check_quiet("missing-const", R"(
__device__ float sum(float *p) { return p[0] + p[1]; }
__global__ void k(float *a, float *b, float *c, int n) {
  float *alias = b;
  a[0] = sum(c) + alias[n] + ((float4 *)b)[0].x;
})");
}

TEST_CASE("several pointers get restrict in the style of the file") {
  check_fix("missing-restrict", R"(
template <class T> __global__ void k([[const T *in]], T* out, int n) { out[threadIdx.x] = in[threadIdx.x] * in[n]; })",
            R"(
template <class T> __global__ void k(const T *__restrict__ in, T* __restrict__ out, int n) { out[threadIdx.x] = in[threadIdx.x] * in[n]; })",
            Severity::Hint);
}

TEST_CASE("restrict is not proposed where a launch passes one buffer twice") {
  check_quiet("missing-restrict", R"(
__global__ void k(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x]; }
void run(float *x) { k<<<1, 32>>>(x, x); })");
  check_quiet("missing-restrict", "__global__ void k(float *x, int n) { x[n] = x[0]; }");
}

TEST_CASE("a read of another thread's element without a barrier gets one") {
  check_fix("shared-memory-race", R"(
__global__ void k(float *x) {
  __shared__ float s[256];
  s[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = [[s[255 - threadIdx.x]]];
})",
            R"(
__global__ void k(float *x) {
  __shared__ float s[256];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[255 - threadIdx.x];
})",
            Severity::Warning);
}

TEST_CASE("own elements, reductions and warps are no race") {
  check_quiet("shared-memory-race", R"(
__global__ void k(float *x) {
  __shared__ float s[256];
  s[threadIdx.x] = x[threadIdx.x];
  s[threadIdx.x] *= 2;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
  if (threadIdx.x < 32) { s[threadIdx.x] += s[threadIdx.x + 32]; x[0] = s[0]; }
})");
}

TEST_CASE("contended atomics are summed by warp first") {
  check_fix("atomic-contention", R"(
__global__ void k(const float *x, float *sum) {
  float v = x[blockIdx.x * blockDim.x + threadIdx.x];
  [[atomicAdd(sum, v)]];
}
void run(float *x, float *s) { k<<<64, 256>>>(x, s); })",
            R"(
__global__ void k(const float *x, float *sum) {
  float v = x[blockIdx.x * blockDim.x + threadIdx.x];
  float warp_sum = v;
  for (int offset = 16; offset > 0; offset >>= 1)
    warp_sum += __shfl_down_sync(0xffffffff, warp_sum, offset);
  if (threadIdx.x % 32 == 0)
    atomicAdd(sum, warp_sum);
}
void run(float *x, float *s) { k<<<64, 256>>>(x, s); })",
            Severity::Warning);
}

TEST_CASE("atomics of one lane, on different addresses or of constants are quiet") {
  check_quiet("atomic-contention", R"(
__global__ void k(const float *x, float *sum, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  if (threadIdx.x == 0) atomicAdd(sum, v);
  if (threadIdx.x % 32 == 0) atomicAdd(&sum[1], v);
  atomicAdd(&bins[i % 64], 1);
  if (i < n) atomicAdd(&bins[0], 1);
})");
}
