// Interpreter behind kernel_ranges.h. The parts are statements and conditions
// (range_statements.cpp), expressions (range_expressions.cpp) and calls (range_calls.cpp). Private
// to analysis/task.
// Thread: the unit's thread.
#pragma once

#include "analysis/task/kernel_ranges.h"

#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>

namespace warpwright::analysis {

struct PointerRange {
  std::string buffer; ///< empty: shared or local memory
  symbolic::Interval bytes = symbolic::Interval::of(0);
};

struct RangeValue {
  symbolic::Interval range;
  std::optional<LoadedValue> loaded;
  std::optional<PointerRange> pointer;
};

/// The range of all values of a type.
symbolic::Interval range_of_type(const clang::ASTContext &context, clang::QualType type);

class RangeInterpreter {
public:
  RangeInterpreter(const clang::ASTContext &context, const BoundLaunch &launch)
      : context_(context), launch_(launch) {}
  KernelRanges run(const clang::FunctionDecl &kernel);

private:
  /// Facts that hold on one path.
  struct State {
    std::map<const clang::VarDecl *, RangeValue> variables;
    std::map<std::string, symbolic::Interval> facts; ///< ranges of expressions, by text
    bool is_dead = false;                  ///< after return, break, continue
  };
  struct Loop {
    std::int64_t trips = 1;
  };

  // statements
  void execute(const clang::Stmt *statement);
  void execute_if(const clang::IfStmt &statement);
  void execute_loop(const clang::Stmt *initial, const clang::Expr *condition,
                    const clang::Expr *step, const clang::Stmt *body);
  void declare(const clang::VarDecl &variable);
  void widen(const clang::Stmt *statement, std::int64_t trips);
  std::int64_t trips_of(const clang::Expr *condition, const clang::Expr *step);
  void join(const State &other);
  void assume(const clang::Expr *condition, bool truth);
  void assume_comparison(const clang::BinaryOperator &comparison, bool truth);
  void narrow(const clang::Expr *expression, symbolic::Interval range);
  bool is_positional(const clang::Expr *condition);
  bool is_defined_once(const clang::VarDecl &variable);

  // expressions
  RangeValue evaluate(const clang::Expr *expression);
  RangeValue evaluate_kind(const clang::Expr *expression);
  RangeValue evaluate_binary(const clang::BinaryOperator &operation);
  RangeValue evaluate_assignment(const clang::BinaryOperator &operation);
  RangeValue evaluate_unary(const clang::UnaryOperator &operation);
  RangeValue evaluate_call(const clang::CallExpr &call);
  RangeValue evaluate_variable(const clang::VarDecl &variable);
  RangeValue arithmetic(clang::BinaryOperatorKind opcode, const RangeValue &left,
                        const RangeValue &right, clang::QualType type);
  void place_of_atomic(const clang::CallExpr &call);
  RangeValue inlined(const clang::FunctionDecl &function, const clang::CallExpr &call);
  std::optional<PointerRange> place(const clang::Expr *lvalue);
  PointerRange moved(const PointerRange &pointer, const RangeValue &index,
                     std::int64_t element_bytes);
  RangeValue load(const clang::Expr *lvalue);
  void store(const clang::Expr *lvalue, const RangeValue &value, bool is_compound);
  void record(const PointerRange &pointer, clang::QualType type, bool is_write, bool is_atomic);
  void need_positive(const RangeValue &value);
  std::int64_t size_of(clang::QualType type) const;
  std::string text_of(const clang::Expr *expression) const;
  std::int64_t trips_around() const;

  const clang::ASTContext &context_;
  const BoundLaunch &launch_;
  KernelRanges result_;
  std::map<const clang::Decl *, std::set<const clang::VarDecl *>> changed_; ///< by function
  State state_;
  std::vector<Loop> loops_;
  std::vector<RangeValue *> returns_;
  std::optional<LoadedValue> index_loaded_; ///< the loaded index of the last place
  bool is_uncertain_ = false;
  bool is_silent_ = false; ///< repeated evaluation: accesses are already recorded
  int depth_ = 0;
  int steps_ = 0;
};

inline bool is_float(clang::QualType type) { return !type.isNull() && type->isRealFloatingType(); }

/// Removes parentheses, casts and temporaries.
const clang::Expr *bare(const clang::Expr *expression);

} // namespace warpwright::analysis
