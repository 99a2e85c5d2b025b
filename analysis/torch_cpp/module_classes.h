// Classes of the file that derive from torch::nn::Module and have a forward over tensors: found, asked for what making and calling one
// takes, and turned into torch tasks.
//
// A class that is part of another class of the file is measured with it, and for itself only where a comment says how it is called. What
// the constructor takes follows from the comment above the class, then from where the file makes an object, then from defaults. It leaves out
// class templates and forwards with overloads. Thread: the unit's.
#pragma once

#include "analysis/torch_cpp/functions.h"

namespace warpwright::analysis::torch_cpp {

struct ModuleClass {
  const clang::CXXRecordDecl *type = nullptr;    ///< its definition
  const clang::CXXMethodDecl *forward = nullptr; ///< with a body
};

std::vector<ModuleClass> torch_modules(const ParsedUnit &unit);

/// Its forward as its user wrote it, where the file holds Warpwright's variant; else null.
const clang::CXXMethodDecl *as_written(const ParsedUnit &unit, const ModuleClass &module);

/// What making a module and calling it takes.
struct ModuleInputs {
  std::vector<Input> init;
  Inputs call; ///< with what is missing for `init`
  bool training = false;
};

/// @param extra facts from elsewhere (`--spec`), which replace those of the comment
ModuleInputs inputs_of(const ParsedUnit &unit, const ModuleClass &module,
                       const Spec &extra = {});

/// Where forward is written, what its object is made with, and what stands in the way of another body.
std::optional<CppForward> forward_facts(const ParsedUnit &unit,
                                                  const ModuleClass &module,
                                                  const ModuleInputs &inputs);

/// The module that a runner compiles, makes and calls.
model::TorchModule module_of(const ParsedUnit &unit, const ModuleClass &module,
                             const ModuleInputs &inputs);

// What the parts share.

/// The constructor whose parameters a task gives values; null: it is made of nothing.
const clang::CXXConstructorDecl *constructor_of(const clang::CXXRecordDecl &type);

/// A number, a flag, a text or a list of numbers.
std::string cpp_literal(const Value &value);
/// Of torch::nn, and not of the file.
bool is_of_library(const clang::CXXRecordDecl &type);
bool is_torch_module(const clang::CXXRecordDecl &type);
/// The class of the modules that a value of this type holds: of NetImpl, of its holder Net, of a shared pointer to it. Null: none.
const clang::CXXRecordDecl *held_module(clang::QualType type);
/// The class's forward, or that of a class that it derives from; null: it has none with a body that takes so many arguments, or several.
const clang::CXXMethodDecl *forward_of(const clang::CXXRecordDecl &type, std::size_t arguments);

} // namespace warpwright::analysis::torch_cpp
