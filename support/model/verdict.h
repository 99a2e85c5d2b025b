// A verdict: all that the runner found out about one plan for one task.
//
// Unavailable is never 0: what was not measured or not computed is absent.
// Thread: values, any.
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
  Unsupported,    ///< this backend cannot run it; says nothing about the candidate
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
  int shared_bytes_block = 0;                  ///< that a block may ask for; 0: not known, as those that follow
  int shared_bytes_multiprocessor = 0, registers_multiprocessor = 0, threads_multiprocessor = 0;
  std::optional<double> copy_bytes_per_s;      ///< measured, bytes read plus written
  std::optional<double> peak_bytes_per_s;      ///< of the memory's clock and width
  std::optional<double> peak_fp32_flops_per_s; ///< of the multiprocessors' clock, at most
  std::optional<double> fp32_flops_per_s;      ///< measured
  std::optional<double> tf32_flops_per_s, bf16_flops_per_s; ///< tensor cores, dense, measured
  /// What lies between two time stamps of a graph beyond the kernel between them, measured; what
  /// Time::kernel_ns leaves out. Without probe_ns what stamps with nothing between them cost, which is less.
  std::optional<double> bracket_ns;
  std::optional<double> probe_ns; ///< duration of the runner's probe kernel by CUPTI
  bool operator==(const DeviceInfo &) const = default;
};

/// "9.0" -> 90; 0 when the device tells no such thing.
int capability_of(const DeviceInfo &device);

/// Of the kernel with the largest share of the plan (the first launch where that is unknown).
struct CompileReport {
  std::string kernel;
  std::optional<int> registers; ///< a thread
  std::optional<std::int64_t> static_shared_bytes, local_bytes, spill_store_bytes, spill_load_bytes;
  std::optional<double> occupancy; ///< resident warps / the most the multiprocessor holds, 0..1
  double compile_ms = 0;
  std::string
      log; ///< the compiler's diagnostics, in the user's line numbers where `#line` gives them
  bool operator==(const CompileReport &) const = default;
};

struct Check {
  std::string name; ///< "canaries", "inputs unchanged", "every element written", "run twice", ...
  bool passed = false;
  std::string detail;
  bool operator==(const Check &) const = default;
};

/// Largest over all outputs, seeds, distributions and sizes. Relative: |difference| / max(|expected|, scale),
/// scale the root mean square of the expected output.
struct Errors {
  std::optional<double> max_absolute, max_relative; ///< candidate against the reference
  std::optional<double> candidate_fp64,
      reference_fp64; ///< relative, each against the fp64 reference
  bool operator==(const Errors &) const = default;
};

/// Of an output that magnifies rounding: how far rounding alone moves it. All relative to the output, and in float64.
struct Conditioning {
  std::string output;
  double spread = 0; ///< of the exact result, when every input moves by one unit in its last place
  double candidate = 0; ///< the candidate's error
  double reference = 0; ///< the reference's own
  double allowed = 0;   ///< to the candidate, which follows from the spread
  bool operator==(const Conditioning &) const = default;
};

/// Time of one run of a plan, ns.
struct Time {
  double median_ns = 0, low_ns = 0, high_ns = 0; ///< median and its 95% confidence interval
  int samples = 0;
  /// Device time only: the median without the device's bracket_ns, as a profiler counts a kernel.
  std::optional<double> kernel_ns = std::nullopt;
  bool operator==(const Time &) const = default;
};

struct Speedup {
  double ratio = 0, low = 0, high = 0; ///< reference time / candidate time, 95% confidence interval
  int samples = 0;                     ///< pairs
  std::string device;
  bool operator==(const Speedup &) const = default;
};

/// As a program sees it: host time from before the first call of the driver (plain launches on one
/// stream) until the stream is idle. Launch costs are in it.
struct AsCalled {
  Time reference_time, candidate_time;
  Speedup speedup;
  bool operator==(const AsCalled &) const = default;
};

/// A variant of the framework that the candidate was measured against in pairs of their own: "eager" and "torch.compile" as called,
/// "eager+graph" and "torch.compile+graph" in device time.
struct Baseline {
  std::string name;
  std::optional<Time> reference_time, candidate_time; ///< both and `speedup`, or none
  std::optional<Speedup> speedup;
  std::string missing; ///< why there are no times: it does not compile, or cannot be captured
  bool operator==(const Baseline &) const = default;
};

struct Range {
  double low = 0, high = 0;
  bool operator==(const Range &) const = default;
};

/// What the driver said of the GPU while samples were taken.
struct ClockRecord {
  std::optional<Range> sm_mhz, memory_mhz, temperature_c;
  std::optional<bool> power_capped; ///< at least once; such samples are kept
  int discarded_pairs = 0;          ///< the SM clocks of the pair's two sides differed
  bool operator==(const ClockRecord &) const = default;
};

/// What holds a plan back, by rule from its rates: see docs/internals/measuring.md.
enum class Bound { Memory, Compute, Latency };

/// Achieved rates of one side: the task's least work over the median device time.
struct Evidence {
  std::optional<double> bytes_per_s, flops_per_s;
  std::optional<double> memory_share, compute_share; ///< of what the device was measured to reach
  Bound bound = Bound::Latency;
  bool operator==(const Evidence &) const = default;
};

struct Verdict {
  Outcome outcome = Outcome::Unsupported;
  std::string message; ///< one sentence: why this outcome
  DeviceInfo device;
  std::vector<CompileReport> kernels; ///< of the candidate
  std::vector<CompileReport> reference_kernels;
  std::vector<Check> checks;
  Errors errors;
  /// Present: the task is ill-conditioned. The candidate is as right as another rounding would be, and its values may differ much.
  std::optional<Conditioning> conditioning;
  std::optional<Time> reference_time, candidate_time;
  std::optional<Speedup> speedup; ///< of device time, only from a GPU
  std::optional<AsCalled> as_called;
  std::vector<Baseline> baselines; ///< of torch tasks
  /// Of torch tasks: how much of the candidate's device time its ATen steps take, 0..1, measured; 0 where all steps are kernels of
  /// the plan. Absent where nothing was measured.
  std::optional<double> library_share;
  /// Of torch tasks: versions of torch, Python, CUDA and cuDNN, and the flags that both sides ran under.
  std::map<std::string, std::string> framework;
  std::optional<ClockRecord> clocks; ///< absent without NVML
  std::optional<Evidence> reference_evidence, candidate_evidence;
  int discarded_samples = 0;  ///< under clock throttling
  std::string measured_sizes; ///< "n=16777216"
  std::string date;           ///< ISO 8601, UTC
  std::string task_hash, plan_hash;
  /// The candidate is host code of another system, which ran in its own process: see docs/candidates.md for what that means.
  bool host_code = false;
  std::optional<Counters> counters; ///< where they were asked for and could be read
  std::optional<Record> record;     ///< all that a re-run needs; filled by the service
  bool operator==(const Verdict &) const = default;
};

} // namespace warpwright::model
