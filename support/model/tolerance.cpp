#include "support/model/tolerance.h"

namespace warpwright::model {
namespace {

/// Long sums in another order differ by some 1e-13 (sqrt(n) roundings of 1.1e-16); one rounding to float32 by 6e-8.
constexpr double kFloat64 = 1e-10;

} // namespace

Tolerance default_tolerance(const std::vector<Buffer> &buffers) {
  bool any = false;
  for (const Buffer &buffer : buffers) {
    if (buffer.direction == Direction::In || !is_floating(buffer.dtype))
      continue;
    if (buffer.dtype != Dtype::Float64)
      return {};
    any = true;
  }
  return any ? Tolerance{.absolute = kFloat64, .relative = kFloat64} : Tolerance{};
}

} // namespace warpwright::model
