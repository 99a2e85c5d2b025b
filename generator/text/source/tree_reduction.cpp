// Recognition of tree reductions, loop header first; see tree_reduction.h.
#include "generator/text/source/tree_reduction.h"

namespace warpwright::source {

using clang::dyn_cast;

namespace {

/// The counter of a loop over s = half the block, s > 0, s >>= 1; null for other loops.
const clang::VarDecl *halving_counter(const IndexReader &form, const clang::ForStmt *loop) {
  const clang::VarDecl *counter = only_variable(loop->getInit());
  if (!counter || !counter->hasInit())
    return nullptr;
  const std::string start = form.source().text_of(counter->getInit());
  auto half = integer_value(form.source(), counter->getInit());
  const bool by_name = start == "blockDim.x / 2" || start == "blockDim.x >> 1" ||
                       start == "blockDim.x/2" || start == "blockDim.x>>1";
  if (!by_name && !(half && form.block()[0] && *half * 2 == *form.block()[0]))
    return nullptr;
  const auto *condition = as<clang::BinaryOperator>(loop->getCond());
  const auto *step = as<clang::BinaryOperator>(loop->getInc());
  if (!condition || !step || variable_of(condition->getLHS()) != counter ||
      variable_of(step->getLHS()) != counter)
    return nullptr;
  auto limit = integer_value(form.source(), condition->getRHS()),
       by = integer_value(form.source(), step->getRHS());
  const bool ends = (condition->getOpcode() == clang::BO_GT && limit == 0) ||
                    (condition->getOpcode() == clang::BO_GE && limit == 1);
  const bool halves = (step->getOpcode() == clang::BO_ShrAssign && by == 1) ||
                      (step->getOpcode() == clang::BO_DivAssign && by == 2);
  return ends && halves ? counter : nullptr;
}

/// The access to an element of a shared array; nullopt for other expressions.
std::optional<ElementAccess> shared_element(const IndexReader &form,
                                            const clang::Expr *expression) {
  auto element = form.access(expression);
  const bool shared = element && element->base->hasAttr<clang::CUDASharedAttr>();
  return shared ? element : std::nullopt;
}

/// Fills the tree from `a[t] += a[t + s]`, `a[t] = a[t] + a[t + s]` or
/// `a[t] = fmaxf(a[t], a[t + s])`; false for other statements.
bool match_update(const IndexReader &form, const clang::Expr *statement, const std::string &counter,
                  Tree &tree) {
  const auto *assign = as<clang::BinaryOperator>(statement);
  if (!assign || !assign->isAssignmentOp())
    return false;
  std::vector<const clang::Expr *> operands;
  const clang::Expr *value = strip(assign->getRHS());
  if (assign->getOpcode() == clang::BO_AddAssign || assign->getOpcode() == clang::BO_MulAssign) {
    tree.combine = assign->getOpcode() == clang::BO_AddAssign ? Combine::Sum : Combine::Product;
    operands = {assign->getLHS(), value};
  } else if (const auto *sum = dyn_cast<clang::BinaryOperator>(value);
             sum && sum->getOpcode() == clang::BO_Add) {
    operands = {sum->getLHS(), sum->getRHS()};
  } else if (auto combine = combine_of_function(callee_name(value))) {
    const auto *call = clang::cast<clang::CallExpr>(value);
    if (call->getNumArgs() != 2)
      return false;
    tree.combine = *combine;
    operands = {call->getArg(0), call->getArg(1)};
  }
  auto target = shared_element(form, assign->getLHS());
  if (operands.size() != 2 || !target ||
      target->index != symbolic::Polynomial::symbol("threadIdx.x"))
    return false;
  const symbolic::Polynomial partner = target->index + symbolic::Polynomial::symbol(counter);
  int own = 0, other = 0;
  for (const clang::Expr *operand : operands) {
    auto element = shared_element(form, operand);
    own += element && element->base == target->base && element->index == target->index;
    other += element && element->base == target->base && element->index == partner;
  }
  tree.array = target->base->getNameAsString();
  tree.type = target->element_type;
  const auto *subscript = dyn_cast<clang::ArraySubscriptExpr>(strip(assign->getLHS()));
  tree.thread = subscript ? form.source().text_of(subscript->getIdx()) : "";
  return own == 1 && other == 1 && !tree.thread.empty();
}

std::optional<Tree> match_tree(const IndexReader &form, const clang::ForStmt *loop) {
  const clang::VarDecl *counter = halving_counter(form, loop);
  const auto body = statements_of(loop->getBody());
  if (!counter || body.size() != 2)
    return std::nullopt;
  const auto *branch = dyn_cast<clang::IfStmt>(body[0]);
  const auto *barrier = dyn_cast<clang::Expr>(body[1]);
  if (!branch || branch->getElse() || !barrier || callee_name(barrier) != "__syncthreads")
    return std::nullopt;
  const auto *condition = as<clang::BinaryOperator>(branch->getCond());
  if (!condition || condition->getOpcode() != clang::BO_LT ||
      variable_of(condition->getRHS()) != counter ||
      form.of(condition->getLHS()) != symbolic::Polynomial::symbol("threadIdx.x"))
    return std::nullopt;
  const auto update = statements_of(branch->getThen());
  Tree tree{loop};
  const auto *expression = update.size() == 1 ? dyn_cast<clang::Expr>(update[0]) : nullptr;
  if (!expression || !match_update(form, expression, counter->getNameAsString(), tree))
    return std::nullopt;
  const bool fits =
      is_shuffled(tree.type) || tree.type == "long long" || tree.type == "unsigned long long";
  return fits ? std::optional(tree) : std::nullopt;
}

} // namespace

std::vector<Tree> find_trees(const IndexReader &form) {
  std::vector<Tree> trees;
  for (const auto *loop : find_all<clang::ForStmt>(form.source().body()))
    if (auto tree = match_tree(form, loop))
      trees.push_back(*tree);
  return trees;
}

} // namespace warpwright::source
