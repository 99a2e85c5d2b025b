// Functions over tensors in a C++ file: search, inputs of a call, and conversion to torch tasks.
//
// Such a function takes a tensor, returns tensors, has a body, and is meant for outside callers: it
// is registered (PYBIND11_MODULE, TORCH_LIBRARY), or described in a comment, or, in a file without
// registrations, called by no other function. Its inputs come from the structured comment above it
// (docs/use/task-comments.md), then from its checks (TORCH_CHECK(x.size(1) == 64)), then from
// defaults. The user is asked for the rest. Modules are in module_classes.h. Other methods,
// templates, and functions that launch kernels of the file are left out. Thread: the unit's thread.
#pragma once

#include "analysis/parsed_unit.h"
#include "analysis/task/spec.h"
#include "analysis/torch_cpp/constants.h"
#include "support/model/task.h"

namespace warpwright::analysis::torch_cpp {

std::vector<const clang::FunctionDecl *> torch_functions(const ParsedUnit &unit);

/// The user's own body of a function if the file contains Warpwright's variant of it
/// (server/export/cpp_writer.h); otherwise null.
const clang::FunctionDecl *as_written(const ParsedUnit &unit,
                                      const clang::FunctionDecl &function);

/// The definition of a function in the file; null: there is none.
const clang::FunctionDecl *find_function(const ParsedUnit &unit, std::string_view name);

/// One argument of a call.
struct Input {
  std::string name;
  Value value = Absent{}; ///< Absent: a tensor or an omitted argument
  bool is_tensor = false;
  model::TensorType type;
  model::Distribution distribution;
};

/// The inputs of a function call.
struct Inputs {
  std::vector<Input> inputs;
  std::vector<MissingFact> missing; ///< unless empty, `inputs` is incomplete
  std::vector<std::string> assumptions;       ///< "x is float, as nothing else is said"
  std::string comment;                        ///< the structured comment to complete
  std::optional<Diagnostic> error;  ///< an error in the existing comment
};

/// @param extra facts from elsewhere (`--spec`), which replace those of the comment
Inputs inputs_of(const ParsedUnit &unit, const clang::FunctionDecl &function,
                 const Spec &extra = {});

/// The module that a runner compiles and calls.
model::TorchModule module_of(const ParsedUnit &unit, const clang::FunctionDecl &function,
                             const std::vector<Input> &inputs);

// Helpers of the files in this folder.

/// Whether a type is at::Tensor, or a reference to it.
bool is_tensor(clang::QualType type);
bool is_optional_tensor(clang::QualType type);
bool takes_tensors(const clang::FunctionDecl &function);
/// Whether a type is a tensor, or a tuple, pair or vector of tensors.
bool gives_tensors(clang::QualType type);
/// Whether the file holds Warpwright's variant of a function or class.
bool holds_variant_of(const ParsedUnit &unit, std::string_view name);

/// The text whose hash tells whether a measurement is current: the function or class as the user
/// wrote it, with the declarations that it depends on. Warpwright's variant does not change it.
/// @param own the user's function body, or the class's forward
std::string slice_of(const ParsedUnit &unit, const clang::NamedDecl &declaration,
                     const clang::FunctionDecl &own);

/// Whether a statement comes from the C library's `assert(...)`.
bool is_assertion(const ParsedUnit &unit, const clang::Expr &statement);

/// Facts about a tensor from the checks at the top of a function's body.
struct ShapeFacts {
  std::optional<std::int64_t> rank;
  std::map<std::int64_t, std::int64_t> extents; ///< by dimension
  std::optional<model::Dtype> dtype;
};
/// @param known shapes from elsewhere, by parameter
/// @param numbers integers by parameter name
std::map<std::string, ShapeFacts> shapes_from_checks(const ParsedUnit &unit,
                                                     const clang::FunctionDecl &function,
                                                     const std::map<std::string, ShapeFacts> &known,
                                                     const symbolic::Sizes &numbers);

} // namespace warpwright::analysis::torch_cpp
