// Statements that combine a value into a place of their own: `sum += x`, `best = fmaxf(best, x)`,
// `if (x > best) best = x`, `found = true`.
#pragma once

#include "generator/text/source/combine.h"
#include "generator/text/source/kernel_source.h"

namespace warpwright::lift {

struct Update {
  const clang::Expr *place = nullptr; ///< the lvalue: `sum`, `sum.x`, `sums[k]`
  source::Combine combine = source::Combine::Sum;
  std::string constant; ///< text of the number in `found = true`, which decides in place of `combine`
  std::vector<const clang::Expr *> reads; ///< where the statement reads the place
  const clang::Stmt *statement = nullptr;
};

/// The updates below `root`, in the order of the text. Other assignments are left out.
std::vector<Update> updates_in(const source::KernelSource &source, const clang::Stmt *root);

} // namespace warpwright::lift
