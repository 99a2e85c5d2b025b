// Names of the fleet's queues and exchanges, and the queue for each type of device.
//
//   warpwright.jobs.any              jobs for any device
//   warpwright.jobs.h200, .a100 ...  jobs for that type of GPU; .cpu for the CPU backend
//   warpwright.jobs.cuda             jobs for any GPU
//   <each of these>.suspect          jobs that were delivered too often; they run alone on a runner
//   warpwright.jobs.dead             jobs that were suspects too often; they only get a verdict
//   warpwright.replies.<session>     verdicts for one client
//   warpwright.progress.<session>    stages and runners' descriptions, for a connected client
//   warpwright.control               fanout to all connected runners: cancel, who
//
// Thread: any.
#pragma once

#include "support/model/verdict.h"

#include <string>

namespace warpwright::runner::fleet {

inline const std::string kControlExchange = "warpwright.control";
inline const std::string kDeadQueue = "warpwright.jobs.dead";
inline const std::string kAnyType = "any", kGpuType = "cuda", kCpuType = "cpu";

std::string jobs_queue(const std::string &type);
std::string suspects_queue(const std::string &type);
/// @param client a session's name, or a generated one
std::string replies_queue(const std::string &client);
std::string progress_queue(const std::string &client);
/// The progress queue for a replies queue; empty if `replies` is not a replies queue.
std::string progress_queue_of(const std::string &replies);

/// The model in a GPU's name, as part of a queue's name: "NVIDIA A100-SXM4-80GB" -> "a100", "NVIDIA
/// GeForce RTX 4090" -> "rtx-4090", "H200" -> "h200". Empty if no word is left.
std::string device_type(const std::string &gpu_name);
std::string device_type(const model::DeviceInfo &device);

} // namespace warpwright::runner::fleet
