// Index maps of views: from an index in a view to the index in its operand, the reverse, and strides in memory. Lanes
// are indices that are mapped together, each with an index form for every dimension. Thread: the IndexMath's.
#pragma once

#include "support/model/graph.h"
#include "support/symbolic/index_math.h"

#include <optional>

namespace warpwright::ops {

using Lanes = std::vector<std::vector<symbolic::IndexForm>>;

/// An index form that must lie in [low, high].
struct Guard {
  symbolic::IndexForm form;
  std::int64_t low, high;
};

struct ViewSource {
  Lanes lanes; ///< in the operand
  /// Guards of each lane. Where a guard does not hold, the element is the view's `value` (0 without one). Empty: all
  /// elements are the operand's.
  std::vector<std::vector<Guard>> guards = {};
  /// The operand has elements at `lanes` whether the guards hold or not.
  bool readable = false;
};

/// Maps lanes in a view's result to lanes in its operand.
/// @param operand shape of the operand
using FromResult = ViewSource (*)(symbolic::IndexMath &math, const model::Node &node,
                                  const model::Shape &operand, const Lanes &lanes);
/// Maps lanes in the operand to lanes in the result, for a view that has each element of its operand once.
using ToResult = Lanes (*)(symbolic::IndexMath &math, const model::Node &node,
                           const model::Shape &operand, const Lanes &lanes);

/// A value in memory; offset and strides in elements.
struct StridedPlace {
  std::int64_t offset = 0;
  model::Shape shape, strides;
};
/// Turns the place of a view's operand into offset and strides of the view. Returns false where no strides exist.
using InMemory = bool (*)(const model::Node &node, StridedPlace &place);

/// Returns the strides with which `to` shows the elements of `from` in the same order; nullopt where there are none.
std::optional<model::Shape> reshaped_strides(const model::Shape &from, const model::Shape &strides,
                                             const model::Shape &to);

/// Maps lanes in a value of one shape to lanes in a value of another shape with the same elements in row-major order.
/// @param shape of the value that the lanes are in
Lanes reshaped(symbolic::IndexMath &math, const Lanes &lanes, const model::Shape &shape,
               const model::Shape &other);

} // namespace warpwright::ops
