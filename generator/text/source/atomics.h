// Atomic additions that stand as statements of a guarded kernel's work.
#pragma once

#include "generator/text/source/guarded.h"

namespace warpwright::source {

struct AtomicAdd {
  Guarded guarded;
  const clang::CallExpr *call = nullptr;
  Range statement;            ///< text without indentation, with the semicolon
  std::string address, value; ///< source text of the two arguments
  std::string element_type;
  const clang::ParmVarDecl *base = nullptr;
  const clang::Expr *index = nullptr; ///< null for the pointer itself

  /// The guard around `work`: "if (i < n) {...}" after the index's declaration, or the loop.
  std::string guard_text(const std::string &work) const;
};

/// The one atomicAdd of a guarded kernel: its result is unused and its base is a parameter.
/// Errors: the reason why the kernel has none.
Result<AtomicAdd> match_atomic_add(const IndexReader &form);

/// The kernel's only call of an atomic function if that is atomicAdd with two arguments; otherwise
/// null.
const clang::CallExpr *only_atomic_call(const KernelSource &source);

/// True if the expression is a statement of its own below `root`, so that its value is unused.
bool stands_alone(const clang::Stmt *root, const clang::Expr *expression);

} // namespace warpwright::source
