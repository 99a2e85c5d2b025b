// Recognition of updates, node by node; see loop_updates.h.
#include "generator/text/lift/loop_updates.h"

#include "generator/text/source/effects.h"

#include <algorithm>

namespace warpwright::lift {

using clang::dyn_cast;
using source::Combine;

namespace {

std::optional<Combine> combine_of(clang::BinaryOperatorKind opcode, bool is_bool) {
  switch (opcode) {
  case clang::BO_Add:
  case clang::BO_AddAssign:
  case clang::BO_Sub:
  case clang::BO_SubAssign:
    return Combine::Sum;
  case clang::BO_Mul:
  case clang::BO_MulAssign:
    return Combine::Product;
  case clang::BO_And:
  case clang::BO_AndAssign:
    return Combine::And;
  case clang::BO_Or:
  case clang::BO_OrAssign:
    return Combine::Or;
  case clang::BO_Xor:
  case clang::BO_XorAssign:
    return Combine::Xor;
  case clang::BO_LAnd:
    return is_bool ? std::optional(Combine::And) : std::nullopt;
  case clang::BO_LOr:
    return is_bool ? std::optional(Combine::Or) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Maximum or minimum for `left op right ? left : right`; nullopt for other comparisons.
std::optional<Combine> combine_of_choice(clang::BinaryOperatorKind opcode) {
  if (opcode == clang::BO_GT || opcode == clang::BO_GE)
    return Combine::Maximum;
  if (opcode == clang::BO_LT || opcode == clang::BO_LE)
    return Combine::Minimum;
  return std::nullopt;
}

class Reader {
public:
  explicit Reader(const source::KernelSource &source) : source_(source) {}

  std::optional<Update> read(const clang::Stmt *node) const {
    if (const auto *branch = dyn_cast<clang::IfStmt>(node))
      return of_branch(branch);
    if (const auto *unary = dyn_cast<clang::UnaryOperator>(node); unary && unary->isIncrementDecrementOp())
      return Update{unary->getSubExpr(), Combine::Sum, "", {}, node};
    const auto *binary = dyn_cast<clang::BinaryOperator>(node);
    if (!binary || !binary->isAssignmentOp())
      return std::nullopt;
    if (binary->isCompoundAssignmentOp()) {
      const auto combine = combine_of(binary->getOpcode(), false);
      return combine ? std::optional(Update{binary->getLHS(), *combine, "", {}, node}) : std::nullopt;
    }
    auto update = of_value(binary->getLHS(), source::strip(binary->getRHS()));
    if (update)
      update->statement = node;
    return update;
  }

private:
  bool same(const clang::Expr *left, const clang::Expr *right) const {
    return left && right && source::same_expression(source_, left, right);
  }

  /// `place = value`.
  std::optional<Update> of_value(const clang::Expr *place, const clang::Expr *value) const {
    if (const auto *binary = dyn_cast<clang::BinaryOperator>(value)) {
      const auto combine = combine_of(binary->getOpcode(), place->getType()->isBooleanType());
      const clang::Expr *read = combine ? operand(place, binary, *combine) : nullptr;
      return read ? std::optional(Update{place, *combine, "", {read}, nullptr}) : std::nullopt;
    }
    if (const auto *call = dyn_cast<clang::CallExpr>(value))
      return of_call(place, call);
    if (const auto *choice = dyn_cast<clang::ConditionalOperator>(value))
      return of_choice(place, choice->getCond(), choice->getTrueExpr(), choice->getFalseExpr());
    if (const auto *negation = dyn_cast<clang::UnaryOperator>(value);
        negation && negation->getOpcode() == clang::UO_LNot && same(negation->getSubExpr(), place) && is_truth(place))
      return Update{place, Combine::Xor, "", {negation->getSubExpr()}, nullptr};
    const clang::Expr *plain = source::strip_casts(value);
    const bool is_number = llvm::isa<clang::IntegerLiteral>(plain) || llvm::isa<clang::CXXBoolLiteralExpr>(plain);
    const std::string text = is_number ? source_.text_of(plain) : "";
    if (!text.empty() && place->getType()->isIntegerType())
      return Update{place, Combine::Or, text, {}, nullptr};
    return std::nullopt;
  }

  /// True for a bool, and for an integer that starts from 0 or 1.
  bool is_truth(const clang::Expr *place) const {
    const clang::VarDecl *variable = source::variable_of(place);
    const auto start = variable && variable->hasInit() ? source::integer_value(source_, source::strip(variable->getInit()))
                                                       : std::nullopt;
    if (place->getType()->isBooleanType() || !variable)
      return place->getType()->isBooleanType();
    return (start == 0 || start == 1) &&
           std::ranges::all_of(source::writes_of(source_.body(), variable), [](const clang::Stmt *write) {
             const auto *assign = dyn_cast<clang::BinaryOperator>(write);
             const auto *negation = assign ? source::as<clang::UnaryOperator>(assign->getRHS()) : nullptr;
             return negation && negation->getOpcode() == clang::UO_LNot;
           });
  }

  /// The operand that is the place, in a chain of equal operators.
  const clang::Expr *operand(const clang::Expr *place, const clang::BinaryOperator *binary, Combine combine) const {
    if (same(binary->getLHS(), place))
      return binary->getLHS();
    if (binary->getOpcode() != clang::BO_Sub && same(binary->getRHS(), place))
      return binary->getRHS();
    const auto *left = source::as<clang::BinaryOperator>(binary->getLHS());
    return left && combine_of(left->getOpcode(), place->getType()->isBooleanType()) == combine
               ? operand(place, left, combine)
               : nullptr;
  }

  std::optional<Update> of_call(const clang::Expr *place, const clang::CallExpr *call) const {
    const std::string name = source::callee_name(call);
    if ((name == "fmaf" || name == "fma" || name == "__fmaf_rn" || name == "__fma_rn") && call->getNumArgs() == 3 &&
        same(call->getArg(2), place))
      return Update{place, Combine::Sum, "", {call->getArg(2)}, nullptr};
    const auto combine = source::combine_of_function(name);
    if (!combine || call->getNumArgs() != 2)
      return std::nullopt;
    for (const clang::Expr *argument : call->arguments())
      if (same(argument, place))
        return Update{place, *combine, "", {argument}, nullptr};
    return std::nullopt;
  }

  /// `place = condition ? yes : no`, where one of them is the place and the condition compares both.
  std::optional<Update> of_choice(const clang::Expr *place, const clang::Expr *condition, const clang::Expr *yes,
                                  const clang::Expr *no) const {
    const auto *compared = source::as<clang::BinaryOperator>(condition);
    const auto combine = compared ? combine_of_choice(compared->getOpcode()) : std::nullopt;
    if (!combine || (!same(yes, place) && !same(no, place)))
      return std::nullopt;
    const bool in_order = same(compared->getLHS(), yes) && same(compared->getRHS(), no);
    const bool swapped = same(compared->getLHS(), no) && same(compared->getRHS(), yes);
    if (!in_order && !swapped)
      return std::nullopt;
    const Combine other = *combine == Combine::Maximum ? Combine::Minimum : Combine::Maximum;
    std::vector<const clang::Expr *> reads;
    for (const clang::Expr *read : std::initializer_list<const clang::Expr *>{compared->getLHS(), compared->getRHS(), yes, no})
      if (same(read, place))
        reads.push_back(read);
    return Update{place, in_order ? *combine : other, "", reads, nullptr};
  }

  /// `if (value > place) place = value;`
  std::optional<Update> of_branch(const clang::IfStmt *branch) const {
    const auto then = source::statements_of(branch->getThen());
    const auto *assign = then.size() == 1 ? dyn_cast<clang::BinaryOperator>(then.front()) : nullptr;
    if (branch->getElse() || branch->hasVarStorage() || !assign || assign->getOpcode() != clang::BO_Assign)
      return std::nullopt;
    auto update = of_choice(assign->getLHS(), branch->getCond(), assign->getRHS(), assign->getLHS());
    if (!update)
      return std::nullopt;
    std::erase(update->reads, assign->getLHS()); // it is the place that is written
    update->statement = branch;
    return update;
  }

  const source::KernelSource &source_;
};

/// The selection of a branch whose statements all assign to own variables; nullopt for others.
std::optional<Selection> selection_of(const source::KernelSource &source, const clang::IfStmt *branch) {
  const auto *compared = source::as<clang::BinaryOperator>(branch->getCond());
  const auto combine = compared ? combine_of_choice(compared->getOpcode()) : std::nullopt;
  const auto then = source::statements_of(branch->getThen());
  if (!combine || branch->getElse() || branch->hasVarStorage() || then.size() < 2)
    return std::nullopt;
  Selection found;
  found.keeps_first = compared->getOpcode() == clang::BO_LT || compared->getOpcode() == clang::BO_GT;
  for (const clang::Stmt *statement : then) {
    const auto *assign = dyn_cast<clang::BinaryOperator>(statement);
    const clang::VarDecl *variable =
        assign && assign->getOpcode() == clang::BO_Assign ? source::variable_of(assign->getLHS()) : nullptr;
    if (!variable || !variable->isLocalVarDeclOrParm() || variable->getType()->isReferenceType())
      return std::nullopt;
    const auto is = [&](const clang::Expr *side, const clang::Expr *expression) {
      return source::same_expression(source, side, expression);
    };
    const bool is_left = is(compared->getLHS(), assign->getLHS()) && is(compared->getRHS(), assign->getRHS());
    const bool is_right = is(compared->getRHS(), assign->getLHS()) && is(compared->getLHS(), assign->getRHS());
    if (is_left || is_right) {
      const Combine other = *combine == Combine::Maximum ? Combine::Minimum : Combine::Maximum;
      found.best = variable;
      found.assign = assign;
      found.combine = is_right ? *combine : other; // value > best, or best < value
      found.reads = {is_left ? compared->getLHS() : compared->getRHS()};
    } else {
      found.chosen.push_back(variable);
    }
  }
  return found.best ? std::optional(found) : std::nullopt;
}

} // namespace

std::vector<Selection> selections_in(const source::KernelSource &source, const clang::Stmt *root) {
  std::vector<Selection> found;
  for (const auto *branch : source::find_all<clang::IfStmt>(root))
    if (auto selection = selection_of(source, branch))
      found.push_back(std::move(*selection));
  return found;
}

std::vector<Update> updates_in(const source::KernelSource &source, const clang::Stmt *root) {
  const Reader reader(source);
  std::vector<Update> found;
  std::set<const clang::Expr *> in_branches; // places of the assignments that a branch above is the update of
  source::for_each_node(root, [&](const clang::Stmt *node) {
    auto update = reader.read(node);
    if (!update || in_branches.contains(update->place))
      return;
    if (llvm::isa<clang::IfStmt>(node))
      in_branches.insert(update->place);
    found.push_back(std::move(*update));
  });
  return found;
}

} // namespace warpwright::lift
