// All moves on a state: the legal ones with their choices, and for the others the reason why not.
#pragma once

#include "generator/text/moves/move_kind.h"
#include "generator/text/source/state.h"

namespace warpwright::states {

struct MoveOffer {
  const moves::MoveKind *kind = nullptr;
  std::vector<source::Move> choices;
  std::string refused; ///< why the move is not legal here; empty: it is
};

/// The moves in the order of the table. Errors: a text that cannot be parsed, or that has no such
/// kernel.
Result<std::vector<MoveOffer>> move_offers(const source::State &state);

} // namespace warpwright::states
