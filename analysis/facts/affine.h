// Symbolic values of integer and pointer expressions inside one device function. The access
// analysis and the generator use them.
//
// Locals are replaced by the definition that reaches their use (flow.h), loop counters with a
// uniform step by "start + trip", and one-line device functions by their result. The value is a
// polynomial over symbols. A symbol's kind tells how it differs between the threads of a warp;
// patterns and divergence need nothing else. All values are guesses that the runner verifies later.
// Thread: the unit's thread.
#pragma once

#include "analysis/facts.h"
#include "analysis/facts/flow.h"
#include "support/symbolic/polynomial.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <map>
#include <set>
#include <string>

namespace warpwright::analysis {

enum class SymbolKind {
  Thread,  ///< threadIdx.* or computed from it: known for each lane
  Uniform, ///< one value for the whole block: parameters, blockIdx, sizes
  Loop,    ///< uniform at any time, but changes in a loop
  Varying, ///< differs between threads in an unknown way: loaded or merged values
};

/// The operation of a derived symbol, which allows its evaluation for each lane of a warp.
enum class Operation { None, Divide, Remainder, And, Or, Xor, ShiftRight, Minimum, Maximum };

struct Symbol {
  SymbolKind kind = SymbolKind::Uniform;
  Operation operation = Operation::None;
  symbolic::Polynomial left, right; ///< operands of `operation`
};

using SymbolTable = std::map<std::string, Symbol>;

/// The definition that reaches a use, and the definitions that may change the variable in between.
struct Reaching {
  const Definition *base = nullptr; ///< null: no definition dominates the use
  std::vector<const Definition *> updates;
};

/// A place in memory: a named base and an offset in bytes.
struct Place {
  const clang::ValueDecl *base = nullptr; ///< the parameter or variable; null if unknown
  std::string name;                       ///< name of the base: "x", "params.data"
  MemorySpace space = MemorySpace::Global;
  symbolic::Polynomial bytes;
};

class AffineAnalysis {
public:
  /// Templates are analyzed as patterns; dependent types count as four bytes.
  /// @param function must have a body
  AffineAnalysis(const clang::ASTContext &context, const clang::FunctionDecl &function);

  /// Value of an integer expression of the function. Never fails: an unknown part becomes a Varying
  /// or Uniform symbol spelled as in the source.
  symbolic::Polynomial value(const clang::Expr *expression);
  /// The place that a pointer or array expression points to; nullopt if the base is not known.
  std::optional<Place> pointer(const clang::Expr *expression);
  /// The place of an lvalue (x[i], *p, s.m, a shared scalar); nullopt for plain locals and unknown
  /// bases.
  std::optional<Place> place(const clang::Expr *lvalue);
  /// Whether threads of one block may see different values of an expression of any type.
  bool varies(const clang::Expr *expression);
  /// Whether an expression depends on blockIdx or threadIdx.
  bool depends_on_thread_position(const clang::Expr *expression);

  SymbolKind kind_of(const symbolic::Polynomial &value) const; ///< the worst kind of its symbols
  const SymbolTable &symbols() const { return symbols_; }
  const Flow &flow() const { return flow_; }
  const clang::ASTContext &context() const { return context_; }
  const clang::FunctionDecl &function() const { return function_; }

  /// Size of a type in bytes, as a polynomial over template parameters if it depends on them.
  symbolic::Polynomial size_of(clang::QualType type);
  /// An index in units of `element_bytes`, as described in facts.h.
  AffineIndex index_of(const Place &place, const symbolic::Polynomial &element_bytes) const;
  /// All symbols of a polynomial, and the symbols of the operands of derived symbols.
  std::set<std::string> root_symbols(const symbolic::Polynomial &value) const;

private:
  using Use = clang::DeclRefExpr;

  symbolic::Polynomial opaque(const clang::Expr *expression, SymbolKind kind);
  symbolic::Polynomial opaque(const std::string &name, SymbolKind kind);
  /// `text` itself, or a unique shorter name if it is too long.
  const std::string &short_name(const std::string &text);
  symbolic::Polynomial derived(Operation operation, const symbolic::Polynomial &left,
                               const symbolic::Polynomial &right);
  symbolic::Polynomial compute(const clang::Expr *expression);
  symbolic::Polynomial value_of_binary(clang::BinaryOperatorKind opcode, const clang::Expr *left,
                                       const clang::Expr *right, const clang::Expr *whole);
  symbolic::Polynomial value_of_unary(const clang::UnaryOperator *expression);
  symbolic::Polynomial value_of_choice(const clang::AbstractConditionalOperator *expression);
  symbolic::Polynomial value_of_use(const Use *use);
  symbolic::Polynomial value_at(const clang::VarDecl *variable, const Position &at);
  symbolic::Polynomial value_from(const clang::VarDecl *variable, const Definition &definition);
  symbolic::Polynomial merged(const clang::VarDecl *variable, const symbolic::Polynomial &start,
                              const Reaching &reaching);
  symbolic::Polynomial value_of_call(const clang::CallExpr *call);
  std::optional<symbolic::Polynomial> inlined(const clang::CallExpr *call);
  std::optional<symbolic::Polynomial> group_rank(const clang::CallExpr *call);

  Reaching reaching(const clang::VarDecl *variable, const Position &at) const;
  /// Whether `definition` makes the variable differ between threads more than `base` did.
  bool diverges(const Definition &definition, const Definition *base);
  bool advances_uniformly(const Reaching &reaching);
  bool use_varies(const Use *use);

  std::optional<Place> pointer_variable(const clang::VarDecl *variable, const Use *use);
  std::optional<Place> base_place(const clang::VarDecl *variable);
  std::optional<Place> pointer_sum(const clang::BinaryOperator *expression);
  std::optional<Place> element(const clang::Expr *base, const clang::Expr *index,
                               clang::QualType type);
  std::optional<Place> member(const clang::MemberExpr *expression);
  bool varying_call(const clang::CallExpr *call);
  bool reads_thread_index(const clang::FunctionDecl *function, int depth);

  const clang::ASTContext &context_;
  const clang::FunctionDecl &function_;
  Flow flow_;
  SymbolTable symbols_;
  std::map<std::string, std::string> short_names_; ///< names of derived symbols, by their text
  std::map<const clang::ParmVarDecl *, symbolic::Polynomial> bound_; ///< of inlined functions
  std::set<std::pair<const clang::VarDecl *, unsigned>> in_progress_;
  std::map<std::pair<const clang::VarDecl *, unsigned>, symbolic::Polynomial> known_;
  int depth_ = 0;
  int steps_ = 0;
};

/// "threadIdx.x" and the like if an expression names one member of a built-in index, in the
/// spelling of the stub or of the toolkit; otherwise empty.
std::string builtin_index(const clang::Expr *expression);

/// Source text of an expression with normalized white space, cut at 80 characters.
std::string expression_text(const clang::ASTContext &context, const clang::Expr *expression);
/// Uncut text of an expression, also inside a macro expansion: expressions with the same text in
/// one place have the same value.
std::string whole_expression_text(const clang::ASTContext &context, const clang::Expr *expression);

} // namespace warpwright::analysis
