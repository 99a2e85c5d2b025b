// A kernel's body as a device function, and calls of it with numbers in place of arguments.
#pragma once

#include "generator/text/source/kernel_source.h"

#include <map>

namespace warpwright::source {

struct BodyFunction {
  TextEdit definition; ///< inserts the function in front of the kernel
  std::string name;    ///< with the template's arguments: "k_body<T>"
  /// The call with the kernel's parameters.
  /// @param constants numbers by the names of the parameters that they replace
  std::string call(const std::map<std::string, std::string> &constants = {}) const;

  std::vector<std::string> parameters;
  std::map<std::string, std::string> enumerations; ///< types of the parameters that need a cast from a number
};

/// The function `KERNEL_suffix` with the kernel's parameters and body.
/// @param edits edits of the parameters and the body, in offsets of the file
/// Errors: the reason why the text has no such function.
Result<BodyFunction> body_function(const KernelSource &source, const std::string &suffix, const Edits &edits = {});

} // namespace warpwright::source
