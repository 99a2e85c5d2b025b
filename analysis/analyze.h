// Facade of the analysis: source text in, facts out. The server, `warpwright analyze` and the
// generator call it. Thread: any; calls share no state.
#pragma once

#include "analysis/parsed_unit.h"

namespace warpwright::analysis {

struct AnalyzeOptions {
  bool tasks = true; ///< infer tasks and cut slices too
  bool rules = true; ///< run the rules
};

/// All facts of a parsed unit.
FileFacts collect_facts(const ParsedUnit &unit, const AnalyzeOptions &options = {});

/// Runs the stub pass and collects its facts. The token scanner supplies the kernels and launches
/// that the parser lost.
FileFacts analyze(const SourceFile &file, const ParseSettings &settings = {},
                  const AnalyzeOptions &options = {});

// The parts of the analysis, one file each. Each part takes the unit and fills its own members.

/// facts/: parameters, shared arrays, barriers and accesses of one kernel.
Kernel kernel_facts(const ParsedUnit &unit, const clang::FunctionDecl &kernel);
/// facts/: one launch with its expressions as written.
Launch launch_facts(const ParsedUnit &unit, const clang::CUDAKernelCallExpr &launch);
/// rules/: runs every rule of the table in rules/registry.h on the facts.
std::vector<Diagnostic> run_rules(const ParsedUnit &unit, const FileFacts &facts);
/// slicer/: one self-contained text with #line directives that NVRTC and the CPU backend accept.
/// Errors: a construct that cannot be sliced or a missing declaration, with its place and a remedy.
Result<std::string> slice_kernel(const ParsedUnit &unit, const clang::FunctionDecl &kernel);
/// slicer/: the texts of a host function or class and of the user's declarations that it depends
/// on, in file order, with #line directives. The result is not meant to be compiled.
/// Errors: the declaration is not in the file's text.
Result<std::string> slice_host(const ParsedUnit &unit, const clang::NamedDecl &declaration);
/// task/: buffers, sizes, scalars and the reference plan of a kernel, from guards, index ranges,
/// launch sites, allocation sizes and the structured comment above the kernel.
/// @param facts the facts of that kernel
InferredTask infer_task(const ParsedUnit &unit, const clang::FunctionDecl &kernel,
                        const Kernel &facts, const std::string &slice);
/// scan/: kernels and launches from tokens alone, for text that does not parse.
FileFacts scan(const SourceFile &file);

} // namespace warpwright::analysis
