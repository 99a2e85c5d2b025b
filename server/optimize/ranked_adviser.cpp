// Adviser that hands out the candidates of the learned cost model, best first (trainer/ranker/candidate_pool.h).
#include "server/optimize/adviser.h"

#include "generator/search/space.h"

#include <cmath>

namespace warpwright::server {
namespace {

trainer::CandidatePool::Tried tried_of(const search::Variant &variant) {
  const model::Verdict &verdict = variant.verdict;
  const double ratio = verdict.speedup ? verdict.speedup->ratio : 1;
  return {source::to_strings(variant.state.moves),
          verdict.outcome == model::Outcome::Verified && ratio > 0 ? std::optional(std::log(ratio))
                                                                   : std::nullopt};
}

class RankedAdviser final : public Adviser {
public:
  RankedAdviser(const trainer::Ranker &ranker, trainer::TaskFacts task, OwnLessons lessons)
      : ranker_(ranker), task_(std::move(task)), lessons_(std::move(lessons)) {}

  std::string_view name() const override { return "ranked"; }

  std::string note() const override {
    const trainer::Learned &own = lessons_.learned;
    if (!lessons_.problem.empty())
      return "without the verdicts of this project: " + lessons_.problem;
    return own.correction.empty()
               ? ""
               : "with " + std::to_string(own.records) + " verdicts of this project";
  }

  Result<Advice> advise(const source::State &original,
                        const std::vector<search::Variant> &tried) override {
    if (!pool_) {
      space_.emplace(original);
      pool_.emplace(
          ranker_, task_, lessons_.learned.correction,
          [this](const trainer::Moves &moves) { return space_->legal(moves); }, lessons_.known);
    }
    std::vector<trainer::CandidatePool::Tried> verdicts;
    for (const search::Variant &variant : tried)
      verdicts.push_back(tried_of(variant));
    while (auto moves = pool_->next(verdicts))
      if (space_->legal(*moves)) // the state can be made
        return Advice{.moves = std::move(*moves)};
    return Advice{.exhausted = true};
  }

private:
  const trainer::Ranker &ranker_;
  trainer::TaskFacts task_;
  OwnLessons lessons_;
  std::optional<search::TextSpace> space_;
  std::optional<trainer::CandidatePool> pool_;
};

} // namespace

std::unique_ptr<Adviser> make_ranked_adviser(const trainer::Ranker &ranker, trainer::TaskFacts task,
                                             OwnLessons lessons) {
  return std::make_unique<RankedAdviser>(ranker, std::move(task), std::move(lessons));
}

} // namespace warpwright::server
