// Text of one form of the wgmma instruction with 16-bit operands in shared memory and sums in FP32.
#pragma once

#include <string>

namespace warpwright::families::matmul {

/// A struct `name` for products of 64 x 16 x `columns`: begin(sums), add(sums, a, b) with matrix descriptors, and
/// finish(sums), which waits for all of them. `sums` is a thread's float[columns / 2].
/// @param columns a multiple of 8, 8 to 256
/// @param a_along_k, b_along_k whether neighbors in shared memory are neighbors in k
std::string wgmma_text(const std::string &name, int columns, bool bfloat16, bool a_along_k,
                       bool b_along_k);

} // namespace warpwright::families::matmul
