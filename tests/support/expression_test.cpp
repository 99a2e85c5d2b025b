#include "support/symbolic/expression.h"

#include <doctest/doctest.h>

using namespace warpwright;

namespace {

void check(const std::string &text, std::int64_t expected, const symbolic::Sizes &sizes = {}) {
  CAPTURE(text);
  const auto expression = symbolic::Expression::parse(text);
  REQUIRE(expression.has_value());
  const auto value = expression->evaluate(sizes);
  REQUIRE_MESSAGE(value.has_value(), value.error().message);
  CHECK(*value == expected);
  CHECK(expression->text() == text);
}

void check_error(const std::string &text, const std::string &expected,
                 const symbolic::Sizes &sizes = {}) {
  CAPTURE(text);
  const auto expression = symbolic::Expression::parse(text);
  std::string message = expression ? "" : expression.error().message;
  if (expression) {
    const auto value = expression->evaluate(sizes);
    REQUIRE(!value.has_value());
    message = value.error().message;
  }
  CAPTURE(message);
  CHECK(message.find(expected) != std::string::npos);
}

} // namespace

TEST_CASE("expressions follow C precedence and associativity") {
  check("1 + 2 * 3", 7);
  check("(1 + 2) * 3", 9);
  check("20 - 5 - 3", 12);
  check("100 / 7 / 2", 7);
  check("-7 / 2", -3);
  check("-7 % 2", -1);
  check("1 << 4 + 1", 32);
  check("6 & 3 | 8 ^ 1", 11);
  check("1 < 2 == 1", 1);
  check("3 > 2 ? 10 : 20", 10);
  check("0 ? 1 : 0 ? 2 : 3", 3);
  check("!0 + ~0", 0);
  check("0x1000u * 2UL", 8192);
  check("1 <= 1 && 2 >= 3 || 1 != 1", 0);
}

TEST_CASE("expressions take sizes and the launch helpers") {
  check("(n + 255) / 256", 4, {{"n", 1000}});
  check("min(rows, 1024) * max(cols, 2)", 14, {{"rows", 7}, {"cols", 1}});
  check("ceil_div(n, 32) + round_up(n, 32)", 4 + 128, {{"n", 100}});
  const auto parsed = symbolic::Expression::parse("a * min(b, a)");
  REQUIRE(parsed.has_value());
  CHECK(parsed->symbols() == std::set<std::string>{"a", "b"});
  CHECK(!parsed->is_constant());
}

TEST_CASE("only the taken side of a condition is evaluated") {
  check("n == 0 ? 0 : 10 / n", 0, {{"n", 0}});
  check("n != 0 && 10 / n > 1", 0, {{"n", 0}});
  check("n == 0 || 10 / n > 1", 1, {{"n", 0}});
}

TEST_CASE("a bad expression is refused with its place and reason") {
  check_error("", "expected a number or a name");
  check_error("n +", "column 4");
  check_error("(n", "expected ')'");
  check_error("f(n, 2)", "unknown function f");
  check_error("min(n)", "takes two arguments");
  check_error("3 n", "unexpected 'n'");
  check_error("1.5f", "no integer");
  check_error("12ab", "no integer");
  check_error("99999999999999999999", "64 bits");
  check_error(std::string(5000, '('), "too deeply nested");
  check_error(std::string(5000, '-') + "1", "too deeply nested");
}

TEST_CASE("evaluation names what went wrong") {
  check_error("n * 2", "size n is not bound");
  check_error("1 / n", "division by zero", {{"n", 0}});
  check_error("n * n", "overflows", {{"n", std::int64_t{1} << 40}});
  check_error("1 << 80", "shift by 80");
  check_error("(0 - 9223372036854775807 - 1) / (0 - 1)", "overflows");
}
