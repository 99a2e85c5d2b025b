// Counted loops with iterations that may run at the same time. They are independent, apart from
// local variables that they combine (sums, maxima and the like).
//
//   for (int j = rows[i]; j < rows[i + 1]; ++j) sum += values[j] * x[columns[j]];
//   for (int j = 0; j < n; ++j) out[i * n + j] = 2 * x[j];
//
// Different pointers are taken to lead to different arrays, and other threads not to store what a
// thread reads, as everywhere in moves.
#pragma once

#include "generator/text/lift/loop_updates.h"
#include "generator/text/source/effects.h"
#include "generator/text/source/index_form.h"

namespace warpwright::lift {

/// A place in an own variable that the iterations combine their values into.
struct Accumulator {
  const clang::VarDecl *variable = nullptr;
  std::string place;                 ///< "sum", "sum.x"; of an array, its name
  std::string type;                  ///< of the place, or of the array's elements
  std::vector<std::int64_t> extents; ///< of the array; empty otherwise
  source::Combine combine = source::Combine::Sum;
  std::string constant; ///< iterations may set the place to this number; `combine` has no meaning then
  bool is_of_template = false; ///< `type` is a parameter of the kernel's template
};

/// The best value of all iterations, and the values that belong to it.
struct SelectedValue {
  Selection selection;
  std::string type;                      ///< of the best value
  std::vector<std::string> chosen_types; ///< of the others
};

struct ParallelLoop {
  const clang::ForStmt *loop = nullptr;
  const clang::VarDecl *counter = nullptr;
  Range begin;               ///< text of the counter's first value
  Range increment;           ///< text of `++j` or `j += step`
  std::optional<Range> step; ///< text of the step; nullopt for `++j` and `--j`
  bool is_downward = false;
  std::optional<std::int64_t> iterations; ///< nullopt: not a constant
  std::vector<Accumulator> accumulators;
  std::vector<SelectedValue> selected;
  source::Effects effects;
};

/// The loop, as a parallel one. Errors: the reason why its iterations are not known to be independent.
Result<ParallelLoop> parallel_loop(const source::IndexReader &form, const clang::Stmt *loop);

/// True if a `break`, `return` or `goto` below may leave the statement.
bool leaves(const clang::Stmt *statement);

} // namespace warpwright::lift
