// Interval arithmetic over the AST; see value_range.h. What is not understood has its type's range.
#include "generator/text/source/value_range.h"

#include <algorithm>
#include <limits>

namespace warpwright::source {

using clang::dyn_cast;

namespace {

constexpr int kMaxDepth = 32; // nesting of variables and operators; real indices stay below ten

/// Smallest and largest of the values of `operation` at the ends of both ranges.
template <class Operation>
std::optional<ValueRange> at_ends(ValueRange left, ValueRange right, Operation operation) {
  ValueRange all{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  for (const std::int64_t a : {left.low, left.high})
    for (const std::int64_t b : {right.low, right.high}) {
      std::int64_t value = 0;
      if (operation(a, b, &value)) // overflow
        return std::nullopt;
      all = {std::min(all.low, value), std::max(all.high, value)};
    }
  return all;
}

std::optional<ValueRange> sum(ValueRange left, ValueRange right) {
  return at_ends(left, right, [](auto a, auto b, auto *value) { return __builtin_add_overflow(a, b, value); });
}

/// The amount that a statement adds to the variable; null for other statements. 1 for `++`.
struct Increment {
  const clang::Expr *step = nullptr;
  bool is_one = false;
};

std::optional<Increment> increment_of(const clang::Stmt *node, const clang::VarDecl *variable) {
  if (const auto *unary = dyn_cast_or_null<clang::UnaryOperator>(node);
      unary && unary->isIncrementOp() && variable_of(unary->getSubExpr()) == variable)
    return Increment{nullptr, true};
  const auto *binary = dyn_cast_or_null<clang::BinaryOperator>(node);
  if (binary && binary->getOpcode() == clang::BO_AddAssign && variable_of(binary->getLHS()) == variable)
    return Increment{binary->getRHS(), false};
  return std::nullopt;
}

} // namespace

std::optional<ValueRange> RangeReader::of_type(clang::QualType type) const {
  if (type->isDependentType() || !type->isIntegralOrEnumerationType())
    return std::nullopt;
  const auto bits = source_.unit().context().getTypeSize(type);
  if (bits > 32)
    return std::nullopt;
  if (type->isBooleanType())
    return ValueRange{0, 1};
  const std::int64_t half = std::int64_t(1) << (bits - 1);
  return type->isUnsignedIntegerOrEnumerationType() ? ValueRange{0, 2 * half - 1} : ValueRange{-half, half - 1};
}

std::optional<std::int64_t> RangeReader::extent(const std::string &name) {
  const auto value = source_.launch_extent(name);
  if (value)
    extents_[name] = *value;
  return value;
}

std::optional<ValueRange> RangeReader::of_builtin(const std::string &name) {
  const std::string axis = name.substr(name.size() - 1);
  const bool is_place = name.starts_with("threadIdx") || name.starts_with("blockIdx");
  const bool is_block = name.starts_with("threadIdx") || name.starts_with("blockDim");
  const auto most = extent((is_block ? "blockDim." : "gridDim.") + axis);
  if (!most)
    return std::nullopt;
  return is_place ? ValueRange{0, *most - 1} : ValueRange{1, *most};
}

std::optional<ValueRange> RangeReader::of_binary(const clang::BinaryOperator *binary, int depth) {
  const auto opcode = binary->getOpcode();
  if (opcode == clang::BO_Comma)
    return of(binary->getRHS(), depth);
  if (binary->isComparisonOp() || binary->isLogicalOp())
    return ValueRange{0, 1};
  const auto left = of(binary->getLHS(), depth), right = of(binary->getRHS(), depth);
  if (opcode == clang::BO_Rem && right && right->low > 0)
    return left && left->low >= 0 ? ValueRange{0, std::min(left->high, right->high - 1)}
                                  : ValueRange{1 - right->high, right->high - 1};
  if (opcode == clang::BO_And && right && right->low >= 0)
    return ValueRange{0, left && left->low >= 0 ? std::min(left->high, right->high) : right->high};
  if (!left || !right)
    return std::nullopt;
  switch (opcode) {
  case clang::BO_Add:
    return sum(*left, *right);
  case clang::BO_Sub:
    return at_ends(*left, *right, [](auto a, auto b, auto *value) { return __builtin_sub_overflow(a, b, value); });
  case clang::BO_Mul:
    return at_ends(*left, *right, [](auto a, auto b, auto *value) { return __builtin_mul_overflow(a, b, value); });
  case clang::BO_Div:
    if (right->low <= 0)
      return std::nullopt;
    return at_ends(*left, *right, [](auto a, auto b, auto *value) { return *value = a / b, false; });
  case clang::BO_Shl:
    if (right->low < 0 || right->high > 31 || left->low < 0)
      return std::nullopt;
    return at_ends(*left, *right, [](auto a, auto b, auto *value) {
      return __builtin_mul_overflow(a, std::int64_t(1) << b, value);
    });
  case clang::BO_Shr:
    if (right->low < 0 || right->high > 63 || left->low < 0)
      return std::nullopt;
    return ValueRange{left->low >> right->high, left->high >> right->low};
  default:
    return std::nullopt;
  }
}

std::optional<ValueRange> RangeReader::of_counter(const clang::VarDecl *variable, int depth) {
  const auto writes = writes_of(source_.body(), variable);
  const auto first = variable->hasInit() ? of(variable->getInit(), depth) : std::nullopt;
  if (!first || writes.size() != 1)
    return std::nullopt;
  for (const auto *loop : find_all<clang::ForStmt>(source_.body())) {
    const auto *condition = loop->getCond() ? as<clang::BinaryOperator>(loop->getCond()) : nullptr;
    const auto increment = loop->getInc() ? increment_of(strip(loop->getInc()), variable) : std::nullopt;
    if (!condition || !increment || strip(loop->getInc()) != strip(dyn_cast<clang::Expr>(writes.front())))
      continue;
    const bool is_less = condition->getOpcode() == clang::BO_LT, is_at_most = condition->getOpcode() == clang::BO_LE;
    if ((!is_less && !is_at_most) || variable_of(strip_casts(condition->getLHS())) != variable)
      return std::nullopt;
    const auto bound = of(condition->getRHS(), depth);
    const auto step = increment->is_one ? std::optional(ValueRange{1, 1}) : of(increment->step, depth);
    const auto last = bound && step && step->low > 0 ? sum(*bound, *step) : std::nullopt;
    if (!last)
      return std::nullopt;
    return ValueRange{first->low, std::max(first->high, last->high)};
  }
  return std::nullopt;
}

std::optional<ValueRange> RangeReader::of_variable(const clang::VarDecl *variable, int depth) {
  if (depth > kMaxDepth)
    return std::nullopt;
  const clang::QualType type = variable->getType().getNonReferenceType();
  const auto by_type = of_type(type);
  std::optional<ValueRange> found;
  if (const auto *parameter = dyn_cast<clang::ParmVarDecl>(variable)) {
    const auto value = is_written_once(source_, parameter) ? source_.argument_value(parameter) : std::nullopt;
    if (value) {
      arguments_[parameter->getNameAsString()] = std::to_string(*value);
      found = ValueRange{*value, *value};
    }
  } else if (variable->isLocalVarDecl() && variable->hasInit() && !variable->getType()->isReferenceType()) {
    found = is_written_once(source_, variable) ? of(variable->getInit(), depth + 1) : of_counter(variable, depth + 1);
  }
  if (found && by_type && !found->within(by_type->low, by_type->high))
    return by_type;
  return found ? found : by_type;
}

std::optional<ValueRange> RangeReader::of(const clang::Expr *expression, int depth) {
  expression = strip(expression);
  if (!expression || depth > kMaxDepth || expression->getType()->isDependentType() ||
      !expression->getType()->isIntegralOrEnumerationType())
    return std::nullopt;
  if (auto value = integer_value(source_, expression))
    return ValueRange{*value, *value};
  const auto by_type = of_type(expression->getType());
  std::optional<ValueRange> found;
  if (const auto name = builtin_of(expression); !name.empty())
    found = of_builtin(name);
  else if (const auto *cast = dyn_cast<clang::ExplicitCastExpr>(expression))
    found = of(cast->getSubExpr(), depth + 1);
  else if (const clang::VarDecl *variable = variable_of(expression))
    found = of_variable(variable, depth + 1);
  else if (const auto *binary = dyn_cast<clang::BinaryOperator>(expression))
    found = of_binary(binary, depth + 1);
  else if (const auto *choice = dyn_cast<clang::ConditionalOperator>(expression)) {
    const auto one = of(choice->getTrueExpr(), depth + 1), other = of(choice->getFalseExpr(), depth + 1);
    if (one && other)
      found = ValueRange{std::min(one->low, other->low), std::max(one->high, other->high)};
  }
  if (found && by_type && !found->within(by_type->low, by_type->high))
    return by_type;
  return found ? found : by_type;
}

std::string RangeReader::condition() const {
  std::string text;
  for (const auto &[name, value] : arguments_)
    text += (text.empty() ? "" : " && ") + name + " == " + value;
  for (const auto &[name, value] : extents_)
    text += (text.empty() ? "" : " && ") + name + " <= " + std::to_string(value);
  return text;
}

} // namespace warpwright::source
