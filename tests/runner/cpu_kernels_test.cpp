// Real kernels give what they give on a GPU.
#include "tests/runner/cpu_fixture.h"

#include <cmath>
#include <numeric>

using namespace warpwright::runner;
using namespace warpwright::runner::cpu_test;

namespace {

std::vector<float> ramp(std::size_t count, float step = 1) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i % 251) * step;
  return values;
}

const std::string kSaxpy = R"(
__global__ void saxpy(float a, const float *__restrict__ x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
})";

} // namespace

TEST_CASE("saxpy with a tail") {
  Bench bench;
  const int n = 1000;
  DeviceArray<float> x(bench.device(), ramp(n)), y(bench.device(), ramp(n, 0.5f));
  CHECK(message(bench.run(kSaxpy, "saxpy", {{4}, {256}}, 2.0f, x, y, n)) == "");
  auto result = y.values(), start = ramp(n);
  for (int i = 0; i < n; ++i)
    REQUIRE(result[i] == 2.5f * start[i]);
}

TEST_CASE("tiled matrix product in both thread orders") {
  const std::string source = R"(
#define TILE 16
__global__ void matmul(const float *a, const float *b, float *c, int n) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += TILE) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
})";
  const int n = 64;
  Bench bench;
  std::vector<float> a = ramp(n * n), b = ramp(n * n, 0.25f), zeros(n * n);
  for (ThreadOrder order : {ThreadOrder::Forward, ThreadOrder::Reverse}) {
    DeviceArray<float> da(bench.device(), a), db(bench.device(), b), dc(bench.device(), zeros);
    bench.device().set_thread_order(order);
    CHECK(message(bench.run(source, "matmul", {{4, 4}, {16, 16}}, da, db, dc, n)) == "");
    auto c = dc.values();
    for (int i : {0, 1, 63, 64, 777, n * n - 1}) {
      float sum = 0;
      for (int k = 0; k < n; ++k)
        sum += a[i / n * n + k] * b[k * n + i % n];
      CHECK(c[i] == doctest::Approx(sum));
    }
  }
}

TEST_CASE("transpose through padded shared memory") {
  const std::string source = R"(
__global__ void transpose(const float *in, float *out, int rows, int cols) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
})";
  const int rows = 50, cols = 70;
  Bench bench;
  std::vector<float> in(rows * cols);
  std::iota(in.begin(), in.end(), 0.0f);
  DeviceArray<float> din(bench.device(), in), dout(bench.device(), std::vector<float>(rows * cols));
  CHECK(message(bench.run(source, "transpose", {{3, 2}, {32, 8}}, din, dout, rows, cols)) == "");
  auto out = dout.values();
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      REQUIRE(out[c * rows + r] == in[r * cols + c]);
}

TEST_CASE("block reduction by warp shuffles, as a template") {
  const std::string source = R"(
namespace sums {
template <typename T> __device__ T warp_sum(T v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
  return v;
}
template <typename T, int kThreads> __global__ void reduce(const T *in, T *out, int n) {
  __shared__ T partial[kThreads / 32];
  T v = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) v += in[i];
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < kThreads / 32 ? partial[threadIdx.x] : T(0);
    v = warp_sum(v);
    if (threadIdx.x == 0) atomicAdd(out, v);
  }
}
})";
  const int n = 10'000;
  Bench bench;
  DeviceArray<float> in(bench.device(), std::vector<float>(n, 1.0f)), out(bench.device(), {0.0f});
  CHECK(message(bench.run(source, "sums::reduce<float, 256>", {{5}, {256}}, in, out, n)) == "");
  CHECK(out.values()[0] == 10'000.0f);
  DeviceArray<double> in64(bench.device(), std::vector<double>(n, 0.5)),
      out64(bench.device(), {0.0});
  CHECK(message(bench.run(source, "sums::reduce<double, 128>", {{3}, {128}}, in64, out64, n)) ==
        "");
  CHECK(out64.values()[0] == 5'000.0);
}

TEST_CASE("histogram with dynamic shared memory and atomics") {
  const std::string source = R"(
__global__ void histogram(const unsigned char *data, unsigned *bins, int n, int count) {
  extern __shared__ unsigned local[];
  for (int i = threadIdx.x; i < count; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) atomicAdd(&bins[i], local[i]);
})";
  const int n = 5'000;
  Bench bench;
  std::vector<unsigned char> data(n);
  std::vector<unsigned> expected(256);
  for (int i = 0; i < n; ++i)
    ++expected[data[i] = static_cast<unsigned char>(i * i % 253)];
  DeviceArray<unsigned char> in(bench.device(), data);
  DeviceArray<unsigned> bins(bench.device(), std::vector<unsigned>(256));
  CHECK(message(bench.run(source, "histogram", {{4}, {96}, 1024}, in, bins, n, 256)) == "");
  CHECK(bins.values() == expected);
}

