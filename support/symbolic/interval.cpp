#include "support/symbolic/interval.h"

#include <initializer_list>

namespace warpwright::symbolic {
namespace {

bool is_infinite(std::int64_t value) {
  return value >= Interval::kInfinity || value <= -Interval::kInfinity;
}

/// The saturated sum; an infinite operand gives infinity.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  if (is_infinite(a))
    return a;
  return is_infinite(b) ? b : Interval::clamp(static_cast<__int128>(a) + b);
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  return Interval::clamp(static_cast<__int128>(a) * b);
}

} // namespace

Interval operator+(Interval a, Interval b) { return {sum(a.low, b.low), sum(a.high, b.high)}; }
Interval operator-(Interval a, Interval b) { return {sum(a.low, -b.high), sum(a.high, -b.low)}; }

Interval operator*(Interval a, Interval b) {
  const auto corners = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low),
                        product(a.high, b.high)};
  return {std::min(corners), std::max(corners)};
}

Interval operator/(Interval a, Interval b) {
  if (b.low <= 0)
    return {};
  const auto divide = [](std::int64_t x, std::int64_t y) { return is_infinite(x) ? x : x / y; };
  const auto corners = {divide(a.low, b.low), divide(a.low, b.high), divide(a.high, b.low),
                        divide(a.high, b.high)};
  return {std::min(corners), std::max(corners)};
}

Interval operator%(Interval a, Interval b) {
  if (b.low <= 0)
    return {};
  if (a.low >= 0 && a.high < b.low)
    return a;
  return {a.low >= 0 ? 0 : -(b.high - 1), b.high - 1};
}

Interval shift_left(Interval a, Interval b) {
  if (b.low < 0 || b.high > 40)
    return {};
  return a * Interval{std::int64_t{1} << b.low, std::int64_t{1} << b.high};
}

Interval shift_right(Interval a, Interval b) {
  if (b.low < 0 || b.high > 62)
    return {};
  return {a.low >= 0 ? a.low >> b.high : -Interval::kInfinity, a.high >> b.low};
}

Interval bit_and(Interval a, Interval b) {
  if (a.low < 0 && b.low < 0)
    return {};
  const std::int64_t limit = a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high);
  return {0, limit};
}

} // namespace warpwright::symbolic
