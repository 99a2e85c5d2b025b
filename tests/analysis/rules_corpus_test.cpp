// What rules must not do: complain about well-written kernels, or fail on text that is being typed.
//
// The corpus is kernels as an expert writes them: no rule may say anything about them. The same kernels, cut after
// every few tokens and with tokens removed, are run through facts and rules to show that nothing crashes and that
// ranges stay inside the text.
// Thread: one.
#include "tests/analysis/rules_support.h"

#include <array>
#include <cctype>

namespace {

using namespace warpwright;
using namespace warpwright::analysis;
using namespace warpwright::analysis::test;

const std::array kCorpus{
    // Grid-stride saxpy.
    R"(__global__ void saxpy(int n, float a, const float *__restrict__ x, float *__restrict__ y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    y[i] = a * x[i] + y[i];
}
void run(int n, float *x, float *y, cudaStream_t s) { saxpy<<<(n + 255) / 256, 256, 0, s>>>(n, 2.0f, x, y); }
)",
    // Tiled transpose with padding.
    R"(constexpr int kTile = 32, kRows = 8;
template <class T>
__global__ void transpose(const T *__restrict__ in, T *__restrict__ out, int width, int height) {
  __shared__ T tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
template __global__ void transpose<float>(const float *, float *, int, int);
void run(const float *in, float *out, int w, int h) {
  transpose<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(kTile, kRows)>>>(in, out, w, h);
}
)",
    // Tiled matrix product.
    R"(#define TILE 16
__global__ void matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int N) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float acc = 0.0f;
  for (int t = 0; t < (N + TILE - 1) / TILE; ++t) {
    As[ty][tx] = (row < N && t * TILE + tx < N) ? A[row * N + t * TILE + tx] : 0.0f;
    Bs[ty][tx] = (col < N && t * TILE + ty < N) ? B[(t * TILE + ty) * N + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) acc += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  if (row < N && col < N) C[row * N + col] = acc;
}
void run(const float *a, const float *b, float *c, int n) {
  dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
  matmul<<<grid, block>>>(a, b, c, n);
}
)",
    // Reduction by shuffles, one atomic a block.
    R"(__inline__ __device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}
__global__ void reduce(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float partial[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += in[i];
  sum = warp_sum(sum);
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < blockDim.x / 32 ? partial[lane] : 0.0f;
    sum = warp_sum(sum);
    if (lane == 0) atomicAdd(out, sum);
  }
}
void run(const float *in, float *out, int n) { reduce<<<256, 512>>>(in, out, n); }
)",
    // Softmax, a warp a row.
    R"(__global__ void softmax(const float *__restrict__ in, float *__restrict__ out, int rows, int cols) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float *x = in + static_cast<size_t>(row) * cols;
  float *y = out + static_cast<size_t>(row) * cols;
  float top = -3.4e38f;
  for (int j = lane; j < cols; j += 32) top = fmaxf(top, x[j]);
  for (int m = 16; m > 0; m >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, m));
  float sum = 0.0f;
  for (int j = lane; j < cols; j += 32) sum += __expf(x[j] - top);
  for (int m = 16; m > 0; m >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, m);
  const float scale = 1.0f / sum;
  for (int j = lane; j < cols; j += 32) y[j] = __expf(x[j] - top) * scale;
}
)",
    // Vectorised copy with a tail.
    R"(__global__ void scale(const float *__restrict__ in, float *__restrict__ out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int vectors = n / 4;
  const float4 *in4 = reinterpret_cast<const float4 *>(in);
  float4 *out4 = reinterpret_cast<float4 *>(out);
  if (i < vectors) {
    float4 v = in4[i];
    v.x *= a; v.y *= a; v.z *= a; v.w *= a;
    out4[i] = v;
  }
  const int tail = vectors * 4 + i;
  if (i < n - vectors * 4) out[tail] = a * in[tail];
}
)",
    // Histogram with a private copy in shared memory.
    R"(__global__ void histogram(const unsigned char *__restrict__ data, unsigned int *__restrict__ bins, int n) {
  __shared__ unsigned int local[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}
void run(const unsigned char *d, unsigned int *b, int n) { histogram<<<128, 256>>>(d, b, n); }
)",
    // Stencil with a halo.
    R"(#define RADIUS 3
#define BLOCK 256
__global__ void stencil(const int *__restrict__ in, int *__restrict__ out, int n) {
  __shared__ int tile[BLOCK + 2 * RADIUS];
  int g = blockIdx.x * BLOCK + threadIdx.x, l = threadIdx.x + RADIUS;
  tile[l] = g < n ? in[g] : 0;
  if (threadIdx.x < RADIUS) {
    tile[l - RADIUS] = g >= RADIUS ? in[g - RADIUS] : 0;
    tile[l + BLOCK] = g + BLOCK < n ? in[g + BLOCK] : 0;
  }
  __syncthreads();
  int result = 0;
  for (int o = -RADIUS; o <= RADIUS; ++o) result += tile[l + o];
  if (g < n) out[g] = result;
}
void run(const int *in, int *out, int n) { stencil<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(in, out, n); }
)",
    // Layer normalisation over a row per block, in double buffers of half precision inputs.
    R"(template <int THREADS>
