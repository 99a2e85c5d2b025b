// Discovery by asking `warpwright-runner devices`, and by looking beside the executable.
#include "runner/service/devices.h"
#include "runner/cuda/compile_cache.h"
#include "runner/cuda/probe.h"
#include "support/hash.h"
#include "support/model/json.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::chrono::milliseconds kDriverLimit{30'000};

/// Duration of the probe kernel, asked of CUPTI once a GPU and kept in the cache. nullopt without CUPTI.
std::optional<double> probe_of(const std::string &self, const std::string &device,
                               const model::DeviceInfo &info) {
  const fs::path folder = cuda::cache_directory();
  const std::string key =
      sha256_hex(info.identifier + info.driver + cuda::kProbeSource).substr(0, 16);
  const fs::path file = folder / ("probe-" + key + ".json");
  json answer;
  if (std::ifstream cached(file); !folder.empty() && cached)
    answer = json::parse(cached, nullptr, false);
  if (!answer.is_object() || !answer.contains("probe_ns")) {
    const auto run = run_captured({self, "probe", "--device", device}, "", kDriverLimit);
    answer = run ? json::parse(run->output, nullptr, false) : json();
    std::error_code error;
    fs::create_directories(folder, error);
    if (answer.is_object() && answer.contains("probe_ns") && !error)
      std::ofstream(file) << answer;
  }
  if (!answer.is_object() || !answer.contains("probe_ns"))
    return std::nullopt;
  return answer["probe_ns"].get<double>();
}

PythonStart python_start(const std::string &device) {
  const fs::path folder = torch_folder();
  return {{python_interpreter(), "-u", (folder / "host.py").string(),
           (folder / "libwarpwright-worker.so").string(), device},
          cuda_sandbox(WorkerKind::Python)};
}

void find_gpus(FoundDevices &found) {
  const std::string self = executable_path();
  const auto run = run_captured({self, "devices"}, "", kDriverLimit);
  if (!run) {
    found.notes.push_back("No GPU: asking the driver failed: " + describe(run.error()));
    return;
  }
  const json answer = json::parse(run->output, nullptr, false);
  if (!answer.is_object()) {
    found.notes.push_back("No GPU: asking the driver ended with " + describe_exit(run->status));
    return;
  }
  if (answer.contains("error")) {
    found.notes.push_back("No GPU: " + answer["error"].get<std::string>() + ".");
    return;
  }
  int ordinal = 0;
  for (const json &device : answer["devices"]) {
    const std::string name = "cuda:" + std::to_string(ordinal++);
    const auto info = model::device_from_json(device);
    if (!info)
      continue;
    WorkerSettings settings{.name = name,
                            .command = {self, "worker", "--device", name},
                            .python = python_start(name),
                            .sandbox = cuda_sandbox(WorkerKind::Cuda)};
    if (const auto probe_ns = probe_of(self, name, *info))
      settings.environment.push_back(std::string(cuda::kProbeVariable) + "=" +
                                     std::to_string(*probe_ns));
    found.devices.push_back({name, *info, std::move(settings)});
  }
}

model::DeviceInfo describe_cpu() {
  model::DeviceInfo info;
  info.kind = "cpu";
  info.name = "CPU";
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with("model name")) {
      info.name = line.substr(std::min(line.find(':') + 2, line.size()));
      break;
    }
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  info.host = host;
  info.memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  return info;
}

void find_cpu(FoundDevices &found) {
  const char *chosen = std::getenv("WARPWRIGHT_CPU_WORKER");
  const fs::path path = chosen && *chosen
                            ? fs::path(chosen)
                            : fs::path(executable_path()).parent_path() / "warpwright-worker-cpu";
  if (access(path.c_str(), X_OK) != 0) {
    found.notes.push_back(
        "No CPU backend: " + path.string() +
        " is not there; build with WARPWRIGHT_CPU_BACKEND=ON, or set WARPWRIGHT_CPU_WORKER.");
    return;
  }
  WorkerSettings settings{.name = "cpu", .command = {path.string()}};
  settings.grace = std::chrono::milliseconds(300); // it cannot interrupt itself
  found.devices.push_back({"cpu", describe_cpu(), std::move(settings)});
}

} // namespace

void share_gpus(FoundDevices &found, int workers_per_gpu) {
  if (workers_per_gpu <= 1)
    return;
  std::vector<FoundDevice> shared;
  for (FoundDevice &device : found.devices) {
    const bool is_gpu = device.info.kind == "cuda";
    if (is_gpu)
      device.worker.turn = std::make_shared<DeviceTurn>();
    shared.insert(shared.end(), is_gpu ? static_cast<std::size_t>(workers_per_gpu) : 1, device);
  }
  found.devices = std::move(shared);
}

std::string executable_path() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? "warpwright-runner" : path.string();
}

std::string python_interpreter() {
  const char *chosen = std::getenv(kPythonVariable);
  return chosen && *chosen ? chosen : "python3";
}

std::filesystem::path torch_folder() { return fs::path(executable_path()).parent_path() / "torch"; }

std::vector<std::string> trace_command() {
  const fs::path folder = torch_folder();
  return {python_interpreter(), "-u", (folder / "trace_host.py").string(),
          (folder / "libwarpwright-worker.so").string()};
}

FoundDevices find_devices() {
  FoundDevices found;
  find_gpus(found);
  find_cpu(found);
  return found;
}

} // namespace warpwright::runner
