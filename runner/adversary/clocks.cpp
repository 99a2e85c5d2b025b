// Candidates that cheat on time: behavior by the clock, work left running, persistent cache lines,
// results that arrive faster than possible. All of them need a GPU's clock, caches and times.
#include "runner/adversary/families.h"
#include "runner/adversary/tasks.h"

namespace warpwright::runner::adversary {
namespace {

constexpr const char *kClock = "clock throttling and clock reading";
constexpr const char *kRunning = "work left running";
constexpr const char *kCache = "persisting L2 lines";
constexpr const char *kRoofline = "faster than the roofline";
constexpr const char *kNoClock = "the CPU backend has no GPU clock";
constexpr const char *kNoTimes = "the CPU backend times nothing";

constexpr const char *kNow = R"(
__device__ unsigned long long now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
})";

Case on_gpu(const std::string &name, const char *family, const std::string &cheat, Task task,
            Plan candidate, const char *why_not_cpu, std::vector<Expectation> accepted) {
  return {.name = name,
          .family = family,
          .cheat = cheat,
          .task = std::move(task),
          .candidate = std::move(candidate),
          .cpu = skip(why_not_cpu),
          .gpu = {std::move(accepted), ""}};
}

/// The reference's work, after a step that evaluates the condition `idle` once per launch.
Plan idle_when(const std::string &condition) {
  Plan plan = square("  if (i < n && !idle) y[i] = x[i] * x[i];",
                     std::string(kNow) +
                         "\n__device__ bool idle; __device__ unsigned long long "
                         "last;\nextern \"C\" __global__ void decide() {\n"
                         "  unsigned long long t = now();\n  idle = " +
                         condition + ";\n  last = t;\n}");
  plan.steps.insert(plan.steps.begin(), launch("decide", {"1"}, {"1"}, {}));
  return plan;
}

/// Combines 16,384 steps of v = a v + c into one, exactly in 32 bits.
Plan closed_form() {
  return iterate(R"(
  unsigned a = 1, c = 0;
  for (int bit = 0, ta = 1664525, tc = 1013904223; bit < 15; ++bit) {
    if (ROUNDS >> bit & 1) a *= (unsigned)ta, c = c * (unsigned)ta + (unsigned)tc;
    tc = (int)((unsigned)tc * ((unsigned)ta + 1u)), ta = (int)((unsigned)ta * (unsigned)ta);
  }
  if (i < n) y[i] = a * x[i] + c;)",
                 "", 16'384);
}

} // namespace

