// Atomic additions that stand as statements of a guarded kernel's work. Thread: that of the unit.
#pragma once

#include "generator/text/source/guarded.h"

namespace warpwright::generator {

struct AtomicAdd {
  const clang::CallExpr *call = nullptr;
  Range statement;     ///< without indentation, with the semicolon
  std::string address; ///< first argument as written
  std::string value;   ///< second argument as written
  std::string element_type;
  const clang::ParmVarDecl *base = nullptr;
  const clang::Expr *index = nullptr; ///< null for the pointer itself
};

/// The atomicAdd of the guarded work when there is exactly one, its result is unused and its base is a parameter.
/// Errors: why not.
Result<AtomicAdd> only_atomic_add(const IndexReader &form, const Guarded &guarded);

/// The guard around `work`: "if (i < n) {...}" with the index's declaration before it, or the loop.
std::string guard_text(const Guarded &guarded, const std::string &work);

} // namespace warpwright::generator
