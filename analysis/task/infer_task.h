// What the generator, the server and the command line need of task inference beyond infer_task
// (analyze.h). Thread: the unit's.
#pragma once

#include "analysis/analyze.h"
#include "analysis/task/spec.h"

namespace warpwright::analysis {

/// As infer_task, with a spec (of --spec FILE) laid over the comment's.
InferredTask infer_task(const ParsedUnit &unit, const clang::FunctionDecl &kernel,
                        const Kernel &facts, const std::string &slice, const Spec &spec);

/// The launch of `kernel` in an edited file, over the buffers, scalars and sizes of the task that
/// was inferred from the original. Errors: no launch, or one that the sizes do not determine, with
/// the reason.
Result<model::LaunchStep> launch_step(const ParsedUnit &unit, const clang::FunctionDecl &kernel,
                                      const model::Task &task);

/// The comment to insert above a kernel: what was inferred, and `?` where something is missing.
std::string suggested_spec(const Kernel &kernel, const InferredTask &task);

/// The slice with float, half and bfloat16 replaced by double; nullopt where the text does not
/// allow that.
std::optional<std::string> double_precision(const std::string &slice);

} // namespace warpwright::analysis
