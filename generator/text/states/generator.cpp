// Legal moves and their application by the table of moves; see generator.h. Parses run in a guard.
#include "generator/text/states/generator.h"

#include "analysis/guard/guard.h"
#include "generator/text/moves/move_kind.h"
#include "generator/text/states/open_states.h"

#include <algorithm>

namespace warpwright::generator {

std::vector<Move> legal_moves(const KernelSource &source) {
  std::vector<Move> moves;
  for (const MoveKind &kind : move_registry())
    if (const auto offer = kind.offer(source))
      for (const Parameters &parameters : offer->choices)
        moves.push_back({std::string(kind.name), parameters});
  return moves;
}

std::vector<Move> legal_moves(const State &state) {
  auto moves = analysis::guarded(analysis::kCommandLimits, [state]() -> Result<std::vector<Move>> {
    auto source = KernelSource::open(state);
    return source ? legal_moves(*source) : std::vector<Move>{};
  });
  return moves ? std::move(*moves) : std::vector<Move>{};
}

Result<State> apply_move(const KernelSource &source, const State &state, const Move &move) {
  const MoveKind *kind = find_move_kind(move.name);
  if (!kind)
    return fail("unknown move " + move.name, "Ask for the legal moves of the state");
  const auto offer = kind->offer(source);
  if (!offer || std::ranges::find(offer->choices, move.parameters) == offer->choices.end())
    return fail(to_string(move) + " is not legal for " + state.kernel + ": " +
                (offer ? "these parameters are not among the legal ones" : offer.error().message));
  auto edits = offer->edits(move.parameters);
  if (!edits)
    return std::unexpected(edits.error());
  auto text = apply_edits(state.file.text, *edits);
  if (!text)
    return fail(to_string(move) + " made clashing edits: " + text.error().message);
  State next = state;
  next.provenance = {};
  next.file.text = std::move(*text);
  next.moves.push_back(move);
  return next;
}

Result<State> apply_move(const State &state, const Move &move) {
  return analysis::guarded(analysis::kCommandLimits, [state, move]() -> Result<State> {
    auto source = KernelSource::open(state);
    return source ? apply_move(*source, state, move)
                  : Result<State>(std::unexpected(source.error()));
  });
}

} // namespace warpwright::generator
