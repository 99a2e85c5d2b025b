// Tree reductions over a shared array, as tutorials write them:
//
//   for (int s = blockDim.x / 2; s > 0; s >>= 1) { if (t < s) a[t] += a[t + s]; __syncthreads(); }
#pragma once

#include "generator/text/source/combine.h"
#include "generator/text/source/index_form.h"

namespace warpwright::source {

struct Tree {
  const clang::ForStmt *loop = nullptr;
  std::string array, thread, type; ///< source texts of the array and of t; the elements' C type
  Combine combine = Combine::Sum;
};

/// All trees of the kernel, in order.
std::vector<Tree> find_trees(const IndexReader &form);

} // namespace warpwright::source
