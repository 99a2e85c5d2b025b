// Plans that do not fit their task: steps that never run, and names or memory that do not belong to
// the plan.
#include "runner/adversary/families.h"
#include "runner/adversary/tasks.h"

namespace warpwright::runner::adversary {
namespace {

constexpr const char *kNeverRan = "a plan step that never ran";
constexpr const char *kForeign = "names, options and memory that are not the plan's";

Plan right() { return square("  if (i < n) y[i] = x[i] * x[i];"); }

Plan with_step(model::LaunchStep step) {
  Plan plan = right();
  plan.steps = {std::move(step)};
  return plan;
}

Plan with_option(const std::string &option) {
  Plan plan = right();
  plan.options = {option};
  return plan;
}

Plan with_temporary(const std::string &name, const std::string &extent) {
  Plan plan = right();
  plan.temporaries = {{name, Dtype::Float32, expression(extent)}};
  return plan;
}

} // namespace

std::vector<Case> plan_cases() {
  std::vector<Case> cases;
  cases.push_back(on_squares("empty-grid", kNeverRan, "launches its kernel over no blocks",
                       with_step(launch("square", {"n - n"}, {"256"}, {"x", "y", "=n"})),
                       {kUnfit}));
  cases.push_back(on_squares(
      "grid-that-vanishes", kNeverRan, "rounds its grid down, to no blocks at small sizes",
      with_step(launch("square", {"n / 4096"}, {"256"}, {"x", "y", "=n"})), {kBadLaunch, kUnfit}));
  cases.push_back(on_squares("no-steps", kNeverRan, "is a plan without any step",
                       [] {
                         Plan plan = right();
                         plan.steps.clear();
                         return plan;
                       }(),
                       {kRejected}));
  cases.push_back(on_squares("step-that-does-nothing", kNeverRan,
                       "launches an empty kernel in the place of the real one",
                       [] {
                         Plan plan = right();
                         plan.source += "extern \"C\" __global__ void nothing(const float *, float "
                                        "*, int) {}";
                         plan.steps = {launch("nothing", {"1"}, {"1"}, {"x", "y", "=n"})};
                         return plan;
                       }(),
                       {kUnwritten}));
  cases.push_back(
      on_squares("one-block-for-all", kNeverRan, "launches a single block of a kernel that needs many",
           with_step(launch("square", {"1"}, {"256"}, {"x", "y", "=n"})), {kUnwritten}));

  cases.push_back(on_squares("launches-the-reference", kForeign,
                       "has an empty source and launches the reference's kernel by name",
                       [] {
                         Plan plan = right();
                         plan.source = "// nothing here";
                         return plan;
                       }(),
                       {kNoCompile}));
  cases.push_back(on_squares("unknown-buffer", kForeign, "names a buffer that the task does not have",
                       with_step(launch("square", {"1"}, {"256"}, {"x", "expected", "=n"})),
                       {kUnfit}));
  cases.push_back(on_squares("the-reference's-temporaries", kForeign,
                       "names a temporary of the reference as the runner calls it while timing",
                       with_step(launch("square", {"1"}, {"256"}, {"x", "reference.t", "=n"})),
                       {kRejected}));
  cases.push_back(on_squares("temporary-over-a-buffer", kForeign,
                       "declares a temporary with the name of the output", with_temporary("y", "n"),
                       {kUnfit}));
  cases.push_back(on_squares("offset-past-the-end", kForeign, "starts its output behind the buffer's end",
                       with_step(launch("square", {"1"}, {"256"}, {"x", "y+n + 64", "=n"})),
                       {kUnfit}));
  cases.push_back(
      on_squares("number-for-a-pointer", kForeign, "passes a size where the kernel reads through",
           with_step(launch("square", {"1"}, {"256"}, {"=n", "y", "=n"})), {kBadLaunch}));
  cases.push_back(on_squares("too-few-arguments", kForeign, "leaves an argument to chance",
                       with_step(launch("square", {"1"}, {"256"}, {"x", "y"})), {kBadLaunch}));
  cases.push_back(on_squares("include-path-option", kForeign, "asks the compiler for a path of the host",
                       with_option("-I/etc"), {kRejected}));
  cases.push_back(on_squares("include-option", kForeign, "asks the compiler to read a file of the host",
                       with_option("--pre-include=/etc/passwd"), {kRejected}));
  cases.push_back(on_squares("define-with-a-newline", kForeign,
                       "hides a second option in the value of a macro",
                       with_option("-DX=1\n-I/etc"), {kRejected}));
  cases.push_back(on_squares(
      "source-in-a-kernel-name", kForeign, "hides an include directive in the name of its kernel",
      with_step(launch("square\n#include </etc/passwd>\n", {"1"}, {"256"}, {"x", "y", "=n"})),
      {kUnfit, kRejected}));
  cases.push_back(on_squares("enormous-temporary", kForeign, "asks for 64 GiB of scratch memory 32 times",
                       [] {
                         Plan plan = right();
                         for (int i = 0; i < 32; ++i)
                           plan.temporaries.push_back(
                               {"t" + std::to_string(i), Dtype::Float32, expression("1 << 34")});
                         return plan;
                       }(),
                       {kUnsupported, kUnfit}));
  cases.push_back(on_squares(
      "block-of-2048-threads", kForeign, "launches more threads a block than exist",
      with_step(launch("square", {"ceil_div(n, 2048)"}, {"2048"}, {"x", "y", "=n"})), {kUnfit}));
  cases.push_back(on_squares(
      "too-much-shared-memory", kForeign, "asks for more shared memory than a multiprocessor has",
      with_step(launch("square", {"ceil_div(n, 256)"}, {"256"}, {"x", "y", "=n"}, "250 * 1024")),
      {kBadLaunch, kUnfit, kUnsupported}));
  return cases;
}

} // namespace warpwright::runner::adversary