TEST_CASE("row softmax") {
  const std::string source = R"(
#include <math_constants.h>
__global__ void softmax(const float *x, float *y, int cols) {
  const float *row = x + blockIdx.x * cols;
  float largest = -CUDART_INF_F;
  for (int j = 0; j < cols; ++j) largest = fmaxf(largest, row[j]);
  float sum = 0.0f;
  for (int j = 0; j < cols; ++j) sum += expf(row[j] - largest);
  for (int j = threadIdx.x; j < cols; j += blockDim.x)
    y[blockIdx.x * cols + j] = __expf(row[j] - largest) / sum;
})";
  const int rows = 3, cols = 77;
  Bench bench;
  std::vector<float> x = ramp(rows * cols, 0.01f);
  DeviceArray<float> dx(bench.device(), x), dy(bench.device(), std::vector<float>(rows * cols));
  CHECK(message(bench.run(source, "softmax", {{rows}, {32}}, dx, dy, cols)) == "");
  auto y = dy.values();
  for (int r = 0; r < rows; ++r) {
    double largest = -1e30, sum = 0;
    for (int j = 0; j < cols; ++j)
      largest = std::max<double>(largest, x[r * cols + j]);
    for (int j = 0; j < cols; ++j)
      sum += std::exp(x[r * cols + j] - largest);
    for (int j = 0; j < cols; ++j)
      REQUIRE(y[r * cols + j] ==
              doctest::Approx(std::exp(x[r * cols + j] - largest) / sum).epsilon(1e-5));
  }
}

TEST_CASE("half, half2 and bfloat16 round after each operation") {
  const std::string source = R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void halves(const float *x, float *y, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  __half h = __float2half(x[i]);
  __half2 pair = __floats2half2_rn(x[i], 2.0f * x[i]);
  pair = __hfma2(pair, __half2half2(h), __float2half2_rn(1.0f));
  y[4 * i] = __half2float(__hadd(h, __float2half(1000.0f)));
  y[4 * i + 1] = __low2float(pair) + __high2float(pair);
  y[4 * i + 2] = __bfloat162float(__float2bfloat16(x[i]) * __nv_bfloat16(3.0f));
  y[4 * i + 3] = h > __half(1.0f) ? 1.0f : 0.0f;
})";
  Bench bench;
  std::vector<float> x = {0.1f, 1.0f, 1.2345f, -3.3f};
  DeviceArray<float> dx(bench.device(), x), dy(bench.device(), std::vector<float>(16));
  CHECK(message(bench.run(source, "halves", {{1}, {32}}, dx, dy, 4)) == "");
  auto y = dy.values();
  for (int i = 0; i < 4; ++i) {
    const float h = static_cast<float>(static_cast<_Float16>(x[i]));
    CHECK(y[4 * i] == static_cast<float>(static_cast<_Float16>(h + 1000.0f)));
    const float high = static_cast<float>(static_cast<_Float16>(2 * x[i]));
    CHECK(y[4 * i + 1] == static_cast<float>(static_cast<_Float16>(h * h + 1)) +
                              static_cast<float>(static_cast<_Float16>(high * h + 1)));
    CHECK(y[4 * i + 2] == doctest::Approx(3 * x[i]).epsilon(0.01));
    CHECK(y[4 * i + 3] == (h > 1.0f ? 1.0f : 0.0f));
  }
}

