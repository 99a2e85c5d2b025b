#include "server/kernelbench/bench_run.h"
#include "server/kernelbench/page.h"
#include "server/kernelbench/statistics.h"
#include "tests/server/kernelbench/folder.h"

#include <doctest/doctest.h>
#include <fstream>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace warpwright;
using namespace warpwright::server;
namespace fs = std::filesystem;

namespace {

BenchResult verified(const std::string &id, double eager, double compiled) {
  BenchResult result{.id = id, .name = id, .level = 1};
  result.state = BenchResult::State::Verified;
  result.ratios["eager+graph"] = {eager, eager * 0.99, eager * 1.01, 1000 * eager, 1000};
  result.ratios["torch.compile+graph"] = {compiled, compiled * 0.99, compiled * 1.01,
                                          1000 * compiled, 1000};
  return result;
}

} // namespace

TEST_CASE("a checkout gives its tasks by level and number, and other Python files none") {
  const Folder folder;
  const std::string task = "def get_inputs(): return []\n";
  folder.write("KernelBench/level2/3_B.py", task);
  folder.write("KernelBench/level1/10_C.py", task);
  folder.write("KernelBench/level1/9_A.py", task);
  folder.write("src/eval.py", "print('no task')\n");
  const auto tasks = load_bench_tasks(folder.path, {});
  REQUIRE(tasks);
  REQUIRE(tasks->size() == 3);
  CHECK((*tasks)[0].id == "1/9");
  CHECK((*tasks)[1].id == "1/10");
  CHECK((*tasks)[2].id == "2/3");
  const auto second = load_bench_tasks(folder.path, {2});
  REQUIRE(second);
  CHECK(second->size() == 1);
  CHECK_FALSE(load_bench_tasks(folder.path, {7}));
  CHECK_FALSE(load_bench_tasks(folder.path / "missing", {}));
}

TEST_CASE("a JSON lines file gives its tasks, and a bad line is named by its number") {
  const Folder folder;
  const auto good = folder.write("good.jsonl", R"({"level_id": 1, "task_id": 2, "ref_code": "x"}
{"level_id": "3", "task_id": "4", "ref_code": "y"}
)");
  const auto tasks = load_bench_tasks(good, {});
  REQUIRE(tasks);
  REQUIRE(tasks->size() == 2);
  CHECK((*tasks)[0].id == "1/2");
  CHECK((*tasks)[1].id == "3/4");
  CHECK((*tasks)[1].source == "y");
  const auto bad =
      load_bench_tasks(folder.write("bad.jsonl", "{\"ref_code\": \"x\"}\n{\"code\": 1}\n"), {});
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message.find("line 2") != std::string::npos);
}

TEST_CASE("a task without a measured candidate counts as 1 in every mean") {
  BenchResult failed{.id = "1/3", .name = "c", .level = 1};
  const std::vector<BenchResult> results{verified("1/1", 4, 2), verified("1/2", 1, 0.5), failed};
  const BenchSummary summary = summarise(results);
  CHECK(summary.tasks == 3);
  CHECK(summary.verified == 2);
  CHECK(summary.no_candidate == 1);
  const BaselineSummary &eager = summary.baselines[0];
  CHECK(eager.measured == 2);
  CHECK(eager.mean == doctest::Approx(2.0));
  CHECK(eager.geometric_mean == doctest::Approx(std::cbrt(4.0)));
  CHECK(eager.median == doctest::Approx(1.0));
  CHECK(eager.fast_1 == doctest::Approx(1.0 / 3));
  CHECK(eager.fast_2 == doctest::Approx(1.0 / 3));
}

TEST_CASE("the best framework variant is the one that leaves the smaller ratio") {
  const auto best = best_variant_ratio(verified("1/1", 4, 2));
  REQUIRE(best);
  CHECK(best->value == 2);
  const BenchSummary summary = summarise({verified("1/1", 4, 2), verified("1/2", 3, 1.01)});
  CHECK(summary.faster_than_best_variant == 1); // the interval of 1.01 reaches below
}

