// Optimising one torch module that was traced: proposals, the runner's verdicts, and the best of them measured against every baseline.
//
// The same for the command line, the benchmark and the editor; it knows no terminal, no LSP and no GPU. Thread: blocks the caller's;
// several may run at once, each with its own.
#pragma once

#include "generator/search/torch_search.h"
#include "runner/ledger/ledger.h"
#include "server/optimize/torch_task.h"

namespace warpwright::server {

/// Who proposes the plans of one search instead of the search's own policy, and what it says.
struct ModulePolicy {
  /// Takes the search's own, to go on with; null: that one it is.
  std::function<std::unique_ptr<search::TorchPolicy>(const TorchTask &, const model::DeviceInfo &,
                                                     std::unique_ptr<search::TorchPolicy> search)>
      make;
  std::string described = "search"; ///< who it was, and why not the one that was chosen
  std::string analysis;             ///< what it said of the module last
  std::map<std::string, runner::Proposed> proposed; ///< by the plan's hash
};

struct TorchLimits {
  search::SearchLimits search{.max_variants = 8, .budget = std::chrono::seconds{60}, .at_once = 2};
  std::chrono::milliseconds measure_budget{300};         ///< of each candidate while searching
  std::chrono::milliseconds final_measure_budget{1'000}; ///< of the best, against each baseline
  /// False: candidates are judged in fewer drawings while searching (VerifyOptions::thorough), the best in all of them.
  bool thorough_search = true;
  bool measure = true; ///< false: plans are verified, and none is faster than another
  std::optional<search::Recipe> known = std::nullopt;    ///< tried first
  ModulePolicy *policy = nullptr;                        ///< null: the search's own; outlives it
};

struct TorchOutcome {
  std::optional<TorchTask> task; ///< absent: the module could not be traced, `error` says why
  std::optional<Error> error;    ///< why nothing more was tried; what was found before stands
  std::vector<search::TorchVariant> variants; ///< in the order tried
  std::optional<std::size_t>
      best; ///< verified, with a kernel of ours; the fastest where a GPU measured
  /// Of the best, measured last, with all baselines; absent without a GPU.
  std::optional<model::Verdict> final_verdict;
  /// Why the best has none: what the device or the module failed for, each time that it was tried. Empty where it was not tried.
  std::string unconfirmed;
  double seconds = 0;
};

struct TorchEvents {
  std::function<void(const search::TorchVariant &, std::size_t tried)> on_variant; ///< may be empty
  std::function<void(const std::string &stage)> on_stage; ///< may be empty
};

/// @param traced what the runner's trace() of the module gave
/// @param device that `verify` names: decides which templates are proposed
TorchOutcome optimize_torch_module(const std::string &name, const std::string &file,
                                   const model::TorchModule &module,
                                   Result<runner::TracedModule> traced,
                                   runner::BlockingClient &client, const model::DeviceInfo &device,
                                   const runner::VerifyOptions &verify, const TorchLimits &limits,
                                   const TorchEvents &events, std::stop_token stop);

} // namespace warpwright::server
