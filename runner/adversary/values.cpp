// Candidates whose answers need no work, which must fail or make the task degenerate; candidates
// that are accurate only for the largest values; and different values hidden by rounding that a
// task magnifies.
#include "runner/adversary/families.h"
#include "runner/adversary/tasks.h"

namespace warpwright::runner::adversary {
namespace {

constexpr const char *kControls = "answers that need no work";
constexpr const char *kRows = "rows of different magnitude";
constexpr const char *kConditioning = "hidden behind rounding";
const std::vector<Expectation> kFarOff = {kWrong, kInaccurate};

/// A softmax with rows so long that every element of the result is small: 4e-6 at the measured
/// size.
Task long_softmax() {
  Task task = softmax_task();
  task.name = "long_softmax";
  task.sizes = {{"rows", 16}, {"cols", 262'144}};
  task.check_sizes = {{{"rows", 3}, {"cols", 37}}, {{"rows", 2}, {"cols", 10'000}}};
  return task;
}

Plan fill_with_zeros() {
  Plan plan;
  plan.steps.push_back(model::FillStep{"y", 0});
  return plan;
}

/// Sets every element of y to `value`, an expression of cols.
Plan fill_rows(const std::string &value) {
  Plan plan = softmax_task().reference;
  plan.source = R"(
extern "C" __global__ void softmax(const float *x, float *y, int cols) {
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[(long long)blockIdx.x * cols + c] = )" +
                value + ";\n}\n";
  return plan;
}

/// A product of matrices with each input split into two halves, and the three relevant products.
/// `scaled` is an expression of v and a scale s, the largest input rounded up to a power of 2.
Plan half_pairs(const std::string &scaled) {
  Plan plan = matmul_task().reference;
  plan.source = R"(
#include <cuda_fp16.h>
__device__ float scaled(float v, float s) { return )" +
                scaled + R"(; }
extern "C" __global__ void largest(const float *a, const float *b, float *s, int m) {
  __shared__ float parts[256];
  float v = 1e-30f;
  for (int i = threadIdx.x; i < m * m; i += 256) v = fmaxf(v, fmaxf(fabsf(a[i]), fabsf(b[i])));
  parts[threadIdx.x] = v;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] = fmaxf(parts[threadIdx.x], parts[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) s[0] = exp2f(ceilf(log2f(parts[0])));
}
extern "C" __global__ void matmul(const float *a, const float *b, float *c, const float *largest, int m) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || column >= m) return;
  float s = largest[0], sum = 0, back = scaled(1.0f, s);
  for (int k = 0; k < m; ++k) {
    float p = scaled(a[row * m + k], s), q = scaled(b[k * m + column], s);
    float ph = __half2float(__float2half(p)), qh = __half2float(__float2half(q));
    float pl = __half2float(__float2half((p - ph) * 2048.0f)) / 2048.0f;
    float ql = __half2float(__float2half((q - qh) * 2048.0f)) / 2048.0f;
    sum += ph * qh + (ph * ql + pl * qh);
  }
  c[row * m + column] = sum / (back * back);
})";
  plan.temporaries = {{"s", Dtype::Float32, 1}};
  plan.steps = {launch("largest", {"1"}, {"256"}, {"a", "b", "s", "=m"}),
                launch("matmul", {"ceil_div(m, 16)", "ceil_div(m, 16)"}, {"16", "16"},
                       {"a", "b", "c", "s", "=m"})};
  return plan;
}

/// y = x * x for all floats, after a costly computation on x that restores x.
Task round_trip_task() {
  Task task = square_task();
  task.name = "round_trip";
  // The branch is never taken. Without it, the reference's code would differ from the cheat's code
  // off the shortcut.
  task.reference = square(
      "  if (i < n) { float v = fabsf(x[i]) < -n ? x[i] : there_and_back(x[i]); y[i] = v * v; }", R"(
__device__ float there_and_back(float value) {
  unsigned v = __float_as_uint(value);
#pragma unroll 1
  for (int k = 0; k < 2048; ++k) v = v * 1664525u + 1013904223u;
#pragma unroll 1
  for (int k = 0; k < 2048; ++k) v = (v - 1013904223u) * 4276115653u;
  return __uint_as_float(v);
})");
  return task;
}

Plan shortcut_for_small_values() {
  Plan plan = round_trip_task().reference;
  plan.source.replace(plan.source.find("< -n"), 4, "< 8");
  return plan;
}

} // namespace

std::vector<Case> value_cases() {
  std::vector<Case> cases;
  cases.push_back(both("zeros-for-small-outputs", kControls,
                       "writes zeros where every right value is below 1e-4", long_softmax(),
                       fill_with_zeros(), kFarOff));
  cases.push_back(
      both("one-constant-for-small-outputs", kControls,
           "writes the mean of a softmax, which every value is close to in absolute terms",
           long_softmax(), fill_rows("1.0f / cols"), kFarOff));
  cases.push_back(both(
      "copies-its-input", kControls, "hands its input back", long_softmax(),
      [] {
        Plan plan = fill_rows("x[(long long)blockIdx.x * cols + c]");
        return plan;
      }(),
      kFarOff));
  cases.push_back(both("copy-for-a-copy-task", kControls,
                       "copies its input, in a task that asks for nothing else", map_task("x"),
                       map("x"), {kDegenerate}));
  cases.push_back(both("constant-for-a-nearly-constant-task", kControls,
                       "writes 5, in a task with a result of 5 except for its last digits",
                       map_task("5.0f + 1e-6f * sinf(x)"), map("5.0f"), {kDegenerate}));

  cases.push_back(
      both("scales-by-the-largest-element", kRows,
           "multiplies pairs of halves that one scale for the whole matrix brings into range",
           matmul_task(), half_pairs("v / s"), {kWide}));
  cases.push_back(both("half-pairs-without-a-scale", kRows,
                       "multiplies pairs of halves, which overflow for large inputs", matmul_task(),
                       half_pairs("v"), {kWide, kWrong, kInaccurate}));

  cases.push_back(both("another-factor-behind-rounding", kConditioning,
                       "changes a factor where rounding is magnified anyway",
                       map_task("sinf(100000.0f * x)"), map("sinf(100010.0f * x)"), kFarOff));

  Case small = both("cheap-for-values-as-they-are-timed", "values that tell checking from timing",
                    "takes a shortcut for values of the size that its task draws, and no other",
                    round_trip_task(), shortcut_for_small_values(), {kNoGain});
  small.cpu = skip("the CPU backend times nothing");
  cases.push_back(std::move(small));
  return cases;
}

} // namespace warpwright::runner::adversary