TEST_CASE("a degenerate task has no ratios") {
  const BenchTask task{.id = "1/1", .level = 1, .name = "a", .source = "x"};
  TorchOutcome outcome;
  outcome.task.emplace();
  search::TorchVariant variant;
  variant.verdict.outcome = model::Outcome::Verified;
  variant.verdict.speedup = model::Speedup{5, 5, 5, 10, "GPU"};
  variant.verdict.reference_time = variant.verdict.candidate_time = model::Time{1, 1, 1, 10};
  outcome.variants.push_back(variant);
  outcome.best = 0;
  CHECK(bench_result_of(task, outcome).state == BenchResult::State::Verified);
  outcome.variants[0].verdict.checks.push_back({"the task is not degenerate", false, "always 0"});
  const BenchResult result = bench_result_of(task, outcome);
  CHECK(result.state == BenchResult::State::Degenerate);
  CHECK(result.reason == "always 0");
  CHECK(result.ratios.empty());
}

TEST_CASE("what a search found and nobody could verify once more is no result") {
  TorchOutcome outcome;
  outcome.task.emplace();
  search::TorchVariant variant;
  variant.verdict.outcome = model::Outcome::Verified;
  variant.verdict.speedup = model::Speedup{5, 5, 5, 10, "GPU"};
  outcome.variants.push_back(variant);
  outcome.best = 0;
  outcome.error = Error{"the runner has gone away", ""};
  const BenchResult result = bench_result_of({.id = "1/1", .name = "a", .source = "x"}, outcome);
  CHECK(result.state == BenchResult::State::Failed);
  CHECK(result.reason.find("gone away") != std::string::npos);
}

TEST_CASE("what only the device stopped from being measured keeps its plan and says why") {
  TorchOutcome outcome;
  outcome.task.emplace();
  search::TorchVariant variant;
  variant.verdict.outcome = model::Outcome::Verified;
  variant.verdict.plan_hash = "abc";
  variant.verdict.speedup = model::Speedup{5, 5, 5, 10, "GPU"};
  variant.verdict.reference_time = variant.verdict.candidate_time = model::Time{1, 1, 1, 10};
  outcome.variants.push_back(variant);
  outcome.best = 0;
  outcome.unconfirmed = "the runner: allocating 6442450944 bytes: out of memory";
  const BenchResult result = bench_result_of({.id = "1/1", .name = "a", .source = "x"}, outcome);
  CHECK(result.state == BenchResult::State::Unmeasured);
  CHECK(result.plan_hash == "abc");
  CHECK(result.ratios.empty()); // a search's figure favours whoever was lucky
  CHECK(result.reason.find("out of memory") != std::string::npos);
}

TEST_CASE("a module that does not trace is skipped with its reason") {
  TorchOutcome outcome;
  outcome.error = Error{"forward's control flow depends on data", ""};
  const BenchResult result = bench_result_of({.id = "1/1", .name = "a", .source = "x"}, outcome);
  CHECK(result.state == BenchResult::State::Skipped);
  CHECK(result.reason.find("control flow") != std::string::npos);
}

TEST_CASE("a run goes on from its results file, whose last line a kill has cut") {
  const Folder folder;
  const fs::path path = folder.path / "results.jsonl";
  const nlohmann::json header = {{"tasks", 2}};
  {
    auto file = ResultsFile::open(path, header);
    REQUIRE(file);
    BenchResult first = verified("1/1", 2, 1.5);
    first.variants = {{"template(rows)", "verified", "", 1000.5},
                      {"aten(conv)", "wrong_result", "y[0] is 1, expected 2", {}}};
    REQUIRE(file->append(first));
    REQUIRE(file->append(verified("1/2", 3, 2)));
  }
  fs::resize_file(path, fs::file_size(path) - 5);
  {
    auto file = ResultsFile::open(path, header);
    REQUIRE(file);
    REQUIRE(file->earlier().size() == 1);
    const BenchResult &first = file->earlier()[0];
    CHECK(first.ratios.at("eager+graph").value == 2);
    REQUIRE(first.variants.size() == 2);
    CHECK(first.variants[0].candidate_ns == 1000.5);
    CHECK(first.variants[1].moves == "aten(conv)");
    CHECK(first.variants[1].message == "y[0] is 1, expected 2");
    CHECK(!first.variants[1].candidate_ns);
    REQUIRE(file->append(verified("1/2", 3, 2)));
  }
  const auto whole = ResultsFile::open(path, header);
  REQUIRE(whole);
  CHECK(whole->earlier().size() == 2);
  CHECK_FALSE(ResultsFile::open(path, {{"tasks", 3}}));
}

