// Launch configurations as numbers where the source gives them: the dim3 of <<<>>> and what launches say of a kernel.
//
// Looks through dim3 variables, constants and locals that are set once; everything else is unknown, never guessed.
// Thread: that of the unit.
#pragma once

#include "analysis/parsed_unit.h"

#include <array>
#include <map>

namespace warpwright::analysis {

/// One configuration argument. `components` are null where omitted (then the size is 1).
struct Dimensions {
  std::array<std::optional<std::int64_t>, 3> sizes; ///< x, y, z
  std::array<const clang::Expr *, 3> components{};
  const clang::VarDecl *variable = nullptr; ///< the dim3 variable that holds it, if one does
};
Dimensions dimensions_of(const clang::ASTContext &context, const clang::Expr *configuration);

/// Value of an integer expression of host code.
std::optional<std::int64_t> host_constant(const clang::ASTContext &context,
                                          const clang::Expr *expression);

/// What all launches in the file agree on for one kernel.
struct KernelShape {
  std::array<std::optional<std::int64_t>, 3> block;
  std::map<std::string, std::int64_t> template_values; ///< integer template parameters by name
};
KernelShape shape_of(const ParsedUnit &unit, const clang::FunctionDecl &kernel);

} // namespace warpwright::analysis
