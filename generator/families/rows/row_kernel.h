// Writer of a row region's kernels: one for all passes, or one per pass with partial results if several blocks share a
// row. Each block merges partial results in the same order, without floating-point atomics, so results repeat exactly.
// Leaves out: which shape is fast (rows.cpp).
#pragma once

#include "generator/elements/family.h"
#include "generator/families/rows/row_passes.h"
#include "generator/families/rows/row_shape.h"

namespace warpwright::families::rows {

/// Errors: a shape that the program cannot have, such as one beyond the default shared memory of a block, or a vector
/// that does not divide the innermost dimensions.
Result<elements::Lowering> write_row_kernels(const RowProgram &program, const RowShape &shape,
                                             const std::string &prefix);

} // namespace warpwright::families::rows
