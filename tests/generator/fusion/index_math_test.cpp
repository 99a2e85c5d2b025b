// Index arithmetic: what cancels, and that what stays still means the same.
#include "support/symbolic/index_math.h"

#include <doctest/doctest.h>

using namespace warpwright::symbolic;

namespace {

std::string simplified(const std::string &text, std::int64_t size, std::int64_t i_size = 0,
                       std::int64_t j_size = 0) {
  IndexMath math;
  if (i_size)
    math.bound("i", {0, i_size - 1});
  if (j_size)
    math.bound("j", {0, j_size - 1});
  return math.text(math.parse(text, {0, size - 1}));
}

} // namespace

TEST_CASE("A quotient and its remainder come together again") {
  CHECK(simplified("i / 64 * 64 + i % 64", 4096) == "i");
  CHECK(simplified("i / 12 * 12 + i / 4 % 3 * 4 + i % 4", 4096) == "i");
  CHECK(simplified("(4 * i + 1) / 63 * 63 + (4 * i + 1) % 63", 4096) == "(i * 4 + 1)");
  CHECK(simplified("i / 6 % 6 * 6 + i % 6", 36, 4096) == "(i % 36)");
  CHECK(simplified("(4 * i + 1) / 6 % 6 * 6 + (4 * i + 1) % 6", 36, 4096) == "((i % 9) * 4 + 1)");
}

TEST_CASE("Ranges make divisions vanish") {
  CHECK(simplified("(i * 64 + j) / 64", 100, 100, 64) == "i");
  CHECK(simplified("(i * 64 + j) % 64", 64, 100, 64) == "j");
  CHECK(simplified("(i * 64 + j) % 64", 64, 100, 65) == "(j % 64)");
}

TEST_CASE("A common factor leaves divisions of smaller numbers") {
  CHECK(simplified("(4 * i + 3) / 64", 100, 1600) == "(i / 16)");
  CHECK(simplified("(4 * i + 3) % 64", 64, 1600) == "((i % 16) * 4 + 3)");
  CHECK(simplified("i / 8 / 4", 100, 3200) == "(i / 32)");
}

TEST_CASE("What is no plain arithmetic is kept as it is") {
  CHECK(simplified("row[k] + 1", 100) == "(row[k] + 1)");
  CHECK(simplified("i * j", 100) == "(i * j)");
  CHECK(simplified("anything", 1) == "0");
}

TEST_CASE("Negative parts are not taken out of a quotient") {
  // (i - j) / 4 * 4 would round towards zero where the whole would not be negative.
  CHECK(simplified("(8 + i - j) / 4", 100, 8, 8) == "((i - j + 8) / 4)");
}
