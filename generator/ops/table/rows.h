// The parts of the table of operators.
#pragma once

#include "generator/ops/op.h"

namespace warpwright::ops::table {

extern const std::vector<Op> kLeaves, kPointwise, kViews, kReductions, kNorms, kProducts, kWindows;
/// Operators that only plans contain, never traced graphs.
extern const std::vector<Op> kInternal;

/// The bounds of the first operand.
inline Bounds first(const model::Node &, std::span<const Bounds> x) { return x[0]; }

/// The operator, whose results are elements of an operand.
inline Op selecting(Op op) {
  op.selects = true;
  return op;
}

} // namespace warpwright::ops::table
