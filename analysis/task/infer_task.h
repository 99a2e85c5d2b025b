// Task inference for the generator, the server and the command line, in addition to infer_task in
// analyze.h. Thread: the unit's thread.
#pragma once

#include "analysis/analyze.h"
#include "analysis/task/host_program.h"
#include "analysis/task/spec.h"

namespace warpwright::analysis {

/// Like infer_task in analyze.h, with a spec (`--spec FILE`) that overrides the comment's.
InferredTask infer_task(const ParsedUnit &unit, const clang::FunctionDecl &kernel,
                        const Kernel &facts, const std::string &slice, const Spec &spec);
/// The same for several kernels of a unit, whose host code is then read once.
InferredTask infer_task(const HostProgram &program, const clang::FunctionDecl &kernel,
                        const Kernel &facts, const std::string &slice, const Spec &spec);

/// The launch of `kernel` in an edited file, over the buffers, scalars and sizes of the task that
/// was inferred from the original; of a template, the launch of the task's instance.
/// Errors: there is no launch, or the sizes do not determine it; the message gives the reason.
Result<model::LaunchStep> launch_step(const ParsedUnit &unit, const clang::FunctionDecl &kernel,
                                      const model::Task &task);

/// The comment to insert above a kernel: the inferred facts, with `?` for missing ones.
std::string suggested_spec(const Kernel &kernel, const InferredTask &task);

/// The slice with float, half and bfloat16 replaced by double; nullopt if the text does not allow
/// that.
std::optional<std::string> double_precision(const std::string &slice);

} // namespace warpwright::analysis
