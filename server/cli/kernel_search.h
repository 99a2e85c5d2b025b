// One kernel or torch module optimized from the command line: the driver's search (server/engine.h), the ledger and a report.
//
// With and without a GPU the same; only the variant that counts as the best differs (the fastest with confidence, or the first that was
// verified). One search at a time; blocks.
#pragma once

#include "server/cli/progress.h"
#include "server/cli/report/report.h"
#include "server/engine.h"
#include "server/optimize/optimize_module.h"

namespace warpwright::cli {

/// The things that all kernels of one run share. Borrowed: outlives the searches.
struct SearchSetup {
  runner::BlockingClient &client;
  runner::Ledger *ledger = nullptr; ///< null: nothing is recorded
  Progress &progress;
  server::Policies &policies;
  server::Settings settings;
  bool measures = false; ///< the device is a GPU
  std::stop_token stop;
  server::VariantForm form;
  std::optional<model::ModuleMode> mode; ///< of torch modules; absent: what the file says
};

struct KernelOutcome {
  KernelReport report;
  std::string best_text; ///< the file as the best variant leaves it; empty without one
  std::optional<server::PlanFile> plan_file; ///< goes beside it
  std::optional<Error> ledger_failure; ///< the first verdict that could not be recorded
};

/// The kernel or module `name` of the snapshot, which must be there.
/// @param shown_path the path as the user wrote it
KernelOutcome optimize_kernel(const server::SnapshotPtr &snapshot, const std::string &name,
                              const std::string &shown_path, const SearchSetup &setup);

} // namespace warpwright::cli
