// A parsed state: the kernel to optimize, its launches, and the searches in its AST that moves share.
//
// Moves read the AST and not the published facts, because they must know the exact statement to
// replace. Code that is not understood makes a move illegal; no message reaches the user.
// Thread: the thread of the ParsedUnit, here and in every file that takes a KernelSource.
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
  /// The parsed state. Errors: a text that cannot be parsed at all, or that has no such kernel.
  static Result<KernelSource> open(const State &state);

  const analysis::ParsedUnit &unit() const { return *unit_; }
  /// State::text(): all ranges are ranges of it.
  std::string_view text() const { return text_; }
  clang::FunctionDecl *kernel() const { return kernel_; }
  const clang::CompoundStmt *body() const { return body_; }
  /// The launches in the state's texts.
  const std::vector<const clang::CUDAKernelCallExpr *> &launches() const { return launches_; }
  /// The launches in all files of the unit. Those of other files are only read.
  const std::vector<const clang::CUDAKernelCallExpr *> &all_launches() const { return all_launches_; }
  /// Returns true if all launches of the kernel are in the state's texts and moves may change them.
  bool can_change_launches() const { return !keeps_launch_ && has_all_launches(); }
  /// Returns true if all launches of the kernel are in the state's texts: moves that state their LaunchChange may
  /// change them.
  bool has_all_launches() const { return !launches_.empty() && launches_.size() == all_launches_.size(); }
  const arch::Gpu &gpu() const { return gpu_; }
  /// Value of an integer parameter at the task's sizes; nullopt if it is not known.
  std::optional<std::int64_t> argument_value(const clang::ParmVarDecl *parameter) const;
  /// Value of "gridDim.x", "blockDim.y" and the like in the task's launch; nullopt if it is not known.
  std::optional<std::int64_t> launch_extent(std::string_view name) const;

  /// The source text; empty for code from a macro body.
  std::string text_of(const clang::Stmt *statement) const;
  std::string text_of(Range range) const {
    return std::string(text().substr(range.begin, range.size()));
  }
  /// Text of a range after the `edits` inside it. Errors: edits that overlap.
  Result<std::string> edited_text(Range range, const Edits &edits) const;
  /// edited_text() indented by two spaces a level, without the first line's indentation.
  Result<std::string> level_text(Range range, const Edits &edits = {}) const;
  /// `text` with two spaces for each level of the user's indentation.
  std::string in_levels(std::string_view text) const;
  /// The range in text(); nullopt for code from a macro body or from another file.
  std::optional<Range> range_of(const clang::Stmt *statement) const;
  std::optional<Range> range_of(clang::SourceRange range) const;
  /// The range from the first line's indentation to the semicolon or closing brace, for statements on
  /// lines of their own; nullopt for code from a macro body.
  std::optional<Range> statement_range(const clang::Stmt *statement) const;
  /// A type as the language spells it, without qualifiers: "float".
  std::string type_name(clang::QualType type) const;

  /// Names that a rendered text must not introduce: parameters and macros of the file.
  const std::set<std::string> &taken_names() const { return taken_names_; }
  /// `name`, with `_` appended until the kernel does not mention it and `more` does not have it.
  std::string unused_name(std::string name, const std::set<std::string> &more = {}) const;
  /// Indentation of one level in this file, and of the first statement of the kernel's body.
  const std::string &indent_step() const { return indent_step_; }
  const std::string &body_indent() const { return body_indent_; }

  /// The parameter of this name; null when there is none.
  const clang::ParmVarDecl *parameter(std::string_view name) const;
  /// Text of a launch's argument for a parameter, or of the default argument, in parentheses where
  /// needed. nullopt for an unknown parameter or an argument from a macro.
  std::optional<std::string> argument_text(const clang::CUDAKernelCallExpr *launch,
                                           std::string_view parameter) const;

  /// The kernel's body, then the bodies of the device functions that only this kernel runs, directly
  /// or by each other. Programs often keep the arithmetic of a kernel in such functions; an edit of
  /// one is verified with the kernel. They are functions of the state's texts: not methods, not
  /// lambdas, and not callable by the host. Only the kernel's body if further files include its file.
  const std::vector<const clang::Stmt *> &own_bodies() const;

  /// The range inside the braces of the body, and its text.
  Range body_inside() const { return body_inside_; }
  std::string body_text() const { return text_of(body_inside_); }
  /// The edit that replaces the inside of the braces by `text` (two spaces a level, no first indentation).
  TextEdit body_edit(const std::string &text) const;

