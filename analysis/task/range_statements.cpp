// Statements, loops and conditions of the range interpreter.
// Thread: the unit's thread.
#include "analysis/facts/affine.h"
#include "support/budget.h"
#include "analysis/task/host_program.h"
#include "analysis/task/range_interpreter.h"
#include "support/text.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>

namespace warpwright::analysis {
namespace {

constexpr int kMaxSteps = 200'000;

/// The way in which a loop changes a variable.
struct Change {
  bool grows = true, shrinks = true; ///< neither: unchanged; both: unknown
  const clang::Expr *amount = nullptr;
  int count = 0;
};

class ChangeVisitor : public clang::RecursiveASTVisitor<ChangeVisitor> {
public:
  bool VisitUnaryOperator(clang::UnaryOperator *operation) {
    if (operation->isIncrementDecrementOp())
      note(operation->getSubExpr(), operation->isIncrementOp(), !operation->isIncrementOp(),
           nullptr);
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator *operation) {
    switch (operation->getOpcode()) {
    case clang::BO_AddAssign:
      note(operation->getLHS(), true, false, operation->getRHS());
      break;
    case clang::BO_MulAssign:
    case clang::BO_ShlAssign:
      note(operation->getLHS(), true, false, nullptr, true);
      break;
    case clang::BO_SubAssign:
      note(operation->getLHS(), false, true, operation->getRHS());
      break;
    case clang::BO_DivAssign:
    case clang::BO_ShrAssign:
      note(operation->getLHS(), false, true, nullptr, true);
      break;
    default:
      if (operation->isAssignmentOp())
        note(operation->getLHS(), true, true, nullptr);
    }
    return true;
  }

