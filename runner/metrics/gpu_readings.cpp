// Calls of NVML; names and values are from the NVML API reference.
#include "runner/metrics/gpu_readings.h"
#include "support/shared_library.h"

#include <boost/asio/buffer.hpp>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

namespace warpwright::runner::metrics {
namespace {

using nlohmann::json;
using Handle = struct nvmlDevice_st *;

constexpr std::chrono::seconds kOld{30}, kPause{60};
constexpr std::size_t kLongestLine = 64 * 1024;
constexpr unsigned kSensorGpu = 0, kClockSm = 1, kClockMemory = 2;

constexpr std::pair<const char *, std::optional<double> GpuReading::*> kNumbers[] = {
    {"temperature_celsius", &GpuReading::temperature_celsius},
    {"sm_clock_hertz", &GpuReading::sm_clock_hertz},
    {"memory_clock_hertz", &GpuReading::memory_clock_hertz},
    {"power_watts", &GpuReading::power_watts},
    {"utilization", &GpuReading::utilization},
    {"memory_used_bytes", &GpuReading::memory_used_bytes}};

struct Utilization {
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};

/// nvmlProcessUtilizationSample_t.
struct ProcessUse {
  unsigned process;
  unsigned long long time_us;
  unsigned sm, memory, encoder, decoder; ///< percent
};
/// nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v3.
struct ComputeProcess {
  unsigned process;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
constexpr int kSuccess = 0, kNotSupported = 3;
constexpr unsigned kNoInstance = 0xFFFFFFFF, kMostProcesses = 1024;
/// The MPS server, under whose name its clients compute, including this runner's.
constexpr const char *kMpsServer = "nvidia-cuda-mps";

/// The name and the parent of a process. nullopt: /proc does not show it.
struct ProcessStatus {
  std::string name;
  pid_t parent = 0;
};
std::optional<ProcessStatus> status_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line))
    return std::nullopt;
  // Format: "4711 (any name) S 4710 ...". The name may contain parentheses.
  const std::size_t open = line.find('('), close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open)
    return std::nullopt;
  ProcessStatus status{.name = line.substr(open + 1, close - open - 1)};
  char state = 0;
  std::istringstream(line.substr(close + 1)) >> state >> status.parent;
  return status;
}

class Nvml {
public:
  explicit Nvml(pid_t own = 0) : own_(own), library_({"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1"}) {
    if (!library_.is_open())
      return;
    auto *init = library_.find<int()>("nvmlInit_v2");
    ready_ = init && init() == 0;
  }
  bool is_ready() const { return ready_; }

  std::vector<GpuReading> read() {
    unsigned count = 0;
    std::vector<GpuReading> readings;
    call<unsigned *>("nvmlDeviceGetCount_v2", &count);
    for (unsigned index = 0; index < count; ++index) {
      Handle device = nullptr;
      if (call<unsigned, Handle *>("nvmlDeviceGetHandleByIndex_v2", index, &device))
        readings.push_back(read(device));
    }
    return readings;
  }

private:
  GpuReading read(Handle device) {
    GpuReading reading;
    char text[96] = "";
    if (call<Handle, char *, unsigned>("nvmlDeviceGetUUID", device, text, sizeof text))
      reading.identifier = text;
    if (call<Handle, char *, unsigned>("nvmlDeviceGetName", device, text, sizeof text))
      reading.name = text;
    unsigned value = 0;
    if (call<Handle, unsigned, unsigned *>("nvmlDeviceGetTemperature", device, kSensorGpu, &value))
      reading.temperature_celsius = value;
    if (call<Handle, unsigned, unsigned *>("nvmlDeviceGetClockInfo", device, kClockSm, &value))
      reading.sm_clock_hertz = value * 1e6;
    if (call<Handle, unsigned, unsigned *>("nvmlDeviceGetClockInfo", device, kClockMemory, &value))
      reading.memory_clock_hertz = value * 1e6;
    if (call<Handle, unsigned *>("nvmlDeviceGetPowerUsage", device, &value)) // milliwatts
      reading.power_watts = value / 1e3;
    Utilization use{};
    if (call<Handle, Utilization *>("nvmlDeviceGetUtilizationRates", device, &use)) // percent
      reading.utilization = use.gpu / 100.0;
    Memory memory{};
    if (call<Handle, Memory *>("nvmlDeviceGetMemoryInfo", device, &memory))
      reading.memory_used_bytes = static_cast<double>(memory.used);
    for (const unsigned process : computing(device)) {
      const auto is_own = descends_from(static_cast<pid_t>(process), own_);
      const auto status = status_of(static_cast<pid_t>(process));
      if (is_own && !*is_own && status && !status->name.starts_with(kMpsServer))
        reading.foreign.push_back(std::to_string(process) + " (" + status->name + ")");
    }
    return reading;
  }

  /// Processes whose kernels ran since the last call. If the driver cannot report that: processes
  /// with a context on the GPU, except on a GPU with MIG instances, where they do not share
  /// hardware.
  std::set<unsigned> computing(Handle device) {
    std::set<unsigned> found;
    auto *utilization =
        library_.find<int(Handle, ProcessUse *, unsigned *, unsigned long long)>(
            "nvmlDeviceGetProcessUtilization");
    unsigned count = kMostProcesses;
    std::vector<ProcessUse> uses(count);
    unsigned long long &seen = seen_us_[device];
    const int status =
        utilization ? utilization(device, uses.data(), &count, seen) : kNotSupported;
    if (status != kNotSupported) {
      const bool first = std::exchange(seen, std::max(seen, 1ULL)) == 0; // old samples
      for (unsigned i = 0; status == kSuccess && i < count; ++i) {
        seen = std::max(seen, uses[i].time_us);
        if (!first && uses[i].sm > 0)
          found.insert(uses[i].process);
      }
      return found;
    }
    auto *running = library_.find<int(Handle, unsigned *, ComputeProcess *)>(
        "nvmlDeviceGetComputeRunningProcesses_v3");
    count = kMostProcesses;
    std::vector<ComputeProcess> processes(count);
    if (running && running(device, &count, processes.data()) == kSuccess)
      for (unsigned i = 0; i < count; ++i)
        if (processes[i].gpu_instance == kNoInstance)
          found.insert(processes[i].process);
    return found;
  }