private:
  KernelSource() = default;
  void learn_style();
  bool is_in_text(clang::SourceLocation location) const;

  std::unique_ptr<analysis::ParsedUnit> unit_;
  std::string text_;
  bool has_includer_ = false, has_other_includers_ = false;
  mutable std::optional<std::vector<const clang::Stmt *>> own_bodies_; ///< nullopt: not asked for yet
  clang::FunctionDecl *kernel_ = nullptr;
  const clang::CompoundStmt *body_ = nullptr;
  std::vector<const clang::CUDAKernelCallExpr *> launches_;
  std::set<std::string> taken_names_;
  arch::Gpu gpu_;
  std::vector<std::optional<std::int64_t>> arguments_;
  std::vector<std::int64_t> extents_;
  bool keeps_launch_ = false;
  std::vector<const clang::CUDAKernelCallExpr *> all_launches_;
  std::string indent_step_, body_indent_;
  Range body_inside_;
};

/// Visits a statement and all nodes below it in the order of the text; for pseudo objects, only the
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

/// All nodes of a class in several pieces of code.
template <class Node>
std::vector<const Node *> find_all(const std::vector<const clang::Stmt *> &roots) {
  std::vector<const Node *> found;
  for (const clang::Stmt *root : roots)
    for (const Node *node : find_all<Node>(root))
      found.push_back(node);
  return found;
}

/// The expression without parentheses and implicit nodes; strip_casts() removes explicit casts too.
const clang::Expr *strip(const clang::Expr *expression);
const clang::Expr *strip_casts(const clang::Expr *expression);
/// The stripped expression if it is of this class, else null.
template <class Node>
const Node *as(const clang::Expr *expression) {
  return llvm::dyn_cast_or_null<Node>(strip(expression));
}
/// The variable that an expression names; null for other expressions.
const clang::VarDecl *variable_of(const clang::Expr *expression);
/// The variable that a statement declares if it declares exactly one, else null.
const clang::VarDecl *only_variable(const clang::Stmt *statement);
/// The variables that a declaration statement declares; none for other statements.
std::vector<const clang::VarDecl *> variables_of(const clang::Stmt *statement);
/// Name of a built-in index or extent ("threadIdx.x"); empty for other expressions.
std::string builtin_of(const clang::Expr *expression);
/// Name of the called function ("atomicAdd"; "max" for std::max); empty if the expression is no plain call.
std::string callee_name(const clang::Expr *expression);
/// True for increment, decrement and address-of, which count as assignments to the operand.
bool writes_operand(const clang::UnaryOperator *unary);
/// Nodes that write `variable`: assignments, increments, address-of.
std::vector<const clang::Stmt *> writes_of(const clang::Stmt *root, const clang::VarDecl *variable);
/// True if the kernel's body never writes `variable` after its declaration.
bool is_written_once(const KernelSource &source, const clang::VarDecl *variable);
/// References to a declaration, in the order of the text.
std::vector<const clang::DeclRefExpr *> uses_of(const clang::Stmt *root,
                                                const clang::ValueDecl *declaration);
/// True if the code, including called functions, contains barriers (__syncthreads() and variants),
/// warp shuffles, votes, cooperative groups or CUB.
bool has_collective(const clang::Stmt *root);
/// True if the statements contain a return, or a collective operation that all threads must reach.
bool has_exit(const std::vector<const clang::Stmt *> &statements);
/// The statements of a compound, or the statement itself.
std::vector<const clang::Stmt *> statements_of(const clang::Stmt *statement);
/// Value of a constant, or of a variable initialized once with a constant; nullopt for other expressions.
std::optional<std::int64_t> integer_value(const KernelSource &source,
                                          const clang::Expr *expression);
/// True for an expression of this built-in type, or of a typedef of it.
bool has_type(const clang::Expr *expression, clang::BuiltinType::Kind kind);
/// True for the literals 0 and 0.0, casts ignored.
bool is_zero(const clang::Expr *expression);

} // namespace warpwright::source
