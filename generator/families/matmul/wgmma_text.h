// Text of one form of the wgmma instruction with 16-bit or TF32 operands in shared memory and sums
// in FP32.
#pragma once

#include "support/model/dtype.h"

#include <string>

namespace warpwright::families::matmul {

/// A struct `name` for products of 64 x 16 x `columns`, or 64 x 8 in TF32: begin(sums), add(sums, a, b) with matrix descriptors, and
/// finish(sums), which waits for all of them. `sums` is a thread's float[columns / 2].
/// @param columns a multiple of 8, 8 to 256
/// @param dtype float16, bfloat16, or float32, whose last bits TF32 ignores
/// @param a_along_k, b_along_k whether neighbors in shared memory are neighbors in k; in TF32 they are
std::string wgmma_text(const std::string &name, int columns, model::Dtype dtype, bool a_along_k,
                       bool b_along_k);

} // namespace warpwright::families::matmul
