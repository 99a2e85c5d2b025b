// Conclusions from the end of a worker process for its job: a verdict, or a second run because the
// candidate is not proven to be the cause. Thread: any; values in and out.
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
  std::string protocol_error; ///< empty unless its output did not follow the protocol
  std::string last_words;     ///< last line of its stderr
  std::string side;           ///< the side on the device: "reference", "candidate" or ""
  std::string activity;       ///< as last reported: "running the candidate at n=7"
  std::chrono::milliseconds timeout{0};
};

/// Whether the worker got a SIGKILL that the service did not send: from an operator, or from the
/// kernel for lack of memory.
bool was_killed_from_outside(const LostWorker &lost);
/// Whether the reference failed at sizes that the task does not name, so that these sizes prove
/// nothing.
bool failed_at_hidden_sizes(const LostWorker &lost);

/// Sets outcome, message and the failed check; the caller sets device, date and hashes. A signal of
/// the system call filter while the candidate ran gives SuspectedCheat.
model::Verdict verdict_of(const LostWorker &lost);

/// Answer for a job that its client cancelled.
rpc::RpcError job_cancelled();
/// Answer for a job whose worker process did not start, which is a fault of the host and not of the
/// job.
rpc::RpcError not_started(std::string message);
bool is_not_started(const rpc::RpcError &error);

/// "signal 11 (Segmentation fault)", "exit code 2"
std::string describe_exit(const ExitStatus &status);

} // namespace warpwright::runner
