// The clock of a job's stages, with what a worker reports.
#include "runner/service/stage_clock.h"

#include <doctest/doctest.h>

using namespace warpwright::runner;

TEST_CASE("a stage ends where another begins, and activities are told without their sizes") {
  std::vector<std::string> ended;
  StageClock clock([&](const std::string &stage, double seconds) {
    ended.push_back(stage);
    CHECK(seconds >= 0);
  });
  clock.enter("compiling", "compiling the candidate");
  clock.enter("verifying", "running the candidate at n=7, seed 1");
  clock.enter("verifying", "running the candidate at n=9, seed 2");
  CHECK(clock.stage() == "verifying");
  CHECK(ended == std::vector<std::string>{"compiling"});
  const std::string spent = clock.leave();
  CHECK(ended == std::vector<std::string>{"compiling", "verifying"});
  CHECK(spent.find("running the candidate 0.") != std::string::npos);
  CHECK(spent.find("n=7") == std::string::npos);
  CHECK(clock.stage().empty());
  CHECK(clock.leave().empty());
  CHECK(ended.size() == 2);
}

TEST_CASE("waiting for others is not counted as what a worker did before") {
  StageClock clock([](const std::string &, double) {});
  clock.enter("compiling", "done");
  clock.wait(true);
  clock.wait(false);
  clock.enter("verifying", "comparing");
  const std::string spent = clock.leave();
  CHECK(spent.find("waiting 0.") != std::string::npos);
  CHECK(spent.find("done 0.") != std::string::npos);
}
