// Search strategy without learning: templates first, then one choice of each move, then the fastest variant so far.
//
// An expanded state offers every template and the first choice of every move at once, and its other choices when
// nothing better is left. The next state to expand is the fastest verified one if speedups are known, else the first
// one tried. Omits: any estimate of a move's benefit.
#include "generator/search/search.h"
#include "generator/text/moves/move_kind.h"

#include <algorithm>
#include <deque>
#include <random>
#include <set>

namespace warpwright::search {
namespace {

struct Candidate {
  source::State base;
  source::Move move;
};

class BeamPolicy : public Policy {
public:
  explicit BeamPolicy(std::uint64_t seed) : random_(seed), shuffles_(seed != 0) {}

  std::string_view name() const override { return "beam"; }

  std::optional<source::State> propose(const source::State &original,
                                       const std::vector<Variant> &tried) override {
    if (expanded_.empty()) {
      original_ = original;
      expand(original);
    }
    for (;;) {
      const source::State *next = preferred_.empty() ? next_to_expand(tried) : nullptr;
      if (next)
        expand(*next);
      else if (preferred_.empty() && remaining_.empty())
        return std::nullopt;
      else if (auto state = take(preferred_.empty() ? remaining_ : preferred_))
        return state;
    }
  }

private:
  /// The state of the queue's first candidate; nullopt if the move fails or its text was proposed before.
  std::optional<source::State> take(std::deque<Candidate> &queue) {
    const Candidate candidate = std::move(queue.front());
    queue.pop_front();
    auto state = states::apply_move(candidate.base, candidate.move);
    if (!state || !proposed_.insert(state->text()).second)
      return std::nullopt;
    drop_superseded(*state);
    return std::move(*state);
  }

  /// Drops an earlier move with the last move's name if the text is the same without it, as in block_size(x=64)
  /// followed by block_size(x=128).
  void drop_superseded(source::State &state) const {
    const std::string &last = state.moves.back().name;
    for (std::size_t i = 0; i + 1 < state.moves.size(); ++i) {
      if (state.moves[i].name != last)
        continue;
      Result<source::State> shorter = original_;
      for (std::size_t j = 0; j < state.moves.size() && shorter; ++j)
        if (j != i)
          shorter = states::apply_move(*shorter, state.moves[j]);
      if (shorter && shorter->text() == state.text())
        state.moves = std::move(shorter->moves);
      return;
    }
  }

  /// The fastest verified state that was not expanded, or the first one if nothing was timed; null if there is none.
  const source::State *next_to_expand(const std::vector<Variant> &tried) const {
    const Variant *best = fastest(tried, [&](const Variant &variant) {
      return variant.state.provenance.not_applicable.empty() &&
             !expanded_.contains(variant.state.text());
    });
    return best ? &best->state : nullptr;
  }

  void expand(const source::State &state) {
    expanded_.insert(state.text());
    proposed_.insert(state.text());
    std::set<std::string> seen;
    std::vector<Candidate> others;
    for (const source::Move &move : states::legal_moves(state)) {
      const moves::MoveKind *kind = moves::find_move_kind(move.name);
      const bool first = seen.insert(move.name).second;
      if (!(kind && kind->is_template) && first)
        others.push_back({state, move});
      else
        (kind && kind->is_template ? preferred_ : remaining_).push_back({state, move});
    }
    if (shuffles_)
      std::ranges::shuffle(others, random_);
    preferred_.insert(preferred_.end(), others.begin(), others.end());
  }

  source::State original_;
  std::deque<Candidate> preferred_, remaining_;
  std::set<std::string> expanded_, proposed_; ///< texts
  std::mt19937_64 random_;
  bool shuffles_;
};

} // namespace

std::unique_ptr<Policy> make_beam_policy(std::uint64_t seed) {
  return std::make_unique<BeamPolicy>(seed);
}

} // namespace warpwright::search
