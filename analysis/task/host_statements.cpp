// Control flow of the imagined run. Thread: the unit's thread.
#include "analysis/task/host_interpreter.h"

#include "support/budget.h"

#include <algorithm>

namespace warpwright::analysis {
bool HostInterpreter::spend() {
  checkpoint();
  if (depth_ >= kMostDepth) // what is not evaluated may change values: the run ends here
    steps_ = kMostSteps;
  return ++steps_ < kMostSteps;
}

HostInterpreter::Flow HostInterpreter::execute(const clang::Stmt *statement) {
  if (!statement)
    return Flow::Next;
  if (!spend())
    return Flow::Stop;
  const Flow flow = execute_one(*statement);
  if (!has_ended_)
    return flow;
  has_ended_ = false;
  return Flow::Stop;
}

HostInterpreter::Flow HostInterpreter::execute_one(const clang::Stmt &one_statement) {
  const clang::Stmt *statement = &one_statement;
  if (const auto *block = llvm::dyn_cast<clang::CompoundStmt>(statement)) {
    for (const clang::Stmt *one : block->body())
      if (const Flow flow = execute(one); flow != Flow::Next)
        return flow;
    return Flow::Next;
  }
  if (const auto *expression = llvm::dyn_cast<clang::Expr>(statement)) {
    evaluate(expression);
    return steps_ < kMostSteps ? Flow::Next : Flow::Stop;
  }
  if (const auto *declaration = llvm::dyn_cast<clang::DeclStmt>(statement))
    return declare(*declaration);
  if (const auto *choice = llvm::dyn_cast<clang::IfStmt>(statement)) {
    execute(choice->getInit());
    if (choice->getConditionVariableDeclStmt())
      execute(choice->getConditionVariableDeclStmt());
    return branch(choice->getCond(), choice->getThen(), choice->getElse());
  }
  if (const auto *repeat = llvm::dyn_cast<clang::ForStmt>(statement)) {
    if (const Flow flow = execute(repeat->getInit()); flow != Flow::Next)
      return flow;
    return loop(repeat->getCond(), repeat->getBody(), repeat->getInc(), true);
  }
  if (const auto *repeat = llvm::dyn_cast<clang::WhileStmt>(statement))
    return loop(repeat->getCond(), repeat->getBody(), nullptr, true);
  if (const auto *repeat = llvm::dyn_cast<clang::DoStmt>(statement))
    return loop(repeat->getCond(), repeat->getBody(), nullptr, false);
  if (const auto *repeat = llvm::dyn_cast<clang::CXXForRangeStmt>(statement))
    return range_loop(*repeat);
  if (const auto *choice = llvm::dyn_cast<clang::SwitchStmt>(statement))
    return select(*choice);
  if (const auto *label = llvm::dyn_cast<clang::SwitchCase>(statement))
    return execute(label->getSubStmt());
  if (const auto *attributed = llvm::dyn_cast<clang::AttributedStmt>(statement))
    return execute(attributed->getSubStmt());
  if (const auto *attempt = llvm::dyn_cast<clang::CXXTryStmt>(statement))
    return execute(attempt->getTryBlock());
  if (const auto *directive = llvm::dyn_cast<clang::ReturnStmt>(statement)) {
    RunValue result;
    if (directive->getRetValue())
      result = frames_.back().function->getReturnType()->isReferenceType()
                   ? record_value(place(directive->getRetValue()))
                   : evaluate(directive->getRetValue());
    frames_.back().result = std::move(result);
    return Flow::Return;
  }
  if (llvm::isa<clang::BreakStmt>(statement))
    return Flow::Break;
  if (llvm::isa<clang::ContinueStmt>(statement))
    return Flow::Continue;
  if (llvm::isa<clang::NullStmt>(statement))
    return Flow::Next;
  if (const auto *label = llvm::dyn_cast<clang::LabelStmt>(statement))
    return execute(label->getSubStmt());
  if (const auto *jump = llvm::dyn_cast<clang::GotoStmt>(statement)) {
    if (!context().getSourceManager().isBeforeInTranslationUnit(jump->getGotoLoc(),
                                                                jump->getLabel()->getLocation()))
      steps_ = kMostSteps; // a loop that is not followed: the run ends here
    return Flow::Stop;
  }
  unknown(statement);
  return Flow::Next;
}

HostInterpreter::Flow HostInterpreter::declare(const clang::DeclStmt &statement) {
  for (const clang::Decl *one : statement.decls()) {
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(one);
    if (!variable || variable->hasGlobalStorage()) // a static one begins at its first use
      continue;
    if (variable->getType()->isReferenceType() && variable->getInit()) {
      HostPlace target = place(variable->getInit());
      if (!target.is_known()) { // a temporary, or unknown
        target = memory_.allocate();
        initialize(target, variable->getType().getNonReferenceType(), variable->getInit());
      }
      frames_.back().variables[variable] = target;
      continue;
    }
    const HostPlace target = memory_.allocate();
    frames_.back().variables[variable] = target;
    if (variable->getInit())
      initialize(target, variable->getType(), variable->getInit());
  }
  return Flow::Next;
}

HostInterpreter::Flow HostInterpreter::branch(const clang::Expr *condition, const clang::Stmt *yes,
                                              const clang::Stmt *no) {
  const auto known = truth(evaluate(condition));
  if (has_ended_)
    return Flow::Stop;
  if (known)
    return execute(*known ? yes : no);
  return undecided({[&] { return execute(yes); }, [&] { return execute(no); }});
}

HostInterpreter::Flow HostInterpreter::undecided(const std::vector<std::function<Flow()>> &ways) {
  HostMemory::Record written; // before any of the ways
  std::vector<HostMemory::Record> results;
  const std::size_t frame = frames_.size() - 1;
  const RunValue result_before = frames_[frame].result;
  Flow abrupt = Flow::Next;
  for (const auto &way : ways) {
    memory_.begin_record();
    const Flow flow = way();
    const HostMemory::Record record = memory_.end_record();
    const HostMemory::Record values = memory_.values_of(record);
    memory_.restore(record);
    for (const auto &[cell, old] : record)
      written.try_emplace(cell, old);
    if (flow == Flow::Next) {
      results.push_back(values);
      continue;
    }
    // The code behind is reached by the other ways only.
    abrupt = flow;
    frames_[frame].may_have_returned |= flow == Flow::Return;
    frames_[frame].may_have_left_loop |= flow == Flow::Break || flow == Flow::Continue;
  }
  frames_[frame].result = result_before;
  if (results.empty()) {
    memory_.forget(written);
    return abrupt;
  }
  for (const auto &[cell, old] : written) {
    const auto value_in = [&](const HostMemory::Record &values) {
      const auto found = values.find(cell);
      return found == values.end() ? old : found->second;
    };
    const auto first = value_in(results.front());
    if (std::ranges::all_of(results, [&](const auto &values) { return value_in(values) == first; }))
      memory_.restore({{cell, first}});
    else
      memory_.forget(HostMemory::Record{{cell, old}});
  }
  return Flow::Next;
}

void HostInterpreter::repeat_undecided(const std::function<Flow()> &body) {
  for (int time = 0; time < 2; ++time) { // the second time with what the first one left unknown
    memory_.begin_record();
    const Flow flow = body();
    memory_.forget(memory_.end_record());
    frames_.back().may_have_returned |= flow == Flow::Return;
  }
}

HostInterpreter::Flow HostInterpreter::loop(const clang::Expr *condition, const clang::Stmt *body,
                                            const clang::Expr *increment, bool tests_first) {
  const bool left_before = frames_.back().may_have_left_loop;
  const int limit_before = loop_limit_;
  loop_limit_ = std::min(loop_limit_, steps_ + (long_loops_.contains(body) ? kMostStepsOfLongLoop : kMostLoopSteps));
  const auto once = [&] {
    const Flow flow = execute(body);
    if (increment && (flow == Flow::Next || flow == Flow::Continue))
      evaluate(increment);
    return flow;
  };
  Flow result = Flow::Next;
  for (bool is_first = true;; is_first = false) {
    std::optional<bool> goes_on = true;
    if (condition && (tests_first || !is_first))
      goes_on = truth(evaluate(condition));
    if (goes_on == false)
      break;
    frames_.back().may_have_left_loop = false;
    if (goes_on && steps_ > loop_limit_)
      long_loops_.insert(body);
    if (!goes_on || steps_ > loop_limit_) {
      repeat_undecided(once);
      break;
    }
    memory_.begin_record();
    const Flow flow = once();
    const HostMemory::Record record = memory_.end_record();
    if (frames_.back().may_have_left_loop) { // from here on the number of rounds is not known
      memory_.forget(record);
      repeat_undecided(once);
      break;
    }
    if (flow == Flow::Break)
      break;
    if (flow == Flow::Return || flow == Flow::Stop) {
      result = flow;
      break;
    }
    if (steps_ >= kMostSteps) {
      result = Flow::Stop;
      break;
    }
  }
  loop_limit_ = limit_before;
  frames_.back().may_have_left_loop = left_before;
  return result;
}

HostInterpreter::Flow HostInterpreter::range_loop(const clang::CXXForRangeStmt &loop) {
  const clang::VarDecl *variable = loop.getLoopVariable();
  const clang::Expr *range = loop.getRangeInit();
  const HostPlace elements = range ? place(range) : HostPlace{};
  std::optional<std::int64_t> count;
  if (elements.is_known()) {
    const clang::QualType type = range->getType();
    if (const auto *array = context().getAsConstantArrayType(type))
      count = static_cast<std::int64_t>(array->getSize().getZExtValue());
    else if (is_container(type))
      if (const RunValue size = memory_.read(elements.part("#size"));
          size.is(RunValue::Kind::Integer))
        count = size.integer;
  }
  const bool is_reference = variable && variable->getType()->isReferenceType();
  const auto bind = [&](std::optional<std::int64_t> index) {
    if (!variable)
      return;
    HostPlace element = index ? elements.element(*index) : memory_.allocate();
    if (!is_reference) {
      const RunValue value = load(element, variable->getType());
      element = memory_.allocate();
      memory_.write(element, value);
    }
    frames_.back().variables[variable] = element;
  };
  if (!count || *count > 256) {
    bind(std::nullopt);
    repeat_undecided([&] { return execute(loop.getBody()); });
    if (elements.is_known())
      memory_.forget(elements);
    return Flow::Next;
  }
  for (std::int64_t index = 0; index < *count; ++index) {
    bind(index);
    const Flow flow = execute(loop.getBody());
    if (flow == Flow::Break)
      break;
    if (flow == Flow::Return || flow == Flow::Stop)
      return flow;
  }
  return Flow::Next;
}

HostInterpreter::Flow HostInterpreter::select(const clang::SwitchStmt &statement) {
  const RunValue chosen = evaluate(statement.getCond());
  const auto *body = llvm::dyn_cast_or_null<clang::CompoundStmt>(statement.getBody());
  if (!body)
    return Flow::Next;
  const auto from = [&](const clang::Stmt *first) {
    bool is_reached = false;
    for (const clang::Stmt *one : body->body()) {
      is_reached = is_reached || one == first;
      if (const Flow flow = is_reached ? execute(one) : Flow::Next; flow != Flow::Next)
        return flow == Flow::Break ? Flow::Next : flow;
    }
    return Flow::Next;
  };
  std::vector<std::function<Flow()>> ways;
  const clang::Stmt *fallback = nullptr, *match = nullptr;
  for (const clang::Stmt *one : body->body())
    for (const auto *label = llvm::dyn_cast<clang::SwitchCase>(one); label;
         label = llvm::dyn_cast<clang::SwitchCase>(label->getSubStmt())) {
      ways.emplace_back([&from, one] { return from(one); });
      const auto *known = llvm::dyn_cast<clang::CaseStmt>(label);
      if (!known) {
        fallback = one;
        continue;
      }
      clang::Expr::EvalResult result;
      if (!match && chosen.is(RunValue::Kind::Integer) && !known->getLHS()->isValueDependent() &&
          known->getLHS()->EvaluateAsInt(result, context()) &&
          result.Val.getInt().getExtValue() == chosen.integer)
        match = one;
    }
  if (chosen.is(RunValue::Kind::Integer))
    return match || fallback ? from(match ? match : fallback) : Flow::Next;
  if (!fallback)
    ways.emplace_back([] { return Flow::Next; });
  return undecided(ways);
}

void HostInterpreter::run(const clang::FunctionDecl &function, const RunCommand &command) {
  Frame frame;
  frame.function = &function;
  const std::vector<std::string> &arguments = command.arguments;
  const HostPlace list = memory_.allocate();
  if (!arguments.empty()) {
    memory_.write(list.element(0), text_value("./main"));
    for (std::size_t i = 0; i < arguments.size(); ++i)
      memory_.write(list.element(static_cast<std::int64_t>(i) + 1), text_value(arguments[i]));
    memory_.write(list.element(std::ssize(arguments) + 1), integer_value(0));
  }
  for (const clang::ParmVarDecl *parameter : function.parameters()) {
    const HostPlace target = memory_.allocate();
    if (parameter->getFunctionScopeIndex() == 0 && !arguments.empty())
      memory_.write(target, integer_value(static_cast<std::int64_t>(arguments.size()) + 1));
    else if (parameter->getFunctionScopeIndex() == 1)
      memory_.write(target, pointer_value(list, true));
    frame.variables[parameter] = target;
  }
  frames_.push_back(std::move(frame));
  execute(function.getBody());
}

bool HostInterpreter::return_to(const clang::FunctionDecl *function) {
  for (std::size_t i = frames_.size(); i-- > 0;)
    if (frames_[i].function == function) {
      frames_.resize(i + 1);
      return true;
    }
  return false;
}

} // namespace warpwright::analysis
