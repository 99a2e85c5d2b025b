// Runs `warpwright-runner adversary --json` for a device and checks what it reports.
#pragma once

#include "runner/adversary/families.h"
#include "support/process.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace warpwright::runner::testing {

/// The runner that was built with these tests, or the one that $WARPWRIGHT_RUNNER names.
inline std::string runner_path() {
  const std::string built = WARPWRIGHT_BINARY_DIR "/warpwright-runner";
  const char *chosen = std::getenv("WARPWRIGHT_RUNNER");
  return std::filesystem::exists(built) || !chosen ? built : chosen;
}

inline CapturedRun run_adversary_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {runner_path(), "adversary"});
  auto run = run_captured(arguments, "", std::chrono::minutes(10));
  REQUIRE_MESSAGE(run.has_value(), (run ? "" : describe(run.error())));
  return *run;
}

/// Every case ended as it must, at least 25 cheats were refused and 10 honest candidates verified.
inline void check_adversary_report(const std::string &device) {
  const CapturedRun run = run_adversary_command({"--json", "--device", device});
  const auto report = nlohmann::json::parse(run.output, nullptr, false);
  INFO(run.errors);
  REQUIRE_MESSAGE(report.is_object(), run.output);
  REQUIRE_MESSAGE(report.contains("cases"), run.output);
  for (const auto &entry : report["cases"]) {
    INFO(entry.dump(1));
    CHECK(entry["as_expected"] == true);
    CHECK(entry["outcome"] == entry["expected"]);
    CHECK(entry["refused"] == (entry["family"] != "honest"));
  }
  CHECK(report["unexpected"] == 0);
  CHECK(report["refused"] >= 25);
  CHECK(report["honest_verified"] >= 10);
  CHECK(report["cases"].size() + report["skipped"].size() == adversary::all_cases().size());
  CHECK(run.status.signal == 0);
  CHECK(run.status.code == 0);
}

} // namespace warpwright::runner::testing