TEST_CASE("runs that write one file at once lose nothing of each other") {
  const Folder folder;
  const fs::path path = folder.path / "results.jsonl";
  constexpr int kRuns = 4, kResults = 40;
  std::vector<pid_t> runs;
  for (int run = 0; run < kRuns; ++run)
    if (runs.push_back(fork()); runs.back() == 0) {
      bool kept = true;
      for (int i = 0; i < kResults && kept; ++i) {
        auto file = ResultsFile::open(path, {{"tasks", 2}});
        kept = file && file->append(verified(std::to_string(run) + "/" + std::to_string(i), 2, 1));
      }
      _exit(kept ? 0 : 1);
    }
  for (const pid_t run : runs) {
    int status = 0;
    waitpid(run, &status, 0);
    CHECK(status == 0);
  }
  const auto file = ResultsFile::open(path, {{"tasks", 2}});
  REQUIRE(file);
  std::set<std::string> ids;
  for (const BenchResult &result : file->earlier())
    ids.insert(result.id);
  CHECK(ids.size() == kRuns * kResults);
  CHECK(file->earlier().size() == kRuns * kResults);
}

TEST_CASE("a task that two runs judged is one result, and a failure does not replace it") {
  const Folder folder;
  const fs::path path = folder.path / "results.jsonl";
  BenchResult failed = verified("1/1", 2, 1);
  failed.state = BenchResult::State::Failed;
  for (const BenchResult &result : {failed, verified("1/1", 3, 1), verified("1/1", 4, 1), failed}) {
    auto file = ResultsFile::open(path, {{"tasks", 2}});
    REQUIRE(file);
    REQUIRE(file->append(result));
  }
  const auto file = ResultsFile::open(path, {{"tasks", 2}});
  REQUIRE(file);
  REQUIRE(file->earlier().size() == 1);
  CHECK(file->earlier()[0].ratios.at("eager+graph").value == 4);
}

TEST_CASE("a damaged line amid others is named, and no later line is thrown away for it") {
  const Folder folder;
  const fs::path path = folder.path / "results.jsonl";
  {
    auto file = ResultsFile::open(path, {{"tasks", 2}});
    REQUIRE(file);
    std::ofstream(path, std::ios::app) << "{\"id\": \n";
    REQUIRE(file->append(verified("1/2", 3, 2)));
  }
  const auto size = fs::file_size(path);
  const auto damaged = ResultsFile::open(path, {{"tasks", 2}});
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().message.find("line 2") != std::string::npos);
  CHECK(fs::file_size(path) == size);
}

TEST_CASE("recipes of verified candidates are found again by the hash of their source") {
  const Folder folder;
  const fs::path path = folder.path / "results.jsonl";
  {
    auto file = ResultsFile::open(path, {{"tasks", 2}});
    REQUIRE(file);
    BenchResult found = verified("1/1", 2, 1.5), plain = verified("1/2", 2, 1.5);
    found.source_hash = "abc";
    found.recipe = search::Recipe{{"identity(%y)"}, {{{"mm", {"matmul", true, false}}}, {}}};
    REQUIRE(file->append(found));
    REQUIRE(file->append(plain));
  }
  const auto recipes = read_recipes(path);
  REQUIRE(recipes);
  REQUIRE(recipes->size() == 1);
  CHECK(recipes->at("abc").rewrites == std::vector<std::string>{"identity(%y)"});
  CHECK(recipes->at("abc").choices.anchors.at("mm").family == "matmul");
  CHECK_FALSE(read_recipes(folder.path / "nothing.jsonl"));
}

TEST_CASE("the page names every task, its state and its reason, and escapes what it shows") {
  BenchResult skipped{.id = "2/7", .name = "<b>", .level = 2};
  skipped.state = BenchResult::State::Skipped;
  skipped.reason = "random: dropout & more";
  const std::string page = render_bench_page({.title = "t"}, {verified("1/1", 4, 2), skipped});
  CHECK(page.find("2/7") != std::string::npos);
  CHECK(page.find("dropout &amp; more") != std::string::npos);
  CHECK(page.find("<b>\"") == std::string::npos);
  CHECK(page.find("level 2") != std::string::npos);
}
