// Contents for `__constant__` variables that the host fills with cudaMemcpyToSymbol.
//
// A plan runs no host code, so a slice gives such a variable made-up contents: the same in the
// reference and in every candidate, as both are cut by the slicer. Left as they are (zero):
// variables with an initialiser, structs, and arrays too long to spell. Thread: any.
#pragma once

#include <clang/AST/Decl.h>

#include <string>

namespace warpwright::analysis::slicer {

/// " = {0.25f, ...}" for an uninitialised `__constant__` array of numbers; empty where none is made
/// up.
std::string constant_initializer(const clang::VarDecl &variable);

} // namespace warpwright::analysis::slicer
