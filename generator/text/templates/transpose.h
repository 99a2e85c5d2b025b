// Transpose through a padded shared-memory tile: both the reads and the writes of a warp are one row long.
// Thread: values, any.
#pragma once

#include "generator/text/source/render.h"

namespace warpwright::generator {

struct TransposeTask {
  std::string input, output, element; ///< pointers, their C type
  std::string rows, cols;             ///< of the input
  std::string input_stride, output_stride;
  std::string row_name, col_name, index_type = "int"; ///< the user's names, for `value`
  std::string value = "$element";                     ///< what is stored, in terms of the element
  std::string store = "=";                            ///< assignment operator
};

/// For blocks of `tile` x `block_rows` threads and a grid of ceil(cols / tile) by ceil(rows / tile).
std::string render_transpose(const TransposeTask &task, int tile, int block_rows, int padding,
                             const std::set<std::string> &taken);

} // namespace warpwright::generator
