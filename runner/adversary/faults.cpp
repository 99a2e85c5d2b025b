// Broken candidates that crash or block a device or a worker. Each must cost only its own job, as
// the next case shows.
#include "runner/adversary/families.h"
#include "runner/adversary/tasks.h"

namespace warpwright::runner::adversary {
namespace {

constexpr const char *kEndless = "kernels that never end";
constexpr const char *kCrashes = "kernels that crash";
constexpr int kShortMs = 2'500;

Case fault(const std::string &name, const char *family, const std::string &cheat, Plan candidate,
           std::vector<Expectation> accepted) {
  Case made = on_squares(name, family, cheat, std::move(candidate), std::move(accepted));
  if (family == kEndless)
    made.timeout_ms = kShortMs;
  return made;
}

} // namespace

std::vector<Case> fault_cases() {
  std::vector<Case> cases;
  cases.push_back(fault("endless-loop", kEndless, "never ends",
                       square_after("while (((volatile int *)y)[0] != 42 || n) {}"), {kTimeout}));
  cases.push_back(
      fault("waits-for-the-next-launch", kEndless,
           "keeps a block spinning until a later launch sets a flag",
           square_after("if (blockIdx.x == 0) while (go == 0) {}", "__device__ volatile int go;"),
           {kTimeout}));
  cases.push_back(fault("grid-barrier-of-too-many-blocks", kEndless,
                       "waits in every block for blocks that cannot start before it ends",
                       [] {
                         Plan plan =
                             square_after("if (threadIdx.x == 0) { atomicAdd(&arrived, 1);\n"
                                          "    while (*(volatile int *)&arrived < gridDim.x) {} }\n"
                                          "  __syncthreads();",
                                          "__device__ int arrived;");
                         plan.steps = {launch("square", {"max(n, 2)"}, {"1024"}, {"x", "y", "=n"})};
                         return plan;
                       }(),
                       {kTimeout}));
  Case divergent =
      fault("barrier-in-divergent-code", kCrashes, "waits at two different barriers in one warp",
           square_after("if (threadIdx.x % 2) { __syncthreads(); if (i < n) y[i] = 1; }\n"
                        "  else __syncthreads();"),
           {kCrash});
  divergent.gpu =
      skip("since Volta a GPU lets such barriers pass by chance; the result is right then");
  cases.push_back(std::move(divergent));
  cases.push_back(fault("trap", kCrashes, "traps in one thread of a right kernel",
                       square_after("if (i == 777) __trap();"), {kCrash}));
  cases.push_back(fault("failed-assertion", kCrashes, "fails an assertion",
                       square_after("assert(i != 777);"), {kCrash}));
  cases.push_back(fault("null-pointer", kCrashes, "writes through a null pointer",
                       square_after("if (i == 777) *(volatile float *)nullptr = 1;"), {kCrash}));
  cases.push_back(fault("misaligned-vector", kCrashes, "stores a float4 one element off alignment",
                       square("  if (i == 0 && n >= 8) *reinterpret_cast<float4 *>(y + 1) = "
                              "make_float4(0, 0, 0, 0);\n  if (i < n) y[i] = x[i] * x[i];"),
                       {kCrash}));
  cases.push_back(fault("endless-recursion", kCrashes, "runs out of its stack",
                       square("  if (i < n) y[i] = x[i] * x[i] + deep(y, i) * 0;", R"(
__device__ __noinline__ int deep(volatile float *y, int k) {
  volatile int a[64]; a[k & 63] = k;
  return k < 0 ? 0 : deep(y, (k & 0xffff) + 1) + a[k & 63] + (int)y[0];
})"),
                       {kCrash}));
  Case overrun =
      fault("shared-array-overrun", kCrashes, "writes behind its shared array",
           square("  __shared__ float s[256];\n  s[threadIdx.x + (n > 500 ? 64 : 0)] = 0;\n"
                  "  if (i < n) y[i] = x[i] * x[i] + s[0] * 0;"),
           {kCrash});
  overrun.gpu =
      skip("shared memory is allocated in units, so that a GPU may not notice; the result "
           "is right then");
  cases.push_back(std::move(overrun));
  Case division = fault("division-by-zero", kCrashes, "divides integers by zero",
                       square_after("if (i == 0) y[0] = 7 / (n - n);"), {kCrash});
  division.gpu = skip("a GPU divides integers by zero without a fault; the result is right then");
  cases.push_back(std::move(division));
  return cases;
}

} // namespace warpwright::runner::adversary
