// An adviser as a policy of the search; where it has nothing to say any more, the search's own goes on, and why is kept to be said.
//
// Advice is checked like any proposal: moves are made one after another and must be legal, a whole plan must fit the task. A plan is
// written into the user's file where that can be (generator/text/states/write_plan.h): what the runner then judges is the file.
#pragma once

#include "runner/ledger/ledger.h"
#include "server/optimize/adviser.h"

namespace warpwright::server {

class AdvisedPolicy final : public search::Policy {
public:
  /// @param missing why there is no adviser where one was asked for; empty: search was asked for
  AdvisedPolicy(std::unique_ptr<Adviser> adviser, model::Task task, std::string missing = {});

  std::string_view name() const override { return adviser_ ? adviser_->name() : "search"; }
  std::optional<source::State> propose(const source::State &original,
                                       const std::vector<search::Variant> &tried) override;

  /// "builtin", "search", "search, because ...", "endpoint, then search: ...".
  std::string described() const;
  /// What was said of the kernel last; empty where nothing was.
  const std::string &analysis() const { return analysis_; }

private:
  Result<source::State> taken(const source::State &original, const Advice &advice) const;

  std::unique_ptr<Adviser> adviser_;
  model::Task task_;
  std::string missing_, ended_, analysis_;
  std::unique_ptr<search::Policy> search_;
};

/// As the ledger keeps it.
runner::Proposed proposed(const source::Provenance &provenance);

} // namespace warpwright::server
