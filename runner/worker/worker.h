// The main loop of a worker process: one device, one job at a time, JSON-RPC on stdin and stdout.
//
// Requests:
//   `verify` {task, plan, options}, with VerifyOptions, -> {verdict, device_lost, out_of_memory}.
//   `info` -> the device, with `isolation`: the isolation layers of this process.
// While a job runs, the worker notifies `stage` {stage, activity, running}; `running` is
// "reference", "candidate" or "". If the worker dies, the service reports its activity from the
// last one.
//
// If several workers share a device (kSharedVariable), the worker requests `take_turn` before it
// uses the device and notifies `turn_over`; the end of a job also ends the turn. After a fault that
// lost the device, the worker answers and exits with kExitDeviceLost. A worker never outlives its
// stdin. The protocol takes over stdout before the device exists; other output to stdout goes to
// stderr.
#pragma once

#include "runner/isolation/isolation.h"
#include "runner/device/device.h"
#include "support/error.h"

#include <functional>

namespace warpwright::runner {

inline constexpr int kExitDeviceLost = 3;
/// Environment variable of workers that share their device, and the names of their messages about
/// turns.
inline constexpr const char *kSharedVariable = "WARPWRIGHT_SHARED_DEVICE";
inline constexpr const char *kTakeTurn = "take_turn", *kTurnOver = "turn_over";

/// A process that has become a worker: the protocol's descriptors, duplicated from stdin and
/// stdout, and the process's isolation.
struct WorkerEntry {
  int protocol_in = -1, protocol_out = -1;
  std::optional<Isolation> isolation;
};
/// Makes this process a worker. Call before the process starts a thread.
/// @param sandbox isolation to enter; nullopt: none (tests)
/// Errors: those of Isolation::enter().
Result<WorkerEntry> enter_worker(const std::optional<Sandbox> &sandbox);
/// The same for a process whose isolation `enter` provides, such as a Python interpreter that was
/// started in it.
Result<WorkerEntry> enter_worker(const std::function<Result<Isolation>()> &enter);

/// Jobs run on the calling thread.
/// @param make called once, on this thread, before the first request is read
/// @return the process's exit code: 0 at the end of stdin, 2 when `make` failed (reason on stderr)
int run_worker(WorkerEntry entry, const std::function<Result<std::unique_ptr<Device>>()> &make);

/// Calls enter_worker() and run_worker(): `int main() { return run_worker([] { return
/// make_cpu_device(); }, Sandbox{}); }`
int run_worker(const std::function<Result<std::unique_ptr<Device>>()> &make,
               const std::optional<Sandbox> &sandbox = std::nullopt);

/// Sends a request to the service and waits for the answer; nullopt: an error, or no worker runs.
/// On the job thread.
std::optional<nlohmann::json> ask_service(const std::string &method, const nlohmann::json &params);
/// Sends a notification to the service.
void tell_service(const std::string &method, const nlohmann::json &params);

/// Waits until this process may use its device; returns at once if the device is not shared. On the
/// job thread.
void take_device_turn();
/// Gives the device to others; nothing of this process may run on it now. On the job thread.
void give_device_turn();

} // namespace warpwright::runner
