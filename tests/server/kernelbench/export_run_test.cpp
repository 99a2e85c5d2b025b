// What a file's counts say of it; the Python is a shell that prints them.
#include "server/kernelbench/bench_run.h"
#include "server/kernelbench/export_run.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::server;
using Kind = ExportRun::Kind;

namespace {

ExportRun run_of(const std::string &script) {
  return run_export({"/bin/sh", "-c", script}, "file.py", model::ModuleMode::Eval);
}

} // namespace

TEST_CASE("an export that runs its kernels, one that does not, and one that cannot be run here") {
  CHECK(run_of(R"(echo noise; echo '{"runs": 1, "fallbacks": {}}')").kind == Kind::Ran);
  const ExportRun idle = run_of(R"(echo '{"runs": 0, "fallbacks": {"another scale": 1}}')");
  CHECK(idle.kind == Kind::Idle);
  CHECK(idle.why == "another scale");
  CHECK(run_of(R"(echo '{"failed": "NameError: x"}')").why == "NameError: x");
  CHECK(run_of("exit 3").kind == Kind::Idle);
  CHECK(run_of(R"(echo '{"unknown": "there is no CUDA GPU"}')").kind == Kind::Unknown);
  CHECK(run_export({"/no/such/python"}, "file.py", model::ModuleMode::Eval).kind == Kind::Unknown);
}

TEST_CASE("the file and the mode are told") {
  CHECK(run_of(R"(test "$0 $1" = "file.py eval" && echo '{"runs": 1}')").kind == Kind::Ran);
}

TEST_CASE("a row whose export does not run its kernels is no success") {
  BenchResult result;
  result.state = BenchResult::State::Verified;
  result.ratios["eager"] = {2, 2, 2, 1, 1};
  take_export_run({Kind::Unknown, "there is no CUDA GPU"}, result);
  CHECK(result.state == BenchResult::State::Verified);
  CHECK(result.export_run == "unknown: there is no CUDA GPU");
  take_export_run({Kind::Ran, ""}, result);
  CHECK(result.export_run == "runs its kernels");
  take_export_run({Kind::Idle, "another scale"}, result);
  CHECK(result.state == BenchResult::State::NoCandidate);
  CHECK(result.ratios.empty());
  CHECK(result.reason == "its export does not run its kernels: another scale");
  const auto kept = bench_result_from_json(to_json(result));
  REQUIRE(kept);
  CHECK(kept->export_run == "idle: another scale");
}
