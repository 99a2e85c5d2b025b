// Contents for `__constant__` variables that the host fills with cudaMemcpyToSymbol.
//
// A plan runs no host code, so a slice gives such a variable generated contents. They are the same
// in the reference and in every candidate, because the slicer cuts both. Unchanged are variables
// with an initializer, structs, and arrays that are too long to write out. Thread: any.
#pragma once

#include <clang/AST/Decl.h>

#include <string>

namespace warpwright::analysis::slicer {

/// " = {0.25f, ...}" for an uninitialized `__constant__` number or array of numbers, whole numbers
/// where a template's argument is the type; otherwise empty.
std::string constant_initializer(const clang::VarDecl &variable);

} // namespace warpwright::analysis::slicer
