// Functions over tensors in a C++ file: found, asked for what a call of them takes, and turned into torch tasks.
//
// A function is one that a caller outside would call: it takes a tensor, returns tensors, has a body, and is registered
// (PYBIND11_MODULE, TORCH_LIBRARY), described in a comment, or called by no other function of the file. What its inputs are follows from
// the structured comment above it (docs/task-comments.md), then from its checks (TORCH_CHECK(x.size(1) == 64)), then from defaults; the
// rest is asked for. Modules are module_classes.h's. It leaves out other methods, templates, and functions that launch kernels of the file.
// Thread: the unit's.
#pragma once

#include "analysis/parsed_unit.h"
#include "analysis/task/spec.h"
#include "analysis/torch_cpp/constants.h"
#include "support/model/task.h"

namespace warpwright::analysis::torch_cpp {

std::vector<const clang::FunctionDecl *> torch_functions(const ParsedUnit &unit);

/// A function's own body where the file holds Warpwright's variant of it (server/export/cpp_writer.h); null where it does not.
const clang::FunctionDecl *as_written(const ParsedUnit &unit,
                                      const clang::FunctionDecl &function);

/// One argument of a call.
struct Input {
  std::string name;
  Value value = Absent{}; ///< a number, a flag or None; Absent for a tensor
  bool is_tensor = false;
  model::TensorType type;
  model::Distribution distribution;
};

/// What a call of a function takes.
struct Inputs {
  std::vector<Input> inputs;
  std::vector<MissingFact> missing; ///< where it is not empty the inputs are not complete
  std::vector<std::string> assumptions;       ///< "x is float, as nothing else is said"
  std::string comment;                        ///< the structured comment to complete
  std::optional<Diagnostic> error;  ///< of the comment that is there
};

/// @param extra facts from elsewhere (`--spec`), which replace those of the comment
Inputs inputs_of(const ParsedUnit &unit, const clang::FunctionDecl &function,
                 const Spec &extra = {});

/// The module that a runner compiles and calls.
model::TorchModule module_of(const ParsedUnit &unit, const clang::FunctionDecl &function,
                             const std::vector<Input> &inputs);

// What the parts share.

/// at::Tensor, or an optional one.
bool is_tensor(clang::QualType type);
bool is_optional_tensor(clang::QualType type);
bool takes_tensors(const clang::FunctionDecl &function);
/// A tensor, or a tuple, a pair or a list of them.
bool gives_tensors(clang::QualType type);
/// Whether the file holds Warpwright's variant of a function or class.
bool holds_variant_of(const ParsedUnit &unit, std::string_view name);

/// The text whose hash tells whether a measurement is of the code as it stands: the function or class as its user wrote it, with the
/// declarations that it depends on. It is the same with and without Warpwright's variant.
/// @param own the body that the user wrote, or the class's forward
std::string slice_of(const ParsedUnit &unit, const clang::NamedDecl &declaration,
                     const clang::FunctionDecl &own);

/// Whether a statement is what `assert(...)` of the C library stands for.
bool is_assertion(const ParsedUnit &unit, const clang::Expr &statement);

/// What the checks at the top of a function's body say of its tensors.
struct ShapeFacts {
  std::optional<std::int64_t> rank;
  std::map<std::int64_t, std::int64_t> extents; ///< by dimension
  std::optional<model::Dtype> dtype;
};
/// @param known shapes from elsewhere, by parameter, and whole numbers by name
std::map<std::string, ShapeFacts> shapes_from_checks(const ParsedUnit &unit,
                                                     const clang::FunctionDecl &function,
                                                     const std::map<std::string, ShapeFacts> &known,
                                                     const symbolic::Sizes &numbers);

} // namespace warpwright::analysis::torch_cpp
