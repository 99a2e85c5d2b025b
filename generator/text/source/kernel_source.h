// A parsed state: the kernel to optimise, its launches, and the walks over its AST that moves
// share.
//
// Moves read the AST and not the published facts, because they must know the exact statement to
// replace. Code that is not understood makes a move illegal; nothing here reports to the user.
// Thread: the one of the unit, here and in every file that takes a KernelSource.
#pragma once

#include "analysis/parsed_unit.h"
#include "generator/text/source/render.h"
#include "generator/text/source/state.h"

#include <clang/AST/Stmt.h>
#include <functional>
#include <optional>
#include <set>

namespace warpwright::source {

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

  /// The source text; empty for code from a macro body.
  std::string text_of(const clang::Stmt *statement) const;
  std::string text_of(Range range) const {
    return std::string(text().substr(range.begin, range.size()));
  }
  /// Text of a range with those of `edits` applied that lie in it. Errors: edits that clash.
  Result<std::string> edited_text(Range range, const Edits &edits) const;
  /// The same without the first line's indentation, in two spaces a level.
  Result<std::string> level_text(Range range, const Edits &edits = {}) const;
  /// `text` with two spaces for each level of the user's indentation.
  std::string in_levels(std::string_view text) const;
  /// nullopt for code from a macro body.
  std::optional<Range> range_of(const clang::Stmt *statement) const;
  /// From the first line's indentation to the semicolon or closing brace, for statements on lines
  /// of their own; nullopt for code from a macro body.
  std::optional<Range> statement_range(const clang::Stmt *statement) const;
  /// A type as the language spells it, without qualifiers: "float".
  std::string type_name(clang::QualType type) const;

  /// Names that a rendered text must not introduce: parameters and macros of the file.
  const std::set<std::string> &taken_names() const { return taken_names_; }
  /// White space of one level in this file, and of the first statement of the kernel's body.
  const std::string &indent_step() const { return indent_step_; }
  const std::string &body_indent() const { return body_indent_; }

  /// The parameter of this name, or null.
  const clang::ParmVarDecl *parameter(std::string_view name) const;
  /// Text of a launch's argument for a parameter, in parentheses where needed; the default argument
  /// where omitted. nullopt for an unknown parameter or an argument from a macro.
  std::optional<std::string> argument_text(const clang::CUDAKernelCallExpr *launch,
                                           std::string_view parameter) const;

  /// The range inside the braces of the body, and its text.
  Range body_inside() const { return body_inside_; }
  std::string body_text() const { return text_of(body_inside_); }
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

/// Visits a statement and all below it in the order of the text; of pseudo objects only the
/// syntactic form.
void for_each_node(const clang::Stmt *root, const std::function<void(const clang::Stmt *)> &visit);

/// All nodes of a class, in the order of the text.
template <class Node>
std::vector<const Node *> find_all(const clang::Stmt *root) {
  std::vector<const Node *> found;
  for_each_node(root, [&](const clang::Stmt *node) {
    if (const auto *match = llvm::dyn_cast<Node>(node))
      found.push_back(match);
  });
  return found;
}

/// The expression without parentheses and implicit nodes; strip_casts() removes explicit casts too.
const clang::Expr *strip(const clang::Expr *expression);
const clang::Expr *strip_casts(const clang::Expr *expression);
/// The stripped expression where it is of this class, else null.
template <class Node>
const Node *as(const clang::Expr *expression) {
  return llvm::dyn_cast_or_null<Node>(strip(expression));
}
/// The variable that an expression names, or null.
const clang::VarDecl *variable_of(const clang::Expr *expression);
/// The variable that a statement declares, where it declares only one; else null.
const clang::VarDecl *only_variable(const clang::Stmt *statement);
/// The variables that a declaration statement declares; none for other statements.
std::vector<const clang::VarDecl *> variables_of(const clang::Stmt *statement);
/// "threadIdx.x" and the like; empty for anything else.
std::string builtin_of(const clang::Expr *expression);
/// Name of the called function ("atomicAdd"; "max" for std::max); empty where it is no plain call.
std::string callee_name(const clang::Expr *expression);
/// Increment, decrement or address-of: like an assignment to the operand.
bool writes_operand(const clang::UnaryOperator *unary);
/// Nodes that write `variable`: assignments, increments, address-of.
std::vector<const clang::Stmt *> writes_of(const clang::Stmt *root, const clang::VarDecl *variable);
/// Is `variable` written nowhere in the kernel's body after its declaration?
bool is_written_once(const KernelSource &source, const clang::VarDecl *variable);
/// References to a declaration, in the order of the text.
std::vector<const clang::DeclRefExpr *> uses_of(const clang::Stmt *root,
                                                const clang::ValueDecl *declaration);
/// Does it contain __syncthreads and relatives, warp shuffles, votes, cooperative groups or CUB,
/// also in called functions?
bool has_collective(const clang::Stmt *root);
/// Does it contain a return, or a collective operation that all threads must reach?
bool has_exit(const std::vector<const clang::Stmt *> &statements);
/// The statements of a compound, or the statement itself.
std::vector<const clang::Stmt *> statements_of(const clang::Stmt *statement);
/// Value of an integer expression: a constant, or a variable that is initialised once with one.
std::optional<std::int64_t> integer_value(const KernelSource &source,
                                          const clang::Expr *expression);
/// The literal 0 or 0.0, casts aside?
bool is_zero(const clang::Expr *expression);

} // namespace warpwright::source
