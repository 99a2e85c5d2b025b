// Device discovery: runs `warpwright-runner devices`, and looks next to the executable.
#include "runner/service/devices.h"
#include "runner/cuda/toolkit.h"
#include "runner/service/calibration.h"
#include "support/model/json.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::chrono::milliseconds kDriverLimit{30'000};


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
                            .python = {{self, "enclose", "host", "--device", name}},
                            .environment = calibration_of(name, *info, *found.shelves),
                            .shelves = found.shelves};
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
  settings.grace = std::chrono::milliseconds(300); // the CPU worker cannot interrupt itself
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

std::filesystem::path torch_folder() { return fs::path(executable_path()).parent_path() / "torch"; }

FoundDevices find_devices() {
  FoundDevices found;
  const fs::path cache = cuda::cache_directory();
  found.shelves =
      std::make_shared<const CodeShelves>(SealedStore(cache.empty() ? cache : cache / "sealed"));
  found.trace_command = {executable_path(), "enclose", "trace"};
  find_gpus(found);
  find_cpu(found);
  return found;
}

} // namespace warpwright::runner
