// The walk over a body in execution order; see flow.h.
//
// The walk visits loops as init, condition, body, increment, so that "later in order" means "runs
// later" within one iteration. Nested lambdas are treated as loops, because they may run any number
// of times. Thread: the unit's thread.
#include "analysis/facts/flow.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace warpwright::analysis {

using namespace clang;

const VarDecl *named_variable(const Expr *expression) {
  if (!expression)
    return nullptr;
  const auto *reference = dyn_cast<DeclRefExpr>(expression->IgnoreParenImpCasts());
  return reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
}

namespace {

Update update_of(BinaryOperatorKind opcode) {
  switch (opcode) {
  case BO_Assign:
    return Update::Assign;
  case BO_AddAssign:
    return Update::Add;
  case BO_SubAssign:
    return Update::Subtract;
  default:
    return Update::Other;
  }
}

/// The update made by an operator on dependent or class types.
std::optional<Update> update_of(OverloadedOperatorKind opcode) {
  switch (opcode) {
  case OO_Equal:
    return Update::Assign;
  case OO_PlusEqual:
  case OO_PlusPlus:
    return Update::Add;
  case OO_MinusEqual:
  case OO_MinusMinus:
    return Update::Subtract;
  case OO_StarEqual:
  case OO_SlashEqual:
  case OO_PercentEqual:
  case OO_AmpEqual:
  case OO_PipeEqual:
  case OO_CaretEqual:
  case OO_LessLessEqual:
  case OO_GreaterGreaterEqual:
    return Update::Other;
  default:
    return std::nullopt;
  }
}

/// The jump statement of a branch that consists only of a jump, or null.
const Stmt *only_jump(const Stmt *branch) {
  if (const auto *block = dyn_cast_or_null<CompoundStmt>(branch))
    branch = block->body_empty() ? nullptr : block->body_back();
  return branch && (isa<ReturnStmt>(branch) || isa<ContinueStmt>(branch) || isa<BreakStmt>(branch))
             ? branch
             : nullptr;
}

} // namespace

class Flow::Builder {
public:
  explicit Builder(Flow &flow) : flow_(flow) {}

  void run(const Stmt *body) {
    flow_.regions_.push_back({});
    walk(body);
    flow_.regions_[0].end = order_ + 1;
  }

private:
  static constexpr int kMaxDepth = 900; ///< nesting depth; deeper code only loses facts

  unsigned open(const Stmt *statement, const Expr *condition, bool is_loop, bool is_else = false) {
    flow_.regions_.push_back({region_, order_, 0, condition, statement, is_loop, is_else});
    region_ = static_cast<unsigned>(flow_.regions_.size() - 1);
    return region_;
  }

  void close(unsigned region) {
    flow_.regions_[region].end = ++order_;
    region_ = flow_.regions_[region].parent;
  }

  void in_region(const Stmt *part, const Stmt *statement, const Expr *condition, bool is_loop,
                 bool is_else = false) {
    if (!part)
      return;
    const unsigned region = open(statement, condition, is_loop, is_else);
    walk(part);
    close(region);
  }

  void define(const VarDecl *variable, Update update, const Expr *value,
              bool is_declaration = false) {
    if (variable)
      flow_.definitions_[variable].push_back({update, value, {++order_, region_}, is_declaration});
  }

  void walk(const Stmt *statement) {
    if (!statement || depth_ > kMaxDepth)
      return;
    ++depth_;
    flow_.positions_[statement] = {++order_, region_};
    walk_kind(statement);
    --depth_;
  }

  void walk_children(const Stmt *statement) {
    for (const Stmt *child : statement->children())
      walk(child);
  }

