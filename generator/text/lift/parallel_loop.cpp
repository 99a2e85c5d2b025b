// The checks of a loop: its head, its exits, its variables and its memory; see parallel_loop.h.
#include "generator/text/lift/parallel_loop.h"

#include "generator/text/lift/loop_memory.h"

#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace warpwright::lift {

using clang::dyn_cast;
using clang::isa;

namespace {

bool may_leave(const clang::Stmt *root, bool in_loop) {
  if (!root)
    return false;
  if (isa<clang::ReturnStmt>(root) || isa<clang::GotoStmt>(root) || isa<clang::IndirectGotoStmt>(root))
    return true;
  if (isa<clang::BreakStmt>(root) && !in_loop)
    return true;
  const bool catches = isa<clang::ForStmt>(root) || isa<clang::WhileStmt>(root) || isa<clang::DoStmt>(root) ||
                       isa<clang::SwitchStmt>(root) || isa<clang::CXXForRangeStmt>(root);
  return std::ranges::any_of(root->children(),
                             [&](const clang::Stmt *child) { return may_leave(child, in_loop || catches); });
}

/// True if an own variable's name in the code is of one that is in `variables`.
bool uses_any(const clang::Stmt *root, const std::set<const clang::VarDecl *> &variables) {
  return std::ranges::any_of(source::find_all<clang::DeclRefExpr>(root), [&](const clang::DeclRefExpr *reference) {
    const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl());
    return variable && variables.contains(variable);
  });
}

/// The counter of a loop that sets it first, with the expression that it starts from.
std::pair<const clang::VarDecl *, const clang::Expr *> counter_of(const clang::ForStmt *loop) {
  if (const clang::VarDecl *declared = source::only_variable(loop->getInit()))
    return {declared, declared->getInit()};
  const auto *assign = dyn_cast_or_null<clang::BinaryOperator>(loop->getInit());
  if (!assign || assign->getOpcode() != clang::BO_Assign)
    return {};
  const clang::VarDecl *variable = source::variable_of(assign->getLHS());
  return {variable && variable->isLocalVarDecl() ? variable : nullptr, assign->getRHS()};
}

/// True if the code sets the variable before it reads it, each time that it runs.
bool sets_first(const clang::Stmt *root, const clang::VarDecl *variable) {
  const auto assigns = [&](const clang::Stmt *statement) {
    const auto *assign = dyn_cast_or_null<clang::BinaryOperator>(statement);
    return assign && assign->getOpcode() == clang::BO_Assign && source::variable_of(assign->getLHS()) == variable &&
           source::uses_of(assign->getRHS(), variable).empty();
  };
  if (const auto *loop = dyn_cast<clang::ForStmt>(root)) {
    if (assigns(loop->getInit()))
      return true;
    for (const clang::Stmt *part : {loop->getInit(), static_cast<const clang::Stmt *>(loop->getCond()),
                                    static_cast<const clang::Stmt *>(loop->getInc())})
      if (part && !source::uses_of(part, variable).empty())
        return false;
    return sets_first(loop->getBody(), variable);
  }
  for (const clang::Stmt *statement : source::statements_of(root)) {
    if (assigns(statement))
      return true;
    if (source::uses_of(statement, variable).empty())
      continue;
    return statement != root && isa<clang::ForStmt>(statement) && sets_first(statement, variable) &&
           assigns(cast<clang::ForStmt>(statement)->getInit());
  }
  return false;
}

