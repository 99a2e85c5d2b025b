// Expressions over sizes, found from texts at a few sizes.
#include "support/symbolic/fit.h"

#include <doctest/doctest.h>

using namespace warpwright::symbolic;

namespace {

const std::vector<Sizes> kSizes = {{{"n0", 7}, {"n1", 101}},
                                   {{"n0", 11}, {"n1", 113}},
                                   {{"n0", 13}, {"n1", 127}},
                                   {{"n0", 17}, {"n1", 139}},
                                   {{"n0", 19}, {"n1", 151}}};
const Sizes kOther = {{"n0", 32}, {"n1", 1000}};

/// The text with each {EXPRESSION} replaced by its number.
std::string written(const std::string &pattern, const Sizes &sizes) {
  std::string text;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '{') {
      text += pattern[at];
      continue;
    }
    const std::size_t end = pattern.find('}', at);
    const auto expression = Expression::parse(pattern.substr(at + 1, end - at - 1));
    REQUIRE(expression.has_value());
    text += std::to_string(expression->evaluate(sizes).value());
    at = end;
  }
  return text;
}

warpwright::Result<FittedText> fitted(const std::string &pattern) {
  std::vector<std::string> texts;
  for (const Sizes &sizes : kSizes)
    texts.push_back(written(pattern, sizes));
  return fit_integers(texts, kSizes);
}

void check_fits(const std::string &pattern) {
  CAPTURE(pattern);
  const auto text = fitted(pattern);
  REQUIRE_MESSAGE(text.has_value(), (text ? "" : text.error().message));
  CHECK(text->at(kOther).value() == written(pattern, kOther));
}

} // namespace

TEST_CASE("The numbers of a launch become expressions that hold at other sizes") {
  check_fits("rows {n0 * n1}, elements {n0 * n1 * 768}, last {n0 * n1 - 1}, square {n0 * n1 * n1}");
  check_fits("elements {n0 * n1 * 24}, blocks {ceil_div(n0 * n1 * 24, 128)}");
  check_fits("rows {n0 * n1}, tiles {ceil_div(n0 * n1, 64) * 6}, halves {ceil_div(n0 * n1, 128)}, strips {16 * ceil_div(n0 * n1, 128) + 64}");
  check_fits("length {n1}, tiles {ceil_div(n1, 32)}, matrices {4 * n0}, grid {4 * n0 * ceil_div(n1, 32) * ceil_div(n1, 32)}");
  check_fits("length {n1}, tiles {ceil_div(n1, 16)}, all {n0 * (192 * ceil_div(n1, 16) + 384)}");
  check_fits("rows {n0 * n1}, length {n1}, first {ceil_div(n0 * n1, 64)}, second {4 * ceil_div(n1, 16)}, both {ceil_div(n0 * n1, 64) + 4 * ceil_div(n1, 16)}, "
             "third {n0}, all {ceil_div(n0 * n1, 64) + 4 * ceil_div(n1, 16) + n0}");
  check_fits("rows {n0 * n1}, tiles {ceil_div(n0 * n1, 128)}, grid {min(132, 12 * ceil_div(n0 * n1, 128))}");
  check_fits("length {n1}, tiles {ceil_div(n1, 32)}, grid {min(132, 3 * n0 * ceil_div(n1, 32))}");
}

TEST_CASE("Suffixes, decimal fractions and names are text") {
  const auto text = fitted("const long long x1_2 = {n0 * n1}LL * 0.5f + 1e-6f; // x12");
  REQUIRE(text.has_value());
  REQUIRE(text->values.size() == 1);
  CHECK(text->values[0].text() == "n0 * n1");
  CHECK(text->parts[1] == "LL * 0.5f + 1e-6f; // x12");
}

TEST_CASE("A number without a form, other text, and too few samples are refused") {
  const auto refused = [](std::vector<std::string> texts, std::size_t count) {
    return fit_integers(texts, {kSizes.begin(), kSizes.begin() + static_cast<std::ptrdiff_t>(count)}).error().message;
  };
  CHECK(refused({"a 3", "a 1", "a 4", "a 1", "a 5"}, 5).find("3, 1, 4, 1, 5 in: a 3") != std::string::npos);
  CHECK(refused({"x = 7;", "x = 11;", "x = true;", "x = 17;", "x = 19;"}, 5).find("more than integers") != std::string::npos);
  CHECK(refused({"7", "11", "13"}, 3).find("four sizes") != std::string::npos);
  CHECK(refused({"7 7", "11 11", "13 13", "17 17", "19"}, 5).find("length") != std::string::npos);
}
