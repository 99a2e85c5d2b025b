// Recognising the naive matrix product: one thread an element of C, a loop over k.
// Thread: that of the unit.
#pragma once

#include "generator/text/lift/flat_body.h"
#include "generator/text/templates/gemm.h"

namespace warpwright::generator {

struct Matmul {
  GemmTask task;         ///< in the kernel's own names
  Polynomial rows, cols; ///< over the kernel's parameters
};

/// Errors: what is missing.
Result<Matmul> match_matmul(const KernelSource &source);

} // namespace warpwright::generator
