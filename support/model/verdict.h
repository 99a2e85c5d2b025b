// Verdict: the runner's results for one plan and one task.
//
// Values that were not measured or not computed are absent, never 0. Thread: values, any.
#pragma once

#include "support/model/counters.h"
#include "support/model/record.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::model {

enum class Outcome {
  Verified, ///< correct by every check; with a speedup when it was measured on a GPU
  CompileFailed,
  WrongResult,
  Timeout,
  Crash,          ///< illegal address, out-of-bounds access, deadlock, a lost worker
  SuspectedCheat, ///< canaries, changed inputs, stale outputs, faster than possible
  Unsupported,    ///< this backend cannot run the plan, which may be correct
};

struct DeviceInfo {
  std::string kind;               ///< "cuda" or "cpu"
  std::string name;               ///< "NVIDIA H200"
  std::string identifier;         ///< UUID of the GPU; empty on the CPU
  std::string compute_capability; ///< "9.0"; empty on the CPU
  std::string driver;             ///< driver and NVRTC versions, or the CPU backend's
  std::string host;
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
  int multiprocessors = 0;                     ///< 0: not known
  int shared_bytes_block = 0;                  ///< limit per block; 0: unknown, also for the next three
  int shared_bytes_multiprocessor = 0, registers_multiprocessor = 0, threads_multiprocessor = 0;
  std::optional<double> copy_bytes_per_s;      ///< measured, bytes read plus written
  std::optional<double> peak_bytes_per_s;      ///< from the memory's clock and width
  std::optional<double> peak_fp32_flops_per_s; ///< from the multiprocessors' clock; upper bound
  std::optional<double> fp32_flops_per_s;      ///< measured
  std::optional<double> tf32_flops_per_s, bf16_flops_per_s; ///< tensor cores, dense, measured
  /// Measured time between two time stamps of a graph beyond the kernel between them.
  /// Time::kernel_ns leaves it out. Without probe_ns it is the time of two stamps with nothing
  /// between them, which is less.
  std::optional<double> bracket_ns;
  std::optional<double> probe_ns; ///< duration of the runner's probe kernel by CUPTI
  bool operator==(const DeviceInfo &) const = default;
};

/// 90 for "9.0"; 0 if the device has no compute capability.
int capability_of(const DeviceInfo &device);

/// Compiler's report on one kernel of a plan.
struct CompileReport {
  std::string kernel;
  std::optional<int> registers; ///< per thread
  std::optional<std::int64_t> static_shared_bytes, local_bytes, spill_store_bytes, spill_load_bytes;
  std::optional<double> occupancy; ///< resident warps / the most the multiprocessor holds, 0..1
  double compile_ms = 0;
  std::string
      log; ///< compiler diagnostics, with the user's line numbers if `#line` gives them
  bool operator==(const CompileReport &) const = default;
};

struct Check {
  std::string name; ///< "canaries", "inputs unchanged", "every element written", "run twice", ...
  bool passed = false;
  std::string detail;
  bool operator==(const Check &) const = default;
};

/// Largest errors over all outputs, seeds, distributions and sizes. A relative error is
/// |difference| / max(|expected|, scale), where scale is the root mean square of the expected
/// output.
struct Errors {
  std::optional<double> max_absolute, max_relative; ///< candidate against the reference
  std::optional<double> candidate_fp64,
      reference_fp64; ///< relative, each against the fp64 reference
  bool operator==(const Errors &) const = default;
};

/// Effect of rounding alone on an output that magnifies rounding. All values are relative to the
/// output, and in float64.
struct Conditioning {
  std::string output;
  double spread = 0; ///< change of the exact result when every input moves by one ulp
  double candidate = 0; ///< the candidate's error
  double reference = 0; ///< the reference's own
  double allowed = 0;   ///< allowed error of the candidate, derived from the spread
  bool operator==(const Conditioning &) const = default;
};

/// Time of one run of a plan, ns.
struct Time {
  double median_ns = 0, low_ns = 0, high_ns = 0; ///< median and its 95% confidence interval
  int samples = 0;
  /// Device time only: the median without the device's bracket_ns, comparable to a profiler's time.
  std::optional<double> kernel_ns = std::nullopt;
  bool operator==(const Time &) const = default;
};

