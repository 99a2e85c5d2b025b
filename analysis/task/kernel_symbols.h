// Mangled names of kernels, as recorded runs have them. Thread: the unit's thread.
#pragma once

#include <clang/AST/Decl.h>

#include <string>

namespace warpwright::analysis {

/// The name of a kernel, or of a template's instance, in machine code. Of a template's pattern: empty.
std::string symbol_of(const clang::FunctionDecl &kernel);

/// The kernel, or the instance of its template, that has the symbol; explicit specializations are kernels of
/// their own. Null: none has.
const clang::FunctionDecl *with_symbol(const clang::FunctionDecl &kernel, const std::string &symbol);

} // namespace warpwright::analysis
