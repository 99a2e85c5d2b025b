// What the fleet's queues and exchanges are called, and which queue a device's jobs go through.
//
//   warpwright.jobs.any              jobs that any device may take
//   warpwright.jobs.h200, .a100 ...  jobs for that type of GPU; .cpu for the CPU backend
//   warpwright.jobs.cuda             jobs for any GPU
//   <each of these>.suspect          jobs that were delivered too often: tried again, alone on a runner
//   warpwright.jobs.dead             jobs that were delivered too often even so: only given a verdict
//   warpwright.replies.<session>     verdicts for one client
//   warpwright.progress.<session>    stages, and runners' descriptions, for the client that is there now
//   warpwright.control               fanout to all runners that are there now: cancel, who
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
/// @param client a session's name, or an invented one
std::string replies_queue(const std::string &client);
std::string progress_queue(const std::string &client);
/// The progress queue that goes with a replies queue; empty when `replies` is none.
std::string progress_queue_of(const std::string &replies);

/// The model in a GPU's name, as a word for a queue: "NVIDIA A100-SXM4-80GB" -> "a100", "NVIDIA
/// GeForce RTX 4090" -> "rtx-4090", "H200" -> "h200". Empty when nothing is left.
std::string device_type(const std::string &gpu_name);
std::string device_type(const model::DeviceInfo &device);

} // namespace warpwright::runner::fleet