TEST_CASE("vector accesses, constant memory and device variables") {
  const std::string source = R"(
__constant__ float kWeights[4] = {1, 2, 3, 4};
__device__ int calls;
__global__ void weigh(const float4 *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) calls += 1;
  if (i < n) {
    float4 v = in[i];
    out[i] = v.x * kWeights[0] + v.y * kWeights[1] + v.z * kWeights[2] + v.w * kWeights[3] + calls;
  }
})";
  Bench bench;
  DeviceArray<float> in(bench.device(), std::vector<float>(256, 1.0f)),
      out(bench.device(), std::vector<float>(64));
  for (int repeat = 0; repeat < 2; ++repeat) { // a new program starts with calls == 0
    CHECK(message(bench.run(source, "weigh", {{1}, {64}}, in, out, 64)) == "");
    CHECK(out.values()[63] == 11.0f);
  }
}

TEST_CASE("lanes of different branches and iterations are not active together") {
  const std::string source = R"(
__global__ void branches(unsigned *out) {
  unsigned mask, sum = 0;
  if (threadIdx.x % 2) {
    mask = __activemask();
    sum = __reduce_add_sync(mask, threadIdx.x);
  } else {
    mask = __activemask();
    sum = __popc(__ballot_sync(mask, threadIdx.x > 4));
  }
  for (int i = 0; i < threadIdx.x % 4; ++i)
    sum += __popc(__ballot_sync(__activemask(), 1)) > 0;
  out[threadIdx.x] = mask;
  out[32 + threadIdx.x] = sum;
})";
  Bench bench;
  DeviceArray<unsigned> out(bench.device(), std::vector<unsigned>(64));
  CHECK(message(bench.run(source, "branches", {{1}, {32}}, out)) == "");
  const auto all = out.values();
  for (unsigned lane : {0u, 1u, 6u, 31u}) {
    CHECK(all[lane] == (lane % 2 ? 0xaaaaaaaau : 0x55555555u));
    CHECK(all[32 + lane] == (lane % 2 ? 256 : 13) + lane % 4);
  }
}

TEST_CASE("warp operations") {
  const std::string source = R"(
__global__ void warps(unsigned *out) {
  int lane = threadIdx.x % 32;
  unsigned r[12];
  r[0] = __ballot_sync(~0u, lane % 3 == 0);
  r[1] = __any_sync(~0u, lane == 7) + 2 * __all_sync(~0u, lane < 31);
  r[2] = __shfl_xor_sync(~0u, lane, 5);
  r[3] = __shfl_up_sync(~0u, lane, 3, 8);
  r[4] = __shfl_sync(~0u, lane, 2, 16);
  r[5] = __match_any_sync(~0u, lane / 10);
  r[6] = __reduce_add_sync(~0u, (unsigned)lane);
  r[7] = (unsigned)__reduce_min_sync(~0u, 5 - lane);
  r[8] = lane < 8 ? __activemask() : 0u;
  __syncwarp();
  r[9] = __popc(__ballot_sync(~0u, 1));
  r[10] = __syncthreads_count(lane < 4);
  r[11] = __syncthreads_and(1) + 2 * __syncthreads_or(lane == 40);
  for (int i = 0; i < 12; ++i) out[threadIdx.x * 12 + i] = r[i];
})";
  Bench bench;
  DeviceArray<unsigned> out(bench.device(), std::vector<unsigned>(64 * 12));
  CHECK(message(bench.run(source, "warps", {{1}, {64}}, out)) == "");
  auto all = out.values();
  for (unsigned thread : {0u, 13u, 31u, 63u}) {
    const unsigned lane = thread % 32, *r = &all[thread * 12];
    CHECK(r[0] == 0x49249249u);
    CHECK(r[1] == 1);
    CHECK(r[2] == (lane ^ 5));
    CHECK(r[3] == (lane % 8 < 3 ? lane : lane - 3));
    CHECK(r[4] == (lane & 16) + 2);
    CHECK(r[5] == (lane < 10   ? 0x3ffu
                   : lane < 20 ? 0xffc00u
                   : lane < 30 ? 0x3ff00000u
                               : 0xc0000000u));
    CHECK(r[6] == 496);
    CHECK(static_cast<int>(r[7]) == -26);
    CHECK(r[8] == (lane < 8 ? 0xffu : 0u));
    CHECK(r[9] == 32);
    CHECK(r[10] == 8);
    CHECK(r[11] == 1);
  }
}