  std::map<const clang::VarDecl *, Change> changes;
  std::set<const clang::VarDecl *> scaled; ///< variables changed by *=, /= or shifts

private:
  void note(const clang::Expr *target, bool grows, bool shrinks, const clang::Expr *amount,
            bool is_scaled = false) {
    const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(target->IgnoreParenImpCasts());
    const auto *variable =
        reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
    if (!variable)
      return;
    auto [entry, is_new] = changes.try_emplace(variable, Change{grows, shrinks, amount, 0});
    if (!is_new) {
      entry->second.grows = entry->second.grows || grows;
      entry->second.shrinks = entry->second.shrinks || shrinks;
    }
    ++entry->second.count;
    if (is_scaled)
      scaled.insert(variable);
  }
};

bool always_leaves(const clang::Stmt *statement) {
  if (!statement)
    return false;
  if (llvm::isa<clang::ReturnStmt, clang::BreakStmt, clang::ContinueStmt>(statement))
    return true;
  const auto *block = llvm::dyn_cast<clang::CompoundStmt>(statement);
  return block && !block->body_empty() && always_leaves(block->body_back());
}

/// Whether an expression with this text reads memory, so that a store may change its value.
bool reads_memory(const std::string &text) {
  return text.contains('[') || text.contains("->") || text.contains("(*") || text.starts_with('*');
}

} // namespace

const clang::Expr *bare(const clang::Expr *expression) {
  return expression ? strip(expression) : nullptr;
}

KernelRanges RangeInterpreter::run(const clang::FunctionDecl &kernel) {
  for (const clang::ParmVarDecl *parameter : kernel.parameters()) {
    RangeValue value;
    if (parameter->getType()->isPointerType() || parameter->getType()->isArrayType())
      value.pointer = PointerRange{parameter->getNameAsString(), symbolic::Interval::of(0)};
    else if (const auto known = launch_.scalars.find(parameter->getNameAsString());
             known != launch_.scalars.end())
      value.range = symbolic::Interval::of(known->second);
    state_.variables[parameter] = value;
  }
  execute(kernel.getBody());
  return std::move(result_);
}

std::int64_t RangeInterpreter::trips_around() const {
  __int128 trips = 1;
  for (const Loop &loop : loops_)
    trips = std::min<__int128>(trips * loop.trips, symbolic::Interval::kInfinity);
  return static_cast<std::int64_t>(trips);
}

void RangeInterpreter::execute(const clang::Stmt *statement) {
  checkpoint();
  if (!statement || state_.is_dead || ++steps_ > kMaxSteps)
    return;
  if (const auto *block = llvm::dyn_cast<clang::CompoundStmt>(statement)) {
    for (const clang::Stmt *child : block->body())
      execute(child);
  } else if (const auto *declaration = llvm::dyn_cast<clang::DeclStmt>(statement)) {
    for (const clang::Decl *declared : declaration->decls())
      if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(declared))
        declare(*variable);
  } else if (const auto *branch = llvm::dyn_cast<clang::IfStmt>(statement)) {
    execute_if(*branch);
  } else if (const auto *loop = llvm::dyn_cast<clang::ForStmt>(statement)) {
    execute_loop(loop->getInit(), loop->getCond(), loop->getInc(), loop->getBody());
  } else if (const auto *loop = llvm::dyn_cast<clang::WhileStmt>(statement)) {
    execute_loop(nullptr, loop->getCond(), nullptr, loop->getBody());
  } else if (const auto *loop = llvm::dyn_cast<clang::DoStmt>(statement)) {
    execute_loop(nullptr, nullptr, nullptr, loop->getBody());
    evaluate(loop->getCond());
  } else if (const auto *expression = llvm::dyn_cast<clang::Expr>(statement)) {
    evaluate(expression);
  } else if (const auto *result = llvm::dyn_cast<clang::ReturnStmt>(statement)) {
    const RangeValue value = evaluate(result->getRetValue());
    if (!returns_.empty()) {
      *returns_.back() = value;
    }
    state_.is_dead = true;
  } else if (llvm::isa<clang::BreakStmt, clang::ContinueStmt>(statement)) {
    state_.is_dead = true;
  } else if (const auto *attributed = llvm::dyn_cast<clang::AttributedStmt>(statement)) {
    execute(attributed->getSubStmt());
  } else {
    const bool before = is_uncertain_;
    is_uncertain_ = true;
    for (const clang::Stmt *child : statement->children()) {
      execute(child);
      state_.is_dead = false;
    }
    is_uncertain_ = before;
  }
}

void RangeInterpreter::declare(const clang::VarDecl &variable) {
  RangeValue value;
  if (const clang::Expr *initialiser = variable.getInit())
    value = evaluate(initialiser);
  if (variable.getType()->isArrayType())
    value.pointer = PointerRange{};
  state_.variables[&variable] = value;
}

void RangeInterpreter::execute_if(const clang::IfStmt &statement) {
  execute(statement.getInit());
  const RangeValue decided = evaluate(statement.getCond());
  const bool was_uncertain = is_uncertain_;
  const bool is_plain = is_positional(statement.getCond());
  const bool leaves = always_leaves(statement.getThen()) && !statement.getElse();
  const std::size_t before = result_.accesses.size();
  const State start = state_;
  State after_then;
  after_then.is_dead = true;
  if (!(decided.range.is_number() && decided.range.low == 0)) {
    is_uncertain_ = was_uncertain || !is_plain;
    assume(statement.getCond(), true);
    execute(statement.getThen());
    after_then = state_;
  }
  const std::size_t middle = result_.accesses.size();
  state_ = start;
  if (decided.range.is_number() && decided.range.low != 0) {
    state_.is_dead = true;
  } else {
    assume(statement.getCond(), false);
    execute(statement.getElse());
  }
  is_uncertain_ = was_uncertain || (leaves && !is_plain && after_then.is_dead);
  // A buffer that both branches write is written for any value of the condition.
  for (std::size_t i = before; i < middle; ++i)
    for (std::size_t j = middle; j < result_.accesses.size(); ++j)
      if (!was_uncertain && result_.accesses[i].is_write && result_.accesses[j].is_write &&
          result_.accesses[i].buffer == result_.accesses[j].buffer)
        result_.accesses[i].is_uncertain = result_.accesses[j].is_uncertain = false;
  join(after_then);
}

