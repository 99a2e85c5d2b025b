// Host expressions as expressions over sizes: what `(n + threads - 1) / threads` is once the
// locals, macros, helper functions, lambdas and callers that it goes through are replaced.
//
// The resolver follows a name to its root: a variable or macro with a constant, or something that
// only the running program knows. Roots listed in `symbols` stay names (the sizes of a task); the
// others become numbers. Task inference lets every root that reaches an integer argument be a size,
// and the generator evaluates the launch of an edited file over the sizes found before. Leaves out
// loops and most branches: a local variable has the value that it was last given above, on the way that leads there. Thread: the unit's.
#pragma once

#include "analysis/task/host_program.h"
#include "support/symbolic/expression.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace warpwright::analysis {

/// An integer over sizes, or a number.
struct HostValue {
  std::string text;
  int precedence = 100; ///< of the outermost operator; 100 for a name, a number or a call
  std::optional<std::int64_t> number;

  symbolic::Expression expression() const;
};

/// A call chain: parameters of `function` have the values that `arguments` have in `caller`.
struct HostFrame {
  const clang::FunctionDecl *function = nullptr;
  const clang::CallExpr *call = nullptr; ///< null: nothing is known of the parameters
  const HostFrame *caller = nullptr;
};

/// A size that the program or the user must give a value.
struct HostRoot {
  std::string name;
  std::optional<std::int64_t> value; ///< what the program says: 1 << 24
};

/// What a pointer argument points into.
struct HostPointer {
  const clang::ValueDecl *root = nullptr; ///< the variable that owns the memory
  std::string text;                       ///< of the root, unique in the program
  std::optional<HostValue> offset;        ///< in elements of the pointer; absent when zero
};

class HostResolver {
public:
  /// @param symbols roots that stay names; nullptr: all of them
  /// @param fixed names that device code uses too (macros, constants): always numbers
  HostResolver(const HostProgram &program, const std::set<std::string> *symbols,
               const std::set<std::string> &fixed);

  /// nullopt: not an integer that can be expressed.
  std::optional<HostValue> integer(const clang::Expr *expression, const HostFrame &frame);
  /// A dim3, or an integer that converts to one.
  std::optional<std::array<HostValue, 3>> dim3(const clang::Expr *expression,
                                               const HostFrame &frame);
  std::optional<double> floating(const clang::Expr *expression, const HostFrame &frame);
  std::optional<HostPointer> pointer(const clang::Expr *expression, const HostFrame &frame);
  /// `bytes / element_bytes`, without the division where `bytes` is a product with sizeof.
  std::optional<HostValue> elements(const clang::Expr *bytes, int element_bytes,
                                    const HostFrame &frame);
  /// The caller's frame of a function whose parameters are asked for, from its first call in the
  /// file.
  const HostFrame *caller_of(const HostFrame &frame);

  /// Roots met so far that are symbols, by name.
  const std::map<std::string, HostRoot> &roots() const { return roots_; }
  /// "n is 1048576 unless the command line says otherwise"
  const std::vector<std::string> &assumptions() const { return assumptions_; }

private:
  /// To be asked at each expression. Helpers that call one another twice would else be followed for ever.
  bool may_follow(int max_depth);
  std::optional<HostValue> compute(const clang::Expr *expression, const HostFrame &frame);
  /// integer(), where the program gives every root of it a value: not `atoi(argv[1])`.
  std::optional<HostValue> known(const clang::Expr *expression, const HostFrame &frame);
  std::optional<HostValue> binary(const clang::BinaryOperator &operation, const HostFrame &frame);
  std::optional<HostValue> choice(const clang::ConditionalOperator &operation,
                                  const HostFrame &frame);
  /// @param place where it is read
  std::optional<HostValue> variable(const clang::ValueDecl &declaration, const HostFrame &frame,
                                    clang::SourceLocation place);
  std::optional<HostValue> parameter(const clang::ParmVarDecl &declaration, const HostFrame &frame);
  std::optional<HostValue> call(const clang::CallExpr &call, const HostFrame &frame);
  std::optional<HostValue> value_of(const clang::ValueDecl &variable, const HostFrame &frame,
                                    clang::SourceLocation place);
  std::optional<HostValue> inlined(const clang::Stmt *body, const HostFrame &frame);
  std::optional<HostValue> element(const clang::ArraySubscriptExpr &access, const HostFrame &frame);
  std::optional<HostValue> typical_of(const clang::Expr *table, const std::string &name,
                                      const HostFrame &frame);
  std::optional<HostValue> device_fact(const std::string &fact, const std::string &name);
  std::optional<HostValue> given_through_pointer(const clang::ValueDecl &variable);
  std::optional<HostValue> member(const clang::MemberExpr &member, const HostFrame &frame);
  std::optional<HostValue> macro(const clang::Expr &expression);
  std::optional<HostValue> rounded_up(const clang::Expr *argument, const HostFrame &frame);
  std::optional<std::array<HostValue, 3>> dim3_variable(const clang::Expr &expression,
                                                        const HostFrame &frame);
  std::optional<HostPointer> pointer_variable(const clang::ValueDecl &variable,
                                              const HostFrame &frame);
  static const clang::Expr *argument_of(const clang::CallExpr &call, unsigned index);
  HostValue root(const std::string &name, std::optional<std::int64_t> value);
  bool is_symbol(const std::string &name) const;
  void assume(const std::string &text); ///< once
  /// What a parameter is set to at the start of its function, whatever was passed; null: nothing.
  static const clang::Expr *replaced_by(const clang::ParmVarDecl &parameter);
  /// First value of a variable: its initialiser, else its first assignment. A global that begins as 0 and is assigned: that.
  const clang::Expr *definition_of(const clang::ValueDecl &variable) const;
  /// The frame of `declaration`'s own function on the way from `frame` to its callers.
  const HostFrame *frame_of(const clang::Decl &declaration, const HostFrame &frame) const;

  const HostProgram &program_;
  const ParsedUnit &unit_;
  const std::set<std::string> *symbols_;
  const std::set<std::string> &fixed_;
  std::map<std::string, HostRoot> roots_;
  std::vector<std::string> assumptions_;
  std::map<const clang::FunctionDecl *, std::unique_ptr<HostFrame>>
      callers_; ///< frame of the caller
  std::map<const clang::FunctionDecl *, std::unique_ptr<HostFrame>>
      own_frames_;                                         ///< with its call known
  std::vector<std::unique_ptr<HostFrame>> passing_frames_; ///< of those who pass functions
  int depth_ = 0;
  int steps_ = 0;
};

/// Constant-folding arithmetic on texts, with the parentheses that are needed.
HostValue make_value(std::int64_t number);
HostValue make_symbol(const std::string &name);
HostValue combine(const std::string &operation, const HostValue &left, const HostValue &right);

} // namespace warpwright::analysis
