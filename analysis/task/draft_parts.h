// Parts of drafts: structs by value, memory of structs, names of kernels. Private to analysis/task.
// Thread: the unit's thread.
#pragma once

#include "analysis/task/launch_draft.h"
#include "analysis/task/struct_fields.h"

#include <functional>

namespace warpwright::analysis {

inline constexpr double kUnknownScalar = 1.25; ///< value of a float argument that only the running program knows
inline const model::SizeArgument kNullPointer{0, model::Dtype::UInt64};

/// Name for NVRTC's name expressions: "ns::reduce<float, 256>".
std::string kernel_name(const clang::FunctionDecl &callee);

/// Sets dtype and lanes of the buffer for what a pointer points to. Returns false for a type that a task cannot hold.
bool hold(DraftBuffer &buffer, const clang::ASTContext &context, clang::QualType pointee);

/// Adds the argument for a struct parameter, field by field. A field that `known` does not know
/// becomes a name that needs a value, memory that needs an extent, or a typical number. A struct that
/// a task cannot hold becomes a question.
void add_struct(LaunchDraft &draft, const clang::ParmVarDecl &parameter,
                const std::function<HostMoment::Field(const StructField &)> &known);

} // namespace warpwright::analysis