  void walk_kind(const Stmt *statement) {
    if (const auto *s = dyn_cast<IfStmt>(statement))
      return walk_if(s);
    if (const auto *s = dyn_cast<ForStmt>(statement))
      return walk_for(s);
    if (const auto *s = dyn_cast<WhileStmt>(statement))
      return walk_loop(s, s->getConditionVariableDeclStmt(), s->getCond(), s->getBody());
    if (const auto *s = dyn_cast<DoStmt>(statement))
      return walk_loop(s, nullptr, s->getCond(), s->getBody());
    if (const auto *s = dyn_cast<CXXForRangeStmt>(statement))
      return walk_range_for(s);
    if (const auto *s = dyn_cast<SwitchStmt>(statement)) {
      walk(s->getInit());
      walk(s->getCond());
      return in_region(s->getBody(), s, s->getCond(), false);
    }
    if (const auto *s = dyn_cast<AbstractConditionalOperator>(statement))
      return walk_conditional(s);
    if (const auto *s = dyn_cast<BinaryOperator>(statement))
      return walk_binary(s);
    if (const auto *s = dyn_cast<UnaryOperator>(statement))
      return walk_unary(s);
    if (const auto *s = dyn_cast<DeclStmt>(statement))
      return walk_declarations(s);
    if (const auto *s = dyn_cast<CallExpr>(statement))
      return walk_call(s);
    if (const auto *s = dyn_cast<LambdaExpr>(statement))
      return in_region(s->getBody(), s, nullptr, true);
    if (const auto *s = dyn_cast<PseudoObjectExpr>(statement))
      return walk(s->getSyntacticForm());
    walk_children(statement);
  }

  void walk_if(const IfStmt *statement) {
    walk(statement->getInit());
    walk(statement->getConditionVariableDeclStmt());
    walk(statement->getCond());
    in_region(statement->getThen(), statement, statement->getCond(), false);
    in_region(statement->getElse(), statement, statement->getCond(), false, true);
    const Stmt *jump = statement->getElse() ? nullptr : only_jump(statement->getThen());
    if (!jump)
      return;
    unsigned loop = region_;
    while (loop != 0 && !flow_.regions_[loop].is_loop)
      loop = flow_.regions_[loop].parent;
    flow_.exits_.push_back({.condition = statement->getCond(),
                            .statement = statement,
                            .at = {++order_, region_},
                            .leaves_function = isa<ReturnStmt>(jump),
                            .continues = isa<ContinueStmt>(jump),
                            .loop = loop});
  }

  void walk_for(const ForStmt *statement) {
    walk(statement->getInit());
    const unsigned region = open(statement, statement->getCond(), true);
    walk(statement->getConditionVariableDeclStmt());
    walk(statement->getCond());
    walk(statement->getBody());
    walk(statement->getInc());
    close(region);
  }

  void walk_loop(const Stmt *statement, const Stmt *declaration, const Expr *condition,
                 const Stmt *body) {
    const unsigned region = open(statement, condition, true);
    walk(declaration);
    walk(condition);
    walk(body);
    close(region);
  }

  void walk_range_for(const CXXForRangeStmt *statement) {
    walk(statement->getRangeInit());
    const unsigned region = open(statement, nullptr, true);
    define(statement->getLoopVariable(), Update::Unknown, nullptr, true);
    walk(statement->getBody());
    close(region);
  }

  void walk_conditional(const AbstractConditionalOperator *expression) {
    walk(expression->getCond());
    in_region(expression->getTrueExpr(), expression, expression->getCond(), false);
    in_region(expression->getFalseExpr(), expression, expression->getCond(), false, true);
  }

  /// Treats `v.x = value` as a change of all of v.
  void define_member_of(const Expr *target) {
    target = target->IgnoreParenImpCasts();
    if (!isa<MemberExpr>(target))
      return;
    while (const auto *member = dyn_cast<MemberExpr>(target)) {
      if (member->isArrow())
        return;
      target = member->getBase()->IgnoreParenImpCasts();
    }
    if (const VarDecl *variable = named_variable(target); variable && variable->hasLocalStorage())
      define(variable, Update::Unknown, nullptr);
  }

  void walk_binary(const BinaryOperator *expression) {
    if (expression->isLogicalOp()) {
      walk(expression->getLHS());
      return in_region(expression->getRHS(), expression, expression->getLHS(), false,
                       expression->getOpcode() == BO_LOr);
    }
    walk(expression->getLHS());
    walk(expression->getRHS());
    if (!expression->isAssignmentOp())
      return;
    define_member_of(expression->getLHS());
    define(named_variable(expression->getLHS()), update_of(expression->getOpcode()),
           expression->getRHS());
  }

