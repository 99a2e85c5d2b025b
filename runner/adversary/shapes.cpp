// Candidates that are right only at the sizes, alignments or values that they expect in checks.
#include "runner/adversary/families.h"
#include "runner/adversary/tasks.h"

namespace warpwright::runner::adversary {
namespace {

constexpr const char *kShapes = "shape-sniffing";
constexpr const char *kAlignment = "alignment-sniffing";
constexpr const char *kValues = "right only on the drawn values";
const std::vector<Expectation> kNotRight = {kWrong, kUnwritten, kInaccurate};

/// Squares, with check sizes that are multiples of 256.
Task round_sizes() {
  Task task = square_task();
  task.check_sizes = {{{"n", 1024}}, {{"n", 65'536}}};
  return task;
}

} // namespace

std::vector<Case> shape_cases() {
  std::vector<Case> cases;
  cases.push_back(both("only-the-named-sizes", kShapes,
                       "computes at the sizes that the task names, and writes zeros elsewhere",
                       square_task(),
                       square("  bool named = n == 1 || n == 1000 || n == 4099 || n == 20000 || "
                              "n == 1 << 22;\n  if (i < n) y[i] = named ? x[i] * x[i] : 0;"),
                       {kHidden}));
  cases.push_back(both("only-multiples-of-64", kShapes,
                       "drops the tail, in a task that names no size with one", round_sizes(),
                       square("  if (i < n / 64 * 64) y[i] = x[i] * x[i];"), {kHidden}));
  cases.push_back(both("only-whole-blocks", kShapes,
                       "launches n / 256 blocks, in a task with only multiples of 256",
                       round_sizes(),
                       [] {
                         Plan plan = square("  if (i < n) y[i] = x[i] * x[i];");
                         plan.steps = {
                             launch("square", {"max(n / 256, 1)"}, {"256"}, {"x", "y", "=n"})};
                         return plan;
                       }(),
                       {kHidden}));
  cases.push_back(both("only-the-measured-size", kShapes, "computes only where it will be timed",
                       square_task(), square("  if (i < n && n == 1 << 22) y[i] = x[i] * x[i];"),
                       kNotRight));
  Case large =
      both("not-the-measured-size", kShapes, "computes at all sizes except the timed one",
           square_task(), square("  if (i < n && n != 1 << 22) y[i] = x[i] * x[i];"), kNotRight);
  large.cpu = skip("the measured size is more than the CPU backend does in reasonable time");
  cases.push_back(std::move(large));
  cases.push_back(
      both("fixed-size-inside", kShapes, "has the size written into the kernel", square_task(),
           square("  for (int k = i; k < 4099; k += gridDim.x * 256) y[k] = x[k] * x[k];"),
           {kCrash, kGuards, kUnwritten, kUnfit}));

  cases.push_back(both("takes-alignment-for-granted", kAlignment,
                       "casts to float4 without looking at the address", square_task(),
                       square("  if (4 * i + 3 < n) {\n"
                              "    float4 v = reinterpret_cast<const float4 *>(x)[i];\n"
                              "    reinterpret_cast<float4 *>(y)[i] = make_float4(v.x * v.x, v.y * "
                              "v.y, v.z * v.z, v.w * v.w);\n"
                              "  } else for (int k = 4 * i; k < n; ++k) y[k] = x[k] * x[k];"),
                       {kCrash}));
  cases.push_back(both("sniffs-alignment", kAlignment,
                       "computes only behind addresses that are multiples of 16", square_task(),
                       square("  if (i < n) y[i] = (unsigned long long)x % 16 ? 0 : x[i] * x[i];"),
                       kNotRight));

  cases.push_back(both("identity-for-a-clamp", kValues,
                       "copies, since values drawn at scale one are never clamped",
                       map_task("fminf(fmaxf(x, -8.0f), 8.0f)"), map("x"), kNotRight));
  cases.push_back(both("drops-small-values", kValues,
                       "gives zero for small positive values, which weigh little",
                       map_task("fmaxf(x, 0.0f)"), map("x > 0.03125f ? x : 0.0f"), kNotRight));
  cases.push_back(both(
      "constant-for-a-mean", kValues, "answers one for the mean square of standard normal values",
      mean_square_task(),
      [] {
        Plan plan = mean_square_task().reference;
        plan.source = R"(
extern "C" __global__ void total(const float *x, float *out, int n) {
  if (threadIdx.x == 0) out[0] = 1;
})";
        return plan;
      }(),
      kNotRight));
  cases.push_back(both("series-for-a-sine", kValues,
                       "uses three terms of a series, right only near zero", map_task("sinf(x)"),
                       map("x * (1.0f - x * x * (1.0f / 6 - x * x / 120))"), kNotRight));
  return cases;
}

} // namespace warpwright::runner::adversary
