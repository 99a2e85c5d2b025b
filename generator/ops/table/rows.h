// The parts of the table of operators. Thread: immutable.
#pragma once

#include "generator/ops/op.h"

namespace warpwright::ops::table {

extern const std::vector<Op> kLeaves, kPointwise, kViews, kReductions, kNorms, kProducts, kWindows;
/// Of plans alone: no traced graph has them.
extern const std::vector<Op> kInternal;

} // namespace warpwright::ops::table
