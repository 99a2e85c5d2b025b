// Candidates that keep data in `__device__` memory from one launch to the next.
//
// Plans that must distinguish launches run a `tick` kernel of one thread. Caches hold as many
// elements as the largest size has.
#include "runner/adversary/families.h"
#include "runner/adversary/tasks.h"

namespace warpwright::runner::adversary {
namespace {

constexpr const char *kDeviceGlobals = "device globals that cache";
constexpr const char *kRepeats = "skipping work when inputs repeat";
constexpr const char *kOnlyTiming =
    "its results are right; only a measurement that repeats its inputs would be fooled";

constexpr const char *kTick = R"(
__device__ int launches;
extern "C" __global__ void tick() { ++launches; }
)";

Plan with_tick(Plan plan) {
  plan.steps.insert(plan.steps.begin(), launch("tick", {"1"}, {"1"}, {}));
  return plan;
}

/// Keeps results of the last four keys and copies them. `key` is an expression of x and n.
Plan cached_by(const std::string &key) {
  Plan plan = iterate(R"(
  int slot = -1;
  for (int k = 0; k < 4; ++k) if (keys[k] == key && sizes[k] == n) slot = k;
  if (i >= n) return;
  if (slot >= 0) y[i] = results[slot][i];
  else results[turn & 3][i] = y[i] = work(x[i]);)",
                      R"(
__device__ unsigned long long keys[4], key;
__device__ int sizes[4], turn;
__device__ unsigned results[4][1 << 22];
extern "C" __global__ void open(const unsigned *x, int n) { key = )" +
                          key + R"(; }
extern "C" __global__ void close(int n) {
  for (int k = 0; k < 4; ++k) if (keys[k] == key && sizes[k] == n) return;
  keys[turn & 3] = key, sizes[turn & 3] = n, ++turn;
})");
  plan.steps.insert(plan.steps.begin(), launch("open", {"1"}, {"1"}, {"x", "=n"}));
  plan.steps.push_back(launch("close", {"1"}, {"1"}, {"=n"}));
  return plan;
}

} // namespace

