// Softmax over rows in one pass for maximum and sum (Milakov and Gimelshein, "Online normalizer calculation for
// softmax", 2018) and one that writes; a warp or a block a row, float4 where the row is aligned.
// Thread: values, any.
#pragma once

#include "generator/text/source/render.h"

namespace warpwright::generator {

struct SoftmaxTask {
  std::string input, output;               ///< pointers to float
  std::string rows, cols;                  ///< texts
  std::string input_stride, output_stride; ///< elements between rows
  std::string row_name = "row", index_type = "int";
};

/// As render_row_reduction: `threads_a_row` threads a row in blocks of `threads`.
std::string render_softmax(const SoftmaxTask &task, int threads, int threads_a_row,
                           const std::set<std::string> &taken);

} // namespace warpwright::generator
