// Legal moves and their application: parse, ask the table, edit, parse again.
#include "generator/generator.h"

#include "generator/moves/move_kind.h"

#include <algorithm>

namespace warpwright::generator {

std::vector<Move> legal_moves(const State &state) {
  std::vector<Move> moves;
  auto source = KernelSource::open(state);
  if (!source)
    return moves;
  for (const MoveKind &kind : move_registry())
    for (const Parameters &parameters : kind.check(*source).choices)
      moves.push_back({std::string(kind.name), parameters});
  return moves;
}

Result<State> apply_move(const State &state, const Move &move) {
  const MoveKind *kind = find_move_kind(move.name);
  if (!kind)
    return fail("unknown move " + move.name, "Ask for the legal moves of the state");
  auto source = KernelSource::open(state);
  if (!source)
    return std::unexpected(source.error());
  const Choices legal = kind->check(*source);
  if (std::ranges::find(legal.choices, move.parameters) == legal.choices.end())
    return fail(
        to_string(move) + " is not legal for " + state.kernel + ": " +
        (legal.choices.empty() ? legal.refusal : "these parameters are not among the legal ones"));
  auto edits = kind->apply(*source, move.parameters);
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

} // namespace warpwright::generator
