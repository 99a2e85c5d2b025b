// Intervals that hold every element of a value, and arithmetic on them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpwright::ops {

struct Bounds {
  double low = -std::numeric_limits<double>::infinity(),
         high = std::numeric_limits<double>::infinity();
};

namespace bounds {

/// Multiplies two bounds. 0 * inf is 0, since a bound of 0 times any finite number is 0.
inline double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

inline Bounds hull(Bounds a, Bounds b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

inline Bounds product(Bounds a, Bounds b) {
  const double corners[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                            times(a.high, b.high)};
  return {*std::ranges::min_element(corners), *std::ranges::max_element(corners)};
}

/// Returns the least and the largest magnitude.
inline Bounds magnitude(Bounds x) {
  return {x.low > 0    ? x.low
          : x.high < 0 ? -x.high
                       : 0,
          std::max(std::abs(x.low), std::abs(x.high))};
}

} // namespace bounds
} // namespace warpwright::ops
