// Changes that code makes: to memory that other threads see, and to the thread's local variables.
//
// Called functions are looked into. A function without a body (CUDA's, the math library's) changes
// only what its pointers and references lead to. Code that is not understood counts as a change of
// memory.
#pragma once

#include "generator/text/source/kernel_source.h"

namespace warpwright::source {

/// The local variable that an lvalue names at its root: `a` in `a[i].x`; a reference counts as itself.
/// Null where a pointer is followed.
const clang::VarDecl *named_root(const clang::Expr *lvalue);

/// named_root(), with local references replaced by the variables that they refer to.
const clang::VarDecl *root_variable(const clang::Expr *lvalue);

/// The variable at the root of an element or member, with pointers followed: `a` in `*(a + i)` and
/// `a[i].x`; null for other expressions.
const clang::VarDecl *pointer_root(const clang::Expr *expression);

/// pointer_root(), with local pointers that are set once replaced by what they are set to.
const clang::VarDecl *array_of(const KernelSource &source, const clang::Expr *expression);

/// The lvalue that a node writes, or takes the address of; null: it writes nothing.
const clang::Expr *written_by(const clang::Stmt *node);

/// True if both expressions are written with the same names, operators and numbers.
bool same_expression(const KernelSource &source, const clang::Expr *left, const clang::Expr *right);

/// True if no variable of the expression is declared or written in the loop, and it calls nothing.
bool is_invariant(const clang::Stmt *loop, const clang::Expr *expression);

struct Effects {
  /// The nodes that may change memory: assignments through pointers, atomics, calls that may store.
  std::vector<const clang::Stmt *> stores;
  /// Own variables that are assigned, directly or by a call.
  std::set<const clang::VarDecl *> changed;
  /// An own variable with a pointer to it that is more than an argument of a call; null: none.
  const clang::VarDecl *pointed_to = nullptr;
};
Effects effects_of(const clang::Stmt *root);

/// The name of a called function that uses the thread's place or its block's; empty: none.
std::string callee_with_position(const clang::Stmt *root);

} // namespace warpwright::source
