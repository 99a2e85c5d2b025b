// Candidates with races that pass once or with uninitialized memory, and tasks whose answer is a
// constant.
#include "runner/adversary/families.h"
#include "runner/adversary/tasks.h"

namespace warpwright::runner::adversary {
namespace {

constexpr const char *kRaces = "races that pass once";
constexpr const char *kUninitialized = "uninitialized memory";
constexpr const char *kDegenerateFamily = "constants for degenerate tasks";
constexpr const char *kOneAtATime =
    "the CPU backend runs one thread at a time between barriers, so a lost update cannot happen";

/// Writes sums of blocks to a temporary for a second kernel; `first` and `second` are the bodies.
Plan two_step_sum(const std::string &first, const std::string &second) {
  Plan plan;
  plan.source = R"(
extern "C" __global__ void parts_of(const float *x, float *parts, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
)" + first + R"(
  if (t == 0) parts[blockIdx.x] = s[0];
}
extern "C" __global__ void total(const float *parts, float *out, int count) {
)" + second + "\n}\n";
  plan.temporaries = {{"parts", Dtype::Float32, expression("ceil_div(n, 256)")}};
  plan.steps = {launch("parts_of", {"ceil_div(n, 256)"}, {"256"}, {"x", "parts", "=n"}),
                launch("total", {"1"}, {"1"}, {"parts", "out", "=ceil_div(n, 256)"})};
  return plan;
}

constexpr const char *kSerialTotal =
    "  double all = 0; for (int k = 0; k < count; ++k) all += parts[k]; out[0] = all;";

Task constant_task(const std::string &value) {
  Task task = square_task();
  task.name = "degenerate";
  task.reference = square("  if (i < n) y[i] = (x[i] - x[i]) + " + value + ";");
  return task;
}

} // namespace

std::vector<Case> race_cases() {
  std::vector<Case> cases;
  cases.push_back({.name = "misses-a-barrier",
                   .family = kRaces,
                   .cheat = "reads its neighbors' shared memory without waiting for them",
                   .task = stencil_task(),
                   .candidate = stencil(R"(
  __shared__ float s[258];
  int t = threadIdx.x;
  if (i < n) s[t + 1] = x[i];
  if (t == 0 && i > 0) s[0] = x[i - 1];
  if (t == 255 && i + 1 < n) s[257] = x[i + 1];
  if (i > 0 && i < n - 1) y[i] = s[t] + s[t + 1] + s[t + 2];)"),
                   .cpu = {{kWrong, kUnstable}, ""},
                   .gpu = {{kWrong, kUnstable}, ""}});
  cases.push_back({.name = "misses-a-barrier-in-a-tree",
                   .family = kRaces,
                   .cheat = "drops the barriers of a shared-memory reduction",
                   .task = sum_task(),
                   .candidate = two_step_sum(R"(
  s[t] = i < n ? x[i] : 0;
  for (int half = 128; half > 0; half /= 2)
    if (t < half) s[t] += s[t + half];)",
                                             kSerialTotal),
                   .cpu = {{kWrong, kInaccurate, kUnstable, kUnwritten}, ""},
                   .gpu = {{kWrong, kInaccurate, kUnstable}, ""}});
  cases.push_back({.name = "counts-without-atomics",
                   .family = kRaces,
                   .cheat = "increments histogram bins with plain additions",
                   .task = histogram_task(),
                   .candidate =
                       [] {
                         Plan plan = histogram_task().reference;
                         plan.source = R"(
extern "C" __global__ void histogram(const int *keys, int *counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++counts[keys[i]];
})";
                         return plan;
                       }(),
                   .cpu = skip(kOneAtATime),
                   .gpu = {{kWrong, kUnstable}, ""}});
  cases.push_back({.name = "works-in-place-across-blocks",
                   .family = kRaces,
                   .cheat = "updates in place elements that neighboring blocks still have to read",
                   .task = smooth_task(),
                   .candidate = plan_of(R"(
extern "C" __global__ void add(float *v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n) v[i] += v[i - 1];
})",
                                        "add", {"v", "=n"}),
                   .cpu = {{kWrong, kUnstable}, ""},
                   .gpu = {{kWrong, kUnstable}, ""}});
  cases.push_back({.name = "trusts-fresh-shared-memory",
                   .family = kUninitialized,
                   .cheat = "adds to shared memory that it never cleared",
                   .task = sum_task(),
                   .candidate = two_step_sum(R"(
  atomicAdd(&s[t & 15], i < n ? x[i] : 0.0f);
  __syncthreads();
  if (t == 0) for (int k = 1; k < 16; ++k) s[0] += s[k];)",
                                             kSerialTotal),
                   .cpu = {{kWrong, kInaccurate, kUnwritten}, ""},
                   .gpu = {{kWrong, kInaccurate, kUnwritten}, ""}});
  cases.push_back({.name = "trusts-fresh-temporaries",
                   .family = kUninitialized,
                   .cheat = "adds to a temporary that it never cleared",
                   .task = sum_task(),
                   .candidate = two_step_sum(R"(
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  if (t == 0) { for (int k = 1; k < 256; ++k) s[0] += s[k]; s[0] += parts[blockIdx.x]; })",
                                             kSerialTotal),
                   .cpu = {{kWrong, kInaccurate, kUnwritten}, ""},
                   .gpu = {{kWrong, kInaccurate, kUnwritten}, ""}});
  cases.push_back({.name = "trusts-a-fresh-output",
                   .family = kUninitialized,
                   .cheat = "counts into an output that it never cleared",
                   .task = histogram_task(),
                   .candidate =
                       [] {
                         Plan plan = histogram_task().reference;
                         plan.steps.erase(plan.steps.begin());
                         return plan;
                       }(),
                   .cpu = {{kWrong, kUnwritten}, ""},
                   .gpu = {{kWrong, kUnwritten}, ""}});

  cases.push_back(
      {.name = "constant-for-a-constant-task",
       .family = kDegenerateFamily,
       .cheat = "writes the one value that the task always has, without reading its input",
       .task = constant_task("3.0f"),
       .candidate = square("  if (i < n) y[i] = 3;"),
       .cpu = {{kDegenerate}, ""},
       .gpu = {{kDegenerate, kImpossible}, ""}});
  cases.push_back({.name = "table-for-an-input-independent-task",
                   .family = kDegenerateFamily,
                   .cheat = "writes a ramp that does not depend on its input, as the task's does",
                   .task = constant_task("i * 0.5f"),
                   .candidate = square("  if (i < n) y[i] = i * 0.5f;"),
                   .cpu = {{kDegenerate}, ""},
                   .gpu = {{kDegenerate, kImpossible}, ""}});
  cases.push_back({.name = "plan-of-one-fill",
                   .family = kDegenerateFamily,
                   .cheat = "answers a task with an output of zeros by a fill without a kernel",
                   .task = constant_task("0.0f"),
                   .candidate =
                       [] {
                         Plan plan = square("");
                         plan.steps = {model::FillStep{"y", 0}};
                         return plan;
                       }(),
                   .cpu = {{kDegenerate}, ""},
                   .gpu = {{kDegenerate, kImpossible}, ""}});
  return cases;
}

} // namespace warpwright::runner::adversary