  void walk_unary(const UnaryOperator *expression) {
    walk(expression->getSubExpr());
    const VarDecl *variable = named_variable(expression->getSubExpr());
    if (expression->isIncrementDecrementOp())
      define(variable, expression->isIncrementOp() ? Update::Add : Update::Subtract, nullptr);
    else if (expression->getOpcode() == UO_AddrOf && variable && variable->hasLocalStorage() &&
             !variable->getType()->isArrayType())
      define(variable, Update::Unknown, nullptr);
  }

  void walk_declarations(const DeclStmt *statement) {
    for (const Decl *declaration : statement->decls()) {
      const auto *variable = dyn_cast_or_null<VarDecl>(declaration);
      if (!variable)
        continue;
      walk(variable->getInit());
      define(variable, Update::Assign, variable->getInit(), true);
      // After a non-const reference is bound, the value of its target is unknown.
      if (variable->getType()->isLValueReferenceType() &&
          !variable->getType().getNonReferenceType().isConstQualified())
        define(named_variable(variable->getInit()), Update::Unknown, nullptr);
    }
  }

  void walk_call(const CallExpr *call) {
    walk_children(call);
    if (const auto *operation = dyn_cast<CXXOperatorCallExpr>(call)) {
      const auto update = update_of(operation->getOperator());
      if (update && call->getNumArgs() >= 1)
        return define(named_variable(call->getArg(0)), *update,
                      call->getNumArgs() > 1 ? call->getArg(1) : nullptr);
    }
    const FunctionDecl *callee = call->getDirectCallee();
    const unsigned count = callee ? std::min(call->getNumArgs(), callee->getNumParams()) : 0;
    for (unsigned i = 0; i < count && !isa<CXXOperatorCallExpr>(call); ++i) {
      const QualType type = callee->getParamDecl(i)->getType();
      if (type->isLValueReferenceType() && !type.getNonReferenceType().isConstQualified())
        define(named_variable(call->getArg(i)), Update::Unknown, nullptr);
    }
  }

  Flow &flow_;
  unsigned order_ = 0;
  unsigned region_ = 0;
  int depth_ = 0;
};

Flow::Flow(const Stmt *body) { Builder(*this).run(body); }

std::optional<Position> Flow::position_of(const Stmt *statement) const {
  const auto found = positions_.find(statement);
  return found == positions_.end() ? std::nullopt : std::optional(found->second);
}

const std::vector<Definition> &Flow::definitions_of(const VarDecl *variable) const {
  static const std::vector<Definition> none;
  const auto found = definitions_.find(variable);
  return found == definitions_.end() ? none : found->second;
}

std::vector<unsigned> Flow::regions_around(unsigned region) const {
  std::vector<unsigned> around;
  for (; region != 0; region = regions_[region].parent)
    around.push_back(region);
  return around;
}

bool Flow::is_within(unsigned inner, unsigned outer) const {
  while (inner != outer && inner != 0)
    inner = regions_[inner].parent;
  return inner == outer;
}

int Flow::loop_depth(unsigned region) const {
  const auto around = regions_around(region);
  return static_cast<int>(
      std::ranges::count_if(around, [&](unsigned r) { return regions_[r].is_loop; }));
}

bool Flow::dominates(const Position &definition, const Position &use) const {
  return definition.order < use.order && is_within(use.region, definition.region);
}

std::vector<const Expr *> Flow::conditions_between(unsigned inner, unsigned outer) const {
  std::vector<const Expr *> conditions;
  for (; inner != 0 && inner != outer; inner = regions_[inner].parent)
    if (!regions_[inner].is_loop && regions_[inner].condition)
      conditions.push_back(regions_[inner].condition);
  return conditions;
}

std::vector<const Exit *> Flow::exits_before(const Position &position) const {
  std::vector<const Exit *> before;
  for (const Exit &exit : exits_)
    if (dominates(exit.at, position))
      before.push_back(&exit);
  return before;
}

} // namespace warpwright::analysis
