// The text of one pass of a row kernel: the loop over the row's elements that loads, computes, accumulates and stores.
// Thread: pure functions.
#pragma once

#include "generator/families/rows/row_layout.h"

namespace warpwright::families::rows {

/// Empty for a pass that neither reduces nor stores. Row values of earlier passes are `r_NAME[]`, accumulators `stateN[]`.
std::string row_pass_text(const RowLayout &layout, int pass);

} // namespace warpwright::families::rows