struct Speedup {
  double ratio = 0, low = 0, high = 0; ///< reference time / candidate time, 95% confidence interval
  int samples = 0;                     ///< pairs
  std::string device;
  bool operator==(const Speedup &) const = default;
};

/// Times as a program sees them: host time from before the first call of the driver (plain launches
/// on one stream) until the stream is idle. Launch costs are included.
struct AsCalled {
  Time reference_time, candidate_time;
  Speedup speedup;
  bool operator==(const AsCalled &) const = default;
};

/// Check of an export: its kernels answered every call. Its detail has the number of calls.
inline constexpr const char *kKernelsCheck = "its kernels ran";

/// Variant of the framework that the candidate was measured against in separate pairs: "eager" and
/// "torch.compile" as called, "eager+graph" and "torch.compile+graph" in device time.
struct Baseline {
  std::string name;
  std::optional<Time> reference_time, candidate_time; ///< both and `speedup`, or none
  std::optional<Speedup> speedup;
  std::string missing; ///< reason without times: it does not compile, cannot be captured, is wrong
  bool wrong = false;  ///< its results are wrong by the rules for candidates: `missing` says how
  bool operator==(const Baseline &) const = default;
};

struct Range {
  double low = 0, high = 0;
  bool operator==(const Range &) const = default;
};

/// The driver's readings of the GPU during sampling.
struct ClockRecord {
  std::optional<Range> sm_mhz, memory_mhz, temperature_c;
  std::optional<bool> power_capped; ///< at least once; such samples are kept
  int discarded_pairs = 0;          ///< pairs whose two sides had different SM clocks
  bool operator==(const ClockRecord &) const = default;
};

/// Bottleneck of a plan, by rule from its rates: see docs/internals/measuring.md.
enum class Bound { Memory, Compute, Latency };

/// Achieved rates of one side: the task's least work over the median device time.
struct Evidence {
  std::optional<double> bytes_per_s, flops_per_s;
  std::optional<double> memory_share, compute_share; ///< share of the device's measured rates
  Bound bound = Bound::Latency;
  bool operator==(const Evidence &) const = default;
};

struct Verdict {
  Outcome outcome = Outcome::Unsupported;
  std::string message; ///< one sentence with the reason of the outcome
  DeviceInfo device;
  std::vector<CompileReport> kernels; ///< the candidate's kernels
  std::vector<CompileReport> reference_kernels;
  std::vector<Check> checks;
  Errors errors;
  /// Present if the task is ill-conditioned. The candidate is then as accurate as another rounding
  /// would be, and its values may differ much.
  std::optional<Conditioning> conditioning;
  std::optional<Time> reference_time, candidate_time;
  std::optional<Speedup> speedup; ///< speedup of device time, only from a GPU
  std::optional<AsCalled> as_called;
  std::vector<Baseline> baselines; ///< torch tasks
  /// Torch tasks: measured share of the candidate's device time in its ATen steps, 0..1; 0 if all
  /// steps are kernels of the plan. Absent if not measured.
  std::optional<double> library_share;
  /// Torch tasks: device time that each step of the candidate's plan adds to the steps before it, nanoseconds. Empty if
  /// not measured.
  std::vector<double> step_ns;
  /// Torch tasks: versions of torch, Python, CUDA and cuDNN, and the flags of both sides.
  std::map<std::string, std::string> framework;
  std::optional<ClockRecord> clocks; ///< absent without NVML
  std::optional<Evidence> reference_evidence, candidate_evidence;
  int discarded_samples = 0;  ///< under clock throttling
  std::string measured_sizes; ///< "n=16777216"
  std::string date;           ///< ISO 8601, UTC
  std::string task_hash, plan_hash;
  /// The candidate is host code of another system, which ran in its own process: see
  /// docs/use/candidates.md.
  bool host_code = false;
  std::optional<Counters> counters; ///< if requested and readable
  std::optional<Record> record;     ///< all data for a repetition; filled by the service
  bool operator==(const Verdict &) const = default;
};

} // namespace warpwright::model
