// Options of one verification job, from the client through the service to the worker. They are one
// struct, so that a new option is added in one place. Thread: values, any.
#pragma once

#include "support/error.h"

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::model {

/// A framework variant that a torch task can be measured against beside eager: a mode of
/// torch.compile. Each has as-called times under its name, and device times under its name and "+graph".
struct CompiledVariant {
  std::string_view name;
  std::string_view mode; ///< of torch.compile; empty: its default
};
inline constexpr CompiledVariant kCompiledVariants[] = {
    {"torch.compile", ""},
    {"torch.compile max-autotune-no-cudagraphs", "max-autotune-no-cudagraphs"}};

/// A speedup up to this factor times a confirmed speedup needs no second measurement.
inline constexpr double kAsConfirmed = 1.1;

struct VerifyOptions {
  /// "cuda:0", "cpu", or a part of a GPU's name ("H200"): any such device of the runner; empty: its best.
  std::string device;
  /// The client's own name for the job, never reused. A job that is sent twice (after a lost
  /// connection) runs once, and both requests get the same verdict. Empty: every request is a job.
  std::string job;
  std::chrono::milliseconds timeout{60'000}; ///< wall time of the job; after it the verdict is Timeout
  std::chrono::milliseconds measure_budget{2'000};
  bool measure = true;      ///< false: verify only
  bool hidden_sizes = true; ///< also verify at sizes that the task does not name
  /// A large speedup is measured again in a fresh worker. Only a search that verifies its best
  /// variant again may turn this off.
  bool confirm_large = true;
  /// False: a torch module is checked in one drawing of inputs before it is timed, and in one
  /// after, and runs in float64 only if the candidate disagrees with it. Only a search that
  /// thoroughly verifies its best variant again may turn this off.
  bool thorough = true;
  bool deep = false;    ///< also under compute-sanitizer, if present
  bool profile = false; ///< also read hardware counters, if ncu is present
  /// Allows plans that are another system's module, which is host code (docs/use/candidates.md).
  /// Without it such plans are refused.
  bool host_code = false;
  /// Torch tasks: further framework variants to measure against: names of kCompiledVariants, also
  /// with "+graph" (either gives both). "eager" and "eager+graph" are always measured.
  std::vector<std::string> baselines;
  /// Seed of all drawings; 0: unpredictable, so that no candidate can know its inputs.
  std::uint64_t seed = 0;
  /// Best known speedup of this task; a speedup above twice this value is measured again.
  std::optional<double> best_known_speedup;
  /// Speedup of this task that a fresh worker confirmed; a speedup up to kAsConfirmed times this
  /// value is not measured again.
  std::optional<double> confirmed_speedup;
  bool operator==(const VerifyOptions &) const = default;
};

nlohmann::json to_json(const VerifyOptions &options);
/// Absent members keep their defaults. Errors: not an object, an unknown member, a wrong type or
/// range; each names the member.
Result<VerifyOptions> verify_options_from_json(const nlohmann::json &document);

} // namespace warpwright::model
