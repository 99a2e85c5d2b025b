#include "server/program/run_pairs.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::program;

namespace {

ProgramRun a_run(double seconds, const std::string &text = "5\n", const std::string &failure = "") {
  return {.output = {.status = 0, .texts = {{kStdout, text}}}, .seconds = seconds, .failure = failure};
}

OutputMask mask() {
  const std::vector<RunOutput> originals(3, a_run(1).output);
  return OutputMask(originals, {});
}

} // namespace

TEST_CASE("pairs have both orders, and end when the ratio is known well enough") {
  std::string order;
  const auto pairs = run_pairs(
      [&](const std::string &tree) -> Result<ProgramRun> {
        order += tree.front();
        return a_run(tree == kOriginal ? 2 : 1);
      },
      mask(), {.most = 40});
  REQUIRE(pairs);
  CHECK(pairs->failure == "");
  CHECK(pairs->original_s == std::vector<double>(6, 2.0));
  CHECK(pairs->changed_s == std::vector<double>(6, 1.0));
  CHECK(order.size() == 12);
  CHECK(order.find("oc") != std::string::npos);
  CHECK(order != "ocococococococ");
}

TEST_CASE("noisy runs go on until the most pairs") {
  int count = 0;
  const auto pairs = run_pairs(
      [&](const std::string &) -> Result<ProgramRun> { return a_run(1 + 0.5 * (count++ % 3)); }, mask(), {.most = 15});
  REQUIRE(pairs);
  CHECK(pairs->original_s.size() == 15);
}

TEST_CASE("a changed run that differs or fails ends the pairs, and a failing original is an error") {
  const auto differs = run_pairs(
      [&](const std::string &tree) -> Result<ProgramRun> { return a_run(1, tree == kChanged ? "6\n" : "5\n"); }, mask(),
      {});
  REQUIRE(differs);
  CHECK(differs->failure == "stdout: line 1: '6' was '5'");
  CHECK(differs->original_s.empty());
  const auto failed = run_pairs(
      [&](const std::string &tree) -> Result<ProgramRun> { return a_run(1, "5\n", tree == kOriginal ? "no GPU" : ""); },
      mask(), {});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message.find("no GPU") != std::string::npos);
}

TEST_CASE("a stop keeps the pairs that are whole") {
  std::stop_source stop;
  int count = 0;
  const auto pairs = run_pairs(
      [&](const std::string &) -> Result<ProgramRun> {
        if (++count == 5) {
          stop.request_stop();
          return a_run(1, "cut", "it ended with the status 130");
        }
        return a_run(1);
      },
      mask(), {}, stop.get_token());
  REQUIRE(pairs);
  CHECK(pairs->failure == "");
  CHECK(pairs->original_s.size() == 2);
}