void RangeInterpreter::join(const State &other) {
  if (other.is_dead)
    return;
  if (state_.is_dead) {
    state_ = other;
    return;
  }
  for (auto &[variable, value] : state_.variables) {
    const auto found = other.variables.find(variable);
    if (found == other.variables.end())
      continue;
    const RangeValue &theirs = found->second;
    value.range = symbolic::hull(value.range, theirs.range);
    if (value.pointer && theirs.pointer && value.pointer->buffer == theirs.pointer->buffer)
      value.pointer->bytes = symbolic::hull(value.pointer->bytes, theirs.pointer->bytes);
  }
  std::erase_if(state_.facts, [&](const auto &fact) {
    const auto found = other.facts.find(fact.first);
    return found == other.facts.end() || found->second != fact.second;
  });
}

/// Trips of a loop with a counter: (bound - start) / step, rounded up; 1 if unknown.
std::int64_t RangeInterpreter::trips_of(const clang::Expr *condition, const clang::Expr *step) {
  const auto *comparison = llvm::dyn_cast_or_null<clang::BinaryOperator>(bare(condition));
  if (!comparison || !comparison->isRelationalOp() || !step)
    return 1;
  ChangeVisitor visitor;
  visitor.TraverseStmt(const_cast<clang::Expr *>(step));
  if (visitor.changes.size() != 1)
    return 1;
  const auto &[variable, change] = *visitor.changes.begin();
  const auto found = state_.variables.find(variable);
  if (found == state_.variables.end())
    return 1;
  const symbolic::Interval start = found->second.range,
                           bound = evaluate(comparison->getRHS()).range;
  if (visitor.scaled.contains(variable)) {
    std::int64_t trips = 1;
    const std::int64_t ratio = std::max(std::abs(start.high), std::abs(bound.high));
    while (trips < 62 && (std::int64_t{1} << trips) < ratio)
      ++trips;
    return trips;
  }
  const std::int64_t amount = change.amount ? std::abs(evaluate(change.amount).range.low) : 1;
  const symbolic::Interval distance = change.grows ? bound - start : start - bound;
  if (!distance.is_finite_above() || amount <= 0)
    return 1;
  return std::max<std::int64_t>(1, (distance.high + amount - 1) / amount);
}

/// Widens each variable that the loop changes to all values that it may have in any iteration.
void RangeInterpreter::widen(const clang::Stmt *statement, std::int64_t trips) {
  if (!statement)
    return;
  ChangeVisitor visitor;
  visitor.TraverseStmt(const_cast<clang::Stmt *>(statement));
  for (const auto &[variable, change] : visitor.changes) {
    const auto found = state_.variables.find(variable);
    if (found == state_.variables.end())
      continue;
    RangeValue &value = found->second;
    value.loaded.reset();
    const std::int64_t amount = change.amount ? evaluate(change.amount).range.high : 1;
    const bool is_steady = change.count == 1 && !visitor.scaled.contains(variable) && amount >= 0 &&
                           amount < symbolic::Interval::kInfinity && change.grows != change.shrinks;
    if (value.pointer) {
      const clang::QualType pointee = variable->getType()->isPointerType()
                                          ? variable->getType()->getPointeeType()
                                          : context_.CharTy;
      const std::int64_t reach =
          is_steady ? amount * size_of(pointee) * (trips - 1) : symbolic::Interval::kInfinity;
      value.pointer->bytes = value.pointer->bytes + symbolic::Interval{change.shrinks ? -reach : 0,
                                                                       change.grows ? reach : 0};
    } else if (change.grows && change.shrinks) {
      value.range = {};
    } else if (change.grows) {
      value.range.high = is_steady && trips > 1 && value.range.is_bounded()
                             ? (value.range + symbolic::Interval::of(amount * trips)).high
                             : symbolic::Interval::kInfinity;
    } else {
      value.range.low = visitor.scaled.contains(variable) && value.range.low >= 0
                            ? 0
                            : -symbolic::Interval::kInfinity;
    }
    std::erase_if(state_.facts, [&](const auto &fact) {
      return mentions(fact.first, variable->getName()) || reads_memory(fact.first);
    });
  }
}

