// The whole trainer on recorded verdicts, as its users run it: every stage in turn, killed and resumed, and by two processes.
#include "support/process.h"
#include "tests/trainer/temporary_folder.h"
#include "trainer/network/safetensors.h"

#include <csignal>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace warpwright;
using namespace warpwright::trainer;

namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds kLimit{60};

class Run {
public:
  Run() {
    folder_.write("train.toml",
                  "[run]\nout = \"" + out() + "\"\nthreads = 1\n[environment]\nrecords = [\"" +
                      std::string(WARPWRIGHT_SOURCE_DIR) +
                      "/tests/data/trainer/records.jsonl\"]\n" +
                      "[network]\nwidth = 32\nlayers = 1\nheads = 2\n"
                      "[sft]\nsteps = 12\nbatch = 2\nwarmup = 2\ncheckpoint_every = 3\n"
                      "[selfsup]\nrounds = 2\nproposals = 8\nsteps = 3\nbatch = 2\n"
                      "[rl]\nsteps = 4\ngroups = 2\ngroup_size = 4\ncheckpoint_every = 2\n"
                      "[eval]\nk = [1, 4]\nrepeats = 1\n");
  }
  std::string out() const { return folder_.path / "out"; }

  std::vector<std::string> command(const std::string &stage,
                                   const std::vector<std::string> &more = {}) const {
    std::vector<std::string> all{std::string(WARPWRIGHT_BINARY_DIR) + "/warpwright-train", stage,
                                 "--config", folder_.path / "train.toml", "--quiet"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  CapturedRun run(const std::string &stage, const std::vector<std::string> &more = {}) const {
    auto captured = run_captured(command(stage, more), "", kLimit);
    REQUIRE(captured);
    INFO(captured->errors);
    CHECK(captured->status.code == 0);
    CHECK(captured->status.signal == 0);
    return *captured;
  }
  std::vector<Json> events(const std::string &event, const std::string &stage) const {
    std::ifstream log(folder_.path / "out" / "log.jsonl");
    std::vector<Json> found;
    for (std::string line; std::getline(log, line);)
      if (const Json json = Json::parse(line); json["event"] == event && json["stage"] == stage)
        found.push_back(json);
    return found;
  }
  std::vector<float> weights(const std::string &stage) const {
    auto file = read_safetensors(out() + "/" + stage + ".safetensors");
    REQUIRE(file);
    for (const NamedTensor &tensor : file->tensors)
      if (tensor.name == "embedding")
        return tensor.values;
    return {};
  }
  const testing::TemporaryFolder &folder() const { return folder_; }

private:
  testing::TemporaryFolder folder_;
};

} // namespace

TEST_CASE("every stage runs on recorded verdicts, one on the weights of the other") {
  const Run run;
  run.run("sft");
  CHECK(run.events("step", "sft").size() == 12);
  CHECK(run.events("step", "sft").back()["loss"] < run.events("step", "sft").front()["loss"]);
  run.run("selfsup", {"--weights", run.out() + "/sft.safetensors"});
  CHECK(run.events("done", "selfsup").size() == 1);
  CHECK(run.weights("selfsup") != run.weights("sft"));
  run.run("rl", {"--weights", run.out() + "/selfsup.safetensors"});
  CHECK(run.events("step", "rl").size() == 4);
  for (const auto &step : run.events("step", "rl")) // time has a name
    CHECK(step.at("answering_seconds").get<double>() + step.at("measuring_seconds").get<double>() <=
          step.at("seconds").get<double>());
  CHECK(run.weights("rl") != run.weights("selfsup"));
  const CapturedRun judged = run.run("eval");
  CHECK(judged.output.find("builtin") != std::string::npos);
  const auto scores = run.events("best_of_k", "eval");
  REQUIRE(scores.size() == 6); // three policies, two k
  for (const Json &score : scores) {
    CHECK(score["geomean"] >= 1);
    CHECK(score["low"] <= score["high"]);
  }
}

TEST_CASE("every stage runs on recorded torch modules") {
  const Run run;
  const std::vector<std::string> modules = {
      "--records", std::string(WARPWRIGHT_SOURCE_DIR) + "/tests/data/trainer/records_torch.jsonl",
      "--set", "tasks.kinds=[\"torch\"]"};
  const auto on_modules = [&](std::vector<std::string> more) {
    more.insert(more.end(), modules.begin(), modules.end());
    return more;
  };
  run.run("sft", on_modules({}));
  CHECK(run.events("step", "sft").back()["loss"] < run.events("step", "sft").front()["loss"]);
  run.run("selfsup", on_modules({"--weights", run.out() + "/sft.safetensors"}));
  run.run("rl", on_modules({"--weights", run.out() + "/selfsup.safetensors"}));
  CHECK(run.events("step", "rl").size() == 4);
  run.run("eval", on_modules({}));
  const auto scores = run.events("best_of_k", "eval");
  REQUIRE(scores.size() == 6);
  for (const Json &score : scores)
    CHECK(score["success"] > 0);
}

TEST_CASE("a stage that is killed goes on from its checkpoint, to the same weights") {
  const Run whole, killed;
  whole.run("sft");
  auto process = Process::spawn(killed.command("sft"));
  REQUIRE(process);
  while (killed.events("step", "sft").size() < 5 && !process->poll())
    sched_yield();
  process->kill(SIGKILL);
  process->wait();
  const std::size_t before = killed.events("step", "sft").size();
  killed.run("sft");
  const auto starts = killed.events("start", "sft");
  REQUIRE(starts.size() == 2);
  CHECK(starts[1]["resumed_from_step"] >= 3);
  CHECK(killed.events("step", "sft").size() >= before);
  CHECK(killed.weights("sft") == whole.weights("sft"));
}

TEST_CASE("the variants of the ablation run with the same command") {
  const Run run;
  run.run("sft");
  for (const std::string variant : {"grpo", "evolve", "random"}) {
    run.run("rl", {"--variant", variant, "--weights", run.out() + "/sft.safetensors", "--set",
                   "run.out=\"" + run.out() + "/" + variant + "\""});
    std::ifstream log(run.out() + "/" + variant + "/log.jsonl");
    const std::string text(std::istreambuf_iterator<char>(log), {});
    CHECK(text.find("\"variant\":\"" + variant + "\"") != std::string::npos);
    CHECK(text.find("\"event\":\"done\"") != std::string::npos);
  }
}

TEST_CASE(
    "policies are judged with fewer trials where that is asked, and beside much random search") {
  const Run run;
  run.run("eval", {"--set", "eval.policies=[\"random@1\", \"evolve\"]", "--set",
                   "eval.reference_trials=70"});
  const auto scores = run.events("best_of_k", "eval");
  REQUIRE(scores.size() == 3); // random at 1, evolve at 1 and 4
  CHECK(scores[0]["policy"] == "random");
  for (const Json &score : scores)
    CHECK(score["share_of_reference"] > 0);
  const auto reference = run.events("reference", "eval");
  REQUIRE(reference.size() == 1);
  CHECK(reference[0]["k"] == 70);
  const auto starts = run.events("start", "eval");
  REQUIRE(starts.size() == 1);
  const std::size_t tasks = starts[0]["task_ids"].size();
  CHECK(reference[0]["by_task"].size() == tasks);
  CHECK(run.events("session", "eval").size() == 4 * tasks); // two of the reference, one a policy
}

TEST_CASE("a suspected cheat is kept as a case") {
  const Run run; // block_size(x=64) of the recorded block_sums writes beyond its buffer
  run.run("rl", {"--variant", "random", "--set", "rl.steps=8"});
  std::ifstream cheats(run.out() + "/cheats.jsonl");
  std::string line;
  REQUIRE(std::getline(cheats, line));
  CHECK(Json::parse(line)["outcome"] == "suspected_cheat");
  CHECK(Json::parse(line)["task"].get<std::string>().starts_with("reduction/block_sums"));
  CHECK(!run.events("cheat", "rl").empty());
}

TEST_CASE("two processes learn the same weights together") {
  const Run run;
  // Any free port: the first process opens it at once, and a port that is taken fails the test by name.
  const std::string port = std::to_string(20000 + ::getpid() % 20000);
  std::vector<Process> processes;
  for (const std::string rank : {"0", "1"}) {
    ProcessOptions options;
    options.environment = {"RANK=" + rank, "WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1",
                           "MASTER_PORT=" + port};
    auto process = Process::spawn(run.command("sft", {"--set", "sft.steps=4"}), options);
    REQUIRE(process);
    processes.push_back(std::move(*process));
  }
  for (Process &process : processes)
    CHECK(process.wait().code == 0);
  const auto starts = run.events("start", "sft");
  REQUIRE(starts.size() == 1); // one of them writes
  CHECK(starts[0]["processes"] == 2);
  CHECK(run.events("step", "sft").size() == 4);
}

TEST_CASE("what cannot be done is said with the key to change") {
  const Run run;
  const auto refused = [&](const std::string &stage, const std::vector<std::string> &more) {
    auto captured = run_captured(run.command(stage, more), "", kLimit);
    REQUIRE(captured);
    CHECK(captured->status.code != 0);
    return captured->errors;
  };
  CHECK(refused("rl", {}).find("rl.weights names no policy") != std::string::npos);
  CHECK(refused("sft", {"--records", "/no/such/file"}).find("cannot read /no/such/file") !=
        std::string::npos);
  CHECK(refused("sft", {"--set", "sft.step=3"}).find("sft has no key step") != std::string::npos);
  CHECK(refused("sft", {"--set", "tasks.kinds=[\"cobol\"]"}).find("tasks.kinds has \"cobol\"") !=
        std::string::npos);
  CHECK(refused("collect", {}).find("environment.mode = \"live\"") != std::string::npos);
}
