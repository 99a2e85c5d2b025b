// Learning from a project's own verdicts: a correction of the ranker that ships, made anew for each
// search.
//
// Each name of a move gets an offset, the mean of what the ranker missed by, shrunk to 0 by its
// count. From 200 records of 8 sources on, a few trees learn the rest. Both are kept only where
// they order the records of sources that they did not learn from better than the ranker alone does.
// Nothing is written: the ledger is the only store, so that what is removed from it is forgotten.
// Leaves out: records of plans that no moves describe, and of the CPU backend. Thread: any; one per
// object.
#pragma once

#include "trainer/ranker/boosting.h"
#include "trainer/ranker/ranker.h"

namespace warpwright::trainer {

struct OwnRecord {
  std::string source; ///< hash of the kernel's source: records of one source are not independent
  std::string task;   ///< only records of one task are compared
  std::vector<float> row;
  Moves moves;
  double expected = 0,
         measured = 0; ///< natural logarithms of the speedup: the ranker's and the runner's
};

/// The record of a verdict; nullopt: it has no time.
std::optional<OwnRecord> own_record(const Ranker &ranker, const Ranker::Rows &rows,
                                    std::string source, std::string task, const Moves &moves,
                                    const model::Verdict &verdict);

struct Learned {
  Correction correction; ///< empty: nothing was learned; `why` says the reason
  std::size_t records = 0, sources = 0;
  double pairs_before = 0,
         pairs_after = 0; ///< share of pairs over 10% apart in the right order, on unseen sources
  std::string why;
};
Learned learn(const std::vector<OwnRecord> &records);

} // namespace warpwright::trainer
