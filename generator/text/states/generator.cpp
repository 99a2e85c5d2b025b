// Legal moves and their application, from the table of moves; see generator.h. Parsing runs in a guard.
#include "generator/text/states/generator.h"

#include "analysis/guard/guard.h"
#include "generator/text/states/move_offers.h"
#include "generator/text/states/open_states.h"

#include <algorithm>

namespace warpwright::states {

namespace {

std::vector<MoveOffer> offers_on(const source::KernelSource &source) {
  std::vector<MoveOffer> offers;
  for (const moves::MoveKind &kind : moves::move_registry()) {
    const auto offer = kind.offer(source);
    MoveOffer &one = offers.emplace_back(MoveOffer{&kind, {}, offer ? "" : offer.error().message});
    if (offer)
      for (const moves::Parameters &parameters : offer->choices)
        one.choices.push_back({std::string(kind.name), parameters});
  }
  return offers;
}

/// True if the later move only replaces what the earlier did: another block, another factor.
bool replaces(const source::Move &later, const source::Move &earlier) {
  if (later.name != earlier.name || later.parameters.size() != earlier.parameters.size())
    return false;
  return std::ranges::all_of(later.parameters, [&](const auto &parameter) {
    const auto before = earlier.parameters.find(parameter.first);
    const bool names_part = parameter.first == "axis" || parameter.first == "array" || parameter.first == "kind";
    return before != earlier.parameters.end() && (!names_part || before->second == parameter.second);
  });
}

} // namespace

std::vector<source::Move> without_repeats(std::vector<source::Move> moves, const source::State &state) {
  std::erase_if(moves, [&](const source::Move &move) {
    return std::ranges::any_of(state.moves, [&](const source::Move &earlier) { return replaces(move, earlier); });
  });
  return moves;
}

Result<std::vector<MoveOffer>> move_offers(const source::State &state) {
  return analysis::guarded(analysis::kCommandLimits,
                           [state]() -> Result<std::vector<MoveOffer>> {
                             const auto source = TRY(source::KernelSource::open(state));
                             return offers_on(source);
                           });
}

std::vector<source::Move> legal_moves(const source::KernelSource &source) {
  std::vector<source::Move> moves;
  for (const MoveOffer &offer : offers_on(source))
    moves.insert(moves.end(), offer.choices.begin(), offer.choices.end());
  return moves;
}

std::vector<source::Move> legal_moves(const source::State &state) {
  auto moves =
      analysis::guarded(analysis::kCommandLimits, [state]() -> Result<std::vector<source::Move>> {
        auto source = source::KernelSource::open(state);
        return source ? without_repeats(legal_moves(*source), state) : std::vector<source::Move>{};
      });
  return moves ? std::move(*moves) : std::vector<source::Move>{};
}

Result<source::State> apply_move(const source::KernelSource &source, const source::State &state,
                                 const source::Move &move) {
  const moves::MoveKind *kind = moves::find_move_kind(move.name);
  if (!kind)
    return fail("unknown move " + move.name, "Ask for the legal moves of the state");
  const auto offer = kind->offer(source);
  if (!offer || std::ranges::find(offer->choices, move.parameters) == offer->choices.end())
    return fail(to_string(move) + " is not legal for " + state.kernel + ": " +
                (offer ? "these parameters are not among the legal ones" : offer.error().message));
  auto edits = offer->edits(move.parameters);
  if (!edits)
    return std::unexpected(edits.error());
  auto text = apply_edits(state.text(), *edits);
  if (!text)
    return fail(to_string(move) + " made clashing edits: " + text.error().message);
  source::State next = state;
  next.provenance = {};
  next.set_text(std::move(*text));
  next.moves.push_back(move);
  if (offer->launch_change)
    next.launch_changes.push_back(offer->launch_change(move.parameters));
  return next;
}

Result<source::State> apply_move(const source::State &state, const source::Move &move) {
  return analysis::guarded(analysis::kCommandLimits, [state, move]() -> Result<source::State> {
    auto source = source::KernelSource::open(state);
    return source ? apply_move(*source, state, move)
                  : Result<source::State>(std::unexpected(source.error()));
  });
}

} // namespace warpwright::states
