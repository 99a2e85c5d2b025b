// Temperature, clocks, power and use of the GPUs, and who else computes on them, through NVML.
//
// NVML is called in a child process (`warpwright-runner readings`), which writes a line every few
// seconds: a driver that hangs or crashes costs the readings, never the service. Readings that
// have grown old are dropped, so that a dashboard shows a gap and not the past.
// Thread: the watcher's executor.
#pragma once

#include "support/process.h"

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

namespace warpwright::runner::metrics {

struct GpuReading {
  std::string device; ///< "cuda:0", as the runner names it
  std::string name;   ///< "NVIDIA H200"
  std::string identifier;
  std::optional<double> temperature_celsius, sm_clock_hertz, memory_clock_hertz, power_watts,
      utilization, memory_used_bytes;
  /// Processes that are no descendants of the one that asks, and whose kernels ran since the reading before:
  /// "4711 (python3)". Processes that /proc does not show are not told, be they of another container.
  std::vector<std::string> foreign = {};
  bool operator==(const GpuReading &) const = default;
};
nlohmann::json to_json(const std::vector<GpuReading> &readings);
/// What does not fit is left out.
std::vector<GpuReading> readings_from_json(const nlohmann::json &document);

/// Asks NVML, in this process, how the GPUs are, without a context on any of them. Descendants of `own` are not foreign.
/// @return an empty function without NVML; its calls are for one thread
std::function<std::vector<GpuReading>()> gpu_reader(pid_t own);
/// Writes a line of JSON to stdout every `interval`, until stdout is closed. Descendants of `own` are not foreign.
/// @return exit code: 1 without NVML
int write_readings(std::chrono::milliseconds interval, pid_t own);

/// Whether a process is another one, or descends from it.
/// @return nullopt: there is no process with this id, to whom /proc tells it
std::optional<bool> descends_from(pid_t process, pid_t ancestor);

class ReadingsWatcher {
public:
  /// @param command of the child
  /// @param gpus device and identifier of those that are wanted
  /// @param on_readings also called with empty readings when those before have grown old
  ReadingsWatcher(boost::asio::any_io_executor executor, std::vector<std::string> command,
                  std::vector<GpuReading> gpus,
                  std::function<void(const std::vector<GpuReading> &)> on_readings);

private:
  void start();
  void read();
  void on_line(const std::string &line);
  void wait_for_fresh();

  boost::asio::any_io_executor executor_;
  std::vector<std::string> command_;
  std::vector<GpuReading> gpus_;
  std::function<void(const std::vector<GpuReading> &)> on_readings_;
  std::optional<Process> process_;
  std::unique_ptr<boost::asio::posix::stream_descriptor> output_;
  std::array<char, 4096> block_{};
  std::string partial_; ///< of a line
  boost::asio::steady_timer stale_, again_;
};

} // namespace warpwright::runner::metrics
