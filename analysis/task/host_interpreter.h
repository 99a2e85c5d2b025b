// Interpreter of host code behind HostRun. Private to analysis/task.
//
// host_statements.cpp has the control flow, host_values.cpp and host_operators.cpp the expressions,
// host_calls.cpp the calls, host_library.cpp the functions of libraries. Thread: the unit's thread.
#pragma once

#include "analysis/task/host_links.h"
#include "analysis/task/host_memory.h"
#include "analysis/task/host_run.h"

#include <functional>
#include <set>

namespace warpwright::analysis {

class HostInterpreter {
public:
  explicit HostInterpreter(const HostLinks &links) : links_(&links) {}

  /// Runs a function without a caller: `main`.
  void run(const clang::FunctionDecl &function, const RunCommand &command);

  RunValue value(const clang::Expr *expression);
  RunValue variable(const clang::ValueDecl &variable);
  HostMemory &memory() { return memory_; }
  /// Gives up the frames above the latest one of `function`. False: it is not on the stack.
  bool return_to(const clang::FunctionDecl *function);

  /// Called at each launch, with the kernel that it names.
  std::function<void(const clang::CUDAKernelCallExpr &, const clang::FunctionDecl *enclosing,
                     const clang::FunctionDecl &kernel)>
      on_launch;
  std::vector<std::string> assumptions;

private:
  /// How a statement ends.
  enum class Flow { Next, Break, Continue, Return, Stop };

  struct Frame {
    const clang::FunctionDecl *function = nullptr;
    std::map<const clang::Decl *, HostPlace> variables;
    HostPlace self;                 ///< `*this`
    RunValue result;                ///< after `return`
    bool may_have_returned = false; ///< an undecided branch returned: the result is unknown
    bool may_have_left_loop = false;
  };

  static constexpr int kMostDepth = 120;        ///< of calls and of nested expressions
  static constexpr int kMostSteps = 400'000;    ///< expressions and statements of a run
  static constexpr int kMostLoopSteps = 30'000; ///< of one loop; a longer one is not followed
  /// The same of a loop that was too long once, as in a function that fills arrays.
  static constexpr int kMostStepsOfLongLoop = 1'000;

  // ---- control flow
  Flow execute(const clang::Stmt *statement);
  Flow execute_one(const clang::Stmt &statement);
  Flow declare(const clang::DeclStmt &statement);
  Flow branch(const clang::Expr *condition, const clang::Stmt *yes, const clang::Stmt *no);
  /// Runs each way from the same state, and keeps what all ways that go on leave equal.
  Flow undecided(const std::vector<std::function<Flow()>> &ways);
  Flow loop(const clang::Expr *condition, const clang::Stmt *body, const clang::Expr *increment,
            bool tests_first);
  Flow range_loop(const clang::CXXForRangeStmt &loop);
  Flow select(const clang::SwitchStmt &statement);
  /// Forgets all that a body may write when it runs an unknown number of times.
  void repeat_undecided(const std::function<Flow()> &body);
  bool spend();

  // ---- expressions
  std::optional<bool> truth(const RunValue &value) const;
  RunValue evaluate(const clang::Expr *expression);
  RunValue binary(const clang::BinaryOperator &operation);
  RunValue assign(const clang::BinaryOperator &operation);
  RunValue unary(const clang::UnaryOperator &operation);
  RunValue choose(const clang::AbstractConditionalOperator &operation);
  RunValue arithmetic(clang::BinaryOperatorKind operation, const RunValue &left,
                      const RunValue &right, clang::QualType type) const;
  RunValue load(const HostPlace &place, clang::QualType type);
  RunValue cast(const clang::CastExpr &cast);
  RunValue construct(const clang::CXXConstructExpr &construction, HostPlace target);
  RunValue list(const clang::InitListExpr &list, HostPlace target);
  HostPlace place(const clang::Expr *expression);
  HostPlace element_of(const RunValue &base, const RunValue &index);
  HostPlace place_of(const clang::ValueDecl &variable);
  /// Begins the object at `target` with an expression.
  void initialize(const HostPlace &target, clang::QualType type, const clang::Expr *expression);
  /// Evaluates what is not understood: its variables are unknown from then on.
  RunValue unknown(const clang::Stmt *expression);
  RunValue converted(RunValue value, clang::QualType type) const;
  std::string text_of(const RunValue &value) const;

  // ---- calls
  RunValue call(const clang::CallExpr &call);
  RunValue enter(const clang::FunctionDecl &function, std::vector<const clang::Expr *> arguments,
                 HostPlace self, const clang::CXXConstructExpr *construction = nullptr);
  std::optional<RunValue> known_function(const clang::CallExpr &call, const std::string &name);
  std::optional<RunValue> container(const clang::CallExpr &call, const std::string &name,
                                    const clang::Expr *object);
  std::optional<RunValue> allocation(const clang::CallExpr &call, const std::string &name);
  std::optional<RunValue> text_function(const clang::CallExpr &call, const std::string &name);
  RunValue unknown_call(const clang::FunctionDecl *callee, const clang::Expr *object,
                        std::vector<const clang::Expr *> arguments);
  RunValue get_option(const clang::CallExpr &call, bool is_long);
  void launch(const clang::CUDAKernelCallExpr &call);
  void give(const clang::Expr *pointer, const RunValue &value);
  void assume(const std::string &text);

  /// The context of the translation unit whose code is running.
  const clang::ASTContext &context() const { return frames_.back().function->getASTContext(); }

  const HostLinks *links_;
  HostMemory memory_;
  std::vector<Frame> frames_;
  std::map<const clang::Decl *, HostPlace> globals_;
  int depth_ = 0, steps_ = 0;
  bool globals_changed_ = false; ///< an unknown function of the project may have written to them
  bool has_ended_ = false;      ///< the program called exit() inside the running statement
  std::set<const clang::Stmt *> long_loops_; ///< their bodies
  int loop_limit_ = kMostSteps; ///< the step at which the innermost loop is no longer followed
};

/// Returns true for a type whose objects consist of several cells: structs, classes and arrays.
bool is_aggregate(clang::QualType type);
/// Returns true for a container that the interpreter knows: its size and elements are cells.
bool is_container(clang::QualType type);
bool is_string(clang::QualType type);

} // namespace warpwright::analysis
