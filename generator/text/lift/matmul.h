// Recognizer of the naive matrix product: one thread for each element of C, and a loop over k.
#pragma once

#include "generator/text/lift/flat_body.h"
#include "generator/text/templates/gemm.h"

namespace warpwright::lift {

struct Matmul {
  templates::GemmTask task;        ///< in terms of the kernel's names
  symbolic::Polynomial rows, cols; ///< over the kernel's parameters
};

/// The matrix product that the kernel computes. Errors: the part of a product that is missing.
Result<Matmul> match_matmul(const source::KernelSource &source);

} // namespace warpwright::lift
