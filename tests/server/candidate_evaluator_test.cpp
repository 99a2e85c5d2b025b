// When a search gives up on its runner, and what it tells the runner of its best.
#include "server/optimize/candidate_evaluator.h"

#include <deque>
#include <doctest/doctest.h>

namespace warpwright::server {
namespace {

struct ScriptedRunner final : runner::BlockingClient {
  std::deque<Result<model::Verdict>> answers;
  std::vector<runner::VerifyOptions> asked;

  Result<runner::RunnerInfo> info() override { return runner::RunnerInfo{}; }
  Result<std::vector<runner::DeviceIsolation>> isolation() override {
    return fail("this runner does not isolate");
  }
  Result<model::Verdict> verify(const model::Task &, const model::Plan &,
                                const runner::VerifyOptions &options, std::stop_token,
                                runner::Client::StageCallback) override {
    asked.push_back(options);
    auto answer = answers.front();
    answers.pop_front();
    return answer;
  }
  Result<std::vector<Result<runner::TracedModule>>>
  trace(const std::vector<model::TorchModule> &) override {
    return fail("this runner traces nothing");
  }
};

model::Verdict verified(double ratio) {
  model::Verdict verdict;
  verdict.outcome = model::Outcome::Verified;
  verdict.device.kind = "cuda";
  verdict.speedup = model::Speedup{ratio, ratio, ratio, 21, "a GPU"};
  return verdict;
}

const Result<model::Verdict> kLost = fail("the runner ended", "Try again");

TEST_CASE("three losses in a row end the search, a verdict between them does not") {
  ScriptedRunner runner;
  runner.answers = {kLost, kLost, verified(1), kLost, kLost, kLost};
  CandidateEvaluator evaluator(runner, {});
  int losses = 0;
  for (int i = 0; i < 6; ++i) {
    CHECK(!evaluator.give_up().stop_requested());
    const auto verdict = evaluator.evaluate({}, {}, {}, {}, [&](const Error &) { ++losses; });
    CHECK(is_from_runner(verdict) == (i == 2));
    CHECK((verdict.outcome == model::Outcome::Crash) == (i != 2));
  }
  CHECK(losses == 5);
  CHECK(evaluator.give_up().stop_requested());
  REQUIRE(evaluator.failure());
  CHECK(evaluator.failure()->message.find("the runner ended") != std::string::npos);
  CHECK(evaluator.failure()->remedy == "Try again");
}

TEST_CASE("a search that was cancelled has lost no runner") {
  ScriptedRunner runner;
  runner.answers = {kLost, kLost, kLost};
  CandidateEvaluator evaluator(runner, {});
  std::stop_source cancelled;
  cancelled.request_stop();
  for (int i = 0; i < 3; ++i)
    evaluator.evaluate({}, {}, cancelled.get_token());
  CHECK(!evaluator.failure());
}

TEST_CASE("the runner is told the best speedup so far") {
  ScriptedRunner runner;
  runner.answers = {verified(0.5), verified(2.5), verified(1.5), verified(1)};
  CandidateEvaluator evaluator(runner, {});
  for (int i = 0; i < 4; ++i)
    evaluator.evaluate({}, {}, {});
  CHECK(!runner.asked[0].best_known_speedup);
  CHECK(runner.asked[1].best_known_speedup == 1.0);
  CHECK(runner.asked[2].best_known_speedup == 2.5);
  CHECK(runner.asked[3].best_known_speedup == 2.5);
}

} // namespace
} // namespace warpwright::server
