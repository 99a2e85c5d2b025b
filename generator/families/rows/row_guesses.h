// Heuristic shapes of row regions, best first, from rows, row length, memory layout and GPU size.
//
// If neighbors in memory are reduced ("inner"), short rows get part of a warp, medium rows a block that holds the row
// in registers, and longer rows a cluster of blocks. Even longer rows are read twice, by several blocks if there are
// too few rows to fill the GPU. If neighbors are kept ("columns"), adjacent threads take adjacent columns. As many
// threads of a block share a column as fill the GPU or hold the column in registers.
#pragma once

#include "generator/elements/family.h"
#include "generator/families/rows/row_passes.h"
#include "generator/families/rows/row_shape.h"

namespace warpwright::families::rows {

struct RowGuess {
  RowShape shape;
  bool online_softmax = false;
};

/// Never empty.
std::vector<RowGuess> guess_row_shapes(const RowProgram &program, const ops::GraphIndex &expanded,
                                       const elements::DeviceFacts &device);

} // namespace warpwright::families::rows
