// Module classes of a file: classes that derive from torch::nn::Module and have a forward over
// tensors. This covers their search, the inputs of construction and call, and the conversion to
// torch tasks.
//
// A class that is part of another class of the file is measured with that class, and separately
// only if a comment describes its call. The constructor's arguments come from the comment above the
// class, then from the file's construction of an object, then from defaults. Class templates and
// overloaded forwards are left out. Thread: the unit's thread.
#pragma once

#include "analysis/torch_cpp/functions.h"

namespace warpwright::analysis::torch_cpp {

struct ModuleClass {
  const clang::CXXRecordDecl *type = nullptr;    ///< the definition of the class
  const clang::CXXMethodDecl *forward = nullptr; ///< the definition of forward
};

std::vector<ModuleClass> torch_modules(const ParsedUnit &unit);

/// The forward that the user wrote, if the file contains Warpwright's variant of the class; else
/// null.
const clang::CXXMethodDecl *as_written(const ParsedUnit &unit, const ModuleClass &module);

/// Arguments of a module's constructor and call.
struct ModuleInputs {
  std::vector<Input> init;
  Inputs call; ///< `missing` covers `init` too
  bool training = false;
};

/// @param extra facts from elsewhere (`--spec`), which replace those of the comment
ModuleInputs inputs_of(const ParsedUnit &unit, const ModuleClass &module,
                       const Spec &extra = {});

/// Facts about forward and the constructor, with the reason if forward cannot be replaced. nullopt
/// if a macro produced them.
std::optional<CppForward> forward_facts(const ParsedUnit &unit,
                                                  const ModuleClass &module,
                                                  const ModuleInputs &inputs);

/// The module that a runner compiles, constructs and calls.
model::TorchModule module_of(const ParsedUnit &unit, const ModuleClass &module,
                             const ModuleInputs &inputs);

// Helpers of the files in this folder.

/// The first constructor that the user declared, other than copy and move constructors; null if
/// there is none.
const clang::CXXConstructorDecl *constructor_of(const clang::CXXRecordDecl &type);

/// C++ literal of a number, a flag, a text or a list of numbers.
std::string cpp_literal(const Value &value);
/// Whether a class belongs to torch::nn.
bool is_of_library(const clang::CXXRecordDecl &type);
bool is_torch_module(const clang::CXXRecordDecl &type);
/// The module class of a value: the class itself (NetImpl), or the class in its holder (Net) or in
/// a smart pointer; null for other types.
const clang::CXXRecordDecl *held_module(clang::QualType type);
/// The forward with a body of a class or of its bases that accepts `arguments` arguments; null if
/// there is none, or if forward is overloaded.
const clang::CXXMethodDecl *forward_of(const clang::CXXRecordDecl &type, std::size_t arguments);

} // namespace warpwright::analysis::torch_cpp
