// Choice of the next candidate to measure, from what the ranker expects and what was measured.
//
// The score of a candidate is its expected improvement over the best so far, times its chance to
// verify (Jones 1998). A candidate like one that was taken already counts half for each of them, so
// that the first few are different ideas. Few unsupported candidates are taken, because nothing is
// known of their kind. Thread: any.
#pragma once

#include "trainer/ranker/ranker.h"

#include <optional>
#include <span>

namespace warpwright::trainer {

/// Of the best candidates by Ranker::order() this many get a whole prediction, because that takes
/// four times as long.
inline constexpr std::size_t kLookedAt = 16;

struct Scored {
  const Moves *moves = nullptr;
  Prediction prediction;
};

/// True if two lists have the same moves and differ in at most one parameter.
bool alike(const Moves &a, const Moves &b);

/// Expected excess of a normal variable over `best`. @param width half the width of its 90% interval
double expected_improvement(double mean, double width, double best);

/// Index of the next candidate; nullopt if the pool is empty. The first one wins among equals.
/// @param best_log logarithm of the best speedup measured so far; 0: the unchanged source
/// @param taken candidates that were measured or are in work, in order
std::optional<std::size_t> choose(std::span<const Scored> pool, double best_log,
                                  std::span<const Scored> taken);

} // namespace warpwright::trainer
