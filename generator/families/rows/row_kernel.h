// Writes the kernels of a row region: one that does all passes, or, where several blocks share a row, one a pass with partial results in
// between, which every block of the next merges in the same order (no atomics on floating point: results repeat exactly).
// Leaves out which shape is fast (rows.cpp). Thread: pure functions.
#pragma once

#include "generator/elements/family.h"
#include "generator/families/rows/row_passes.h"
#include "generator/families/rows/row_shape.h"

namespace warpwright::families::rows {

/// Errors: a shape that the program cannot have, with the reason: more shared memory than a block has without asking, a vector that does
/// not divide the innermost dimensions.
Result<elements::Lowering> write_row_kernels(const RowProgram &program, const RowShape &shape,
                                             const std::string &prefix);

} // namespace warpwright::families::rows
