// Deep check and hardware counters of a verdict: choice of tools and sizes, and interpretation of
// the reports.
//
// The examination runs after the worker's verdict, in its own process (`warpwright-runner
// examine`). Each tool is a child process that wraps `warpwright-runner launch`. A finding turns
// Verified into WrongResult (a race, a read of uninitialized memory) or Crash (an access out of
// bounds or misaligned, a barrier that not all threads reach). If the reference has the same
// finding, it is reported but does not change the outcome. A tool that is absent, or does not end
// in time, leaves a check "not run". Thread: the calling one; blocks.
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
  model::Verdict verdict;       ///< the worker's verdict
  std::string device;           ///< "cuda:0"
  std::string launcher;         ///< executable whose subcommand `launch` the tools wrap
};

/// Whether these options ask for an examination of this verdict.
bool wants_examination(const model::VerifyOptions &options, const model::Verdict &verdict);

/// Adds checks that say why the examination did not run.
void add_not_run(const model::VerifyOptions &options, const std::string &reason,
                 model::Verdict &verdict);

/// @param deadline time at which running tools are ended
/// @param say called with the current activity: "running memcheck"
/// @return the verdict with the checks memcheck, racecheck, initcheck, synccheck, and the counters
model::Verdict examine(const ExaminationRequest &request,
                       std::chrono::steady_clock::time_point deadline, std::stop_token stop,
                       const std::function<void(const std::string &)> &say);

} // namespace warpwright::runner::deep
