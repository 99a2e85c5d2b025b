// Readings of the GPUs through NVML: temperature, clocks, power, utilization, and other processes
// that compute on them.
//
// NVML is called in a child process (`warpwright-runner readings`), which writes a line every
// second, so that a driver that hangs or crashes costs only the readings and not the service. Old
// readings are dropped, so that a dashboard shows a gap and not old values.
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
  /// Processes whose kernels ran since the last reading and that do not descend from the runner:
  /// "4711 (python3)". Processes that /proc does not show, such as those of another container, are
  /// left out.
  std::vector<std::string> foreign = {};
  bool operator==(const GpuReading &) const = default;
};
nlohmann::json to_json(const std::vector<GpuReading> &readings);
/// Entries that are not valid readings are left out.
std::vector<GpuReading> readings_from_json(const nlohmann::json &document);

/// Asks NVML, in this process, how the GPUs are, without a context on any of them. Descendants of
/// `own` are not foreign.
/// @return an empty function without NVML; its calls are for one thread
std::function<std::vector<GpuReading>()> gpu_reader(pid_t own);
/// Writes a line of JSON to stdout every `interval`, until stdout is closed. Descendants of `own`
/// are not foreign.
/// @return exit code: 1 without NVML
int write_readings(std::chrono::milliseconds interval, pid_t own);

/// Whether `process` is `ancestor` or descends from it.
/// @return nullopt: /proc shows no process with this id
std::optional<bool> descends_from(pid_t process, pid_t ancestor);

class ReadingsWatcher {
public:
  /// @param command of the child process
  /// @param gpus device and identifier of the wanted GPUs
  /// @param on_readings called with each reading, and with empty readings when the last ones are
  /// too old
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
  std::string partial_; ///< incomplete line
  boost::asio::steady_timer stale_, again_;
};

} // namespace warpwright::runner::metrics

namespace warpwright::runner {

/// Name of the check in verdicts that fails where other processes computed on the GPU while times were taken.
inline constexpr const char *kAloneCheck = "alone on the GPU";

} // namespace warpwright::runner
