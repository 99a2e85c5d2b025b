// Candidates that compute with fewer bits than the task requires, or drop NaN and infinity.
#include "runner/adversary/families.h"
#include "runner/adversary/tasks.h"

namespace warpwright::runner::adversary {
namespace {

constexpr const char *kPrecision = "silent precision loss";
constexpr const char *kSwallow = "NaN and infinity swallowed";
const std::vector<Expectation> kTooInexact = {kInaccurate, kWrong};

/// The product of matrices. `before` precedes the kernel, `start` declares s, and `accumulate` adds
/// p * q to it.
Plan matmul(const std::string &before, const std::string &accumulate,
            const std::string &start = "float s = 0;") {
  Plan plan = matmul_task().reference;
  plan.source = before + R"(
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int m) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || column >= m) return;
  )" + start + R"(
  for (int k = 0; k < m; ++k) { float p = a[row * m + k], q = b[k * m + column]; )" +
                accumulate + R"( }
  c[row * m + column] = s;
})";
  return plan;
}

constexpr const char *kTruncate =
    "__device__ float cut(float v) { return __uint_as_float(__float_as_uint(v) & 0xffffe000u); }";

/// Uses TF32 tensor cores if m is a multiple of 16, else a plain loop.
Plan tensor_core_matmul() {
  Plan plan = matmul_task().reference;
  plan.source = R"(
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int m) {
  int row = blockIdx.y * 16, column = blockIdx.x * 16, t = threadIdx.y * 16 + threadIdx.x;
  if (m % 16) {
    int i = row + threadIdx.y, j = column + threadIdx.x;
    float s = 0;
    if (i < m && j < m) { for (int k = 0; k < m; ++k) s += a[i * m + k] * b[k * m + j]; c[i * m + j] = s; }
    return;
  }
  if (t >= 32) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int k = 0; k < m; k += 8) {
    wmma::load_matrix_sync(fa, a + row * m + k, m);
    wmma::load_matrix_sync(fb, b + k * m + column, m);
    for (int e = 0; e < fa.num_elements; ++e) fa.x[e] = wmma::__float_to_tf32(fa.x[e]);
    for (int e = 0; e < fb.num_elements; ++e) fb.x[e] = wmma::__float_to_tf32(fb.x[e]);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c + row * m + column, fc, m, wmma::mem_row_major);
})";
  return plan;
}

} // namespace

