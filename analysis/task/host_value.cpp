// Arithmetic of host values: numbers are folded, other values become text with only the necessary
// parentheses. Thread: any.
#include "analysis/task/host_expression.h"

#include <map>

namespace warpwright::analysis {
namespace {

constexpr int kAtom = 100, kUnary = 90;

int precedence_of(const std::string &operation) {
  static const std::map<std::string, int> kLevels{
      {"?", 1},  {"||", 2}, {"&&", 3}, {"|", 4},  {"^", 5},  {"&", 6},  {"==", 7},
      {"!=", 7}, {"<", 8},  {"<=", 8}, {">", 8},  {">=", 8}, {"<<", 9}, {">>", 9},
      {"+", 10}, {"-", 10}, {"*", 11}, {"/", 11}, {"%", 11}};
  const auto found = kLevels.find(operation);
  return found == kLevels.end() ? kAtom : found->second;
}

std::string wrap(const HostValue &value, int at_least) {
  return value.precedence < at_least ? "(" + value.text + ")" : value.text;
}

/// Simplifies x + 0, x * 1, 0 * x and similar.
std::optional<HostValue> simplified(const std::string &operation, const HostValue &left,
                                    const HostValue &right) {
  if (operation == "+" && left.number == 0)
    return right;
  if ((operation == "+" || operation == "-") && right.number == 0)
    return left;
  if (operation == "*" && left.number == 1)
    return right;
  if ((operation == "*" || operation == "/") && right.number == 1)
    return left;
  if (operation == "*" && (left.number == 0 || right.number == 0))
    return make_value(0);
  if ((operation == "min" || operation == "max") && left.text == right.text)
    return left;
  return std::nullopt;
}

} // namespace

symbolic::Expression HostValue::expression() const {
  if (number)
    return symbolic::Expression(*number);
  return symbolic::Expression::parse(text).value_or(symbolic::Expression());
}

HostValue make_value(std::int64_t number) {
  return {std::to_string(number), number < 0 ? kUnary : kAtom, number};
}
HostValue make_symbol(const std::string &name) { return {name, kAtom, std::nullopt}; }

HostValue combine(const std::string &operation, const HostValue &left, const HostValue &right) {
  if (auto simple = simplified(operation, left, right))
    return *simple;
  const int level = precedence_of(operation);
  HostValue result;
  result.precedence = level;
  result.text = level == kAtom ? operation + "(" + left.text + ", " + right.text + ")"
                               : wrap(left, level) + " " + operation + " " + wrap(right, level + 1);
  if (left.number && right.number)
    if (const auto parsed = symbolic::Expression::parse(result.text))
      if (const auto value = parsed->evaluate({}))
        return make_value(*value);
  return result;
}

} // namespace warpwright::analysis
