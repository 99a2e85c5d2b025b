// The parts of the table of operators.
#pragma once

#include "generator/ops/op.h"

namespace warpwright::ops::table {

extern const std::vector<Op> kLeaves, kPointwise, kViews, kReductions, kNorms, kProducts, kWindows;
/// Operators that only plans contain, never traced graphs.
extern const std::vector<Op> kInternal;

} // namespace warpwright::ops::table
