// Policies kept between searches: the weights of the learned cost model and of the builtin policy, and the child
// process that asks an endpoint.
//
// The editor and the command line share this class. All calls must come from one thread, because a child belongs to the
// thread that started it. Files are read and children started at the first search that needs them; a dead child is
// restarted at the next.
#pragma once

#include "server/optimize/advised_policy.h"
#include "server/optimize/own_ledger.h"
#include "server/optimize/torch_optimizer.h"
#include "server/policy_choice.h"

#include <filesystem>

namespace warpwright::server {

/// A kernel to search for.
struct KernelSearch {
  std::string file; ///< path
  const model::Task &task;
  std::optional<model::DeviceInfo> device; ///< that verdicts come from
  bool learn = true;                       ///< from the project's own verdicts
  ProposeLine::Told told = {};             ///< progress of a language model's answer; may be empty
};

class Policies {
public:
  /// @param open_ledger the ledger with the project's own verdicts; unset: there is none
  explicit Policies(OwnLedger::Open open_ledger = {});

  /// Policy for one search; it reports when it replaces the chosen one, and how often that happened.
  /// @param stop cancels a pending answer
  std::unique_ptr<AdvisedPolicy> for_kernel(const PolicyChoice &choice, const KernelSearch &search,
                                            std::stop_token stop);

  /// The same for torch modules: the search's own policy unless the builtin policy or a language model was chosen.
  /// @param told as KernelSearch::told
  std::unique_ptr<ModulePolicy> for_module(const PolicyChoice &choice, ProposeLine::Told told,
                                           std::stop_token stop);

private:
  /// A file of weights that was read.
  template <class Weights>
  struct Loaded {
    std::string path;
    std::filesystem::file_time_type written;
    std::unique_ptr<const Weights> weights;
  };
  /// Errors: the file does not exist or has another format.
  Result<const trainer::PlainPolicy *> weights(const std::string &path);
  Result<const trainer::Ranker *> ranker();
  /// Errors: the program cannot start; the endpoint's own error.
  Result<rpc::ChildLine *> line(const std::string &endpoint);
  /// Errors: reason why there is no adviser; empty: none was requested.
  std::expected<std::unique_ptr<Adviser>, std::string>
  adviser(const PolicyChoice &choice, const KernelSearch &search, std::stop_token stop);
  Result<std::unique_ptr<Adviser>> ranked_adviser(const KernelSearch &search);

  std::optional<Loaded<trainer::PlainPolicy>> builtin_;
  std::optional<Loaded<trainer::Ranker>> ranker_;
  std::optional<OwnLedger> own_;
  int searches_ = 0, replaced_ = 0; ///< of kernels, and those whose chosen policy could not propose
  std::unique_ptr<rpc::ChildLine> line_;
  std::string line_endpoint_;
};

} // namespace warpwright::server
