// Whole runs of the original and of the changed program in pairs of random order. Thread: one at a
// time.
#pragma once

#include "runner/measure/median_interval.h"
#include "server/program/output_mask.h"
#include "server/program/program_trial.h"

#include <cstdint>
#include <functional>
#include <stop_token>

namespace warpwright::program {

struct PairLimits {
  std::size_t fewest = 6, most = 50;
  double relative_half_width = 0.01;                         ///< of the ratio's interval: narrow enough
  std::chrono::milliseconds budget{std::chrono::minutes(2)}; ///< no pair begins after it, beyond the fewest
  std::uint64_t seed = 1;                                    ///< of the orders
};

struct PairedRuns {
  std::vector<double> original_s, changed_s; ///< of equal length
  std::string failure; ///< how a changed run differed or failed, which ended the pairs; empty: none did
};

/// Runs pairs until the ratio's interval is narrow, or a limit is reached; at least the fewest pairs, unless stopped.
/// @param run runs the tree of a name
/// Errors: those of `run`; the original failed, though it had run before.
Result<PairedRuns> run_pairs(const std::function<Result<ProgramRun>(const std::string &tree)> &run,
                             const OutputMask &mask, const PairLimits &limits, const std::stop_token &stop = {});

/// The first way in which a run is not as the originals; nullopt: it agrees.
std::optional<std::string> disagreement(const ProgramRun &run, const OutputMask &mask);

} // namespace warpwright::program
