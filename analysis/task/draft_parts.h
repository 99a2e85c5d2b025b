// Parts of drafts: structs by value, memory of structs, names of kernels. Private to analysis/task.
// Thread: the unit's thread.
#pragma once

#include "analysis/task/launch_draft.h"
#include "analysis/task/struct_fields.h"

namespace warpwright::analysis {

inline constexpr double kUnknownScalar = 1.25; ///< value of a float argument that only the running program knows
inline const model::SizeArgument kNullPointer{0, model::Dtype::UInt64};

/// Name for NVRTC's name expressions: "ns::reduce<float, 256>".
std::string kernel_name(const clang::FunctionDecl &callee);

/// The question about a parameter whose type a task cannot hold.
std::string no_struct(const clang::ParmVarDecl &parameter);

/// Sets dtype and lanes of the buffer for what a pointer points to. Returns false for a type that a task cannot hold.
bool hold(DraftBuffer &buffer, const clang::ASTContext &context, clang::QualType pointee);

/// Drafts the fields of structs.
class FieldDrafter {
public:
  FieldDrafter(const clang::ASTContext &context, LaunchDraft &draft)
      : context_(context), draft_(draft) {}

  model::StructArgument empty_struct(const clang::ParmVarDecl &parameter) const {
    return {.size_bytes = context_.getTypeSizeInChars(parameter.getType()).getQuantity(), .fields = {}};
  }
  /// A field that is not known becomes a name that needs a value, memory that needs an extent, or a
  /// typical number.
  void add(model::StructArgument &whole, const StructField &field, const HostMoment::Field &known);

private:
  symbolic::Expression integer(const std::string &name, std::optional<std::int64_t> known);

  const clang::ASTContext &context_;
  LaunchDraft &draft_;
};

} // namespace warpwright::analysis
