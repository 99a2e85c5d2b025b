#include "generator/ops/index_map.h"

namespace warpwright::ops {

using model::Shape;

namespace {

/// Returns the form as an index that is known to lie in [0, size).
symbolic::IndexForm clamp_to_extent(symbolic::IndexMath &math, const symbolic::IndexForm &form,
                                    std::int64_t size) {
  const symbolic::Interval range = math.range(form);
  if (range.low >= 0 && range.high < size)
    return form;
  return math.assume(form, {0, size - 1});
}

} // namespace

Lanes reshaped(symbolic::IndexMath &math, const Lanes &lanes, const Shape &to, const Shape &from) {
  Lanes result(lanes.size(), std::vector<symbolic::IndexForm>(from.size()));
  // Dimensions line up where the products of the later extents are equal; each such group is flattened on its own.
  std::size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    const std::size_t i0 = i, j0 = j;
    std::int64_t a = i < from.size() ? from[i++] : 1, b = j < to.size() ? to[j++] : 1;
    while (a != b) {
      if (a < b && i < from.size())
        a *= from[i++];
      else if (j < to.size())
        b *= to[j++];
      else
        break;
    }
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      auto &index = result[lane];
      // A single dimension on either side, besides those of size 1, passes unchanged.
      std::vector<std::size_t> wide_from, wide_to;
      for (std::size_t k = i0; k < i; ++k)
        if (from[k] != 1)
          wide_from.push_back(k);
      for (std::size_t k = j0; k < j; ++k)
        if (to[k] != 1)
          wide_to.push_back(k);
      if (wide_from.size() == 1 && wide_to.size() == 1) {
        index[wide_from[0]] = lanes[lane][wide_to[0]];
        continue;
      }
      symbolic::IndexForm flat;
      for (const std::size_t k : wide_to)
        flat = math.add(math.scale(flat, to[k]), clamp_to_extent(math, lanes[lane][k], to[k]));
      std::int64_t inner = 1;
      for (auto k = wide_from.rbegin(); k != wide_from.rend(); ++k) {
        symbolic::IndexForm part = math.divide(flat, inner);
        index[*k] = *k == wide_from.front() ? part : math.modulo(part, from[*k]);
        inner *= from[*k];
      }
    }
  }
  return result;
}

std::optional<Shape> reshaped_strides(const Shape &from, const Shape &strides, const Shape &to) {
  Shape result(to.size(), 1);
  std::size_t at = to.size();
  std::int64_t chunk = 1, base = 1; // of the dimensions of `from` that belong together
  bool first = true;
  for (std::size_t i = from.size(); i-- > 0;) {
    if (from[i] == 1)
      continue;
    if (first) {
      base = strides[i];
      first = false;
    }
    chunk *= from[i];
    std::size_t next = i; // the next dimension that counts
    while (next > 0 && from[next - 1] == 1)
      --next;
    if (next > 0 && strides[next - 1] == from[i] * strides[i])
      continue;
    std::int64_t seen = 1;
    while (at > 0 && (seen < chunk || to[at - 1] == 1)) {
      --at;
      result[at] = base * seen;
      seen *= to[at];
    }
    if (seen != chunk)
      return std::nullopt;
    if (next > 0)
      base = strides[next - 1];
    chunk = 1;
  }
  while (at > 0 && to[at - 1] == 1)
    result[--at] = 1;
  return at == 0 ? std::optional(result) : std::nullopt;
}

} // namespace warpwright::ops
