// Optimization of one kernel or torch module for the command line and for agents: runs the search
// (server/engine.h), records verdicts and fills a report.
//
// Runs with and without a GPU differ only in the best variant: the fastest with confidence, or the
// first verified one. Blocks. Thread: that of the policies.
#pragma once

#include "server/cli/progress.h"
#include "server/cli/report/report.h"
#include "server/engine.h"
#include "server/optimize/optimize_module.h"

namespace warpwright::cli {

/// Objects and settings shared by all kernels of one run. The references must outlive the searches.
struct SearchSetup {
  runner::BlockingClient &client;
  std::function<Result<void>(const runner::LedgerEntry &)> record; ///< empty: nothing is recorded
  std::function<void(const ProgressState &)> on_progress;          ///< on any thread
  server::Policies &policies;
  server::Settings settings;
  bool measures = false; ///< the device is a GPU
  std::stop_token stop;
  server::VariantForm form;
  std::optional<model::ModuleMode> mode; ///< torch modules; absent: the mode in the file
};

struct KernelOutcome {
  KernelReport report;
  std::string best_text; ///< the file with the best variant; empty without one
  std::optional<server::ChangedFile> includer; ///< changes with it: the file that launches the kernel
  std::optional<runner::LedgerEntry> best; ///< the best variant; absent if it cannot be written into the file
  std::optional<server::PlanFile> plan_file; ///< to be written beside the file
  std::optional<Error> ledger_failure; ///< the first verdict that could not be recorded
};

/// Report on a kernel that cannot be optimized: broken code or missing facts, with the comment that
/// asks for them. nullopt: it can.
std::optional<KernelReport> report_of_obstacle(const server::Snapshot &snapshot,
                                               const analysis::Kernel &kernel,
                                               const std::string &shown_path);

/// Optimizes the kernel or module `name`, which must be in the snapshot.
/// @param shown_path the path as the user wrote it
KernelOutcome optimize_kernel(const server::SnapshotPtr &snapshot, const std::string &name,
                              const std::string &shown_path, const SearchSetup &setup);

} // namespace warpwright::cli
