// A kernel launch as read from the host code: its shape and the values of the parameters.
//
// Task inference reads a launch with every root as a possible size. The generator reads the launch
// of an edited file over the sizes of a task. Thread: the unit's thread.
#pragma once

#include "analysis/analyze.h"
#include "analysis/task/host_expression.h"
#include "analysis/task/spec.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warpwright::analysis {

/// A buffer: one memory block that one or more pointer parameters point into.
struct DraftBuffer {
  std::string name; ///< name of the first parameter that gets it
  std::string root; ///< text of the host variable; empty without a launch
  const clang::ValueDecl *variable = nullptr;
  std::optional<model::Dtype> dtype;
  int lanes = 1; ///< dtype elements in one element of the parameter: 4 for float4
  std::vector<model::Dtype> lane_dtypes = {}; ///< of a struct of several; else empty
  std::vector<std::string> parameters;
  std::optional<HostValue> extent; ///< number of dtype elements, from the allocation
  std::optional<std::int64_t> bytes_in_run; ///< of the allocation in the imagined run
  std::optional<int> fill;         ///< byte of a cudaMemset of the whole buffer before the launch
  bool is_of_field = false;        ///< behind a pointer in a struct
  bool is_const = false;           ///< of a field: a pointer to const
};

struct LaunchDraft {
  const clang::FunctionDecl *callee = nullptr;
  model::LaunchStep step;
  std::vector<DraftBuffer> buffers;
  std::vector<model::Scalar> scalars;
  std::map<std::string, symbolic::Expression> integers; ///< integer parameters and fields by name
  std::map<std::string, std::set<std::string>>
      roots_of; ///< "arguments", "direct", "grid", "block", "extents" -> roots
  std::map<std::string, HostRoot> roots;
  std::vector<MissingFact> missing;
  std::vector<std::string> assumptions;
};

/// @param symbols roots that stay names; nullptr: all roots except `fixed`
/// @param fixed macros and constants that device code uses too
LaunchDraft draft_launch(const HostProgram &program, const HostLaunch &launch,
                         const std::set<std::string> *symbols, const std::set<std::string> &fixed);

/// Removes the launches of other instances of a template, if there is one of the wanted instance.
void keep_instance(std::vector<HostLaunch> &launches, const std::function<bool(const HostLaunch &)> &is_wanted);

/// The fields of all structs that a launch passes.
std::vector<model::PlainArgument> fields_of(const model::LaunchStep &step);

/// True if structs of a launch have integers or pointers. Nothing tells how these follow from the
/// sizes of the task.
bool has_bound_fields(const model::LaunchStep &step);

/// For files without a launch: the launch from the spec, with the parameters' own names.
LaunchDraft draft_from_spec(const ParsedUnit &unit, const clang::FunctionDecl &kernel,
                            const Spec &spec);

/// The launch as a run had it, all integers constant; for host code that does not tell it.
/// @param spec with a captured launch
LaunchDraft draft_from_run(const ParsedUnit &unit, const clang::FunctionDecl &kernel, Spec spec);

/// Macros and constants of any file of the unit that the slice depends on; they cannot be sizes.
std::set<std::string> fixed_names(const ParsedUnit &unit, const std::string &slice);

/// Errors: the step uses a name that the task does not have.
Result<void> check_names(const model::LaunchStep &step, const model::Task &task);

} // namespace warpwright::analysis
