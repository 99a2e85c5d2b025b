// The slow work of the server as plain functions without Clang types: analysis of a version, one
// optimisation, and making a measured variant's edit again.
//
// Thread: any of a pool, never the strand.
#pragma once

#include "runner/connect/connect.h"
#include "runner/ledger/ledger.h"
#include "server/kernel_status.h"
#include "server/scheduler.h"
#include "server/settings.h"

namespace warpwright::server {

class Policies;

/// The real passes, with compile commands and .warpwright.toml of the file's project.
Analyses make_analyses();

struct OptimizeRequest {
  SnapshotPtr snapshot;
  std::string kernel;
  Settings settings;
  std::optional<model::ModuleMode> mode = std::nullopt; ///< of a torch module; absent: its file's
};

/// Why a module cannot be optimised, as a diagnostic of it.
struct ModuleProblem {
  std::string rule; ///< "torch-trace", ...
  std::string message;
  std::optional<std::size_t> line; ///< of the file as written, from 1
};

struct OptimizeEvents {
  std::function<void(runner::LedgerEntry)> on_entry;      ///< one a tried variant
  std::function<void(const std::string &stage)> on_stage; ///< of the variant under way
  std::function<void(const Error &)> on_runner_error;     ///< a job was lost with its runner
  std::function<void(const ModuleProblem &)> on_problem;  ///< of a torch module, before the error
  /// A variant of a CUDA kernel without a runner's verdict: it cannot be rendered, or was lost. May be empty.
  std::function<void(runner::LedgerEntry)> on_unjudged = {};
};

struct OptimizeSummary {
  std::size_t tried = 0;
  std::size_t verified = 0;
  std::optional<model::Speedup> best; ///< of the fastest verified variant that a GPU measured
  std::string policy; ///< who proposed, and why it is not the one that was chosen; of CUDA kernels
  std::string analysis; ///< what the policy said of the kernel last; empty: nothing
};

/// Searches for faster versions of one kernel until the budget, the limits or `stop` end it.
/// Errors: a task that is not complete; a runner that is gone and does not come back.
/// @param policies of the thread that optimises
Result<OptimizeSummary> optimize(const OptimizeRequest &request, runner::BlockingClient &client,
                                 Policies &policies, const OptimizeEvents &events,
                                 std::stop_token stop);

/// How the variant of a Python module is put into its file.
struct VariantForm {
  bool in_place = false;   ///< a decorator of the class; else a class of its own
  bool standalone = false; ///< without the package and a plan file, where the plan is small enough
};

/// The edits that turn `text` into the variant of `entry`: its moves made again on this text, so
/// that unrelated edits survive, and compared with the plan that was verified. Of torch modules see
/// server/optimize/optimize_module.h. Errors: the text no longer leads to the code that was verified.
Result<std::vector<TextEdit>> variant_edits(const std::string &path, const std::string &text,
                                            const runner::LedgerEntry &entry,
                                            const VariantForm &form);

/// The structured comment that asks for the facts that `kernel` lacks, to be inserted above it.
/// Errors: the kernel is not there, or lacks nothing.
Result<std::vector<TextEdit>> missing_facts_edits(const Snapshot &snapshot,
                                                  const std::string &kernel);

/// A kernel with its measurements, as a report shows it.
struct ReportedKernel {
  SnapshotPtr snapshot;
  std::string kernel;
  KernelStatus status;
};

/// One self-contained HTML page. @param kernels each with a current measurement
std::string report_page(const std::vector<ReportedKernel> &kernels);

} // namespace warpwright::server
