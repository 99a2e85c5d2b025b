#include "runner/worker/lost_worker.h"

#include <csignal>
#include <cstring>

namespace warpwright::runner {
namespace {

using model::Outcome;

std::string how_it_ended(const LostWorker &lost) {
  if (lost.ended == Ended::TimedOut)
    return "did not end within " + std::to_string(lost.timeout.count()) + " ms";
  std::string how = "ended the worker process, " + describe_exit(lost.status);
  if (lost.status.signal == SIGSYS)
    how = "made a system call that a worker may not make, " + describe_exit(lost.status);
  if (!lost.protocol_error.empty())
    how = "the worker's output did not follow the protocol: " + lost.protocol_error;
  if (!lost.last_words.empty())
    how += "; its last words: " + lost.last_words;
  return how;
}

Outcome outcome_of(const LostWorker &lost) {
  if (lost.ended == Ended::TimedOut)
    return lost.side == "reference" ? Outcome::Unsupported : Outcome::Timeout;
  if (lost.status.signal == SIGSYS && lost.side == "candidate")
    return Outcome::SuspectedCheat;
  if (lost.side.empty() && !lost.protocol_error.empty())
    return Outcome::Crash;
  return lost.side == "candidate" ? Outcome::Crash : Outcome::Unsupported;
}

} // namespace

bool was_killed_from_outside(const LostWorker &lost) {
  return lost.ended == Ended::ByItself && lost.status.signal == SIGKILL &&
         lost.protocol_error.empty();
}

bool failed_at_hidden_sizes(const LostWorker &lost) {
  return lost.ended != Ended::Cancelled && lost.side == "reference" &&
         lost.activity.find("at hidden sizes") != std::string::npos;
}

model::Verdict verdict_of(const LostWorker &lost) {
  model::Verdict verdict;
  verdict.outcome = outcome_of(lost);
  verdict.message = (lost.side.empty() ? "the runner" : "the " + lost.side) + ": " +
                    how_it_ended(lost) + ", while " + lost.activity;
  verdict.checks.push_back({"runs", false, verdict.message});
  return verdict;
}

rpc::RpcError job_cancelled() { return {rpc::kRequestCancelled, "the job was cancelled", {}}; }

rpc::RpcError not_started(std::string message) {
  return {rpc::kInternalError, std::move(message), {{"worker_started", false}}};
}

bool is_not_started(const rpc::RpcError &error) {
  return error.data.is_object() && !error.data.value("worker_started", true);
}

std::string describe_exit(const ExitStatus &status) {
  if (status.signal)
    return "signal " + std::to_string(status.signal) + " (" + strsignal(status.signal) + ")";
  return "exit code " + std::to_string(status.code);
}

} // namespace warpwright::runner
