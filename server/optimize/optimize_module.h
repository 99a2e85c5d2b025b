// Optimization of a torch module for the editor, and the edits that insert a verified variant.
//
// The user's Python runs only after an optimization was requested, and only in the runner's isolated worker.
// Thread: any of a pool, never the strand.
#pragma once

#include "server/engine.h"
#include "server/optimize/torch_optimizer.h"
#include "server/optimize/torch_task.h"

namespace warpwright::server {

/// Like optimize(), for a kernel whose task holds a torch module. @param policy null: the search's own
/// Errors: no device; the runner is lost; the module cannot be traced (reported by events.on_problem first).
Result<OptimizeSummary> optimize_module(const OptimizeRequest &request,
                                        runner::BlockingClient &client,
                                        const OptimizeEvents &events, std::stop_token stop,
                                        ModulePolicy *policy = nullptr);

/// Diagnostic that explains why a module cannot be optimized. @param error of a trace, or of the runner's reference
ModuleProblem problem_of(const Error &error);

/// Text of a Python variant for the ledger: both forms (server/export/model_writer.h) and the plan file.
/// Errors: the plan cannot be written as Python.
Result<std::string> module_variant_text(const TorchTask &traced, const model::Plan &plan,
                                        const model::Verdict &verdict);

/// Edits that insert the variant of `entry` into `text`.
/// Errors: the entry has no variant text; the class no longer exists.
Result<std::vector<TextEdit>> module_variant_edits(const std::string &text,
                                                   const runner::LedgerEntry &entry,
                                                   const VariantForm &form);

/// File that a Python variant in package form needs next to the edited file.
struct PlanFile {
  std::string name, text;
};

/// Plan file of the entry's variant; nullopt: C++ and standalone variants need none.
std::optional<PlanFile> plan_file_of(const runner::LedgerEntry &entry, const VariantForm &form);

} // namespace warpwright::server
