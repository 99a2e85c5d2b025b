// Which devices this machine offers, and how their workers are started. Thread: any; may take a
// second.
#pragma once

#include "runner/service/device_worker.h"

namespace warpwright::runner {

struct FoundDevice {
  std::string name; ///< "cuda:0", "cpu"
  model::DeviceInfo info;
  WorkerSettings worker;
};

struct FoundDevices {
  std::vector<FoundDevice> devices; ///< best first
  std::vector<std::string> notes;   ///< why a backend is missing, one sentence each
};

/// The driver is asked in a child process, so that a driver that hangs or crashes costs nothing
/// here. The CPU worker is $WARPWRIGHT_CPU_WORKER, else warpwright-worker-cpu beside this
/// executable.
FoundDevices find_devices();

/// What the CUDA worker and the compile workers use: NVRTC, the toolkit's headers, the cache.
Sandbox cuda_sandbox(WorkerKind kind);

/// The path of the running executable.
std::string executable_path();

} // namespace warpwright::runner
