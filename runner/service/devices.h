// Which devices this machine offers, and how their workers are started. Thread: any; may take a
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
  std::shared_ptr<const CodeShelves> shelves = nullptr; ///< compiled code; of the workers of `devices`, too
  /// Starts a process that traces one torch module. Empty: modules are not traced.
  std::vector<std::string> trace_command = {};
};

/// The driver is asked in a child process, so that a driver that hangs or crashes costs nothing
/// here. The CPU worker is $WARPWRIGHT_CPU_WORKER, else warpwright-worker-cpu beside this
/// executable.
FoundDevices find_devices();

/// Each GPU by so many workers, which take turns on it (device_turn.h); 1: as found.
void share_gpus(FoundDevices &found, int workers_per_gpu);

/// What would hold a worker of this kind, tried in a child process. Errors: it cannot be tried.
Result<std::vector<IsolationLayer>> layers_here(WorkerKind kind);

/// The path of the running executable.
std::string executable_path();

/// Beside the executable: the worker as a library, and the Python files.
std::filesystem::path torch_folder();

} // namespace warpwright::runner
