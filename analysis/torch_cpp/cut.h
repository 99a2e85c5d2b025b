// The part of a function over tensors that can be traced, where its whole body cannot: the statements before the first
// operator whose result has a size, or is a number, that depends on the values of a tensor.
//
// These statements become a function of their own, `NAME_before`, which is optimized like any other. It gives the
// tensors that the other statements read. A function is not cut if it may return earlier, assigns
// to a parameter, writes into such a tensor, or declares an object that may matter by being there.
// Thread: the unit's thread.
#pragma once

#include "analysis/torch_cpp/functions.h"

namespace warpwright::analysis::torch_cpp {

struct Cut {
  std::string name;          ///< of the new function
  std::string data_operator; ///< "bincount"
  std::string text;          ///< the file with the new function, which the old one calls
};

/// nullopt: the function can be traced as far as is known, or it cannot be cut with a gain.
std::optional<Cut> cut_of(const ParsedUnit &unit, const clang::FunctionDecl &function);

/// True if the function has been cut: it calls its first part, and has an operator without a trace.
bool is_cut(const clang::FunctionDecl &function);

} // namespace warpwright::analysis::torch_cpp