TEST_CASE("cooperative groups") {
  const std::string source = R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void sums(const float *in, float *out) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  float v = in[block.thread_rank()];
  for (int o = tile.size() / 2; o > 0; o /= 2) v += tile.shfl_down(v, o);
  __shared__ float partial[4];
  if (tile.thread_rank() == 0) partial[tile.meta_group_rank()] = v;
  block.sync();
  if (block.thread_rank() == 0) out[0] = partial[0] + partial[1] + partial[2] + partial[3];
  float all = cg::reduce(cg::tiled_partition<32>(block), in[block.thread_rank()], cg::plus<float>());
  if (block.thread_rank() == 33) out[1] = all;
  struct Pair { float sum; int count; };
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block); // of one that knows its parent
  Pair mine{in[block.thread_rank()], 1};
  for (int m = 16; m > 0; m /= 2) {
    Pair other = warp.shfl_xor(mine, m);
    mine = {mine.sum + other.sum, mine.count + other.count};
  }
  if (block.thread_rank() == 40) { out[2] = mine.sum; out[3] = mine.count; }
})";
  Bench bench;
  DeviceArray<float> in(bench.device(), ramp(64)), out(bench.device(), {0, 0, 0, 0});
  CHECK(message(bench.run(source, "sums", {{1}, {64}}, in, out)) == "");
  CHECK(out.values()[0] == 2016.0f);
  CHECK(out.values()[1] == 1520.0f);
  CHECK(out.values()[2] == 1520.0f);
  CHECK(out.values()[3] == 32.0f);
}

TEST_CASE("threads that returned early do not hold up a barrier") {
  const std::string source = R"(
__global__ void early(int *out, int n) {
  __shared__ int s[64];
  if (threadIdx.x >= n) return;
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[n - 1 - threadIdx.x];
})";
  Bench bench;
  DeviceArray<int> out(bench.device(), std::vector<int>(40));
  CHECK(message(bench.run(source, "early", {{1}, {64}}, out, 40)) == "");
  CHECK(out.values()[0] == 39);
}

TEST_CASE("integer and conversion intrinsics") {
  const std::string source = R"(
__global__ void bits(int *out, float x) {
  out[0] = __popc(0xF0F0u); out[1] = __clz(1); out[2] = __ffs(8); out[3] = __brev(1u) == 0x80000000u;
  out[4] = __mul24(-3, 5); out[5] = __umulhi(0x80000000u, 4u); out[6] = __byte_perm(0x03020100, 0x07060504, 0x5140);
  out[7] = __funnelshift_l(0x80000000u, 1u, 1); out[8] = __float_as_int(1.0f);
  out[9] = (int)(x * 1e20f); out[10] = __float2int_rn(2.5f); out[11] = min(3, 7u) + max(2.5f, 1.0f);
  out[12] = isnan(x - x + NAN); out[13] = __dp4a(0x01020304, 0x01010101, 10);
})";
  Bench bench;
  DeviceArray<int> out(bench.device(), std::vector<int>(14));
  CHECK(message(bench.run(source, "bits", {}, out, 3.0f)) == "");
  CHECK(out.values() ==
        std::vector<int>{8, 31, 4, 1, -15, 2, 0x05010400, 3, 0x3f800000, 2147483647, 2, 5, 1, 20});
}

TEST_CASE("the options of a plan reach the compiler") {
  const std::string source = "__global__ void k(int *out) { out[0] = SIZE; }";
  Bench bench;
  DeviceArray<int> out(bench.device(), {0});
  auto program = bench.compile(source, "k", {"-DSIZE=42", "--use_fast_math", "-std=c++20"});
  REQUIRE(message(program) == "");
  CHECK(message(bench.launch(**program, "k", {}, out)) == "");
  CHECK(out.values()[0] == 42);
}
