// Launch configurations as numbers: the dim3 of <<<>>>, and the common block shape and template
// values of a kernel's launches.
//
// The evaluation looks through dim3 variables, constants and locals that are set once. All other
// values are unknown and never guessed. Thread: the unit's thread.
#pragma once

#include "analysis/parsed_unit.h"

#include <array>
#include <map>

namespace warpwright::analysis {

/// A configuration argument. A null component was omitted, and its size is 1.
struct Dimensions {
  std::array<std::optional<std::int64_t>, 3> sizes; ///< x, y, z
  std::array<const clang::Expr *, 3> components{};
  const clang::VarDecl *variable = nullptr; ///< the dim3 variable of the configuration, if any
};
Dimensions dimensions_of(const clang::ASTContext &context, const clang::Expr *configuration);

/// Value of an integer expression of host code.
std::optional<std::int64_t> host_constant(const clang::ASTContext &context,
                                          const clang::Expr *expression);

/// Values on which all launches of a kernel in the file agree.
struct KernelShape {
  std::array<std::optional<std::int64_t>, 3> block;
  std::map<std::string, std::int64_t> template_values; ///< integer template parameters by name
};
KernelShape shape_of(const ParsedUnit &unit, const clang::FunctionDecl &kernel);

} // namespace warpwright::analysis
