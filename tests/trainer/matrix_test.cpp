// The products and functions of inference against plain double arithmetic.
#include "trainer/inference/matrix.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <random>

using namespace warpwright::trainer;

namespace {

std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(random);
  return values;
}

} // namespace

TEST_CASE("products are right for rows and columns that fill no tile, and leave the rest alone") {
  for (const std::size_t rows : {1, 5, 6, 7, 13})
    for (const std::size_t columns : {1, 16, 19, 64, 85}) {
      const std::size_t inner = 37, stride = columns + 3;
      const auto left = random_values(rows * (inner + 2), 1);
      const auto right = random_values(inner * (columns + 1), 2);
      std::vector<float> result(rows * stride, 7);
      multiply({left.data(), inner + 2}, {right.data(), columns + 1}, result.data(), stride, rows,
               inner, columns);
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < stride; ++column) {
          double sum = 0;
          for (std::size_t k = 0; k < inner && column < columns; ++k)
            sum += double(left[row * (inner + 2) + k]) * right[k * (columns + 1) + column];
          INFO(rows << " x " << columns << " at " << row << ", " << column);
          CHECK(std::abs(result[row * stride + column] - (column < columns ? sum : 7)) < 1e-4);
        }
    }
}

TEST_CASE("a row comes out the same whatever rows are computed with it") {
  const auto left = random_values(7 * 64, 3), right = random_values(64 * 48, 4);
  std::vector<float> all(7 * 48), one(48);
  multiply({left.data(), 64}, {right.data(), 48}, all.data(), 48, 7, 64, 48);
  multiply({left.data() + 2 * 64, 64}, {right.data(), 48}, one.data(), 48, 1, 64, 48);
  CHECK(std::vector<float>(all.begin() + 2 * 48, all.begin() + 3 * 48) == one);
}

TEST_CASE("exponentials and gates are those of the library, to their last digits") {
  std::vector<float> values;
  for (float x = -100; x < 88; x += 0.37f)
    values.push_back(x);
  std::vector<float> powers = values, gates(values.size());
  exponentials(powers.data(), powers.size());
  const std::vector<float> ones(values.size(), 1);
  gated(values.data(), ones.data(), gates.data(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = values[i];
    INFO("at " << x);
    if (x >= -87)
      CHECK(std::abs(powers[i] / std::exp(x) - 1) < 3e-7);
    CHECK(std::abs(gates[i] - x / (1 + std::exp(-x))) < 1e-5 * std::max(1.0, std::abs(x)));
  }
}

TEST_CASE("probabilities add up to one and keep their ratios, also of large scores") {
  for (const std::size_t count : {1, 15, 16, 50}) {
    std::vector<float> values = random_values(count, 5);
    for (float &value : values)
      value = 100 * value + 1000;
    std::vector<float> shares = values;
    softmax(shares.data(), count, 0.125f);
    double sum = 0, expected = 0;
    const float top = *std::max_element(values.begin(), values.end());
    for (std::size_t i = 0; i < count; ++i) {
      sum += shares[i];
      expected += std::exp(0.125 * (values[i] - top));
    }
    CHECK(sum == doctest::Approx(1));
    for (std::size_t i = 0; i < count; ++i)
      CHECK(shares[i] == doctest::Approx(std::exp(0.125 * (values[i] - top)) / expected));
  }
}
