// One launch of a kernel, read from the host code: its shape and what each parameter gets.
//
// Used twice: task inference reads it with every root a possible size, and the generator reads the
// launch of an edited file over the sizes of a task. Thread: the unit's.
#pragma once

#include "analysis/analyze.h"
#include "analysis/task/host_expression.h"
#include "analysis/task/spec.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warpwright::analysis {

/// A buffer: one memory that one or more pointer parameters point into.
struct DraftBuffer {
  std::string name; ///< of the first parameter that gets it
  std::string root; ///< of the host variable; empty without a launch
  const clang::ValueDecl *variable = nullptr;
  std::optional<model::Dtype> dtype;
  int lanes = 1; ///< dtype elements in one element of the parameter: 4 for float4
  std::vector<std::string> parameters;
  std::optional<HostValue> extent; ///< in elements of dtype, from the allocation
  std::optional<int> fill;         ///< byte of a cudaMemset of all of it before the launch
};

struct LaunchDraft {
  const clang::FunctionDecl *callee = nullptr;
  model::LaunchStep step;
  std::vector<DraftBuffer> buffers;
  std::vector<model::Scalar> scalars;
  std::map<std::string, symbolic::Expression> integers; ///< integer parameters by name
  std::map<std::string, std::set<std::string>>
      roots_of; ///< "arguments", "direct", "grid", "block", "extents" -> roots
  std::map<std::string, HostRoot> roots;
  std::vector<MissingFact> missing;
  std::vector<std::string> assumptions;
};

/// @param symbols roots that stay names; nullptr: all that have no fixed number
/// @param fixed macros and constants that device code uses too
LaunchDraft draft_launch(const HostProgram &program, const HostLaunch &launch,
                         const std::set<std::string> *symbols, const std::set<std::string> &fixed);

/// Without a launch in the file: one that the spec gives, with parameters by their own names.
LaunchDraft draft_from_spec(const ParsedUnit &unit, const clang::FunctionDecl &kernel,
                            const Spec &spec);

/// Macros and file-level constants that the slice depends on: they cannot be sizes.
std::set<std::string> fixed_names(const ParsedUnit &unit, const std::string &slice);

/// Errors: a name in the step that the task does not have.
Result<void> check_names(const model::LaunchStep &step, const model::Task &task);

/// Element type of a pointer and how many of it one element holds: {float32, 4} for float4.
std::optional<std::pair<model::Dtype, int>> element_of(const clang::ASTContext &context,
                                                       clang::QualType type);

} // namespace warpwright::analysis
