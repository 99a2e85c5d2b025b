// A parsed state: the kernel that is optimised, its launches, and the walks over its AST that moves share.
//
// Moves read the AST directly rather than the published facts, because they must know the exact statement to
// replace. Everything that is not understood makes a move illegal; nothing here reports to the user.
// Thread: that of the unit.
#pragma once

#include "analysis/parsed_unit.h"
#include "generator/text/source/state.h"

#include <clang/AST/Stmt.h>
#include <functional>
#include <optional>
#include <set>

namespace warpwright::generator {

class KernelSource {
public:
  /// Errors: a text that cannot be parsed at all, no such kernel.
  static Result<KernelSource> open(const State &state);

  const analysis::ParsedUnit &unit() const { return *unit_; }
  std::string_view text() const { return unit_->text(); }
  clang::FunctionDecl *kernel() const { return kernel_; }
  const clang::CompoundStmt *body() const { return body_; }
  const std::vector<const clang::CUDAKernelCallExpr *> &launches() const { return launches_; }
  const arch::Gpu &gpu() const { return gpu_; }

  /// As written; empty in a macro body.
  std::string text_of(const clang::Stmt *statement) const;
  std::optional<Range> range_of(const clang::Stmt *statement) const;
  /// From the first line's indentation to the semicolon or closing brace, for statements on lines of their own.
  std::optional<Range> statement_range(const clang::Stmt *statement) const;

  /// Names that a rendered text must not introduce: parameters and macros of the file.
  const std::set<std::string> &taken_names() const { return taken_names_; }
  /// White space of one level in this file, and of the first statement of the kernel's body.
  const std::string &indent_step() const { return indent_step_; }
  const std::string &body_indent() const { return body_indent_; }

  /// The parameter of this name, or null.
  const clang::ParmVarDecl *parameter(std::string_view name) const;
  /// The text that a launch passes for a parameter, in parentheses where needed; the default argument where omitted.
  std::optional<std::string> argument_text(const clang::CUDAKernelCallExpr *launch,
                                           std::string_view parameter) const;

  /// Inside the braces of the body.
  Range body_inside() const { return body_inside_; }
  /// Replaces all between the body's braces by `text` (two spaces a level, no first indentation).
  TextEdit body_edit(const std::string &text) const;

private:
  KernelSource() = default;
  void learn_style();

  std::unique_ptr<analysis::ParsedUnit> unit_;
  clang::FunctionDecl *kernel_ = nullptr;
  const clang::CompoundStmt *body_ = nullptr;
  std::vector<const clang::CUDAKernelCallExpr *> launches_;
  std::set<std::string> taken_names_;
  arch::Gpu gpu_;
  std::string indent_step_, body_indent_;
  Range body_inside_;
};

/// Visits a statement and all below it, in the order of the text; the syntactic form of pseudo objects only.
void for_each_node(const clang::Stmt *root, const std::function<void(const clang::Stmt *)> &visit);

template <class Node>
std::vector<const Node *> find_all(const clang::Stmt *root) {
  std::vector<const Node *> found;
  for_each_node(root, [&](const clang::Stmt *node) {
    if (const auto *match = llvm::dyn_cast<Node>(node))
      found.push_back(match);
  });
  return found;
}

/// Without parentheses, implicit nodes and, where asked, explicit casts.
const clang::Expr *strip(const clang::Expr *expression);
const clang::Expr *strip_casts(const clang::Expr *expression);
/// The variable that an expression is, or null.
const clang::VarDecl *variable_of(const clang::Expr *expression);
/// "threadIdx.x" and the like; empty for anything else.
std::string builtin_of(const clang::Expr *expression);
/// The name of the called function ("atomicAdd", "std::max" gives "max"); empty where it is no plain call.
std::string callee_name(const clang::Expr *expression);
/// Nodes that write `variable`: assignments, increments, address-of.
std::vector<const clang::Stmt *> writes_of(const clang::Stmt *root, const clang::VarDecl *variable);
bool references(const clang::Stmt *root, const clang::ValueDecl *declaration);
/// __syncthreads and relatives, warp shuffles, votes, cooperative groups, CUB; also in what is called.
bool has_collective(const clang::Stmt *root);
bool has_return(const clang::Stmt *root);
/// The statements of a compound, or the statement itself.
std::vector<const clang::Stmt *> statements_of(const clang::Stmt *statement);
/// Value of an integer expression: constants, and variables that are initialised once with one.
std::optional<std::int64_t> integer_value(const KernelSource &source,
                                          const clang::Expr *expression);

} // namespace warpwright::generator