/// True if the loop sets a variable first, and so does each other loop that uses it: no value of the
/// variable crosses an iteration or the loop's end.
bool is_private(const source::KernelSource &source, const clang::ForStmt *loop, const clang::VarDecl *variable) {
  if (!variable->getType()->isScalarType() && !variable->getType()->isRecordType())
    return false;
  std::size_t covered = 0;
  const auto cover = [&](const clang::ForStmt *one) {
    const std::size_t uses = source::uses_of(one, variable).size();
    const auto *assign = dyn_cast_or_null<clang::BinaryOperator>(one->getInit());
    const bool counts = assign && source::variable_of(assign->getLHS()) == variable;
    if (uses == 0 || !(counts ? sets_first(one, variable) : sets_first(one->getBody(), variable)))
      return false;
    covered += uses;
    return true;
  };
  if (!cover(loop))
    return false;
  std::set<const clang::Stmt *> inside; // loops in loops that are covered
  source::for_each_node(source.body(), [&](const clang::Stmt *node) {
    const auto *other = dyn_cast<clang::ForStmt>(node);
    if (!other || inside.contains(other))
      return;
    const auto below = source::find_all<clang::ForStmt>(other);
    const bool is_around = other != loop && std::ranges::find(below, loop) != below.end();
    if (other == loop || (!is_around && cover(other)))
      inside.insert(below.begin(), below.end());
  });
  return covered == source::uses_of(source.body(), variable).size();
}

class Matcher {
public:
  Matcher(const source::IndexReader &form, const clang::ForStmt *loop) : form_(form), source_(form.source()) {
    found_.loop = loop;
  }

  Result<ParallelLoop> match() {
    for (const auto &step : {&Matcher::take_head, &Matcher::take_exits, &Matcher::take_variables, &Matcher::take_memory})
      if (auto taken = (this->*step)(); !taken)
        return std::unexpected(taken.error());
    return std::move(found_);
  }

private:
  Result<void> take_head() {
    const clang::ForStmt *loop = found_.loop;
    const auto [counter, begin] = counter_of(loop);
    if (!counter || !begin || !counter->getType()->isIntegerType() || loop->getConditionVariable())
      return fail("a loop has no counter that it sets first");
    if (counter->getType()->isDependentType() || source_.unit().context().getTypeSize(counter->getType()) < 32)
      return fail("a loop's counter is too narrow for longer steps");
    found_.counter = counter;
    const auto *condition = source::as<clang::BinaryOperator>(loop->getCond());
    if (!condition || !condition->isRelationalOp())
      return fail("a loop does not run up to a bound");
    const bool is_left = source::variable_of(source::strip_casts(condition->getLHS())) == counter;
    const clang::Expr *bound = is_left ? condition->getRHS() : condition->getLHS();
    if (!is_left && source::variable_of(source::strip_casts(condition->getRHS())) != counter)
      return fail("a loop does not run up to a bound");
    if (!take_step())
      return fail("a loop's counter has no constant step");
    const bool runs_up = (condition->getOpcode() == clang::BO_LT || condition->getOpcode() == clang::BO_LE) == is_left;
    if (runs_up == found_.is_downward || (found_.is_downward && counter->getType()->isUnsignedIntegerType()))
      return fail("a loop's counter runs away from its bound");
    found_.effects = source::effects_of(loop->getBody());
    const auto &changed = found_.effects.changed;
    if (changed.contains(counter) || uses_any(bound, changed) || uses_any(loop->getInc(), changed) ||
        !source::uses_of(bound, counter).empty() || !source::effects_of(loop->getCond()).changed.empty())
      return fail("a loop changes its counter or its bounds");
    const auto first = source_.range_of(begin), increment = source_.range_of(loop->getInc());
    if (!first || !increment || !source_.range_of(loop) || !source_.range_of(loop->getBody()))
      return fail("a loop comes from a macro");
    if (found_.step && runs_over_threads(begin, found_.loop->getInc()))
      return fail("a loop's iterations are already dealt out to threads");
    found_.begin = *first;
    found_.increment = *increment;
    take_iterations(begin, bound, condition->getOpcode() == clang::BO_LE || condition->getOpcode() == clang::BO_GE);
    return {};
  }

