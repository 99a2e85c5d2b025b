// Optimizer of one traced torch module: collects proposals and verdicts, then measures the best plan against every
// baseline.
//
// The command line, the benchmark and the editor share it; it does not depend on a terminal, LSP or a GPU. Calls block;
// several optimizers may run at once, each with its own client.
#pragma once

#include "generator/search/torch_search.h"
#include "runner/ledger/ledger.h"
#include "server/optimize/torch_task.h"

namespace warpwright::server {

/// Source of plans that replaces the search's own policy in one search, and its reports.
struct ModulePolicy {
  /// Returns the policy for a search; it may continue with `search`. Null: the search's own policy is used.
  std::function<std::unique_ptr<search::TorchPolicy>(const TorchTask &, const model::DeviceInfo &,
                                                     std::unique_ptr<search::TorchPolicy> search)>
      make;
  std::string described = "search"; ///< who proposed, and why the choice was not used
  std::string analysis;             ///< its last analysis of the module
  std::map<std::string, runner::Proposed> proposed; ///< by the plan's hash
};

struct TorchLimits {
  search::SearchLimits search{.max_variants = 8, .budget = std::chrono::seconds{60}, .at_once = 2};
  std::chrono::milliseconds measure_budget{300};         ///< for each candidate of the search
  std::chrono::milliseconds final_measure_budget{1'000}; ///< for the best, per baseline
  /// False: the search judges candidates in fewer drawings (VerifyOptions::thorough); the best is judged in all of
  /// them.
  bool thorough_search = true;
  /// For the best, beside eager and eager+graph (VerifyOptions::baselines).
  std::vector<std::string> baselines = {"torch.compile"};
  bool measure = true; ///< false: plans are verified only, without a ranking by speed
  std::optional<search::Recipe> known = std::nullopt;    ///< tried first
  ModulePolicy *policy = nullptr;                        ///< null: the search's own; outlives it
};

struct TorchOutcome {
  std::optional<TorchTask> task; ///< absent: the module could not be traced, `error` says why
  std::optional<Error> error;    ///< why the search ended early; earlier results stay
  std::vector<search::TorchVariant> variants; ///< in the order tried
  std::optional<std::size_t>
      best; ///< verified, with a kernel of ours; the fastest where a GPU measured
  /// Final measurement of the best with all baselines; absent without a GPU.
  std::optional<model::Verdict> final_verdict;
  /// The failure of the device or module in each attempt, if final_verdict is absent. Empty: there was no attempt.
  std::string unconfirmed;
  double seconds = 0;
};

struct TorchEvents {
  std::function<void(const search::TorchVariant &, std::size_t tried)> on_variant; ///< may be empty
  std::function<void(const std::string &stage)> on_stage; ///< may be empty
};

/// Options of the measurement that decides about a search's best plan. Without a GPU it only verifies.
runner::VerifyOptions final_options(const runner::VerifyOptions &verify, const TorchLimits &limits,
                                    const model::DeviceInfo &device);

/// @param traced result of the runner's trace() of the module
/// @param device of `verify`; decides which templates are proposed
TorchOutcome optimize_torch_module(const std::string &name, const std::string &file,
                                   const model::TorchModule &module,
                                   Result<runner::TracedModule> traced,
                                   runner::BlockingClient &client, const model::DeviceInfo &device,
                                   const runner::VerifyOptions &verify, const TorchLimits &limits,
                                   const TorchEvents &events, std::stop_token stop);

} // namespace warpwright::server
