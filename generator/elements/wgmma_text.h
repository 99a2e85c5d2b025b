// Text of one form of the wgmma instruction with 16-bit or TF32 operands in shared memory and sums
// in FP32.
#pragma once

#include "support/model/dtype.h"

#include <string>

namespace warpwright::elements {

/// Where a left operand is: in shared memory, with neighbors along k or along rows, or in registers.
enum class Left { AlongK, AlongRows, Registers };

/// A struct `name` for products of 64 x 16 x `columns`, or 64 x 8 in TF32: begin(sums), add(sums, a, b, adds) with matrix
/// descriptors, or four words for `a` in registers, where `adds` is false if earlier sums do not count, and
/// finish<left>(sums), which waits until at most `left` committed groups are under way. `sums` is a thread's
/// float[columns / 2].
/// @param columns a multiple of 8, 8 to 256
/// @param dtype float16, bfloat16, or float32, whose last bits TF32 ignores
/// @param b_along_k whether neighbors in shared memory are neighbors in k; in TF32 they are
std::string wgmma_text(const std::string &name, int columns, model::Dtype dtype, Left left,
                       bool b_along_k);

} // namespace warpwright::elements