  /// False: the function is missing or failed.
  template <class... Arguments>
  bool call(const char *name, Arguments... arguments) const {
    auto *function = library_.find<int(Arguments...)>(name);
    return function && function(arguments...) == 0;
  }

  pid_t own_;
  SharedLibrary library_;
  bool ready_ = false;
  /// time of the last utilization sample, in the driver's clock
  std::map<Handle, unsigned long long> seen_us_;
};

} // namespace

json to_json(const std::vector<GpuReading> &readings) {
  json list = json::array();
  for (const GpuReading &reading : readings) {
    json entry = {{"name", reading.name}, {"identifier", reading.identifier}};
    for (const auto &[key, member] : kNumbers)
      if (const auto &value = reading.*member)
        entry[key] = *value;
    if (!reading.foreign.empty())
      entry["foreign"] = reading.foreign;
    list.push_back(std::move(entry));
  }
  return list;
}

std::vector<GpuReading> readings_from_json(const json &document) {
  std::vector<GpuReading> readings;
  if (!document.is_array())
    return readings;
  for (const json &entry : document) {
    if (!entry.is_object() || !entry.contains("identifier") || !entry["identifier"].is_string())
      continue;
    GpuReading reading;
    reading.identifier = entry["identifier"];
    if (entry.contains("name") && entry["name"].is_string())
      reading.name = entry["name"];
    for (const auto &[key, member] : kNumbers)
      if (entry.contains(key) && entry[key].is_number())
        reading.*member = entry[key].get<double>();
    if (const auto foreign = entry.find("foreign"); foreign != entry.end() && foreign->is_array())
      for (const json &process : *foreign)
        if (process.is_string())
          reading.foreign.push_back(process);
    readings.push_back(std::move(reading));
  }
  return readings;
}

std::optional<bool> descends_from(pid_t process, pid_t ancestor) {
  std::set<pid_t> met; // ids may be reused between two reads
  for (pid_t at = process; at > 0 && met.insert(at).second;) {
    const auto status = status_of(at);
    if (!status)
      return at == process ? std::nullopt : std::optional(false);
    if (at == ancestor)
      return true;
    at = status->parent;
  }
  return false;
}

std::function<std::vector<GpuReading>()> gpu_reader(pid_t own) {
  const auto nvml = std::make_shared<Nvml>(own);
  if (!nvml->is_ready())
    return {};
  return [nvml] { return nvml->read(); };
}

int write_readings(std::chrono::milliseconds interval, pid_t own) {
  const auto read = gpu_reader(own);
  if (!read)
    return 1;
  while (std::cout << to_json(read()).dump() << std::endl)
    std::this_thread::sleep_for(interval);
  return 0;
}

ReadingsWatcher::ReadingsWatcher(boost::asio::any_io_executor executor,
                                 std::vector<std::string> command, std::vector<GpuReading> gpus,
                                 std::function<void(const std::vector<GpuReading> &)> on_readings)
    : executor_(executor), command_(std::move(command)), gpus_(std::move(gpus)),
      on_readings_(std::move(on_readings)), stale_(executor), again_(executor) {
  start();
}

void ReadingsWatcher::start() {
  auto process = Process::spawn(command_);
  if (!process)
    return;
  process_ = std::move(*process);
  partial_.clear();
  output_ = std::make_unique<boost::asio::posix::stream_descriptor>(executor_,
                                                                    process_->release_stdout());
  read();
}

void ReadingsWatcher::read() {
  output_->async_read_some(
      boost::asio::buffer(block_), [this](boost::system::error_code error, std::size_t size) {
        if (error == boost::asio::error::operation_aborted)
          return;
        if (error) {
          const ExitStatus status = process_->wait();
          process_.reset();
          if (status.code == 1)
            return; // NVML is absent, so do not start again
          again_.expires_after(kPause);
          return again_.async_wait([this](boost::system::error_code cancelled) {
            if (!cancelled)
              start();
          });
        }
        partial_.append(block_.data(), size);
        for (std::size_t end; (end = partial_.find('\n')) != std::string::npos;) {
          on_line(partial_.substr(0, end));
          partial_.erase(0, end + 1);
        }
        if (partial_.size() > kLongestLine)
          partial_.clear();
        read();
      });
}

void ReadingsWatcher::on_line(const std::string &line) {
  const auto readings = readings_from_json(json::parse(line, nullptr, false));
  std::vector<GpuReading> wanted = gpus_;
  for (GpuReading &gpu : wanted)
    for (const GpuReading &reading : readings)
      if (reading.identifier == gpu.identifier) {
        const std::string device = gpu.device, name = gpu.name;
        gpu = reading;
        gpu.device = device;
        gpu.name = name;
      }
  on_readings_(wanted);
  wait_for_fresh();
}

void ReadingsWatcher::wait_for_fresh() {
  stale_.expires_after(kOld);
  stale_.async_wait([this](boost::system::error_code error) {
    if (!error)
      on_readings_(gpus_);
  });
}

} // namespace warpwright::runner::metrics