std::vector<Case> precision_cases() {
  std::vector<Case> cases;
  cases.push_back(both("tf32-inputs", kPrecision, "cuts its inputs to the ten bits of TF32",
                       matmul_task(), matmul(kTruncate, "s += cut(p) * cut(q);"), kTooInexact));
  Case tensor = both("tf32-tensor-cores", kPrecision, "multiplies on tensor cores in TF32",
                     matmul_task(), tensor_core_matmul(), kTooInexact);
  tensor.cpu = skip("the CPU backend has no tensor cores; tf32-inputs covers it");
  cases.push_back(std::move(tensor));
  cases.push_back(
      both("bfloat16-inputs", kPrecision, "rounds its inputs to bfloat16", matmul_task(),
           matmul("#include <cuda_bf16.h>\n", "s += __bfloat162float(__float2bfloat16(p)) * "
                                              "__bfloat162float(__float2bfloat16(q));"),
           kTooInexact));
  cases.push_back(
      both("half-accumulator", kPrecision, "accumulates in half precision", matmul_task(),
           matmul("#include <cuda_fp16.h>\n", "s = __float2half(__half2float(s) + p * q);",
                  "__half s = __float2half(0.0f);"),
           kTooInexact));
  cases.push_back(both(
      "sum-in-half", kPrecision, "sums in half precision", sum_task(),
      [] {
        Plan plan = sum_task().reference;
        plan.source = R"(
#include <cuda_fp16.h>
extern "C" __global__ void total(const float *x, float *out, int n) {
  if (threadIdx.x) return;
  __half s = __float2half(0.0f);
  for (int i = 0; i < n; ++i) s = __float2half(__half2float(s) + x[i]);
  out[0] = __half2float(s);
})";
        return plan;
      }(),
      kTooInexact));
  cases.push_back(both(
      "sum-of-a-sample", kPrecision, "sums every other element and doubles the result", sum_task(),
      [] {
        Plan plan = sum_task().reference;
        plan.source = R"(
extern "C" __global__ void total(const float *x, float *out, int n) {
  if (threadIdx.x) return;
  float s = 0;
  for (int i = 0; i < n; i += 2) s += x[i];
  out[0] = 2 * s;
})";
        return plan;
      }(),
      kTooInexact));
  cases.push_back(both(
      "float-for-double", kPrecision, "computes a double task in float", double_task(),
      [] {
        Plan plan = double_task().reference;
        plan.source = R"(
extern "C" __global__ void map(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float v = x[i]; y[i] = v * v + 1 / (1 + v * v); }
})";
        return plan;
      }(),
      kTooInexact));
  cases.push_back(both("bit-trick-exp", kPrecision, "approximates exp by writing the exponent bits",
                       map_task("expf(x)"),
                       map("__int_as_float((int)(12102203.0f * fminf(fmaxf(x, -80.0f), 80.0f)) + "
                           "1064866805)"),
                       kTooInexact));
  cases.push_back(both("bit-trick-rsqrt", kPrecision,
                       "takes the 0x5f3759df square root with one Newton step",
                       map_task("1.0f / sqrtf(x)", model::Distribution::Kind::Positive),
                       map("one(x)", "__device__ float one(float x) { float y = __int_as_float("
                                     "0x5f3759df - (__float_as_int(x) >> 1)); return y * (1.5f - "
                                     "0.5f * x * y * y); }"),
                       kTooInexact));
  Case sine = both("fast-sine-of-large-arguments", kPrecision,
                   "uses the hardware's sine where its range reduction fails",
                   map_task("sinf(100.0f * x)"), map("__sinf(100.0f * x)"), kTooInexact);
  sine.task.reference_fp64.reset(); // useless here, because the reference rounds its argument
  sine.cpu = skip("the CPU backend computes __sinf as accurately as sinf");
  Case option = sine;
  option.name = "fast-math-option";
  option.cheat = "asks the compiler for fast math instead of writing it";
  option.candidate = map("sinf(100.0f * x)");
  option.candidate.options = {"--use_fast_math"};
  cases.push_back(std::move(sine));
  cases.push_back(std::move(option));
  cases.push_back(both("sum-in-32-bits", kPrecision, "sums 64-bit totals in 32 bits",
                       integer_sum_task(),
                       [] {
                         Plan plan = integer_sum_task().reference;
                         plan.source = R"(
extern "C" __global__ void sum(const int *x, unsigned *total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, (unsigned)x[i]);
})";
                         return plan;
                       }(),
                       {kWrong}));

  cases.push_back(both("zero-for-nan", kSwallow, "gives zero where the reference gives NaN",
                       map_task("sqrtf(x)"), map("sqrtf(fmaxf(x, 0.0f))"), kTooInexact));
  cases.push_back(both("nan-everywhere", kSwallow, "gives NaN, hoping that no comparison fails",
                       square_task(), square("  if (i < n) y[i] = 0.0f / (x[i] - x[i]);"),
                       {kWrong}));
  cases.push_back(both("clamps-infinity", kSwallow,
                       "gives the largest float where the reference overflows", map_task("expf(x)"),
                       map("fminf(expf(x), 3.0e38f)"), kTooInexact));
  cases.push_back(both(
      "softmax-without-maximum", kSwallow,
      "drops the subtraction that keeps softmax from overflowing", softmax_task(),
      [] {
        Plan plan = softmax_task().reference;
        plan.source = R"(
extern "C" __global__ void softmax(const float *x, float *y, int cols) {
  const float *row = x + (long long)blockIdx.x * cols;
  __shared__ float total;
  if (threadIdx.x == 0) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += expf(row[c]);
    total = s;
  }
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[(long long)blockIdx.x * cols + c] = expf(row[c]) / total;
})";
        return plan;
      }(),
      kTooInexact));
  return cases;
}

} // namespace warpwright::runner::adversary
