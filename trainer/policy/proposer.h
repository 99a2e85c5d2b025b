// Proposer for a caller that measures: picks exemplars from the tried versions and asks the policy until its answer is
// new.
//
// `warpwright-train propose` serves it over a pipe; `warpwright` calls it with the builtin policy in its own process.
// It does not depend on a protocol.
#pragma once

#include "support/model/verdict.h"
#include "trainer/policy/exemplars.h"
#include "trainer/policy/policy.h"

namespace warpwright::trainer {

/// A tried version with its verdict.
struct TriedVersion {
  Moves moves;
  std::string plan; ///< answer_text() of a proposal that is more than moves; else empty
  model::Verdict verdict;
  std::string refused = {}; ///< why the caller could not use it: then it has no verdict
  bool pending = false;     ///< it is still being measured: likewise
};

class Proposer {
public:
  /// @param policy outlives this
  Proposer(Policy &policy, const ExemplarChoice &exemplars, std::uint64_t seed)
      : policy_(policy), exemplars_(exemplars), random_(seed) {}

  /// A proposal that is not in `tried`; or `exhausted`, with the reason in `refused` if answers were unusable.
  /// @param tried in order, without the unchanged source
  /// @param stop @param told as in Context
  /// Errors: the source has no task; the policy cannot continue.
  Result<Proposal> propose(const TrainingTask &task, const std::vector<TriedVersion> &tried,
                           Environment &environment, std::stop_token stop = {},
                           const std::function<void(const std::string &)> &told = {});

private:
  Policy &policy_;
  ExemplarChoice exemplars_;
  std::mt19937_64 random_;
};

} // namespace warpwright::trainer
