// Kernels that know a thread by its global index alone, so that any block computes the same.
#pragma once

#include "generator/text/source/index_form.h"

#include <array>

namespace warpwright::source {

struct GlobalIndex {
  std::array<bool, 3> is_used{};  ///< x, y, z: the kernel has an index along the axis
  std::array<bool, 3> is_bounded{}; ///< the index is compared with a bound, or strides over the grid
};

/// The global indices of a kernel that uses its place in no other way: only as
/// `blockIdx.x * blockDim.x + threadIdx.x`, and `gridDim.x * blockDim.x` for strides.
/// Errors: another use of the place, or work that threads of a block share.
Result<GlobalIndex> only_global_index(const IndexReader &form);

} // namespace warpwright::source