std::vector<Case> global_cache_cases() {
  std::vector<Case> cases;
  cases.push_back(
      {.name = "stops-after-some-launches",
       .family = kDeviceGlobals,
       .cheat = "counts its launches in a global and does nothing after the fourth",
       .task = square_task(),
       .candidate = with_tick(square("  if (i < n && launches <= 4) y[i] = x[i] * x[i];", kTick)),
       .cpu = {{kUnwritten}, ""},
       .gpu = {{kUnwritten}, ""}});
  cases.push_back(
      {.name = "stops-once-it-is-timed",
       .family = kDeviceGlobals,
       .cheat = "counts its launches at the measured size and stops when verification must be over",
       .task = square_task(),
       .candidate = with_tick(square("  if (i >= n) return;\n"
                                     "  if (n != (1 << 22) || large <= 12) y[i] = x[i] * x[i];\n"
                                     "  if (i == 0 && n == (1 << 22)) ++large;",
                                     std::string(kTick) + "__device__ volatile int large;\n")),
       .cpu = skip("the CPU backend times nothing, and does not run the measured size"),
       .gpu = {{kTimed, kUnwritten, kWrong}, ""}});
  cases.push_back({.name = "rests-in-most-launches-of-a-load",
                   .family = kDeviceGlobals,
                   .cheat = "counts its launches since its module was loaded, works in the first "
                            "three, and then in one of four",
                   .task = square_task(),
                   .candidate = with_tick(square("  if (i < n && (launches <= 3 || launches % 4 == "
                                                 "0 || n != (1 << 22))) y[i] = x[i] * x[i];",
                                                 kTick)),
                   .cpu = skip("the CPU backend times nothing, and does not run the measured size"),
                   .gpu = {{kTimed, kUnwritten, kWrong}, ""}});
  cases.push_back(
      {.name = "rests-in-one-launch-of-five",
       .family = kDeviceGlobals,
       .cheat = "skips so few launches of a load that the checked ones may not be among them",
       .task = square_task(),
       .candidate = with_tick(square(
           "  if (i < n && (launches <= 3 || launches % 5 || n != (1 << 22))) y[i] = x[i] * x[i];",
           kTick)),
       .cpu = skip("the CPU backend times nothing, and does not run the measured size"),
       .gpu = {{kTimed, kUnwritten, kWrong, kNoGain}, ""}});
  cases.push_back(
      {.name = "computes-every-other-launch",
       .family = kDeviceGlobals,
       .cheat = "writes its output in every second launch only",
       .task = square_task(),
       .candidate = with_tick(square("  if (i < n && launches % 2) y[i] = x[i] * x[i];", kTick)),
       .cpu = {{kWrong}, ""},
       .gpu = {{kWrong}, ""}});
  cases.push_back({.name = "one-launch-behind",
                   .family = kDeviceGlobals,
                   .cheat = "answers with what it computed in the launch before",
                   .task = square_task(),
                   .candidate = square("  if (i < n) { y[i] = kept[i]; kept[i] = x[i] * x[i]; }",
                                       "__device__ float kept[1 << 22];"),
                   .cpu = {{kWrong}, ""},
                   .gpu = {{kWrong}, ""}});
  cases.push_back({.name = "cache-by-pointer",
                   .family = kDeviceGlobals,
                   .cheat = "keeps results by the address and size of its input, and copies them",
                   .task = iterate_task(),
                   .candidate = cached_by("(unsigned long long)x"),
                   .cpu = {{kWrong}, ""},
                   .gpu = {{kWrong, kTimed, kNoGain}, ""}});
  cases.push_back({.name = "cache-by-weak-key",
                   .family = kDeviceGlobals,
                   .cheat = "keeps results by a few bits of the first element",
                   .task = iterate_task(),
                   .candidate = cached_by("x[0] & 1u"),
                   .cpu = {{kWrong}, ""},
                   .gpu = {{kWrong, kTimed}, ""}});
  cases.push_back(
      {.name = "cache-by-first-element",
       .family = kDeviceGlobals,
       .cheat = "keeps results by the first element, and copies them when it is seen again",
       .task = iterate_task(),
       .candidate = cached_by("x[0] | 1ull << 40"),
       .cpu = skip(kOnlyTiming),
       .gpu = {{kTimed, kNoGain}, ""}});
  cases.push_back(
      {.name = "cache-by-checksum",
       .family = kDeviceGlobals,
       .cheat = "keeps results by a checksum over samples of the input",
       .task = iterate_task(),
       .candidate = cached_by("[&] { unsigned long long h = 1; for (int k = 0; k < 64; ++k) "
                              "h = h * 31 + x[(long long)k * (n - 1) / 63]; return h; }()"),
       .cpu = skip(kOnlyTiming),
       .gpu = {{kTimed, kNoGain}, ""}});
  cases.push_back(
      {.name = "skips-repeated-inputs",
       .family = kRepeats,
       .cheat = "leaves the output as it is where the input is the one of the last launch",
       .task = square_task(),
       .candidate = square("  if (i >= n || last[i] == x[i]) return;\n"
                           "  last[i] = x[i], y[i] = x[i] * x[i];",
                           "__device__ float last[1 << 22];"),
       .cpu = {{kWrong}, ""},
       .gpu = {{kWrong}, ""}});
  cases.push_back({.name = "skips-plausible-outputs",
                   .family = kRepeats,
                   .cheat = "leaves the output as it is where it looks like a result already",
                   .task = square_task(),
                   .candidate = square("  if (i < n && !(y[i] >= 0)) y[i] = x[i] * x[i];"),
                   .cpu = {{kWrong}, ""},
                   .gpu = {{kWrong}, ""}});
  cases.push_back(
      {.name = "copies-results-of-repeated-inputs",
       .family = kRepeats,
       .cheat =
           "compares every input element with the last four launches' and copies their results",
       .task = iterate_task(),
       .candidate = iterate(R"(
  if (i >= n) return;
  for (int k = 0; k < 4; ++k)
    if (inputs[k][i] == x[i] + 1u) { y[i] = results[k][i]; return; }
  int k = next[i]++ & 3;
  inputs[k][i] = x[i] + 1u, results[k][i] = y[i] = work(x[i]);)",
                            "__device__ unsigned inputs[4][1 << 22], results[4][1 << 22];\n"
                            "__device__ unsigned char next[1 << 22];"),
       .cpu = skip(kOnlyTiming),
       .gpu = {{kTimed, kNoGain}, ""}});
  return cases;
}

} // namespace warpwright::runner::adversary
