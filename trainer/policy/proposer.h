// One proposal to somebody who measures: exemplars out of what he tried, the policy asked until its answer is new.
//
// The same for `warpwright-train propose`, which serves it over a pipe, and for `warpwright`, which asks the builtin policy in its own
// process. It knows no protocol. Thread: one.
#pragma once

#include "support/model/verdict.h"
#include "trainer/policy/exemplars.h"
#include "trainer/policy/policy.h"

namespace warpwright::trainer {

/// A version with the verdict on it.
struct TriedVersion {
  Moves moves;
  std::string plan; ///< JSON of a whole plan, where no moves lead to it; else empty
  model::Verdict verdict;
};

class Proposer {
public:
  /// @param policy outlives this
  Proposer(Policy &policy, const ExemplarChoice &exemplars, std::uint64_t seed)
      : policy_(policy), exemplars_(exemplars), random_(seed) {}

  /// Moves or a plan that are not in `tried`; or `exhausted`, with the reason in `refused` where answers could not be used.
  /// @param tried in order, without the unchanged source
  /// Errors: no task in the source; a policy that cannot go on.
  Result<Proposal> propose(const TrainingTask &task, const std::vector<TriedVersion> &tried,
                           Environment &environment);

private:
  Policy &policy_;
  ExemplarChoice exemplars_;
  std::mt19937_64 random_;
};

} // namespace warpwright::trainer
