// Optimising one kernel of one file: task, search with the runner's verdicts, ledger, report.
//
// The same for every kernel, with or without a GPU; what differs is only which variant counts as
// the best (the fastest with confidence, or the first that was verified). Thread: one search at a
// time; blocks.
#pragma once

#include "generator/search/search.h"
#include "runner/connect/connect.h"
#include "runner/ledger/ledger.h"
#include "server/cli/progress.h"
#include "server/cli/report/report.h"
#include "server/policy/policies.h"

#include <stop_token>

namespace warpwright::cli {

/// What all kernels of one run share. Borrowed: outlives the searches.
struct SearchSetup {
  runner::BlockingClient &client;
  runner::Ledger *ledger = nullptr; ///< null: nothing is recorded
  Progress &progress;
  server::Policies &policies;
  server::PolicyChoice policy;
  runner::VerifyOptions verify;
  generator::SearchLimits limits;
  bool measures = false; ///< the device is a GPU
  std::stop_token stop;
  std::optional<model::DeviceInfo> device = std::nullopt; ///< that verdicts come from
};

struct KernelOutcome {
  KernelReport report;
  std::string best_text; ///< the file as the best variant leaves it; empty without one
  std::optional<Error> ledger_failure; ///< the first verdict that could not be recorded
};

/// Why a kernel has no task: broken code, no launch, an unsupported construct or unknown sizes, in
/// this order.
Error explain_missing_task(const analysis::FileFacts &facts, const analysis::Kernel &kernel);

/// @param shown_path the path as the user wrote it
KernelOutcome optimize_kernel(const analysis::SourceFile &file,
                              const analysis::ParseSettings &settings,
                              const analysis::FileFacts &facts, const analysis::Kernel &kernel,
                              const std::string &shown_path, const SearchSetup &setup);

} // namespace warpwright::cli
