// Strategies, exemplars, rewards and the truth about them.
#include "tests/trainer/fake_environment.h"
#include "trainer/policy/analysis_truth.h"
#include "trainer/policy/exemplars.h"
#include "trainer/policy/reward.h"
#include "trainer/stages/rollouts.h"
#include "trainer/stages/statistics.h"
#include "trainer/stages/trials.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::trainer;
using testing::FakeEnvironment;

namespace {

Measured timed(double low, double high) {
  Measured measured;
  measured.outcome = model::Outcome::Verified;
  measured.speedup = MeasuredRatio{(low + high) / 2, low, high, 30};
  return measured;
}

Measured failed(model::Outcome outcome) {
  Measured measured;
  measured.outcome = outcome;
  return measured;
}

/// Trials until `count` were not wasted.
std::vector<Moves> proposals_of(Policy &policy, int count) {
  FakeEnvironment environment;
  TrainingTask task;
  task.id = "copy";
  auto session = TrialSession::open(task, environment, {});
  REQUIRE(session);
  std::mt19937_64 random(1);
  std::vector<Moves> proposals;
  for (int i = 0; i < count && !session->exhausted(); ++i) {
    auto trial = session->next(policy, environment, {}, random, {});
    REQUIRE(trial);
    if (!trial->wasted)
      proposals.push_back(trial->proposal.moves);
  }
  return proposals;
}

} // namespace

TEST_CASE("strategies propose legal moves, and never a source twice") {
  for (int i = 0; i < 3; ++i) {
    auto policy = i == 0   ? make_random_policy(3)
                  : i == 1 ? make_evolution_policy(3)
                           : make_dense_policy(2);
    const auto proposals = proposals_of(*policy, 8);
    CHECK(proposals.size() >= 6);
    std::set<std::string> texts;
    FakeEnvironment environment;
    for (const Moves &moves : proposals) {
      for (std::size_t j = 0; j < moves.size(); ++j)
        CHECK(std::count(moves.begin(), moves.end(), moves[j]) == 1);
      CHECK(texts.insert(environment.state({}, moves)->text_hash).second);
    }
  }
}

TEST_CASE("the same seed proposes the same") {
  CHECK(proposals_of(*make_random_policy(5), 6) == proposals_of(*make_random_policy(5), 6));
  CHECK(proposals_of(*make_random_policy(5), 6) != proposals_of(*make_random_policy(6), 6));
}

TEST_CASE("dense search ends when all was proposed") {
  CHECK(proposals_of(*make_dense_policy(1), 100).size() == 4);
  CHECK(proposals_of(*make_dense_policy(2), 100).size() == 4 + 6); // orders give the same source
}

TEST_CASE("a speedup is rounded towards 1 from the end of its interval") {
  CHECK(conservative_speedup(timed(1.376, 1.41)) == 1.37);
  CHECK(conservative_speedup(timed(0.98, 1.2)) == 1);
  CHECK(conservative_speedup(timed(0.5, 0.613)) == doctest::Approx(0.62));
  CHECK(!conservative_speedup(failed(model::Outcome::Verified)));
}

TEST_CASE("rewards keep their order: failed, slower, as fast, faster") {
  const double slower = *plain_reward(timed(0.5, 0.6)), even = *plain_reward(timed(0.9, 1.1));
  const double faster = *plain_reward(timed(1.5, 1.6)), fastest = *plain_reward(timed(20, 21));
  CHECK(*plain_reward(failed(model::Outcome::WrongResult)) == 0);
  CHECK(0 < slower);
  CHECK(slower < even);
  CHECK(even < faster);
  CHECK(faster < fastest);
  CHECK(fastest < 5); // a huge speedup does not drown the others
  CHECK(!plain_reward(failed(model::Outcome::Unsupported)));
  CHECK(*plain_reward(failed(model::Outcome::Verified)) == 1); // nothing is timed on a CPU
}

TEST_CASE("an answer's advantage is its distance from the other answers, in units of the batch's spread") {
  const std::vector<GroupMember> group{{1.0, false}, {0.0, false}, {std::nullopt, false}};
  CHECK(batch_spread({group}) == doctest::Approx(0.5));
  CHECK(group_advantages(group, 0.5) == std::vector<double>{2, -2, 0});
  CHECK(group_advantages({{1.0, false}, {1.0, false}}, 0.5) == std::vector<double>{0, 0});
  CHECK(group_advantages({{1.0, false}, {std::nullopt, false}}, 0.5) == std::vector<double>{0, 0}); // nothing to compare
  CHECK(group_advantages({{1.0, true}, {0.0, false}}, 0.5)[0] == -1);
}

TEST_CASE("a group that differs by measurement noise alone teaches next to nothing") {
  const std::vector<GroupMember> noise{{1.0, false}, {1.01, false}, {0.99, false}, {1.0, false}};
  CHECK(batch_spread({noise}) == kLeastSpread);
  for (const double advantage : group_advantages(noise, batch_spread({noise})))
    CHECK(std::abs(advantage) < 0.06);
  // Beside a group with real differences its share shrinks further, and large speedups are not cut.
  const std::vector<GroupMember> real{{1.0, false}, {5.0, false}, {1.0, false}, {0.0, false}};
  const double spread = batch_spread({noise, real});
  CHECK(spread > 1);
  CHECK(std::abs(group_advantages(noise, spread)[1]) < 0.02);
  CHECK(group_advantages(real, spread)[1] == doctest::Approx((5 - 2.0 / 3) / spread));
}