  /// False for a counter that is not increased or decreased by the same step each time.
  bool take_step() {
    const clang::Expr *increment = source::strip(found_.loop->getInc());
    if (const auto *unary = dyn_cast_or_null<clang::UnaryOperator>(increment)) {
      found_.is_downward = unary->isDecrementOp();
      return unary->isIncrementDecrementOp() && source::variable_of(unary->getSubExpr()) == found_.counter;
    }
    const auto *assign = dyn_cast_or_null<clang::BinaryOperator>(increment);
    if (!assign || source::variable_of(assign->getLHS()) != found_.counter)
      return false;
    const clang::Expr *step = assign->getRHS();
    auto opcode = assign->getOpcode();
    if (const auto *sum = source::as<clang::BinaryOperator>(step); opcode == clang::BO_Assign && sum) {
      if (source::variable_of(sum->getLHS()) != found_.counter)
        return false;
      opcode = sum->getOpcode() == clang::BO_Add   ? clang::BO_AddAssign
               : sum->getOpcode() == clang::BO_Sub ? clang::BO_SubAssign
                                                   : clang::BO_Assign;
      step = sum->getRHS();
    }
    found_.is_downward = opcode == clang::BO_SubAssign;
    found_.step = source_.range_of(step);
    const auto number = source::integer_value(source_, step);
    step_ = number;
    return (opcode == clang::BO_AddAssign || opcode == clang::BO_SubAssign) && found_.step &&
           (!number || *number > 0) && source::uses_of(step, found_.counter).empty() &&
           source::effects_of(step).stores.empty();
  }

  /// True if the counter starts at a thread's place, or steps by the number of threads.
  bool runs_over_threads(const clang::Expr *begin, const clang::Expr *increment) const {
    const auto first = form_.of(begin);
    const auto has_place = [](const std::string &symbol) { return source::is_position(symbol); };
    bool found = first && std::ranges::any_of(first->symbols(), has_place);
    for (const auto *operand : source::find_all<clang::DeclRefExpr>(increment)) {
      const std::string name = operand->getDecl()->getNameAsString();
      found |= name == "blockDim" || name == "gridDim";
      const auto value = form_.of(operand);
      for (const std::string &symbol : value ? value->symbols() : std::set<std::string>())
        found |= symbol.contains("blockDim.") || symbol.contains("gridDim.");
    }
    return found;
  }

  void take_iterations(const clang::Expr *begin, const clang::Expr *bound, bool is_inclusive) {
    const auto first = source::integer_value(source_, begin), last = source::integer_value(source_, bound);
    if (!first || !last || !step_)
      return;
    const std::int64_t distance = (found_.is_downward ? *first - *last : *last - *first) + is_inclusive;
    found_.iterations = std::max<std::int64_t>(0, (distance + *step_ - 1) / *step_);
  }

  Result<void> take_exits() {
    const clang::Stmt *body = found_.loop->getBody();
    if (leaves(body))
      return fail("a loop may end early");
    if (source::has_collective(body))
      return fail("a loop has a barrier or a warp operation");
    if (!source::find_all<clang::LambdaExpr>(body).empty())
      return fail("a loop has a lambda");
    return {};
  }

  Result<void> take_variables() {
    std::set<const clang::VarDecl *> inside;
    for (const auto *statement : source::find_all<clang::DeclStmt>(found_.loop))
      for (const clang::VarDecl *variable : source::variables_of(statement))
        inside.insert(variable);
    for (const Selection &selection : selections_in(source_, found_.loop->getBody()))
      take_selection(selection, inside);
    const auto updates = updates_in(source_, found_.loop->getBody());
    for (const clang::VarDecl *variable : found_.effects.changed) {
      if (inside.contains(variable) || take_accumulator(variable, updates) ||
          is_private(source_, found_.loop, variable))
        continue;
      return fail("a loop carries " + variable->getNameAsString() + " from one iteration to the next");
    }
    std::ranges::stable_sort(found_.accumulators, {}, [](const Accumulator &one) {
      return one.variable->getLocation().getRawEncoding();
    });
    if (isa<clang::DeclStmt>(found_.loop->getInit()) || is_private(source_, found_.loop, found_.counter))
      return {};
    return fail("the counter " + found_.counter->getNameAsString() + " is used behind its loop");
  }

