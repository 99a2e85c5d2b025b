// Host expressions as expressions over sizes: `(n + threads - 1) / threads` after replacement of
// the locals, macros, helper functions, lambdas and callers that it uses.
//
// The resolver follows a name to its root: a variable or macro with a constant, or a value that
// only the running program knows. Roots in `symbols` stay names (the sizes of a task); other roots
// become numbers. In task inference, every root that reaches an integer argument may be a size. The
// generator evaluates the launch of an edited file over the known sizes. Loops and most branches
// are ignored: a local variable has the value of the last assignment above its use, on the path
// that leads there.
// Thread: the unit's thread.
#pragma once

#include "analysis/task/host_program.h"
#include "analysis/task/host_run.h"
#include "support/symbolic/expression.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace warpwright::analysis {

/// An integer as an expression over sizes, or as a number.
struct HostValue {
  std::string text;
  int precedence = 100; ///< of the outermost operator; 100: a name, number or call
  std::optional<std::int64_t> number;

  symbolic::Expression expression() const;
};

/// A call chain: parameters of `function` have the values that `arguments` have in `caller`.
struct HostFrame {
  const clang::FunctionDecl *function = nullptr;
  const clang::CallExpr *call = nullptr; ///< null: the parameters are unknown
  const HostFrame *caller = nullptr;
};

/// A name that may be a size and needs a value from the program or the user.
struct HostRoot {
  std::string name;
  std::optional<std::int64_t> value; ///< value in the program, such as 1 << 24
};

/// The memory that a pointer argument points into.
struct HostPointer {
  const clang::ValueDecl *root = nullptr; ///< the variable that owns the memory
  std::string text;                       ///< text of the root, unique in the program
  std::optional<HostValue> offset;        ///< in elements of the pointer; absent if zero
};

class HostResolver {
public:
  /// @param symbols roots that stay names; nullptr: all roots except `fixed`
  /// @param fixed names that device code uses too (macros, constants); they are always numbers
  /// @param moment values of an imagined run, for roots whose value the text alone does not give;
  /// nullptr: the run does not get to the launch
  HostResolver(const HostProgram &program, const std::set<std::string> *symbols,
               const std::set<std::string> &fixed, const HostMoment *moment = nullptr);

  /// Value of an integer expression; nullopt if it cannot be expressed.
  std::optional<HostValue> integer(const clang::Expr *expression, const HostFrame &frame);
  /// Value of a dim3, or of an integer that converts to one.
  std::optional<std::array<HostValue, 3>> dim3(const clang::Expr *expression,
                                               const HostFrame &frame);
  std::optional<double> floating(const clang::Expr *expression, const HostFrame &frame);
  std::optional<HostPointer> pointer(const clang::Expr *expression, const HostFrame &frame);
  /// `bytes / element_bytes`, without the division if `bytes` is a product with sizeof.
  std::optional<HostValue> elements(const clang::Expr *bytes, int element_bytes,
                                    const HostFrame &frame);
  /// The frame of a function's caller, from the first call of the function in the file; it provides
  /// the function's arguments.
  const HostFrame *caller_of(const HostFrame &frame);

  /// Roots found so far that are symbols, by name.
  const std::map<std::string, HostRoot> &roots() const { return roots_; }
  /// Returns true if a value was chosen from a table that the program runs through.
  bool took_typical() const { return took_typical_; }
  /// Assumptions for the user, such as "the device has 132 multiprocessors".
  const std::vector<std::string> &assumptions() const { return assumptions_; }

private:
  /// Limits depth and steps. It must be checked at each expression, because mutually recursive
  /// helpers would otherwise never end.
  bool may_follow(int max_depth);
  std::optional<HostValue> compute(const clang::Expr *expression, const HostFrame &frame);
  /// Like integer(), but nullopt unless the program gives each root a value; `atoi(argv[1])` has
  /// none.
  std::optional<HostValue> known(const clang::Expr *expression, const HostFrame &frame);
  std::optional<HostValue> binary(const clang::BinaryOperator &operation, const HostFrame &frame);
  std::optional<HostValue> choice(const clang::ConditionalOperator &operation,
                                  const HostFrame &frame);
  /// @param place location of the use
  std::optional<HostValue> variable(const clang::ValueDecl &declaration, const HostFrame &frame,
                                    clang::SourceLocation place);
  std::optional<HostValue> parameter(const clang::ParmVarDecl &declaration, const HostFrame &frame);
  std::optional<HostValue> call(const clang::CallExpr &call, const HostFrame &frame);
  /// The text of `argv[k]`, as the project runs its program; null: another expression, or not known.
  const std::string *run_argument(const clang::Expr *expression, const HostFrame &frame);
  /// The number that atoi(argv[k]), strtol(), std::stof() and the like read; nullopt likewise.
  std::optional<double> read_number(const clang::CallExpr &call, const HostFrame &frame);
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
  /// Values in the imagined run; nullopt: not known there either.
  std::optional<std::int64_t> in_run(const clang::Expr *expression, const HostFrame &frame) const;
  std::optional<std::int64_t> in_run(const clang::ValueDecl &variable,
                                     const HostFrame &frame) const;
  bool is_symbol(const std::string &name) const;
  void assume(const std::string &text); ///< each text once
  /// The integer literal that the function's own body assigns to a parameter; null if there is
  /// none.
  static const clang::Expr *replaced_by(const clang::ParmVarDecl &parameter);
  /// The first value of a variable: its initializer, else its first assignment. For a global that
  /// is initialized with 0 and assigned later, the first assignment.
  const clang::Expr *definition_of(const clang::ValueDecl &variable) const;
  /// The frame of the function that declares `declaration`, among `frame` and its callers; else
  /// `frame`.
  const HostFrame *frame_of(const clang::Decl &declaration, const HostFrame &frame) const;

  const HostProgram &program_;
  const ParsedUnit &unit_;
  const std::set<std::string> *symbols_;
  const std::set<std::string> &fixed_;
  const HostMoment *moment_;
  std::map<std::string, HostRoot> roots_;
  std::vector<std::string> assumptions_;
  bool took_typical_ = false;
  std::map<const clang::FunctionDecl *, std::unique_ptr<HostFrame>>
      callers_; ///< frames of the callers
  std::map<const clang::FunctionDecl *, std::unique_ptr<HostFrame>>
      own_frames_;                                         ///< frames with a known call
  std::vector<std::unique_ptr<HostFrame>> passing_frames_; ///< of functions that pass functions
  int depth_ = 0;
  int steps_ = 0;
};

/// Constant-folding arithmetic on texts, with only the necessary parentheses.
HostValue make_value(std::int64_t number);
HostValue make_symbol(const std::string &name);
/// Identifier for a text: "prop.count" -> "prop_count".
std::string symbol_name(std::string_view text);
HostValue combine(const std::string &operation, const HostValue &left, const HostValue &right);

} // namespace warpwright::analysis