void RangeInterpreter::execute_loop(const clang::Stmt *initial, const clang::Expr *condition,
                                    const clang::Expr *step, const clang::Stmt *body) {
  execute(initial);
  if (condition) {
    const RangeValue bound = evaluate(condition);
    if (bound.loaded)
      result_.loop_bounds.insert(bound.loaded->buffer);
    if (bound.range.is_number() && bound.range.low == 0)
      return;
    if (const auto *comparison = llvm::dyn_cast<clang::BinaryOperator>(bare(condition));
        comparison && comparison->isComparisonOp())
      if (const RangeValue limit = evaluate(comparison->getRHS()); limit.loaded)
        result_.loop_bounds.insert(limit.loaded->buffer);
  }
  const std::int64_t trips = trips_of(condition, step);
  const bool silent = is_silent_;
  is_silent_ = true;
  widen(step, trips);
  widen(body, trips);
  is_silent_ = silent;
  State after = state_;
  loops_.push_back({trips});
  if (condition)
    assume(condition, true);
  execute(body);
  state_.is_dead = false;
  if (step)
    evaluate(step);
  loops_.pop_back();
  state_ = std::move(after);
}

bool RangeInterpreter::is_defined_once(const clang::VarDecl &variable) {
  const auto *function = llvm::dyn_cast<clang::FunctionDecl>(variable.getDeclContext());
  if (!function || !function->getBody())
    return false;
  auto [entry, is_new] = changed_.try_emplace(function);
  if (is_new) {
    ChangeVisitor visitor;
    visitor.TraverseStmt(function->getBody());
    for (const auto &[changed, change] : visitor.changes)
      entry->second.insert(changed);
  }
  return !entry->second.contains(&variable);
}

/// Whether a condition depends only on positions and sizes, and selects a contiguous part of them.
bool RangeInterpreter::is_positional(const clang::Expr *condition) {
  struct Visitor : clang::RecursiveASTVisitor<Visitor> {
    bool plain = true;
    bool VisitArraySubscriptExpr(clang::ArraySubscriptExpr *) { return plain = false; }
    bool VisitCallExpr(clang::CallExpr *) { return plain = false; }
    bool VisitUnaryOperator(clang::UnaryOperator *operation) {
      return plain = plain && operation->getOpcode() != clang::UO_Deref;
    }
    bool VisitBinaryOperator(clang::BinaryOperator *operation) {
      const auto code = operation->getOpcode();
      return plain =
                 plain && code != clang::BO_Rem && code != clang::BO_And && code != clang::BO_NE;
    }
    bool VisitDeclRefExpr(clang::DeclRefExpr *reference) {
      return plain = plain && !reference->getType()->isRealFloatingType();
    }
  } visitor;
  visitor.TraverseStmt(const_cast<clang::Expr *>(condition));
  return visitor.plain;
}

void RangeInterpreter::assume(const clang::Expr *condition, bool truth) {
  condition = bare(condition);
  if (!condition)
    return;
  if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(condition);
      operation && operation->getOpcode() == clang::UO_LNot)
    return assume(operation->getSubExpr(), !truth);
  const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(condition);
  if (!operation)
    if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(condition))
      if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
          variable && variable->getType()->isBooleanType() && variable->getInit())
        return assume(variable->getInit(), truth); // bool in_range = i < n;
  if (!operation)
    return;
  if (operation->getOpcode() == (truth ? clang::BO_LAnd : clang::BO_LOr)) {
    assume(operation->getLHS(), truth);
    assume(operation->getRHS(), truth);
  } else if (operation->isComparisonOp()) {
    assume_comparison(*operation, truth);
  }
}