  /// Adds a selection whose variables the loop uses in no other way; they then count as the loop's own.
  void take_selection(const Selection &selection, std::set<const clang::VarDecl *> &inside) {
    const auto uses = [&](const clang::VarDecl *variable) {
      return source::uses_of(found_.loop, variable).size();
    };
    SelectedValue value{selection, source_.type_name(selection.best->getType().getCanonicalType()), {}};
    if (uses(selection.best) != 2 || inside.contains(selection.best) || !selection.best->getType()->isArithmeticType())
      return;
    for (const clang::VarDecl *chosen : selection.chosen) {
      if (uses(chosen) != 1 || inside.contains(chosen) || !chosen->getType()->isArithmeticType())
        return;
      value.chosen_types.push_back(source_.type_name(chosen->getType().getCanonicalType()));
    }
    inside.insert(selection.best);
    inside.insert(selection.chosen.begin(), selection.chosen.end());
    found_.selected.push_back(std::move(value));
  }

  /// Adds the places of a variable that the loop only updates; false for other variables.
  bool take_accumulator(const clang::VarDecl *variable, const std::vector<Update> &updates) {
    std::size_t uses = 0;
    std::vector<Accumulator> places;
    for (const Update &update : updates) {
      if (source::root_variable(update.place) != variable)
        continue;
      if (source::uses_of(update.place, variable).empty())
        return false; // by a reference
      uses += source::uses_of(update.place, variable).size();
      for (const clang::Expr *read : update.reads)
        uses += source::uses_of(read, variable).size();
      auto place = place_of(variable, update);
      if (!place)
        return false;
      const auto same = std::ranges::find(places, place->place, &Accumulator::place);
      if (same == places.end())
        places.push_back(std::move(*place));
      else if (same->combine != place->combine || same->constant != place->constant)
        return false;
    }
    if (places.empty() || uses != source::uses_of(found_.loop, variable).size())
      return false;
    std::ranges::move(places, std::back_inserter(found_.accumulators));
    return true;
  }

  std::optional<Accumulator> place_of(const clang::VarDecl *variable, const Update &update) const {
    Accumulator place{variable, "", "", {}, update.combine, update.constant};
    clang::QualType type = update.place->getType();
    if (!source::find_all<clang::ArraySubscriptExpr>(update.place).empty()) {
      type = variable->getType();
      while (const auto *array = dyn_cast<clang::ConstantArrayType>(type.getTypePtr())) {
        place.extents.push_back(static_cast<std::int64_t>(array->getSize().getZExtValue()));
        type = array->getElementType();
      }
      place.place = variable->getNameAsString();
      if (!source_.unit().context().hasSameUnqualifiedType(type, update.place->getType()))
        return std::nullopt; // members of an array's elements
    } else {
      place.place = source_.text_of(update.place);
    }
    place.is_of_template = type->isTemplateTypeParmType();
    place.type = source_.type_name(place.is_of_template ? type : type.getCanonicalType());
    const bool is_value = type->isArithmeticType() || type->isDependentType();
    return is_value && !variable->getType()->isReferenceType() && !place.place.empty() ? std::optional(place)
                                                                                      : std::nullopt;
  }

  Result<void> take_memory() { return check_memory(form_, found_); }

  const source::IndexReader &form_;
  const source::KernelSource &source_;
  std::optional<std::int64_t> step_ = 1;
  ParallelLoop found_;
};

} // namespace

Result<ParallelLoop> parallel_loop(const source::IndexReader &form, const clang::Stmt *loop) {
  const auto *counted = dyn_cast_or_null<clang::ForStmt>(loop);
  if (!counted)
    return fail("a loop does not count");
  return Matcher(form, counted).match();
}

bool leaves(const clang::Stmt *statement) { return may_leave(statement, false); }

} // namespace warpwright::lift
