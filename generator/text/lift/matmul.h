// Recogniser of the naive matrix product: one thread an element of C, a loop over k.
#pragma once

#include "generator/text/lift/flat_body.h"
#include "generator/text/templates/gemm.h"

namespace warpwright::lift {

struct Matmul {
  templates::GemmTask task;        ///< in the kernel's own names
  symbolic::Polynomial rows, cols; ///< over the kernel's parameters
};

/// Errors: the part of the product that is missing.
Result<Matmul> match_matmul(const source::KernelSource &source);

} // namespace warpwright::lift
