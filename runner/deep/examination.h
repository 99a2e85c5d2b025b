// The deep check and the counters of one verdict: which tools run, on what, and what their reports mean.
//
// Runs after the worker's verdict, in a process of its own (`warpwright-runner examine`), each tool as a
// child of it that wraps `warpwright-runner launch`. A finding turns Verified into WrongResult (a race, a
// read of uninitialised memory) or Crash (an access out of bounds or misaligned, a barrier that not all
// threads reach); where the reference has the same finding it is told and not held against the candidate.
// A tool that is absent, or does not end in time, leaves a check that says "not run". Thread: the calling
// one; blocks.
#pragma once

#include "support/model/task.h"
#include "support/model/verdict.h"
#include "support/model/verify_options.h"

#include <chrono>
#include <functional>
#include <stop_token>

namespace warpwright::runner::deep {

struct ExaminationRequest {
  model::Task task;
  model::Plan plan;
  model::VerifyOptions options; ///< deep, profile, seed
  model::Verdict verdict;       ///< the worker's
  std::string device;           ///< "cuda:0"
  std::string launcher;         ///< the executable whose subcommand `launch` the tools wrap
};

/// Whether these options ask for more than the worker does of a verdict like this.
bool wants_examination(const model::VerifyOptions &options, const model::Verdict &verdict);

/// The notes of an examination that did not happen, for this reason.
void add_not_run(const model::VerifyOptions &options, const std::string &reason,
                 model::Verdict &verdict);

/// @param deadline tools that would run past it are ended
/// @param say told what runs now: "running memcheck"
/// @return the verdict with the checks memcheck, racecheck, initcheck, synccheck, and the counters
model::Verdict examine(const ExaminationRequest &request,
                       std::chrono::steady_clock::time_point deadline, std::stop_token stop,
                       const std::function<void(const std::string &)> &say);

} // namespace warpwright::runner::deep
