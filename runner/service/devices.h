// Devices of this machine, and the commands that start their workers. Thread: any; may take a
// second.
#pragma once

#include "runner/cuda/sandbox.h"
#include "runner/service/device_worker.h"
#include "runner/torch/python_programs.h"

namespace warpwright::runner {

struct FoundDevice {
  std::string name; ///< "cuda:0", "cpu"
  model::DeviceInfo info;
  WorkerSettings worker;
};

struct FoundDevices {
  std::vector<FoundDevice> devices; ///< best first
  std::vector<std::string> notes;   ///< why a backend is missing, one sentence each
  /// compiled code, also used by the workers of `devices`
  std::shared_ptr<const CodeShelves> shelves = nullptr;
  /// Command that traces one torch module. Empty: modules are not traced.
  std::vector<std::string> trace_command = {};
};

/// Finds the devices of this machine. The driver is queried in a child process, so that a driver
/// that hangs or crashes does not affect this process. The CPU worker is $WARPWRIGHT_CPU_WORKER,
/// else warpwright-worker-cpu beside this executable.
FoundDevices find_devices();

/// Gives each GPU this many workers, which take turns on it (device_turn.h); 1 changes nothing.
void share_gpus(FoundDevices &found, int workers_per_gpu);

/// Isolation layers that a worker of this kind gets here, tried in a child process. Errors: the
/// trial failed.
Result<std::vector<IsolationLayer>> layers_here(WorkerKind kind);

/// The path of the running executable.
std::string executable_path();

/// Folder beside the executable with the worker library and the Python files.
std::filesystem::path torch_folder();

} // namespace warpwright::runner
