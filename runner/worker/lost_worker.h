// What the end of a worker process says about the job that ran on it: a verdict, or that the job
// runs once more because the candidate cannot be blamed yet. Thread: any; values in and out.
#pragma once

#include "support/model/verdict.h"
#include "support/process.h"
#include "support/rpc/connection.h"

#include <chrono>

namespace warpwright::runner {

/// Why a worker process ended.
enum class Ended { ByItself, TimedOut, Cancelled, StartTimedOut };

struct LostWorker {
  Ended ended = Ended::ByItself;
  ExitStatus status;
  std::string protocol_error; ///< empty unless it spoke no protocol
  std::string last_words;     ///< last line of its stderr
  std::string side;           ///< who was on the device: "reference", "candidate" or ""
  std::string activity;       ///< last reported: "running the candidate at n=7"
  std::chrono::milliseconds timeout{0};
};

/// SIGKILL that was not ours: an operator, or the kernel when memory ran out.
bool was_killed_from_outside(const LostWorker &lost);
/// The reference itself fails at sizes that the task does not name: they prove nothing then.
bool failed_at_hidden_sizes(const LostWorker &lost);

/// Outcome, message and failed check; device, date and hashes are left to the caller.
/// A signal of the system call filter while the candidate ran is a suspected cheat.
model::Verdict verdict_of(const LostWorker &lost);

/// What a job is answered with that its client took back.
rpc::RpcError job_cancelled();
/// What a job is answered with whose worker process did not start: the host's trouble, whatever the job is.
rpc::RpcError not_started(std::string message);
bool is_not_started(const rpc::RpcError &error);

/// "signal 11 (Segmentation fault)", "exit code 2"
std::string describe_exit(const ExitStatus &status);

} // namespace warpwright::runner
