// Statements: declarations, branches that are decided, loops that are unrolled.
#include "generator/torch_cpp/functions.h"

namespace warpwright::generator::torch_cpp {
namespace {

using llvm::dyn_cast;

/// Statements of all functions together: what takes longer is no straight computation.
constexpr std::size_t kMostSteps = 200'000;
constexpr std::size_t kMostNodes = 20'000;

} // namespace

std::optional<bool> Interpreter::decided(const clang::Expr *condition) {
  const Value value = evaluate(condition);
  if (stopped())
    return std::nullopt;
  if (value.is_number())
    return *value.number() != 0;
  if (value.as<None>() || value.as<Module>())
    return value.as<Module>() != nullptr;
  const auto *unknown = value.as<Unknown>();
  const std::string text = "the condition '" + text_of(*condition) + "' ";
  refuse(unknown ? text + "cannot be decided: " + unknown->why : text + "depends on data");
  return std::nullopt;
}

Interpreter::Flow Interpreter::execute(const clang::Stmt *statement) {
  if (!statement || stopped())
    return stopped() ? Flow::Return : Flow::Next;
  if (++steps_ > kMostSteps || graph_.size() > kMostNodes) {
    refuse("the function is too long to be unrolled");
    return Flow::Return;
  }
  if (statement->getBeginLoc().isValid())
    line_ = line_of(statement->getBeginLoc());
  if (const auto *block = dyn_cast<clang::CompoundStmt>(statement)) {
    for (const clang::Stmt *part : block->body())
      if (const Flow flow = execute(part); flow != Flow::Next)
        return flow;
    return Flow::Next;
  }
  if (const auto *declaration = dyn_cast<clang::DeclStmt>(statement)) {
    for (const clang::Decl *one : declaration->decls())
      if (const auto *variable = dyn_cast<clang::VarDecl>(one))
        declare(*variable);
    return Flow::Next;
  }
  if (const auto *end = dyn_cast<clang::ReturnStmt>(statement)) {
    returned_ = end->getRetValue() ? evaluate(end->getRetValue()) : Value(None{});
    return Flow::Return;
  }
  if (const auto *choice = dyn_cast<clang::IfStmt>(statement))
    return execute_if(*choice);
  if (const auto *loop = dyn_cast<clang::ForStmt>(statement)) {
    execute(loop->getInit());
    return execute_loop(loop->getCond(), loop->getInc(), loop->getBody(), true);
  }
  if (const auto *loop = dyn_cast<clang::WhileStmt>(statement))
    return execute_loop(loop->getCond(), nullptr, loop->getBody(), true);
  if (const auto *loop = dyn_cast<clang::DoStmt>(statement))
    return execute_loop(loop->getCond(), nullptr, loop->getBody(), false);
  if (const auto *loop = dyn_cast<clang::CXXForRangeStmt>(statement))
    return execute_range(*loop);
  if (llvm::isa<clang::BreakStmt>(statement))
    return Flow::Break;
  if (llvm::isa<clang::ContinueStmt>(statement))
    return Flow::Continue;
  if (llvm::isa<clang::NullStmt>(statement))
    return Flow::Next;
  if (const auto *expression = dyn_cast<clang::Expr>(statement)) {
    if (llvm::isa<clang::CXXThrowExpr>(expression->IgnoreUnlessSpelledInSource()))
      refuse("the function throws at these shapes");
    else if (const Value value = evaluate(expression);
             is_assertion(unit_, *expression) && value.is_number() && *value.number() == 0)
      refuse("an assertion of the function fails at these shapes");
    return stopped() ? Flow::Return : Flow::Next;
  }
  refuse("a statement of this kind cannot be followed (" +
         std::string(statement->getStmtClassName()) + ")");
  return Flow::Return;
}

Interpreter::Flow Interpreter::execute_if(const clang::IfStmt &choice) {
  execute(choice.getInit());
  if (const clang::VarDecl *variable = choice.getConditionVariable())
    declare(*variable);
  const auto taken = decided(choice.getCond());
  if (!taken)
    return Flow::Return;
  return execute(*taken ? choice.getThen() : choice.getElse());
}

Interpreter::Flow Interpreter::execute_loop(const clang::Expr *condition, const clang::Expr *step,
                                            const clang::Stmt *body, bool tested_first) {
  for (bool first = true;; first = false) {
    if (condition && (tested_first || !first)) {
      const auto goes_on = decided(condition);
      if (!goes_on)
        return Flow::Return;
      if (!*goes_on)
        return Flow::Next;
    }
    const Flow flow = execute(body);
    if (flow == Flow::Return || stopped())
      return Flow::Return;
    if (flow == Flow::Break)
      return Flow::Next;
    if (step)
      evaluate(step);
  }
}

Interpreter::Flow Interpreter::execute_range(const clang::CXXForRangeStmt &loop) {
  const Storage place = place_of(loop.getRangeInit());
  Storage range = place ? place : std::make_shared<Value>(evaluate(loop.getRangeInit()));
  if (const Module *modules = range->as<Module>())
    range = std::make_shared<Value>((*modules)->children);
  if (!range->as<List>()) {
    const auto *unknown = range->as<Unknown>();
    refuse("the loop runs over something that is not known here" +
           (unknown ? ": " + unknown->why : ""));
    return Flow::Return;
  }
  const clang::VarDecl &variable = *loop.getLoopVariable();
  for (std::size_t i = 0; i < range->as<List>()->size(); ++i) {
    Value &item = (*range->as<List>())[i];
    bind(variable, variable.getType()->isReferenceType() ? Storage(range, &item)
                                                         : std::make_shared<Value>(item));
    const Flow flow = execute(loop.getBody());
    if (flow == Flow::Return || stopped())
      return Flow::Return;
    if (flow == Flow::Break)
      break;
  }
  return Flow::Next;
}

/// As written, also where the parser gave up on it.
std::string Interpreter::declared_text(const clang::VarDecl &variable) const {
  const auto range = unit_.range_of(variable.getSourceRange());
  if (!range)
    return variable.getNameAsString();
  const std::size_t end = unit_.text().find_first_of(";\n", range->begin);
  return std::string(unit_.text().substr(range->begin, end - range->begin).substr(0, 80));
}

void Interpreter::declare(const clang::VarDecl &variable) {
  const clang::Expr *initial = variable.getInit();
  if (initial && variable.getType()->isReferenceType())
    if (Storage place = place_of(initial))
      return bind(variable, std::move(place));
  const auto place = std::make_shared<Value>(
      initial ? evaluate(initial)
              : Value(unknown("'" + declared_text(variable) + "' has no value that is known")));
  bind(variable, place);
  const auto *parts = dyn_cast<clang::DecompositionDecl>(&variable);
  if (!parts)
    return;
  List *list = place->as<List>();
  std::size_t index = 0;
  for (const clang::BindingDecl *part : parts->bindings()) {
    if (list && index < list->size())
      bind(*part, Storage(place, &(*list)[index]));
    else
      bind(*part,
           std::make_shared<Value>(place->as<Unknown>()
                                       ? *place
                                       : Value(unknown("the value of " + part->getNameAsString() +
                                                       " cannot be followed"))));
    ++index;
  }
}

} // namespace warpwright::generator::torch_cpp
