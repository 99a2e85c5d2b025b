// Questions to runners, and their table.
#include "server/cli/doctor_runners.h"

#include "analysis/consent/known_runners.h"
#include "runner/net/tls_url.h"
#include "support/words.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace warpwright::cli {
namespace {

constexpr int kLatencyTries = 3;

using Row = std::array<std::string, 6>;

std::string shown(const std::string &url) {
  return url.empty() || url.starts_with("local:") ? "this machine"
         : url.starts_with("ssh://")              ? url.substr(0, url.find('?'))
                                                  : runner::net::without_secrets(url);
}

bool starts_by_waiting(const std::string &url) {
  return url.starts_with("slurm://") || url.starts_with("docker://");
}

std::optional<double> measure_latency(runner::BlockingClient &client) {
  std::optional<double> shortest;
  for (int i = 0; i < kLatencyTries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (!client.info())
      return std::nullopt;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    shortest = std::min(shortest.value_or(took.count()), took.count());
  }
  return shortest;
}

std::string isolation_text(const RunnerState &runner, std::size_t device) {
  if (device >= runner.isolation.size() || runner.isolation[device].layers == 0)
    return "not known";
  const runner::DeviceIsolation &isolation = runner.isolation[device];
  if (isolation.missing.empty())
    return "all " + std::to_string(isolation.layers) + " layers";
  return "without " + joined(isolation.missing, ", ", [](const std::string &layer) {
           return layer.substr(0, layer.find(':'));
         });
}

std::vector<Row> rows_of(const RunnerState &runner) {
  if (!runner.info)
    return {Row{runner.name, "failed", "-", "-", "-", "-"}};
  const std::string latency =
      runner.latency_ms ? printed(*runner.latency_ms < 10 ? "%.1f ms" : "%.0f ms", *runner.latency_ms) : "-";
  std::vector<Row> rows;
  for (std::size_t i = 0; i < runner.info->devices.size(); ++i) {
    const model::DeviceInfo &device = runner.info->devices[i];
    rows.push_back({i == 0 ? runner.name : "", i == 0 ? "ready" : "",
                    device.kind == "cuda" ? device.name : "none (CPU backend)",
                    device.driver.empty() ? "-" : device.driver, i == 0 ? latency : "",
                    isolation_text(runner, i)});
  }
  if (rows.empty())
    rows.push_back({runner.name, "no device", "-", "-", latency, "-"});
  return rows;
}

} // namespace

RunnerState ask_runner(const std::string &url) {
  RunnerState state{shown(url), fail(""), std::nullopt, {}};
  const auto client = runner::BlockingClient::connect(url);
  state.info = client ? (*client)->info() : std::unexpected(client.error());
  if (!state.info)
    return state;
  state.latency_ms = measure_latency(**client);
  if (auto isolation = (*client)->isolation())
    state.isolation = std::move(*isolation);
  return state;
}

std::vector<RunnerState> ask_known_runners(const std::vector<std::string> &asked) {
  const auto file = consent::known_runners_path();
  const auto known = consent::known_runners(file);
  if (!known)
    return {RunnerState{file.string(), std::unexpected(known.error()), std::nullopt, {}}};
  std::vector<RunnerState> states;
  for (const std::string &url : *known)
    if (starts_by_waiting(url))
      states.push_back({shown(url), fail("not contacted, because its start may wait for resources",
                                         "Ask it with: warpwright doctor --runner URL"), std::nullopt, {}});
    else if (std::ranges::find(asked, url) == asked.end())
      states.push_back(ask_runner(url));
  return states;
}

std::string runner_table(const std::vector<RunnerState> &runners) {
  std::vector<Row> rows{{"runner", "state", "GPU", "driver", "latency", "isolation"}};
  for (const RunnerState &runner : runners)
    std::ranges::copy(rows_of(runner), std::back_inserter(rows));
  std::array<std::size_t, 6> widths{};
  for (const Row &row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string table;
  for (const Row &row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i)
      line += " " + row[i] + std::string(i + 1 < row.size() ? widths[i] - row[i].size() + 1 : 0, ' ');
    table += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  for (const RunnerState &runner : runners)
    if (!runner.info)
      table += "  " + runner.name + ": " + describe(runner.info.error()) + "\n";
  return table;
}

nlohmann::json runners_json(const std::vector<RunnerState> &runners) {
  nlohmann::json list = nlohmann::json::array();
  for (const RunnerState &runner : runners) {
    nlohmann::json entry = {{"runner", runner.name}, {"state", runner.info ? "ready" : "failed"}};
    if (!runner.info)
      entry["message"] = describe(runner.info.error());
    if (runner.latency_ms)
      entry["latency_ms"] = *runner.latency_ms;
    entry["devices"] = nlohmann::json::array();
    for (std::size_t i = 0; runner.info && i < runner.info->devices.size(); ++i) {
      const model::DeviceInfo &device = runner.info->devices[i];
      nlohmann::json row = {{"kind", device.kind}, {"name", device.name}, {"driver", device.driver}};
      if (i < runner.isolation.size() && runner.isolation[i].layers > 0)
        row["isolation"] = {{"layers", runner.isolation[i].layers}, {"missing", runner.isolation[i].missing}};
      entry["devices"].push_back(std::move(row));
    }
    list.push_back(std::move(entry));
  }
  return list;
}

} // namespace warpwright::cli
