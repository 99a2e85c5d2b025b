// CUDA text of the online softmax over rows: one pass for maximum and sum (Milakov and Gimelshein,
// "Online normalizer calculation for softmax", 2018) and one pass that writes, with a warp or a block
// for each row and float4 accesses where the row is aligned.
#pragma once

#include "generator/text/templates/matrix_task.h"

namespace warpwright::templates {

/// Body for `threads_a_row` threads a row in blocks of `threads`, as render_row_reduction().
std::string render_softmax(const MatrixTask &task, int threads, int threads_a_row,
                           const std::set<std::string> &taken);

} // namespace warpwright::templates
