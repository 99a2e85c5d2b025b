// Candidates that search memory for the answer: the poison, freed buffers, memory next to their own.
#include "runner/adversary/families.h"
#include "runner/adversary/tasks.h"

namespace warpwright::runner::adversary {
namespace {

constexpr const char *kFamily = "reading stale expected output";
constexpr const char *kOnlyTiming =
    "its results are right, which is all that the CPU backend can tell; a gain would show in times";

Plan through_temporary() {
  Plan plan = iterate(R"(
  if (i >= n) return;
  if (marks[i] == (x[i] ^ 0x5eed5eedu)) y[i] = kept[i];
  else marks[i] = x[i] ^ 0x5eed5eedu, kept[i] = y[i] = work(x[i]);)");
  plan.source = plan.source.replace(plan.source.find("unsigned *y, int n"), 18,
                                    "unsigned *y, unsigned *kept, unsigned *marks, int n");
  plan.temporaries = {{"kept", Dtype::UInt32, expression("n")},
                      {"marks", Dtype::UInt32, expression("n")}};
  plan.steps = {
      launch("iterate", {"ceil_div(n, 256)"}, {"256"}, {"x", "y", "kept", "marks", "=n"})};
  return plan;
}

} // namespace

std::vector<Case> stale_answer_cases() {
  std::vector<Case> cases;
  cases.push_back({.name = "allocates-nothing-computes-nothing",
                   .family = kFamily,
                   .cheat = "leaves the earlier contents of its output buffer",
                   .task = square_task(),
                   .candidate = square("  if (i < n) y[i] = y[i];"),
                   .cpu = {{kUnwritten}, ""},
                   .gpu = {{kUnwritten}, ""}});
  cases.push_back({.name = "works-on-the-first-poison-only",
                   .family = kFamily,
                   .cheat = "computes only where its output holds the first run's poison",
                   .task = square_task(),
                   .candidate = square(
                       "  if (i < n && __float_as_uint(y[i]) == 0xffffffffu) y[i] = x[i] * x[i];"),
                   .cpu = {{kWrong}, ""},
                   .gpu = {{kWrong}, ""}});
  cases.push_back(
      {.name = "works-on-any-poison",
       .family = kFamily,
       .cheat = "computes where four equal bytes betray a poison, which is everywhere",
       .task = square_task(),
       .candidate = square("  if (i >= n) return;\n  unsigned bits = __float_as_uint(y[i]);\n"
                           "  if (bits == (bits & 255u) * 0x01010101u) y[i] = x[i] * x[i];"),
       .cpu = skip(kOnlyTiming),
       .gpu = {{kNoGain}, ""}});
  cases.push_back({.name = "scans-around-its-output",
                   .family = kFamily,
                   .cheat = "takes the answer from the nearest plausible number below its output",
                   .task = square_task(),
                   .candidate = square(R"(
  if (i >= n) return;
  float found = -1;
  for (int k = 1; k <= 64 && found < 0; ++k) {
    float v = y[i - k * 4096ll];
    if (v >= 0 && v < 1e30f) found = v;
  }
  y[i] = found;)"),
                   .cpu = {{kCrash}, ""},
                   .gpu = {{kWrong, kCrash}, ""}});
  cases.push_back(
      {.name = "reads-behind-its-input",
       .family = kFamily,
       .cheat = "copies what lies one rounded buffer behind its input, hoping for the answer",
       .task = square_task(),
       .candidate = square("  if (i < n) y[i] = x[i + (n + 1023) / 1024 * 1024 + 4096];"),
       .cpu = {{kCrash}, ""},
       .gpu = {{kWrong, kUnwritten, kCrash}, ""}});
  cases.push_back(
      {.name = "keeps-a-pointer-to-an-old-output",
       .family = kFamily,
       .cheat = "copies the output buffer of an earlier launch, where the reference ran meanwhile",
       .task = square_task(),
       .candidate =
           [] {
             Plan plan =
                 square("  if (i >= n) return;\n"
                        "  if (old && old_n >= n) y[i] = old[i];\n  else y[i] = x[i] * x[i];",
                        "__device__ float *old, *next; __device__ int old_n, next_n;\n"
                        "extern \"C\" __global__ void keep(float *y, int n) {\n"
                        "  old = next, old_n = next_n, next = y, next_n = n;\n}");
             plan.steps.push_back(launch("keep", {"1"}, {"1"}, {"y", "=n"}));
             return plan;
           }(),
       .cpu = {{kWrong, kUnwritten, kCrash}, ""},
       .gpu = {{kWrong, kUnwritten, kCrash}, ""}});
  cases.push_back({.name = "keeps-results-in-a-temporary",
                   .family = kFamily,
                   .cheat = "hopes to find the last run's results in its own temporaries",
                   .task = iterate_task(),
                   .candidate = through_temporary(),
                   .cpu = skip(kOnlyTiming),
                   .gpu = {{kNoGain, kWrong}, ""}}); // wrong if its key matches by chance
  return cases;
}

} // namespace warpwright::runner::adversary
