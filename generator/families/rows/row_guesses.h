// First guesses for the shapes of row regions, best first, from rows, row length, memory layout and the GPU's size.
//
// Where neighbours in memory are reduced ("inner"): short rows get part of a warp, middling ones a block that holds the row in registers,
// longer ones a cluster of blocks that hold it together; what is longer still is streamed twice, by several blocks where there are too
// few rows to fill the GPU. Where neighbours are kept ("columns"): threads side by side take neighbouring columns, and as many parts of
// a block share them as fill the GPU or hold the columns in registers. Thread: pure functions.
#pragma once

#include "generator/elements/family.h"
#include "generator/families/rows/row_passes.h"
#include "generator/families/rows/row_shape.h"

namespace warpwright::families::rows {

struct RowGuess {
  RowShape shape;
  bool online_softmax = false;
};

/// Not empty.
std::vector<RowGuess> guess_row_shapes(const RowProgram &program, const ops::GraphIndex &expanded,
                                       const elements::DeviceFacts &device);

} // namespace warpwright::families::rows
