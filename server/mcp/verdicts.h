// Verdicts of this session by their ids, and verdicts as tools report them.
//
// An id is derived from the task, the plan, the device and the date, so the ledger's entries have
// ids as well. Thread: any.
#pragma once

#include "runner/ledger/ledger.h"
#include "server/mcp/tool.h"
#include "support/exclusive.h"

#include <deque>
#include <memory>

namespace warpwright::mcp {

using EntryPtr = std::shared_ptr<const runner::LedgerEntry>;

std::string verdict_id(const model::Verdict &verdict);

/// Everything that may be claimed: "verified: 2.31x [2.27, 2.35] faster on NVIDIA H200", "wrong
/// result: ...", "verified: correct on the CPU backend; speed not measured".
std::string claim_text(const model::Verdict &verdict);

/// A verdict with its id, for a result. Values that were not measured are null.
Json verdict_json(const runner::LedgerEntry &entry);

/// Link to the resource of a verdict.
Json verdict_link(const runner::LedgerEntry &entry);

class Verdicts {
public:
  /// Keeps the newest kMost verdicts. @return the id
  std::string add(runner::LedgerEntry entry);
  /// Errors: there is no verdict of this id in this session.
  Result<EntryPtr> find(const std::string &id) const;
  std::vector<EntryPtr> newest_first() const;

private:
  struct Kept {
    std::string id;
    EntryPtr entry;
  };
  static constexpr std::size_t kMost = 1000;
  mutable Exclusive<std::deque<Kept>> entries_; ///< newest first
};

} // namespace warpwright::mcp
