// Follows the body of a C++ function over tensors at fixed shapes, and writes its ATen calls down as a graph.
//
// Branches on shapes, flags and numbers are taken, loops with known bounds unrolled, functions of the file inlined. What reads a tensor's
// values, and whatever it does not know, is an Unknown, and becomes the refusal when control flow or a tensor needs it. Nothing of it is
// trusted: the runner compares every plan with the compiled function. It leaves out exceptions, kernels of the file itself, and memory that
// is reached through pointers. Thread: one.
#pragma once

#include "analysis/parsed_unit.h"
#include "generator/torch_cpp/operators.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <map>
#include <memory>
#include <optional>
#include <set>

namespace warpwright::generator::torch_cpp {

/// Why a function has no graph.
struct Refusal {
  std::string message; ///< "at::nonzero: its shape depends on data"
  std::size_t line = 0;
};

class Interpreter {
public:
  Interpreter(const analysis::ParsedUnit &unit, GraphWriter &graph) : unit_(unit), graph_(graph) {}

  /// What the function returns. Tensors among the arguments may have been written to.
  /// @param object of a method
  Value run(const clang::FunctionDecl &function, std::vector<Value> arguments,
            const Module &object = nullptr);
  /// An object of a class of torch::nn or of the file. What its constructor draws at random becomes nodes that drawn() tells.
  Value make(const clang::CXXRecordDecl &type, std::vector<Value> arguments);
  bool drawn(const std::string &node) const { return drawn_.contains(node); }
  /// Modules are evaluated in training mode from now on, or in evaluation mode, as they are before.
  void set_training(bool training) { training_ = training; }
  /// Of the first thing that could not be followed.
  const std::optional<Refusal> &refusal() const { return refusal_; }
  /// What an expression is worth where no function runs: a default argument.
  Value constant(const clang::Expr &expression) { return evaluate(&expression); }

private:
  using Storage = std::shared_ptr<Value>;
  enum class Flow { Next, Break, Continue, Return };

  // Expressions.
  Value evaluate(const clang::Expr *expression);
  Value evaluated_cast(const clang::CastExpr &cast);
  Value evaluated_reference(const clang::ValueDecl &declaration);
  Value evaluated_member(const clang::MemberExpr &member);
  Value evaluated_unary(const clang::UnaryOperator &operation);
  Value evaluated_binary(const clang::BinaryOperator &operation);
  Value assigned(const clang::Expr *target, Value value);
  Value constructed(const clang::CXXConstructExpr &construction);
  Value listed(const clang::InitListExpr &list);
  /// Where a variable, a member of an object or an element of a list lives; null for everything else.
  Storage place_of(const clang::Expr *expression);

  // Calls.
  Value called(const clang::CallExpr &call);
  Value called_operator(const clang::CXXOperatorCallExpr &call);
  Value called_method(const clang::CXXMemberCallExpr &call);
  Value method(const clang::Expr &object, const std::string &name, std::vector<Value> arguments,
               const clang::Expr &whole);
  Value called_function(const clang::FunctionDecl &function, const clang::CallExpr &call,
                        unsigned first_argument);
  Value called_standard(const std::string &name, const clang::CallExpr &call);
  Value inlined(const clang::FunctionDecl &function, std::vector<Storage> arguments);
  std::vector<Value> arguments_of(const clang::CallExpr &call, unsigned first = 0);

  // Modules.
  /// Of a module, its holder, or a pointer to one.
  Value made_module(const clang::CXXConstructExpr &construction, const clang::CXXRecordDecl &type,
                    std::vector<Value> arguments);
  void construct(const Module &object, const clang::CXXRecordDecl &type,
                 std::vector<Value> arguments);
  void initialise(const Module &object, const clang::CXXConstructorDecl &constructor,
                  std::vector<Value> arguments);
  void initialise_by_default(const Module &object, const clang::CXXRecordDecl &type);
  Value forwarded(const Module &module, std::vector<Value> arguments);
  Value forwarded_of_library(const Object &module, std::vector<Value> arguments);
  Value module_method(const Module &module, const std::string &name, std::vector<Value> arguments,
                      const clang::Expr &whole);
  Value add_child(Object &list, const std::vector<Value> &arguments);
  Value registered(Object &object, const std::string &name, std::vector<Value> arguments);
  Value drawn_at_random(const std::string &name, const std::vector<Value> &arguments);
  std::vector<Value> evaluated_all(llvm::ArrayRef<const clang::Expr *> expressions);

  // Tensors.
  Value aten(const std::string &name, std::vector<Value> arguments);
  Value aten_bound(const std::string &name, const Operator &known, std::vector<Value> arguments);
  /// What a tensor's member says of it: sizes, dtype, layout. nullopt: it is an operator.
  std::optional<Value> property(const Tensor &tensor, const std::string &name,
                                const std::vector<Value> &arguments);
  Value indexed(const Tensor &tensor, const Value &index);
  Value list_method(const Storage &place, List list, const std::string &name,
                    const std::vector<Value> &arguments);

  // Statements.
  Flow execute(const clang::Stmt *statement);
  Flow execute_loop(const clang::Expr *condition, const clang::Expr *step, const clang::Stmt *body,
                    bool tested_first);
  Flow execute_range(const clang::CXXForRangeStmt &loop);
  Flow execute_if(const clang::IfStmt &choice);
  void declare(const clang::VarDecl &variable);
  void bind(const clang::ValueDecl &declaration, Storage place) {
    variables_[&declaration] = std::move(place);
  }

  /// A condition's value; nullopt after a refusal.
  std::optional<bool> decided(const clang::Expr *condition);
  /// @param line 0: that of the statement that runs
  Value refuse(const std::string &message, std::size_t line = 0);
  Unknown unknown(const std::string &what) const;
  bool stopped() const { return refusal_.has_value(); }
  std::size_t line_of(const clang::SourceLocation &location) const;
  bool is_of_file(const clang::FunctionDecl &function) const;
  std::string text_of(const clang::Expr &expression) const;
  std::string declared_text(const clang::VarDecl &variable) const;

  const analysis::ParsedUnit &unit_;
  GraphWriter &graph_;
  std::map<const clang::ValueDecl *, Storage> variables_;
  Storage this_;
  Value returned_;
  std::optional<Refusal> refusal_;
  std::set<std::string> drawn_;
  bool training_ = false;
  int making_ = 0;       ///< constructors that run
  std::size_t line_ = 0; ///< of the statement that runs
  int depth_ = 0;
  std::size_t steps_ = 0;
};

} // namespace warpwright::generator::torch_cpp
