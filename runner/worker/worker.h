// The main loop of a worker process: one device, one job at a time, JSON-RPC on stdin and stdout.
//
// `verify` {task, plan, options {measure, measure_budget_ms, timeout_ms, seed}} is answered with
// {verdict, device_lost, out_of_memory}; `info` with the device, and `isolation`, what keeps this process in. While a job runs it notifies `stage` {stage,
// activity, running}, where running is "reference", "candidate" or "": the service says from the
// last one what a worker that died was doing. Where several workers share a device (kSharedVariable) it asks for its turn,
// `take_turn`, before it uses the device, and notifies `turn_over`; a job's end is the end of a turn. After a fault that lost the device the worker answers
// and exits with kExitDeviceLost. A worker never outlives its stdin. stdout is taken over by the
// protocol before the device exists: what anything else prints goes to stderr.
#pragma once

#include "runner/isolation/isolation.h"
#include "runner/device/device.h"
#include "support/error.h"

#include <functional>

namespace warpwright::runner {

inline constexpr int kExitDeviceLost = 3;
/// In the environment of workers that share their device; and what they ask and tell.
inline constexpr const char *kSharedVariable = "WARPWRIGHT_SHARED_DEVICE";
inline constexpr const char *kTakeTurn = "take_turn", *kTurnOver = "turn_over";

/// A process that has become a worker: its protocol's descriptors, taken from stdin and stdout, and what holds it in.
struct WorkerEntry {
  int protocol_in = -1, protocol_out = -1;
  std::optional<Isolation> isolation;
};
/// Before the process starts a thread.
/// @param sandbox what to keep the process in; nullopt: nothing (tests)
/// Errors: the isolation that was asked for is not understood.
Result<WorkerEntry> enter_worker(const std::optional<Sandbox> &sandbox);
/// Of a process that was started in its enclosure, as a Python interpreter is, or is given one by `enter`.
Result<WorkerEntry> enter_worker(const std::function<Result<Isolation>()> &enter);

/// Jobs run on the calling thread.
/// @param make called once, on this thread, before the first request is read
/// @return the process's exit code: 0 at the end of stdin, 2 when `make` failed (reason on stderr)
int run_worker(WorkerEntry entry, const std::function<Result<std::unique_ptr<Device>>()> &make);

/// Both: `int main() { return run_worker([] { return make_cpu_device(); }, Sandbox{}); }`
int run_worker(const std::function<Result<std::unique_ptr<Device>>()> &make,
               const std::optional<Sandbox> &sandbox = std::nullopt);

/// Asks the service; nullopt where it has no answer, or nobody serves. On the job thread.
std::optional<nlohmann::json> ask_service(const std::string &method, const nlohmann::json &params);
/// The same without an answer.
void tell_service(const std::string &method, const nlohmann::json &params);

/// Waits until this process may use its device; at once where it need not share it. On the job thread.
void take_device_turn();
/// Others may use the device: nothing of this process runs on it. On the job thread.
void give_device_turn();

} // namespace warpwright::runner
