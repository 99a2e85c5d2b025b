// Closed intervals of 64-bit integers, possibly with infinite ends, as known ranges of values.
// Arithmetic saturates at infinity.
#pragma once

#include <algorithm>
#include <cstdint>

namespace warpwright::symbolic {

struct Interval {
  static constexpr std::int64_t kInfinity = std::int64_t{1} << 60;
  std::int64_t low = -kInfinity, high = kInfinity;

  static std::int64_t clamp(__int128 value) {
    return value > kInfinity    ? kInfinity
           : value < -kInfinity ? -kInfinity
                                : static_cast<std::int64_t>(value);
  }
  static Interval of(std::int64_t value) { return {value, value}; }
  bool is_bounded() const { return low > -kInfinity && high < kInfinity; }
  bool is_number() const { return low == high; }
  bool is_empty() const { return low > high; }
  bool is_finite_above() const { return high < kInfinity; }
  bool operator==(const Interval &) const = default;
};

inline Interval hull(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
inline Interval intersect(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}
Interval operator+(Interval a, Interval b);
Interval operator-(Interval a, Interval b);
Interval operator*(Interval a, Interval b);
/// The quotient by C's rules; the unbounded interval when the divisor may be zero or negative.
Interval operator/(Interval a, Interval b);
Interval operator%(Interval a, Interval b);
Interval shift_left(Interval a, Interval b);
Interval shift_right(Interval a, Interval b);
Interval bit_and(Interval a, Interval b);

} // namespace warpwright::symbolic
