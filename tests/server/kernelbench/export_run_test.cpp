// Rows of the benchmark that are made from verdicts on exports.
#include "server/kernelbench/export_run.h"
#include "server/kernelbench/page.h"
#include "server/kernelbench/statistics.h"
#include "tests/server/kernelbench/folder.h"

#include <doctest/doctest.h>
#include <fstream>

using namespace warpwright;
using namespace warpwright::server;
using State = BenchResult::State;

namespace {

/// A row whose plan was verified and measured in the search.
BenchResult row() {
  BenchResult result{.id = "1/1", .name = "a", .level = 1};
  result.state = State::Verified;
  result.ratios["eager+graph"] = {9, 9, 9, 9, 1};
  result.plan_hash = "the plan's";
  result.library_share = 0.25;
  return result;
}

model::Verdict verdict_of(model::Outcome outcome, const std::string &message) {
  model::Verdict verdict;
  verdict.outcome = outcome;
  verdict.message = message;
  return verdict;
}

model::Baseline baseline(const std::string &name, double ratio) {
  return {.name = name,
          .reference_time = model::Time{ratio, ratio, ratio, 10},
          .candidate_time = model::Time{1, 1, 1, 10},
          .speedup = model::Speedup{ratio, ratio, ratio, 10, "GPU"}};
}

} // namespace

TEST_CASE("a row whose kernels did not run is a failure that counts as 1") {
  auto verdict =
      verdict_of(model::Outcome::Unsupported, "its kernels ran in 0 of 3 calls: another scale");
  verdict.checks.push_back({model::kKernelsCheck, false, verdict.message});
  BenchResult result = row();
  take_export(verdict, result);
  CHECK(result.state == State::ExportFailed);
  CHECK(result.ratios.empty());
  CHECK(result.reason == "its export: its kernels ran in 0 of 3 calls: another scale");
  CHECK(result.kernels_ran == false);
  const BenchSummary summary = summarise({result});
  CHECK(summary.verified == 0);
  CHECK(summary.export_failed == 1);
  CHECK(summary.kernels_ran == 0);
  CHECK(summary.baselines[0].mean == 1);
  CHECK(summary.baselines[0].fast_1 == 0);
  const auto kept = bench_result_from_json(to_json(result));
  REQUIRE(kept);
  CHECK(kept->state == State::ExportFailed);
  CHECK(kept->kernels_ran == false);
  CHECK(kept->kernels == result.kernels);
  CHECK(render_bench_page({}, {result}).find("<td>no<small>its kernels ran in 0 of 3 calls") !=
        std::string::npos);
  CHECK(render_bench_text({result}).find("1 whose export failed (kernels ran in 0)") !=
        std::string::npos);
}

TEST_CASE("a row's figures are those of its export, and its plan stays the search's") {
  auto verdict = verdict_of(model::Outcome::Verified, "correct by every check, and measured");
  verdict.plan_hash = "the export's";
  verdict.checks.push_back({model::kKernelsCheck, true, "in each of 40 calls, no fallback"});
  verdict.baselines = {baseline("eager+graph", 2), baseline("eager", 3)};
  BenchResult result = row();
  take_export(verdict, result);
  CHECK(result.state == State::Verified);
  CHECK(result.ratios.at("eager+graph").value == 2);
  CHECK(result.ratios.at("eager").value == 3);
  CHECK(result.plan_hash == "the plan's");
  CHECK(result.library_share == 0.25);
  CHECK(result.kernels_ran == true);
  CHECK(summarise({result}).kernels_ran == 1);
  CHECK(render_bench_page({}, {result}).find("<td>yes<small>in each of 40 calls, no fallback") !=
        std::string::npos);
}

TEST_CASE("an export that is refused for another reason fails, and the task's own fault does not") {
  BenchResult wrong = row(), short_of_memory = row();
  take_export(verdict_of(model::Outcome::WrongResult, "y[0] is 1, expected 2"), wrong);
  CHECK(wrong.state == State::ExportFailed);
  CHECK(wrong.reason == "its export: wrong_result: y[0] is 1, expected 2");
  CHECK(!wrong.kernels_ran);
  take_export(verdict_of(model::Outcome::Unsupported, "the task's reference: out of memory"),
              short_of_memory);
  CHECK(short_of_memory.state == State::Unmeasured);
  CHECK(short_of_memory.ratios.empty());
}

TEST_CASE("a wrong baseline is shown as wrong and is no denominator") {
  auto verdict = verdict_of(model::Outcome::Verified, "correct by every check, and measured");
  verdict.baselines = {baseline("eager+graph", 2),
                       {.name = "torch.compile max-autotune-no-cudagraphs+graph",
                        .missing = "its results are wrong: error against fp64",
                        .wrong = true}};
  BenchResult result = row();
  take_export(verdict, result);
  CHECK(best_variant_ratio(result)->value == 2);
  const BenchSummary summary = summarise({result});
  CHECK(summary.wrong_baselines == 1);
  CHECK(summary.baselines.back().baseline == "torch.compile max-autotune-no-cudagraphs+graph");
  CHECK(summary.baselines.back().measured == 0);
  const std::string page = render_bench_page({}, {*bench_result_from_json(to_json(result))});
  CHECK(page.find("error against fp64'>wrong</span>") != std::string::npos);
}

TEST_CASE("every framework variant that was measured may be the best one") {
  BenchResult result = row();
  result.ratios["torch.compile max-autotune-no-cudagraphs+graph"] = {1.5, 1.4, 1.6, 1.5, 1};
  result.ratios["torch.compile max-autotune-no-cudagraphs"] = {1.1, 1, 1.2, 1.1, 1};
  CHECK(best_variant_ratio(result)->value == 1.5);
}

TEST_CASE("an export is written with its plan file beside it") {
  const Folder folder;
  const auto path = folder.path / "level1" / "2.py";
  REQUIRE(write_export({"class ModelNew: pass\n", "2.wwplan", "{}\n"}, path));
  CHECK(std::filesystem::exists(path));
  CHECK(std::filesystem::exists(folder.path / "level1" / "2.wwplan"));
  REQUIRE(
      write_export({"class ModelNew: pass\n", "3.wwplan", ""}, folder.path / "level1" / "3.py"));
  CHECK(!std::filesystem::exists(folder.path / "level1" / "3.wwplan"));
}
