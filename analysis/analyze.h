// The facade of analysis: text in, facts out. The server, `warpwright analyze` and the generator
// call this. Thread: any; nothing is shared between calls.
#pragma once

#include "analysis/parsed_unit.h"

namespace warpwright::analysis {

struct AnalyzeOptions {
  bool tasks = true; ///< infer tasks and cut slices too
  bool rules = true; ///< run the rules
};

/// All facts of a parsed unit.
FileFacts collect_facts(const ParsedUnit &unit, const AnalyzeOptions &options = {});

/// Stub pass and facts; falls back to the token scanner for kernels and launches that the parser
/// lost.
FileFacts analyze(const SourceFile &file, const ParseSettings &settings = {},
                  const AnalyzeOptions &options = {});

// The parts, one file each. Each takes the unit and fills its own members.

/// facts/: parameters, shared arrays, barriers, accesses of one kernel.
Kernel kernel_facts(const ParsedUnit &unit, const clang::FunctionDecl &kernel);
/// facts/: one launch with its expressions as written.
Launch launch_facts(const ParsedUnit &unit, const clang::CUDAKernelCallExpr &launch);
/// rules/: every rule of the table in rules/registry.h over the facts.
std::vector<Diagnostic> run_rules(const ParsedUnit &unit, const FileFacts &facts);
/// slicer/: one self-contained text with #line directives that NVRTC and the CPU backend accept.
/// Errors: what cannot be sliced (a construct or a missing declaration), where, and what to do.
Result<std::string> slice_kernel(const ParsedUnit &unit, const clang::FunctionDecl &kernel);
/// slicer/: the texts of a host function or class and of the user's declarations that it depends on,
/// in the order of the files, with #line directives; no text to compile.
/// Errors: the declaration is not in the file's text.
Result<std::string> slice_host(const ParsedUnit &unit, const clang::NamedDecl &declaration);
/// task/: buffers, sizes, scalars and the reference plan of a kernel, from guards, index ranges,
/// launch sites, allocation sizes and the structured comment above the kernel. `facts` is that
/// kernel's.
InferredTask infer_task(const ParsedUnit &unit, const clang::FunctionDecl &kernel,
                        const Kernel &facts, const std::string &slice);
/// scan/: kernels and launches from tokens alone, for text that does not parse.
FileFacts scan(const SourceFile &file);

} // namespace warpwright::analysis