void RangeInterpreter::assume_comparison(const clang::BinaryOperator &comparison, bool truth) {
  const bool silent = is_silent_;
  is_silent_ = true;
  const symbolic::Interval left = evaluate(comparison.getLHS()).range,
                           right = evaluate(comparison.getRHS()).range;
  is_silent_ = silent;
  const auto opcode = truth ? comparison.getOpcode()
                            : clang::BinaryOperator::negateComparisonOp(comparison.getOpcode());
  const auto limit = [&](const clang::Expr *low_side, symbolic::Interval low,
                         const clang::Expr *high_side, symbolic::Interval high, int gap) {
    narrow(low_side, {-symbolic::Interval::kInfinity,
                      high.high >= symbolic::Interval::kInfinity ? high.high : high.high - gap});
    narrow(high_side, {low.low <= -symbolic::Interval::kInfinity ? low.low : low.low + gap,
                       symbolic::Interval::kInfinity});
  };
  switch (opcode) {
  case clang::BO_LT:
    return limit(comparison.getLHS(), left, comparison.getRHS(), right, 1);
  case clang::BO_LE:
    return limit(comparison.getLHS(), left, comparison.getRHS(), right, 0);
  case clang::BO_GT:
    return limit(comparison.getRHS(), right, comparison.getLHS(), left, 1);
  case clang::BO_GE:
    return limit(comparison.getRHS(), right, comparison.getLHS(), left, 0);
  case clang::BO_EQ:
    narrow(comparison.getLHS(), right);
    narrow(comparison.getRHS(), left);
    return;
  default:
    return;
  }
}

/// Narrows the range of `expression`, and of the parts of it that this determines.
void RangeInterpreter::narrow(const clang::Expr *expression, symbolic::Interval range) {
  expression = bare(expression);
  if (!expression || depth_ > 40)
    return;
  ++depth_;
  const bool silent = is_silent_;
  is_silent_ = true;
  if (const std::string text = text_of(expression); !text.empty()) {
    const auto known = state_.facts.find(text);
    state_.facts[text] =
        known == state_.facts.end() ? range : symbolic::intersect(known->second, range);
  }
  if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
    if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl()))
      if (const auto found = state_.variables.find(variable); found != state_.variables.end()) {
        found->second.range = symbolic::intersect(found->second.range, range);
        if (const clang::Expr *initialiser = variable->getInit();
            initialiser && !llvm::isa<clang::ParmVarDecl>(variable) && is_defined_once(*variable))
          narrow(initialiser, range);
      }
  } else if (const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(expression)) {
    const symbolic::Interval left = evaluate(operation->getLHS()).range,
                             right = evaluate(operation->getRHS()).range;
    if (operation->getOpcode() == clang::BO_Add) {
      narrow(operation->getLHS(), range - right);
      narrow(operation->getRHS(), range - left);
    } else if (operation->getOpcode() == clang::BO_Sub) {
      narrow(operation->getLHS(), range + right);
    } else if (operation->getOpcode() == clang::BO_Mul && right.is_number() && right.low > 0 &&
               range.is_finite_above()) {
      narrow(operation->getLHS(), {-symbolic::Interval::kInfinity, range.high / right.low});
    } else if (operation->getOpcode() == clang::BO_Mul && left.is_number() && left.low > 0 &&
               range.is_finite_above()) {
      narrow(operation->getRHS(), {-symbolic::Interval::kInfinity, range.high / left.low});
    }
  }
  is_silent_ = silent;
  --depth_;
}

} // namespace warpwright::analysis
