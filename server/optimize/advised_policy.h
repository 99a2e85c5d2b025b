// Search policy that follows an adviser. When the adviser has no more advice, the search's own policy continues, and
// the reason is kept for reports.
//
// Advice is checked like any proposal: its moves must be legal one after another, and a whole plan must fit the task. A
// plan is written into the user's file where possible (generator/text/states/write_plan.h), and the runner judges that
// file.
#pragma once

#include "runner/ledger/ledger.h"
#include "server/optimize/adviser.h"

namespace warpwright::server {

class AdvisedPolicy final : public search::Policy {
public:
  /// @param missing reason why a requested adviser is absent; empty: no adviser was requested
  AdvisedPolicy(std::unique_ptr<Adviser> adviser, model::Task task, std::string missing = {});

  std::string_view name() const override { return adviser_ ? adviser_->name() : "search"; }
  std::optional<source::State> propose(const source::State &original,
                                       const std::vector<search::Variant> &tried) override;

  /// "ranked", "search", "search, because ...", "endpoint, then search: ...".
  std::string described() const;
  /// The adviser's last analysis of the kernel; empty: there was none.
  const std::string &analysis() const { return analysis_; }

private:
  Result<source::State> taken(const source::State &original, const Advice &advice) const;

  std::unique_ptr<Adviser> adviser_;
  model::Task task_;
  std::string missing_, ended_, analysis_;
  std::unique_ptr<search::Policy> search_;
};

/// The proposal in the form that the ledger keeps.
runner::Proposed proposed(const source::Provenance &provenance);

} // namespace warpwright::server
