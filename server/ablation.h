// Contribution of each move to a measured variant, from the verdicts of the variants with fewer
// moves.
//
// A variant's moves are applied in order, so each prefix of them is a variant too. The quotient of
// the speedups of two prefixes is the contribution of the moves between them, and all quotients
// multiply to the whole speedup. Thread: pure functions.
#pragma once

#include "runner/ledger/ledger.h"

#include <string>
#include <vector>

namespace warpwright::server {

struct Contribution {
  std::vector<std::string> moves; ///< several if no prefix between them was measured
  double ratio = 1, low = 1, high = 1; ///< the interval is that of two independent intervals, so it is wide
  /// Whether the interval leaves out 1.
  bool is_measurable() const { return low > 1 || high < 1; }
};

/// Contributions of the moves of `variant`, in order. Empty: the variant has no speedup, only one move, or no prefix
/// of its moves has a speedup on the same device and sizes.
/// @param measured verdicts of the same code
std::vector<Contribution> contributions(const runner::LedgerEntry &variant,
                                        const std::vector<const runner::LedgerEntry *> &measured);

} // namespace warpwright::server
