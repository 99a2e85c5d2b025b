// Temperature, clocks, power and use of the GPUs, through NVML.
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
  bool operator==(const GpuReading &) const = default;
};
nlohmann::json to_json(const std::vector<GpuReading> &readings);
/// What does not fit is left out.
std::vector<GpuReading> readings_from_json(const nlohmann::json &document);

/// Writes a line of JSON to stdout every `interval`, until stdout is closed. @return exit code: 1
/// without NVML
int write_readings(std::chrono::milliseconds interval);

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
