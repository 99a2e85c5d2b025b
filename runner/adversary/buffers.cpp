// Candidates that misuse buffers: changed inputs, unwritten outputs, accesses out of bounds.
#include "runner/adversary/families.h"
#include "runner/adversary/tasks.h"

namespace warpwright::runner::adversary {
namespace {

constexpr const char *kMutated = "mutated inputs";
constexpr const char *kUnwrittenFamily = "unwritten outputs";
constexpr const char *kBounds = "out-of-bounds accesses";

Case simple(const std::string &name, const char *family, const std::string &cheat,
            const std::string &body, std::vector<Expectation> accepted) {
  return {.name = name,
          .family = family,
          .cheat = cheat,
          .task = square_task(),
          .candidate = square(body),
          .cpu = {accepted, ""},
          .gpu = {accepted, ""}};
}

Plan fills_its_input() {
  Plan plan = square("  if (i < n) y[i] = x[i] * x[i];");
  plan.steps.push_back(model::FillStep{"x", 0});
  return plan;
}

/// Squares through a temporary that is four elements too small.
Plan overflows_temporary() {
  Plan plan;
  plan.source = R"(
extern "C" __global__ void copy(const float *x, float *t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) t[i] = x[i];
}
extern "C" __global__ void square(const float *t, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = t[i] * t[i];
})";
  plan.temporaries = {{"t", Dtype::Float32, expression("max(n - 4, 1)")}};
  plan.steps = {launch("copy", {"ceil_div(n, 256)"}, {"256"}, {"x", "t", "=n"}),
                launch("square", {"ceil_div(n, 256)"}, {"256"}, {"t", "y", "=n"})};
  return plan;
}

} // namespace

std::vector<Case> buffer_cases() {
  std::vector<Case> cases;
  cases.push_back(simple("writes-its-input", kMutated, "squares its input in place on the way",
                         "  if (i < n) y[i] = const_cast<float *>(x)[i] *= x[i];", {kInputs}));
  cases.push_back(simple("writes-its-input-when-large", kMutated,
                         "changes one input element, and only in large runs",
                         "  if (i < n) y[i] = x[i] * x[i];\n"
                         "  if (i == 5 && n > 10000) const_cast<float *>(x)[i] = 1;",
                         {kInputs}));
  cases.push_back(simple("makes-its-input-easy", kMutated,
                         "turns the input into zeros after use, so that the next run is trivial",
                         "  if (i < n) { y[i] = x[i] * x[i]; const_cast<float *>(x)[i] = 0; }",
                         {kInputs}));
  cases.push_back({.name = "fills-its-input",
                   .family = kMutated,
                   .cheat = "has a plan step that clears an input buffer",
                   .task = square_task(),
                   .candidate = fills_its_input(),
                   .cpu = {{kInputs, kUnfit}, ""},
                   .gpu = {{kInputs, kUnfit}, ""}});

  cases.push_back(simple("writes-nothing", kUnwrittenFamily, "writes no output at all",
                         "  if (i < n && x[i] == 1e30f) y[i] = 0;", {kUnwritten}));
  cases.push_back(simple("leaves-the-tail", kUnwrittenFamily,
                         "computes whole groups of four and forgets the rest",
                         "  if (i < n / 4 * 4) y[i] = x[i] * x[i];", {kUnwritten}));
  cases.push_back(simple("writes-every-other-element", kUnwrittenFamily,
                         "halves its work by writing even elements only",
                         "  if (i < n && i % 2 == 0) y[i] = x[i] * x[i];", {kUnwritten}));
  cases.push_back(simple("leaves-one-element", kUnwrittenFamily,
                         "leaves a single element in the middle of a large run",
                         "  if (i < n && i != 12345) y[i] = x[i] * x[i];", {kUnwritten}));
  cases.push_back(simple("writes-small-sizes-only", kUnwrittenFamily,
                         "works for small n, where it expects to be checked",
                         "  if (i < n && n < 10000) y[i] = x[i] * x[i];", {kUnwritten}));
  Case stray = simple("writes-what-is-not-asked", kUnwrittenFamily,
                      "writes the two ends that the reference leaves alone", "", {kStray});
  stray.task = stencil_task();
  stray.candidate =
      stencil("  if (i < n) y[i] = i > 0 && i < n - 1 ? x[i - 1] + x[i] + x[i + 1] : 0;");
  cases.push_back(std::move(stray));

  cases.push_back(simple("writes-one-past-the-end", kBounds, "compares with <= n",
                         "  if (i <= n) y[i] = i < n ? x[i] * x[i] : 0;", {kGuards, kCrash}));
  cases.push_back(simple("writes-before-the-start", kBounds, "writes just below its output",
                         "  if (i < n) y[i] = x[i] * x[i];\n  if (i == 0) y[-1] = 0;", {kGuards}));
  cases.push_back(simple("writes-into-another-guard", kBounds, "writes just below another buffer",
                         "  if (i < n) y[i] = x[i] * x[i];\n"
                         "  if (i == 0) const_cast<float *>(x)[-3] = 0;",
                         {kGuards}));
  cases.push_back(simple("writes-far-away", kBounds, "writes a terabyte behind its output",
                         "  if (i < n) y[i + (1ll << 38)] = y[i] = x[i] * x[i];", {kCrash}));
  Case overflow = simple("overflows-a-temporary", kBounds,
                         "asks for a temporary four elements too small", "", {kGuards, kCrash});
  overflow.candidate = overflows_temporary();
  cases.push_back(std::move(overflow));
  Case used = simple("uses-what-is-past-the-end", kBounds,
                     "sums neighbors without a bound, so that the guard enters the result", "",
                     {kCrash, kWrong, kUnstable, kStray});
  used.task = stencil_task();
  used.candidate = stencil("  if (i < n) y[i] = x[i - 1] + x[i] + x[i + 1];");
  cases.push_back(std::move(used));
  Case idle =
      simple("reads-past-the-end-for-nothing", kBounds,
             "reads a megabyte past its input and throws the value away",
             "  if (i >= n) return;\n  float v = ((const volatile float *)x)[i + (1 << 18)];\n"
             "  y[i] = v == 1e-30f ? 0.0f : x[i] * x[i];",
             {kCrash});
  idle.gpu = skip("a read that changes nothing and hits mapped memory shows only under "
                  "compute-sanitizer, which a deep check runs");
  cases.push_back(std::move(idle));
  return cases;
}

} // namespace warpwright::runner::adversary
