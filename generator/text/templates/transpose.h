// CUDA text of a transpose through a padded shared-memory tile, with coalesced reads and writes of
// each warp.
#pragma once

#include "generator/text/templates/matrix_task.h"

namespace warpwright::templates {

struct TransposeTask : MatrixTask {
  std::string element;            ///< C type
  std::string col_name;           ///< the user's name, for `value`
  std::string value = "$element"; ///< the stored expression of the element
  std::string store = "=";        ///< assignment operator
};

/// Body for blocks of `tile` x `block_rows` threads in a grid of ceil(cols / tile) by
/// ceil(rows / tile).
std::string render_transpose(const TransposeTask &task, int tile, int block_rows,
                             const std::set<std::string> &taken);

} // namespace warpwright::templates
