// A changed kernel or module as a job for a runner: the task and its reference are those of the
// base, and the candidate is the changed code. So the verdict is an ordinary one, by the same
// checks and the same measurement as for any variant. Thread: one; blocks.
#pragma once

#include "runner/connect/connect.h"
#include "runner/ledger/ledger.h"
#include "server/cli/check/changes.h"
#include "server/cli/check/check_result.h"

namespace warpwright::cli {

struct CheckJob {
  model::Task task;
  model::Plan candidate;
};

/// The job for a CUDA kernel. Errors: why the two states cannot be compared: facts are missing, or
/// the interface differs.
Result<CheckJob> kernel_job(const analysis::Kernel &base, const analysis::Kernel &head);

/// A variant of the ledger whose task is the original, with the changed kernel as its candidate.
/// Errors: as kernel_job().
Result<CheckJob> job_against_original(const runner::LedgerEntry &applied, const analysis::Kernel &head);

/// The job for a Python module, whose task the runner traces. The candidate is host code.
/// Errors: as above; a module that needs other files; a module that cannot be traced.
Result<CheckJob> module_job(const ChangedKernel &changed, runner::BlockingClient &client);

} // namespace warpwright::cli
