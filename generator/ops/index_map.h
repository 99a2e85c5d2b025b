// Where a view's elements lie: index forms in its operand from those in its result, and the other way. Lanes are indices that are moved in
// step: for each, a form for each dimension. Thread: that of the IndexMath.
#pragma once

#include "support/model/graph.h"
#include "support/symbolic/index_math.h"

namespace warpwright::generator {

using Lanes = std::vector<std::vector<IndexForm>>;

/// A form that must lie in [low, high].
struct Guard {
  IndexForm form;
  std::int64_t low, high;
};

struct ViewSource {
  Lanes lanes; ///< in the operand
  /// Of each lane: where one does not hold, the element is the view's `value` (0 without one). None: all are the operand's.
  std::vector<std::vector<Guard>> guards = {};
  /// The operand has elements at `lanes` whether the guards hold or not.
  bool readable = false;
};

/// @param operand shape of the view's operand @param lanes in the result
using FromResult = ViewSource (*)(IndexMath &math, const model::Node &node,
                                  const model::Shape &operand, const Lanes &lanes);
/// Of a view that has each element of its operand once. @param lanes in the operand
using ToResult = Lanes (*)(IndexMath &math, const model::Node &node, const model::Shape &operand,
                           const Lanes &lanes);

/// The same elements, in row-major order, in a value of another shape. @param shape of what the lanes are in
Lanes reshaped(IndexMath &math, const Lanes &lanes, const model::Shape &shape,
               const model::Shape &other);

} // namespace warpwright::generator
