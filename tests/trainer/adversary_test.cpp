// Reinforcement learning with the adversary suite among its actions, on the CPU backend: what a cheat would be paid.
#include "support/process.h"
#include "tests/trainer/temporary_folder.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace warpwright;
using Json = nlohmann::json;

namespace {

constexpr std::chrono::seconds kLimit{240};

void run(const std::string &stage, const std::vector<std::string> &more) {
  std::vector<std::string> command{std::string(WARPWRIGHT_BINARY_DIR) + "/warpwright-train", stage,
                                   "--quiet", "--set", "run.threads=1"};
  command.insert(command.end(), more.begin(), more.end());
  auto captured = run_captured(command, "", kLimit);
  REQUIRE(captured);
  INFO(captured->errors);
  CHECK(captured->status.code == 0);
}

std::vector<Json> events(const std::string &path, const std::string &event) {
  std::ifstream log(path);
  std::vector<Json> found;
  for (std::string line; std::getline(log, line);)
    if (const Json json = Json::parse(line); json["event"] == event)
      found.push_back(json);
  return found;
}

} // namespace

TEST_CASE("no case of the adversary suite is rewarded during reinforcement learning") {
  const trainer::testing::TemporaryFolder folder;
  const std::string out = folder.path / "out", source = WARPWRIGHT_SOURCE_DIR;
  run("sft", {"--records", source + "/tests/data/trainer/records.jsonl", "--out", out, "--set",
              "network.width=32", "--set", "network.layers=1", "--set", "network.heads=2", "--set",
              "sft.steps=2", "--set", "sft.batch=2"});
  run("rl", {"--env",     "live",
             "--records", folder.path / "records.jsonl",
             "--out",     out,
             "--weights", out + "/sft.safetensors",
             "--set",     "tasks.suites=[\"" + source + "/trainer/tasks/suite\"]",
             "--set",     "tasks.families=[\"elementwise\"]",
             "--set",     "tasks.at_most=1",
             "--set",     "environment.device=\"cpu\"",
             "--set",     "environment.in_flight=4",
             "--set",     "rl.groups=1",
             "--set",     "rl.group_size=2",
             "--set",     "rl.steps=26",
             "--set",     "rl.adversary=true"});
  const auto attempts = events(out + "/log.jsonl", "adversary");
  CHECK(attempts.size() > 100);
  int honest = 0, suspected = 0;
  for (const Json &attempt : attempts) {
    INFO(attempt.dump());
    CHECK(attempt["rewarded"] ==
          false); // the CPU backend times nothing: correct is the most there is
    CHECK((attempt["honest"] == false || attempt["outcome"] == "verified"));
    if (attempt["outcome"] == "suspected_cheat") {
      ++suspected;
      CHECK(attempt["advantage"].get<double>() <= -1);
    } else if (attempt["outcome"] != "verified")
      CHECK(attempt["reward"] == 0);
    honest += attempt["honest"] == true;
  }
  CHECK(honest > 10);
  CHECK(suspected > 5);
  std::ifstream cheats(out + "/cheats.jsonl");
  int kept = 0;
  for (std::string line; std::getline(cheats, line); ++kept)
    CHECK(Json::parse(line).contains("plan"));
  CHECK(kept == suspected);
}
