// Statements of loops that combine a value into a variable: `sum += x`, `best = fmaxf(best, x)`,
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

/// `if (value < best) { best = value; index = j; }`: the best value, and what belongs to it.
struct Selection {
  const clang::VarDecl *best = nullptr;
  source::Combine combine = source::Combine::Minimum; ///< or Maximum
  bool keeps_first = true;                            ///< of equal values; else the last
  std::vector<const clang::VarDecl *> chosen;         ///< `index`
  std::vector<const clang::Expr *> reads;             ///< where the condition reads `best`
  const clang::BinaryOperator *assign = nullptr;      ///< `best = value`
};

/// The selections below `root`, in the order of the text.
std::vector<Selection> selections_in(const source::KernelSource &source, const clang::Stmt *root);

/// The updates below `root`, in the order of the text. Other assignments are left out.
std::vector<Update> updates_in(const source::KernelSource &source, const clang::Stmt *root);

} // namespace warpwright::lift
