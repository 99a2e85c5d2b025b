// `warpwright-train ranker`: trains the learned cost model on recorded verdicts, and judges it by
// replays.
//
// It runs no kernel, needs no GPU and no LibTorch, and takes a minute on one core. Thread: main.
#pragma once

#include "support/error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace warpwright::trainer {

struct RankerOptions {
  std::vector<std::string> records; ///< files of verdicts
  std::string kernel_facts;         ///< file of the kernels' facts (kernel_facts.h)
  std::string excluded; ///< list of sources that no record may share; empty: the shipped one
  std::string out;      ///< weights; empty: none are written
  std::string report;   ///< JSON of the replays; empty: no replays
  std::string sessions; ///< log of an evaluation, whose tasks and policies the report has too
  std::string ask;      ///< `warpwright`, which writes kernel_facts anew; empty: it is read
  std::vector<std::string>
      exclude; ///< folders and files whose sources become the list `excluded`; nothing is trained
  std::uint64_t seed = 1;
};

/// Errors: unreadable records or facts; records of an excluded source; a file that cannot be
/// written.
Result<void> run_ranker(const RankerOptions &options);

} // namespace warpwright::trainer
