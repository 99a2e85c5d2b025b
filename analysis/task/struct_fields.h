// Types that a task can hold: elements of buffers, and structs of numbers and pointers.
//
// A field of a struct that a kernel takes by value is named in tasks as an identifier: "p_size_x"
// for p.size.x and "p_w_2" for p.w[2]. Thread: the unit's thread.
#pragma once

#include "support/model/dtype.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpwright::analysis {

/// Element type of a pointer, and the number of these elements per pointee: {float32, 4} for
/// float4.
std::optional<std::pair<model::Dtype, int>> element_of(const clang::ASTContext &context,
                                                       clang::QualType type);

struct StructField {
  std::string name; ///< "p_size_x"
  std::string path; ///< from the struct: ".size.x", ".w[2]"
  clang::QualType type; ///< a number, an enumeration or a pointer
  std::int64_t offset = 0; ///< bytes
};

/// The fields of the struct that a parameter is, also those of its bases, members and arrays, by
/// place. nullopt: no struct, over 256 fields, or one of a kind that a task cannot hold (virtual
/// functions, unions, references, bit-fields, an incomplete or dependent type).
std::optional<std::vector<StructField>> struct_fields(const clang::ASTContext &context,
                                                      const clang::ParmVarDecl &parameter);

/// The dtypes of the numbers in a struct, if they have one width and fill it; else, and for over 14, none.
std::vector<model::Dtype> struct_lanes(const clang::ASTContext &context, clang::QualType type);

/// The name of the field that an expression reads from a struct parameter; empty: another expression.
std::string struct_field_name(const clang::Expr *expression);

} // namespace warpwright::analysis
