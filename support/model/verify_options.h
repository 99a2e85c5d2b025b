// How one job is to be verified: what a client asks for, a service passes on and a worker obeys. One struct,
// so that an option is added here and nowhere is it forgotten on the way.
// Thread: values, any.
#pragma once

#include "support/error.h"

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::model {

/// Times a speedup that was confirmed: what is no faster needs no second measurement.
inline constexpr double kAsConfirmed = 1.1;

struct VerifyOptions {
  /// "cuda:0", "cpu", or a part of a GPU's name ("H200"): any such device of the runner; empty: its best.
  std::string device;
  /// The client's own name for the job, unique for ever. The same job sent twice (a line was down) is
  /// one job: it runs once, and both are answered with the one verdict. Empty: every request is a job.
  std::string job;
  std::chrono::milliseconds timeout{60'000}; ///< wall time of the job, then its verdict is Timeout
  std::chrono::milliseconds measure_budget{2'000};
  bool measure = true;      ///< false: verify only
  bool hidden_sizes = true; ///< also verify at sizes that the task does not name
  /// A large speedup is measured again in a fresh worker. Only a search that asks again about its best may do without.
  bool confirm_large = true;
  /// False: a torch module is judged in one drawing before it is timed, and once after, and runs in float64 only where the candidate
  /// does not agree with it anyway. Only a search that asks again about its best, thoroughly, may do with less.
  bool thorough = true;
  bool deep = false;    ///< also under compute-sanitizer, where it is present
  bool profile = false; ///< also read hardware counters, where ncu is present
  /// Another system's module may be verified, which is host code (docs/candidates.md). Without it such plans are refused.
  bool host_code = false;
  /// Of torch tasks, further framework variants to measure against: "torch.compile", "torch.compile+graph" (either gives both).
  /// "eager" and "eager+graph" are always measured.
  std::vector<std::string> baselines;
  /// Of all drawings; 0: unpredictable, so that no candidate can know its inputs.
  std::uint64_t seed = 0;
  /// Of this task, where the client knows one: a speedup over twice that is measured again.
  std::optional<double> best_known_speedup;
  /// Of this task, where a fresh worker confirmed one: a speedup up to a tenth over it is no surprise, and not measured again.
  std::optional<double> confirmed_speedup;
  bool operator==(const VerifyOptions &) const = default;
};

nlohmann::json to_json(const VerifyOptions &options);
/// Absent members keep their defaults. Errors: no object, an unknown member, a wrong type or range; each
/// names the member.
Result<VerifyOptions> verify_options_from_json(const nlohmann::json &document);

} // namespace warpwright::model
