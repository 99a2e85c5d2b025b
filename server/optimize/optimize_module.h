// Torch modules from the editor: one optimisation as engine.h has it, and the edit of a variant that was verified.
//
// Running the user's Python begins here and nowhere else: when an optimisation was asked for, in the runner's isolated worker.
// Thread: any of a pool, never the strand.
#pragma once

#include "server/engine.h"
#include "server/optimize/torch_optimizer.h"
#include "server/optimize/torch_task.h"

namespace warpwright::server {

/// As optimize(), of a kernel whose task holds a torch module.
/// @param policy null: the search's own
/// Errors: no device; a runner that is gone; why the module cannot be traced, after events.on_problem.
Result<OptimizeSummary> optimize_module(const OptimizeRequest &request,
                                        runner::BlockingClient &client,
                                        const OptimizeEvents &events, std::stop_token stop,
                                        ModulePolicy *policy = nullptr);

/// What keeps a module from being optimised, as a diagnostic of it. @param error of a trace, or of the runner's reference
ModuleProblem problem_of(const Error &error);

/// A Python variant as the ledger keeps it: its text in both forms (server/export/model_writer.h) and its plan file.
/// Errors: a plan that cannot be written as Python.
Result<std::string> module_variant_text(const TorchTask &traced, const model::Plan &plan,
                                        const model::Verdict &verdict);

/// The edits that put the variant of `entry` into `text`.
/// Errors: an entry without a variant's text; a class that is no longer there.
Result<std::vector<TextEdit>> module_variant_edits(const std::string &text,
                                                   const runner::LedgerEntry &entry,
                                                   const VariantForm &form);

/// What has to lie beside the file that module_variant_edits() are made in.
struct PlanFile {
  std::string name, text;
};

/// Absent: the variant needs none, being C++ or standing alone.
std::optional<PlanFile> plan_file_of(const runner::LedgerEntry &entry, const VariantForm &form);

} // namespace warpwright::server
