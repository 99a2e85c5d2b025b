// The runners of `warpwright doctor`: each is contacted and asked for its devices, its latency and
// the isolation of its workers. Thread: one; blocks.
#pragma once

#include "runner/connect/connect.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace warpwright::cli {

struct RunnerState {
  std::string name; ///< "this machine", or the URL without secrets
  Result<runner::RunnerInfo> info;
  std::optional<double> latency_ms; ///< shortest of a few requests; absent: not measured
  std::vector<runner::DeviceIsolation> isolation; ///< empty: not known
};

/// Contacts a runner. @param url "" for one that is started here
RunnerState ask_runner(const std::string &url);
/// The user's own runners (runners.toml), without those in `asked`. Runners whose start waits for
/// resources (slurm://, docker://) are not contacted.
std::vector<RunnerState> ask_known_runners(const std::vector<std::string> &asked);

/// A row per device: runner, state, GPU, driver, latency, isolation.
std::string runner_table(const std::vector<RunnerState> &runners);
nlohmann::json runners_json(const std::vector<RunnerState> &runners);

} // namespace warpwright::cli
