// Policies that do not learn: random, evolutionary and dense search.
#include "trainer/policy/policy.h"
#include "trainer/environment/walk.h"

#include <algorithm>
#include <deque>

namespace warpwright::trainer {
namespace {

constexpr int kDrawings = 32; ///< to find untried moves

bool was_tried(const Context &context, const Moves &moves) {
  return std::ranges::any_of(context.tried,
                             [&](const Exemplar &tried) { return tried.moves == moves; });
}

Proposal exhausted() {
  Proposal proposal;
  proposal.exhausted = true;
  return proposal;
}

/// `moves` with random legal moves appended, up to a length.
Result<Moves> extended(const Context &context, Environment &environment, Moves moves,
                       std::size_t length, std::mt19937_64 &random) {
  while (moves.size() < length) {
    auto state = TRY(environment.state(context.task, moves));
    if (state.legal.empty())
      break;
    moves.push_back(random_move(state.legal, random));
  }
  return measurable_part(context.task, std::move(moves), environment);
}

class RandomPolicy final : public Policy {
public:
  RandomPolicy(std::uint64_t seed, int longest) : random_(seed), longest_(longest) {}
  std::string_view name() const override { return "random"; }

  Result<Proposal> propose(const Context &context, Environment &environment) override {
    Proposal proposal;
    for (int i = 0; i < kDrawings; ++i) {
      proposal.moves = TRY(extended(context, environment, {},
                                    1 + draw_index(std::size_t(longest_), random_), random_));
      if (!proposal.moves.empty() && !was_tried(context, proposal.moves))
        break;
    }
    return proposal;
  }

private:
  std::mt19937_64 random_;
  int longest_;
};

class EvolutionPolicy final : public Policy {
public:
  EvolutionPolicy(std::uint64_t seed, int longest) : random_(seed), longest_(longest) {}
  std::string_view name() const override { return "evolve"; }

  Result<Proposal> propose(const Context &context, Environment &environment) override {
    std::vector<const Exemplar *> parents;
    for (const Exemplar &tried : context.tried)
      if (score_of(tried.measured).value_or(0) > 0)
        parents.push_back(&tried);
    std::ranges::stable_sort(parents, [](const Exemplar *a, const Exemplar *b) {
      return *score_of(a->measured) > *score_of(b->measured);
    });
    Proposal proposal;
    for (int i = 0; i < kDrawings; ++i) {
      proposal.moves = TRY(child(context, environment, parents));
      if (!proposal.moves.empty() && !was_tried(context, proposal.moves))
        break;
    }
    return proposal;
  }

private:
  /// A parent from the better half; better ones are more likely.
  const Moves &parent(const std::vector<const Exemplar *> &parents) {
    const std::size_t half = (parents.size() + 1) / 2;
    return parents[std::min(draw_index(half, random_), draw_index(half, random_))]->moves;
  }

  Result<Moves> child(const Context &context, Environment &environment,
                      const std::vector<const Exemplar *> &parents) {
    const std::size_t longest = std::size_t(longest_);
    if (parents.size() < 2)
      return extended(context, environment, {}, 1 + draw_index(longest, random_), random_);
    Moves wanted = parent(parents);
    const std::size_t place = wanted.empty() ? 0 : draw_index(wanted.size(), random_);
    switch (wanted.empty() ? 0 : draw_index(4, random_)) {
    case 0: // adds a move
      return extended(context, environment, wanted, std::min(longest, wanted.size() + 1), random_);
    case 1: // drops a move
      wanted.erase(wanted.begin() + std::ptrdiff_t(place));
      break;
    case 2: { // replaces a move
      auto state = TRY(environment.state(
          context.task, Moves(wanted.begin(), wanted.begin() + std::ptrdiff_t(place))));
      if (!state.legal.empty())
        wanted[place] = random_move(state.legal, random_);
      break;
    }
    default: { // crosses the beginning of one with the end of another
      const Moves &other = parent(parents);
      wanted.resize(place + 1);
      for (std::size_t i = other.size() / 2; i < other.size() && wanted.size() < longest; ++i)
        wanted.push_back(other[i]);
    }
    }
    auto moves = legal_part(context.task, wanted, environment);
    if (!moves)
      return moves;
    return measurable_part(context.task, std::move(*moves), environment);
  }

  std::mt19937_64 random_;
  int longest_;
};

class DensePolicy final : public Policy {
public:
  explicit DensePolicy(int deepest) : deepest_(std::size_t(deepest)) {}
  std::string_view name() const override { return "dense"; }

  Result<Proposal> propose(const Context &context, Environment &environment) override {
    Walk &walk = walks_[context.task.id];
    for (;;) {
      while (!walk.found.empty()) {
        Proposal proposal;
        proposal.moves = std::move(walk.found.front());
        walk.found.pop_front();
        if (environment.can_measure(context.task, proposal.moves) &&
            !was_tried(context, proposal.moves))
          return proposal;
      }
      if (walk.waiting.empty())
        return exhausted();
      const Moves moves = std::move(walk.waiting.front());
      walk.waiting.pop_front();
      auto state = TRY(environment.state(context.task, moves));
      for (const std::string &move : state.legal) {
        Moves next = moves;
        next.push_back(move);
        walk.found.push_back(next);
        if (next.size() < deepest_)
          walk.waiting.push_back(std::move(next));
      }
    }
  }

private:
  /// Breadth-first walk: states whose moves are not listed yet, and states not proposed yet.
  struct Walk {
    std::deque<Moves> waiting{Moves{}}, found;
  };
  std::size_t deepest_;
  std::map<std::string, Walk> walks_;
};

} // namespace

std::unique_ptr<Policy> make_random_policy(std::uint64_t seed, int longest) {
  return std::make_unique<RandomPolicy>(seed, longest);
}
std::unique_ptr<Policy> make_evolution_policy(std::uint64_t seed, int longest) {
  return std::make_unique<EvolutionPolicy>(seed, longest);
}
std::unique_ptr<Policy> make_dense_policy(int deepest) {
  return std::make_unique<DensePolicy>(deepest);
}

std::optional<double> score_of(const Measured &measured) {
  if (measured.outcome == model::Outcome::Unsupported)
    return std::nullopt;
  if (measured.outcome != model::Outcome::Verified)
    return 0;
  return measured.speedup ? measured.speedup->ratio : 1;
}

} // namespace warpwright::trainer
