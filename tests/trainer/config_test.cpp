// A configuration is read strictly, and says of what is wrong which key and line it is.
#include "trainer/config/config.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::trainer;

namespace {

std::string problem(const std::string &text, const std::vector<std::string> &settings = {}) {
  const auto config = parse_config(text, "train.toml", settings);
  return config ? "none" : describe(config.error());
}

} // namespace

TEST_CASE("what is not said keeps its default") {
  const auto config = parse_config("[rl]\nsteps = 7\n", "train.toml");
  REQUIRE(config);
  CHECK(config->rl.steps == 7);
  CHECK(config->rl.groups == RlConfig().groups);
  CHECK(config->run.seed == 1);
}

TEST_CASE("bad values are named by line and key") {
  CHECK(problem("[rl]\n\nclip_low = -1.0\n") ==
        "train.toml:3: rl.clip_low is not a number in 0..1");
  CHECK(problem("[rl]\nsteps = \"many\"\n")
            .starts_with("train.toml:2: rl.steps is not a whole number in 1.."));
  CHECK(problem("[rl]\nvariant = \"ppo\"\n") ==
        "train.toml:2: rl.variant is \"ppo\": write one of contrastive, grpo, evolve, random");
  CHECK(problem("[eval]\nk = [1, 0]\n").starts_with("train.toml:2: eval.k is not a list"));
}

TEST_CASE("unknown keys and tables are refused with those that there are") {
  CHECK(problem("[sft]\nstep = 3\n")
            .starts_with("train.toml:2: sft has no key step. There are batch,"));
  CHECK(problem("[sfd]\n").starts_with(
      "train.toml:1: sfd is not a table of a run. There are collect,"));
  CHECK(problem("steps = 3\n").starts_with("train.toml:1: steps is not a table of a run"));
}

TEST_CASE("a text that is not TOML is refused by its line") {
  CHECK(problem("[rl]\nsteps 3\n").starts_with("train.toml:2: this is not TOML"));
}

TEST_CASE("settings of the command line win over the file") {
  const auto config = parse_config("[rl]\nsteps = 7\ngroups = 2\n", "train.toml",
                                   {"rl.steps = 9", "run.out = \"elsewhere\""});
  REQUIRE(config);
  CHECK(config->rl.steps == 9);
  CHECK(config->rl.groups == 2);
  CHECK(config->run.out == "elsewhere");
  CHECK(problem("", {"rl.stepz = 1"}).find("rl has no key stepz") != std::string::npos);
  CHECK(problem("", {"steps"}).find("not TOML") != std::string::npos);
}

TEST_CASE("what is printed reads back as the same configuration") {
  auto config = parse_config("[rl]\nkl = 0.125\n[eval]\nk = [1, 3]\n", "train.toml");
  REQUIRE(config);
  const auto again = parse_config(describe_config(*config), "printed");
  REQUIRE(again);
  CHECK(describe_config(*again) == describe_config(*config));
  CHECK(again->rl.kl == 0.125);
  CHECK(again->eval.k == std::vector<int>{1, 3});
}

TEST_CASE("heads that rotary positions cannot turn are refused") {
  CHECK(problem("[network]\nwidth = 100\nheads = 8\n").find("network.width") != std::string::npos);
}
