// Writer of one pass of a row kernel: the loop that loads, computes, accumulates and stores a row's elements.
#pragma once

#include "generator/families/rows/row_layout.h"

namespace warpwright::families::rows {

/// Empty for a pass that neither reduces nor stores. The text
/// names earlier row values `r_NAME[]`, accumulators `stateN[]`.
std::string row_pass_text(const RowLayout &layout, int pass);

} // namespace warpwright::families::rows
