// Line to the process `warpwright-train propose`, which asks language models, and the advice that
// comes over it. Advisers in this process give advice of the same form.
#pragma once

#include "support/error.h"
#include "support/model/plan.h"
#include "support/rpc/child_line.h"

#include <functional>
#include <map>
#include <optional>
#include <stop_token>

namespace warpwright::server {

struct Advice {
  std::vector<std::string> moves;  ///< on the unchanged source, or from a module's plan `base`
  std::optional<model::Plan> plan; ///< instead of moves
  std::map<std::string, model::Plan> regions = {}; ///< modules: as trainer::Proposal::regions
  std::string base = {};                           ///< modules: as trainer::Proposal::base
  std::string answer = {}; ///< name of the advice for the proposer, if it is more than moves
  std::string analysis;
  bool exhausted = false; ///< nothing new; `refused` may say why
  bool waits = false;     ///< verdicts that are pending must be known first
  std::string refused;
};

/// Proposer in a child process for one search. Thread: one at a time.
class ProposeLine {
public:
  using Told = std::function<void(const std::string &)>;

  /// @param line to a running `propose` (trainer/cli/propose.h); outlives this @param stop kills
  /// that process
  /// @param told receives progress; may be empty
  ProposeLine(rpc::ChildLine &line, std::stop_token stop, Told told)
      : line_(line), stop_(std::move(stop)), told_(std::move(told)) {}
  /// Errors: the process refuses, has ended, or answers with something else.
  Result<Advice> ask(const nlohmann::json &params);
  /// Tokens and costs so far, for reports; empty before the first answer.
  const std::string &spent() const { return spent_; }

private:
  rpc::ChildLine &line_;
  std::stop_token stop_;
  Told told_;
  std::string spent_;
};

} // namespace warpwright::server