__global__ void __launch_bounds__(THREADS) layer_norm(const float *__restrict__ x, const float *__restrict__ gain,
                                                      float *__restrict__ y, int cols, float epsilon) {
  __shared__ float sums[THREADS / 32], squares[THREADS / 32];
  const float *row = x + blockIdx.x * cols;
  float sum = 0.0f, square = 0.0f;
  for (int j = threadIdx.x; j < cols; j += THREADS) {
    const float v = row[j];
    sum += v;
    square += v * v;
  }
  for (int o = 16; o > 0; o >>= 1) {
    sum += __shfl_xor_sync(~0u, sum, o);
    square += __shfl_xor_sync(~0u, square, o);
  }
  if (threadIdx.x % 32 == 0) { sums[threadIdx.x / 32] = sum; squares[threadIdx.x / 32] = square; }
  __syncthreads();
  sum = square = 0.0f;
  for (int w = 0; w < THREADS / 32; ++w) { sum += sums[w]; square += squares[w]; }
  const float mean = sum / cols, inverse = rsqrtf(square / cols - mean * mean + epsilon);
  for (int j = threadIdx.x; j < cols; j += THREADS) y[blockIdx.x * cols + j] = (row[j] - mean) * inverse * gain[j];
}
void run(const float *x, const float *g, float *y, int rows, int cols) {
  layer_norm<256><<<rows, 256>>>(x, g, y, cols, 1e-5f);
}
)",
};

/// Facts and rules over any text; fails when a range leaves the text or an edit cannot be applied.
void run_over(const std::string &text) {
  auto unit = parse_stub({"/test/file.cu", text}, {},
                         llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>());
  if (!unit)
    return;
  const FileFacts facts = facts_of(**unit);
  bool inside = true;
  const auto check = [&](const Range &range) {
    inside &= range.begin <= range.end && range.end <= text.size();
  };
  for (const Kernel &kernel : facts.kernels) {
    check(kernel.range);
    check(kernel.body_range);
    for (const Access &access : kernel.accesses)
      check(access.range);
  }
  for (const Diagnostic &diagnostic : run_rules(**unit, facts)) {
    check(diagnostic.range);
    for (const QuickFix &fix : diagnostic.fixes)
      inside &= apply_edits(text, fix.edits).has_value();
  }
  if (!inside)
    CHECK_MESSAGE(inside, text);
}

/// Offsets where a token begins, roughly: where the kind of character changes.
std::vector<std::size_t> token_starts(const std::string &text) {
  const auto kind = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? 1
           : std::isspace(static_cast<unsigned char>(c))           ? 2
                                                                   : 3;
  };
  std::vector<std::size_t> starts;
  for (std::size_t i = 1; i < text.size(); ++i)
    if (kind(text[i]) != kind(text[i - 1]) || kind(text[i]) == 3)
      starts.push_back(i);
  return starts;
}

const char *const kRough = R"(
#define AT(p, i) p[(i) * 2]
#define SYNC __syncthreads()
template <class T, int N, class Op> struct Box { T data[N]; T *at; Op op; };
template <class T, int N, class Op> __device__ auto fold(Box<T, N, Op> b, T *p, int i) -> decltype(b.op(p[i], p[i])) {
  return b.op(p[i], b.at[i]);
}
template <class T, int N, class Op>
__global__ void rough(Box<T, N, Op> b, T *x, const T *y, typename Op::result *r, int n) {
  __shared__ T s[N][N + 1];
  extern __shared__ unsigned char raw[];
  T *dynamic = reinterpret_cast<T *>(raw);
  auto index = [&](int k) { return k * n + threadIdx.x; };
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = i;
  if (i >= n) return;
  while (j > 0) { j = j / 2 - 1; if (j == 7) continue; x[j] += fold(b, x, i); SYNC; }
  switch (i % 3) { case 0: s[i][j] = 1; break; default: AT(x, i) = AT(y, j); }
  for (auto &v : b.data) v = *x++ * 0.5 + 1.0 / (double)n;
  do { dynamic[index(j)] = i < n ? y[i] : b.at[i]; } while (++j < n);
  r[i] = Op()(s[threadIdx.x][threadIdx.y], dynamic[i & 31], x[~i], -y[+i], !i, &x[i] - x);
  x[i, j] = pow(x[i], 2) + undeclared(i) + b.missing + (x ? y : x)[i];
  goto end; end: atomicAdd(&x[0], x[i]);
}
void run(float *x, int n) {
  dim3 grid = dim3{(unsigned)n, 2}, block; block.x = 33;
  auto k = rough<float, 4, int>;
  rough<float, 32, int><<<grid, block, n * sizeof(float)>>>({}, x, x, nullptr, n);
  k<<<n, n>>>(x); rough<<<>>>(x); unknown<<<1, 50>>>(n);
}
)";

} // namespace

TEST_CASE("well-written kernels get no diagnostics") {
  for (const char *source : kCorpus) {
    auto unit = parsed(source);
    CHECK(unit->syntax_diagnostics().empty());
    REQUIRE(unit->kernels().size() == 1);
    check_quiet("", source);
  }
}

TEST_CASE("facts and rules survive every prefix of the corpus") {
  for (const char *source : kCorpus) {
    const std::string text = source;
    const auto starts = token_starts(text);
    for (std::size_t i = 0; i < starts.size(); i += 7)
      run_over(text.substr(0, starts[i]));
  }
}

TEST_CASE("facts and rules survive rough code, its prefixes and missing tokens") {
  const std::string text = kRough;
  run_over(text);
  const auto starts = token_starts(text);
  for (std::size_t i = 0; i + 1 < starts.size(); i += 3) {
    run_over(text.substr(0, starts[i]));
    run_over(text.substr(0, starts[i]) + text.substr(starts[i + 1]));
  }
}
