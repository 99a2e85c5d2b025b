// States by their lists of moves, each made from the state before it; see space.h.
#include "generator/search/space.h"

#include <algorithm>

namespace warpwright::search {
namespace {

constexpr std::size_t kMostTexts = 20'000; ///< kept at once; a few KB each
constexpr std::size_t kMostWalks = 32;     ///< kept at once; each holds a graph and a plan

/// Drops all states but the first if there are too many.
template <class States>
void bound(States &states, std::size_t most) {
  if (states.size() >= most)
    std::erase_if(states, [](const auto &entry) { return !entry.first.empty(); });
}

Space::Moves before(const Space::Moves &moves) { return {moves.begin(), moves.end() - 1}; }

} // namespace

Result<source::State> TextSpace::state(const Moves &moves) {
  if (moves.empty())
    return original_;
  if (const auto known = states_.find(moves); known != states_.end())
    return known->second;
  const auto base = state(before(moves));
  if (!base)
    return base;
  const auto move = source::move_from_string(moves.back());
  auto next =
      move ? open_.apply(*base, *move) : Result<source::State>(std::unexpected(move.error()));
  if (!next)
    return next;
  bound(states_, kMostTexts);
  return states_.emplace(moves, std::move(*next)).first->second;
}

Result<Space::Moves> TextSpace::legal(const Moves &moves) {
  const auto at = state(moves);
  const auto legal =
      at ? open_.legal(*at) : Result<std::vector<source::Move>>(std::unexpected(at.error()));
  if (!legal)
    return std::unexpected(legal.error());
  return to_strings(*legal);
}

Result<const PlanWalk *> GraphSpace::walk(const Moves &moves) {
  if (const auto known = walks_.find(moves); known != walks_.end())
    return &known->second;
  if (moves.empty()) {
    if (!facts_)
      return std::unexpected(facts_.error());
    auto first = PlanWalk::begin(task_, graph_, *facts_);
    if (!first)
      return std::unexpected(first.error());
    return &walks_.emplace(moves, std::move(*first)).first->second;
  }
  const auto base = walk(before(moves));
  if (!base)
    return base;
  PlanWalk next = **base;
  if (auto made = next.make(moves.back()); !made)
    return std::unexpected(made.error());
  bound(walks_, kMostWalks);
  return &walks_.emplace(moves, std::move(next)).first->second;
}

Result<Space::Moves> GraphSpace::legal(const Moves &moves) {
  const auto at = walk(moves);
  if (!at)
    return std::unexpected(at.error());
  return (*at)->legal();
}

bool GraphSpace::is_candidate(const Moves &moves) {
  const auto at = walk(moves);
  return at && (*at)->built() && (*at)->built()->kernels > 0;
}

} // namespace warpwright::search
