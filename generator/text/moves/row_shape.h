// The parameters (threads, row) that the templates over rows share: a warp or a block a row.
//
// Thread: that of the state's unit.
#pragma once

#include "generator/text/lift/flat_body.h"
#include "generator/text/moves/move_kind.h"

namespace warpwright::generator {

struct RowThreads {
  int threads = 0;       ///< a block
  int threads_a_row = 0; ///< 32 for a warp a row, else `threads`
};

/// {"threads", "row"}, the likeliest first.
std::vector<Parameters> row_choices();
RowThreads row_shape(const Parameters &parameters);

/// Edits that launch `rows` rows in this shape. Errors: as reshape_launches().
Result<Edits> launch_rows(const KernelSource &source, const Polynomial &rows,
                          const RowThreads &shape);

} // namespace warpwright::generator