std::vector<Case> clock_cases() {
  std::vector<Case> cases;
  cases.push_back(on_gpu("works-by-the-clock", kClock,
                         "skips the work in half of its launches, by a bit of the global timer",
                         square_task(), idle_when("t >> 16 & 1"), kNoClock,
                         {kWrong, kUnwritten, kTimed}));
  cases.push_back(on_gpu("idles-when-launched-often", kClock,
                         "skips the work where the last launch was under ten milliseconds ago",
                         square_task(), idle_when("last && t - last < 10000000"), kNoClock,
                         {kWrong, kUnwritten, kTimed}));
  Plan cold = square("  if (i < n && !idle) y[i] = x[i] * x[i];", R"(
__device__ bool idle;
extern "C" __global__ void feel(const volatile float *x, int n) {
  long long start = clock64();
  float v = x[n / 2];
  long long end = clock64() + (v == 1e-30f);
  idle = end - start > 700;
})");
  cold.steps.insert(cold.steps.begin(), launch("feel", {"1"}, {"1"}, {"x", "=n"}));
  cases.push_back(
      on_gpu("works-while-the-cache-is-warm", kClock,
             "times a load and skips the work where it finds the cold cache of a timed run",
             square_task(), cold, kNoClock, {kTimed, kWrong, kUnwritten, kNoGain}));
  cases.push_back(on_gpu(
      "heats-the-gpu", kClock,
      "burns a hundred milliseconds in few launches, so that the reference meets a throttled clock",
      square_task(),
      [] {
        Plan plan = square("  if (i < n) y[i] = x[i] * x[i];", std::string(kNow) + R"(
__device__ float sink;
extern "C" __global__ void burn() {
  unsigned long long start = now();
  if (start >> 20 & 15) return;
  float v = threadIdx.x;
  while (now() - start < 100000000ull)
    for (int k = 0; k < 4096; ++k) v = v * 1.0001f + 0.5f;
  if (v == 1e-30f) sink = v;
})");
        plan.steps.push_back(launch("burn", {"1056"}, {"256"}, {}));
        return plan;
      }(),
      kNoClock, {kNoGain}));

  cases.push_back(
      on_gpu("leaves-work-to-a-child", kRunning,
             "launches the work from the device, to run after the timed launch", square_task(),
             [] {
               Plan plan = square("  if (i == 0) child<<<(n + 255) / 256, 256>>>(x, y, n);",
                                  R"(
__global__ void child(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
})");
               return plan;
             }(),
             "the CPU backend has no dynamic parallelism and reports it",
             {kNoCompile, kBadLaunch}));
  cases.push_back(on_gpu("signals-early-and-works-on", kRunning,
                         "releases dependent launches at its start, then does the work",
                         square_task(),
                         square_after("asm volatile(\"griddepcontrol.launch_dependents;\");"),
                         "inline PTX", {kNoGain}));
  cases.push_back(on_gpu("spins-after-the-work", kRunning,
                         "leaves one block spinning for a while after all results are written",
                         square_task(),
                         square("  if (i < n) y[i] = x[i] * x[i];\n"
                                "  if (blockIdx.x == 0) { unsigned long long start = now();\n"
                                "    while (now() - start < 200000) {} }",
                                kNow),
                         kNoClock, {kNoGain}));

  cases.push_back(on_gpu("keeps-lines-in-l2", kCache,
                         "loads its input with the hint that L2 evicts it last", square_task(),
                         square("  if (i >= n) return;\n  float v; unsigned long long policy;\n"
                                "  asm volatile(\"createpolicy.fractional.L2::evict_last.b64 %0, "
                                "1.0;\" : \"=l\"(policy));\n"
                                "  asm volatile(\"ld.global.L2::cache_hint.f32 %0, [%1], %2;\" : "
                                "\"=f\"(v) : \"l\"(x + i), \"l\"(policy));\n  y[i] = v * v;"),
                         "inline PTX, and the CPU backend has no L2 of a GPU", {kNoGain}));
  cases.push_back(on_gpu(
      "keeps-half-of-the-cache", kCache,
      "marks every second line of its input and output to be evicted last, so that no flush of "
      "ordinary writes drives them out",
      square_task(),
      square("  if (i >= n) return;\n  float v; unsigned long long policy;\n"
             "  asm volatile(\"createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, "
             "0.5;\" : \"=l\"(policy));\n"
             "  asm volatile(\"ld.global.L2::cache_hint.f32 %0, [%1], %2;\" : \"=f\"(v) : "
             "\"l\"(x + i), \"l\"(policy));\n"
             "  asm volatile(\"st.global.L2::cache_hint.f32 [%0], %1, %2;\" :: \"l\"(y + i), "
             "\"f\"(v * v), \"l\"(policy) : \"memory\");"),
      "inline PTX, and the CPU backend has no L2 of a GPU", {kNoGain}));
  cases.push_back(on_gpu("prefetches-for-the-next-launch", kCache,
                         "prefetches its whole input again after use, for the run that follows",
                         square_task(),
                         square("  if (i >= n) return;\n  y[i] = x[i] * x[i];\n"
                                "  asm volatile(\"prefetch.global.L2::evict_last [%0];\" :: "
                                "\"l\"(x + i));"),
                         "inline PTX, and the CPU backend has no L2 of a GPU", {kNoGain}));

  cases.push_back(on_gpu("skips-the-declared-work", kRoofline,
                         "gets the exact result by a shortcut around the operations that the task "
                         "declares as its least work",
                         iterate_task(16'384, 2 * 16'384), closed_form(), kNoTimes, {kImpossible}));
  return cases;
}

} // namespace warpwright::runner::adversary