TEST_CASE("for the best of several answers only what adds to it is reinforced") {
  const std::vector<GroupMember> group{{0.0, false}, {1.0, false}, {2.0, false}};
  const auto of_two = group_advantages(group, 1, 2); // gains 0, 1/2, 3/2
  CHECK(of_two[0] == doctest::Approx(-1));
  CHECK(of_two[1] == doctest::Approx(-0.25));
  CHECK(of_two[2] == doctest::Approx(1.25));
  CHECK(batch_spread({group}, 2) == doctest::Approx(0.62361));
  const auto of_three = group_advantages(group, 1, 3); // gains 0, 0, 1
  CHECK(of_three[0] == doctest::Approx(of_three[1]));
  CHECK(of_three[2] == doctest::Approx(1));
  const auto cheated = group_advantages({{5.0, true}, {0.0, false}, {0.0, false}}, 1, 2);
  CHECK(cheated[0] == -1);
}

TEST_CASE("exemplars come from distinct buckets, better ones more often") {
  std::vector<Exemplar> tried;
  for (const double ratio : {1.0, 1.01, 2.0, 4.0})
    tried.push_back({{std::to_string(ratio)}, timed(ratio * 0.99, ratio * 1.01), {}});
  tried.push_back({{"broken"}, failed(model::Outcome::Crash), {}});
  std::mt19937_64 random(1);
  int with_best = 0, first_is_better = 0;
  for (int i = 0; i < 200; ++i) {
    const auto pair = choose_exemplars(tried, {4, 0.5}, random);
    REQUIRE(pair.size() == 2);
    const double a = *score_of(pair[0].measured), b = *score_of(pair[1].measured);
    CHECK(std::abs(std::log(a / b)) > 0.3); // 1.0 and 1.01 share a bucket
    with_best += a > 3 || b > 3;
    first_is_better += a > b;
  }
  CHECK(with_best > 150);
  CHECK(first_is_better > 60);
  CHECK(first_is_better < 140);
  CHECK(choose_exemplars({tried[0], tried[1]}, {2, 0.5}, random).size() == 2);
  CHECK(choose_exemplars({tried[0]}, {4, 0.5}, random).size() == 1);
  CHECK(choose_exemplars({tried[4]}, {4, 0.5}, random).empty());
}

TEST_CASE(
    "the truth about two exemplars is what was measured, or nothing where intervals overlap") {
  const Exemplar plain{{}, timed(0.99, 1.01), {}}, wide{{"wide(n=4)"}, timed(1.9, 2.1), {}},
      both{{"wide(n=4)", "unroll(n=2)"}, timed(1.85, 2.0), {}};
  const std::vector<Exemplar> versions{plain, wide, both};
  Measured original = timed(1, 1);
  original.reference_bound = model::Bound::Memory;
  const AnalysisTruth truth = analysis_truth({plain, both}, versions, original);
  CHECK(truth.faster_exemplar == 1);
  CHECK(truth.explaining_move == "wide");
  CHECK(truth.bound == model::Bound::Memory);
  CHECK(!analysis_truth({wide, both}, versions, {}).faster_exemplar);
  CHECK(differing_moves({wide, both}) == std::vector<std::string>{"unroll"});
}

TEST_CASE("an analysis is told in sentences") {
  Analysis analysis;
  analysis.bound = model::Bound::Memory;
  analysis.faster_exemplar = 1;
  analysis.explaining_move = "wide";
  const std::vector<Exemplar> pair{{{}, timed(1, 1), {}}, {{"wide(n=4)"}, timed(2, 2), {}}};
  CHECK(analysis_text(analysis, pair) ==
        "The kernel is held back by memory traffic. Of two earlier versions the one with wide(n=4) "
        "is the faster, mostly because of wide.");
  CHECK(analysis_text({}, {}) == "");
}

TEST_CASE("equal candidates are measured once, and large speedups again") {
  FakeEnvironment environment;
  TaskVersions task;
  task.task.id = "copy";
  std::vector<Group> groups(2);
  for (Group &group : groups) {
    group.task = &task;
    for (const Moves &moves : {Moves{"wide(n=4)"}, Moves{"wide(n=4)"}, Moves{}}) {
      Candidate candidate;
      candidate.rollout.proposal.moves = moves;
      group.candidates.push_back(candidate);
    }
  }
  REQUIRE(measure_groups(groups, environment, 1, 1.8, {}));
  CHECK(environment.confirmed == 1);
  CHECK(environment.measured == 2); // once, and once more to confirm
  CHECK(groups[1].candidates[1].measured->confirmed);
  CHECK(!groups[1].candidates[2].measured);
}

TEST_CASE("paired intervals see a difference that is the same on every task") {
  const std::vector<double> hard{0.1, 1.0, 2.0, 3.0}, better{0.2, 1.1, 2.1, 3.1};
  const Interval ratio = paired_ratio(better, hard, 1);
  CHECK(ratio.value == doctest::Approx(std::exp(0.1)));
  CHECK(ratio.low > 1.09);
  const Interval mean = geometric_mean(hard, 1);
  CHECK(mean.low < mean.value);
  CHECK(mean.value < mean.high);
}
