#include "server/kernelbench/bench_run.h"
#include "server/kernelbench/candidate_run.h"
#include "tests/server/kernelbench/folder.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::server;
namespace fs = std::filesystem;

namespace {

model::Verdict verdict_of(model::Outcome outcome, const std::string &message) {
  model::Verdict verdict;
  verdict.outcome = outcome;
  verdict.message = message;
  verdict.host_code = true;
  return verdict;
}

} // namespace

TEST_CASE("a folder's answers are known by level and number, however their files are named") {
  const Folder folder;
  const std::string answer = "class ModelNew: pass\n";
  folder.write("level1/23_Softmax.py", answer);
  folder.write("runs/level_2_problem_5_sample_0_kernel.py", answer);
  folder.write("level3/7.py", "class Model: pass\n");
  folder.write("level1/__init__.py", "\n");
  const auto answers = load_candidates(folder.path, "");
  REQUIRE(answers);
  CHECK(answers->size() == 3);
  CHECK(answers->at("1/23").model == "ModelNew");
  CHECK(answers->at("2/5").source == answer);
  CHECK(answers->at("3/7").model == "Model");
}

TEST_CASE(
    "lines answer by the first known field or the one that is named, and empty ones not at all") {
  const Folder folder;
  const auto path = folder.write(
      "answers.jsonl",
      R"({"level_id": 1, "task_id": 2, "custom_code": "class ModelNew: 1", "other": "class ModelNew: 2"}

{"level_id": "1", "task_id": "3", "custom_code": null}
{"level_id": 1, "task_id": 4, "custom_code": "None"}
)");
  const auto answers = load_candidates(path, "");
  REQUIRE(answers);
  REQUIRE(answers->size() == 1);
  CHECK(answers->at("1/2").source == "class ModelNew: 1");
  CHECK(answers->at("1/2").where.ends_with("line 1"));
  const auto other = load_candidates(path, "other");
  REQUIRE(other);
  CHECK(other->at("1/2").source == "class ModelNew: 2");
}

TEST_CASE("what holds no answers is refused by name") {
  const Folder folder;
  const auto refusal = [&](const fs::path &path, const std::string &field = "") {
    const auto answers = load_candidates(path, field);
    return answers ? std::string() : answers.error().message;
  };
  CHECK(refusal(folder.path / "missing").find("no candidates at") != std::string::npos);
  const auto no_json =
      folder.write("no.jsonl", "{\"level_id\": 1, \"task_id\": 1, \"code\": \"x\"}\nnonsense\n");
  CHECK(refusal(no_json).find("line 2") != std::string::npos);
  const auto no_task = folder.write("task.jsonl", "{\"code\": \"x\"}\n");
  CHECK(refusal(no_task).find("names no task") != std::string::npos);
  const auto no_field =
      folder.write("field.jsonl", "{\"level_id\": 1, \"task_id\": 1, \"answer\": \"x\"}\n");
  CHECK(refusal(no_field).find("no line with") != std::string::npos);
  CHECK(refusal(no_field, "answer").empty());
}

TEST_CASE("a refused answer is no candidate with its outcome, and the task's own fault skips it") {
  BenchResult refused;
  take_verdict(verdict_of(model::Outcome::SuspectedCheat, "it flips a flag"), refused);
  CHECK(refused.state == BenchResult::State::NoCandidate);
  CHECK(refused.reason == "suspected_cheat: it flips a flag");
  CHECK(refused.outcomes.at("suspected_cheat") == 1);
  BenchResult skipped;
  take_verdict(verdict_of(model::Outcome::Unsupported, "the task's reference: NaN"), skipped);
  CHECK(skipped.state == BenchResult::State::Skipped);
  BenchResult right;
  take_verdict(verdict_of(model::Outcome::Verified, "correct by every check"), right);
  CHECK(right.state == BenchResult::State::Unmeasured);
}

TEST_CASE("a task without an answer needs no runner to be counted") {
  const BenchTask task{.id = "1/2", .level = 1, .name = "2_A", .source = ""};
  BenchResult result{.id = task.id, .name = task.name, .level = 1};
  result.host_code = true;
  const auto kept = bench_result_from_json(to_json(result));
  REQUIRE(kept);
  CHECK(kept->host_code);
}
