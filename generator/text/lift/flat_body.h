// A kernel's body without its bounds checks: the form that lifting matches.
//
// `if (r >= M || c >= N) return;` and a last `if (r < M && c < N) {...}` become bounds. The other
// statements, which run for elements inside the bounds, stay as a list. The file also has the shapes
// that all recognizers share, such as counted loops and accumulations.
#pragma once

#include "generator/text/source/combine.h"
#include "generator/text/source/index_form.h"

namespace warpwright::lift {

struct FlatBody {
  std::vector<const clang::Stmt *> statements;
  std::vector<std::pair<symbolic::Polynomial, symbolic::Polynomial>> bounds; ///< first < second

  std::optional<symbolic::Polynomial> bound_of(const symbolic::Polynomial &value) const;
};
/// The kernel's body without bounds checks; nullopt when another kind of branch exists.
std::optional<FlatBody> flatten(const source::IndexReader &form);
/// The body of a kernel that a template may replace.
/// Errors: a reason to refuse all templates (launches.h), or a branch that is no bounds check.
Result<FlatBody> replaceable_body(const source::IndexReader &form);

/// A loop `for (int k = begin; k < end; ++k)`.
struct CountedLoop {
  const clang::ForStmt *loop = nullptr;
  const clang::VarDecl *counter = nullptr;
  std::string name; ///< name of the counter
  symbolic::Polynomial begin, end;
};
std::optional<CountedLoop> counted_loop(const source::IndexReader &form,
                                        const clang::Stmt *statement);

/// A statement `acc += value`, `acc = acc + value`, `acc = fmaf(a, b, acc)`,
/// `acc = fmaxf(acc, value)` or `if (v > acc) acc = v`.
struct Accumulation {
  const clang::VarDecl *accumulator = nullptr;
  std::vector<const clang::Expr *> factors; ///< two for fmaf and products, else one
  source::Combine combine = source::Combine::Sum;
};
std::optional<Accumulation> accumulation(const clang::Stmt *statement);

/// The single loop of an accumulation and the statements around it.
struct AccumulationLoop {
  CountedLoop loop;
  Accumulation sum; ///< the last statement of the loop; the others declare variables
  std::vector<const clang::Stmt *> before, inside, after;
};
/// The only loop of the body, which accumulates into a local variable.
/// Errors: there is no such loop, or the kernel does more.
Result<AccumulationLoop> only_accumulation(const source::IndexReader &form, const FlatBody &body);

/// The local variable whose value is exactly `value`; null when there is none.
const clang::VarDecl *variable_with_value(const source::IndexReader &form, const FlatBody &body,
                                          const symbolic::Polynomial &value);

/// Text of the user's statements `last` after the earlier declarations that they need, indented by
/// two spaces a level. nullopt when they need the thread's position, or a variable that is neither in
/// `available` nor declared in `before`.
std::optional<std::string> epilogue_text(const source::IndexReader &form,
                                         const std::vector<const clang::Stmt *> &before,
                                         const std::vector<const clang::Stmt *> &last,
                                         const std::set<const clang::VarDecl *> &available);

/// Source of statements with `edits` (offsets of the file) applied, indented by two spaces a level;
/// nullopt inside macros.
std::optional<std::string> statements_text(const source::KernelSource &source,
                                           const std::vector<const clang::Stmt *> &statements,
                                           const source::Edits &edits = {});

/// True if the value consists of parameters and numbers only.
bool is_uniform(const source::KernelSource &source, const symbolic::Polynomial &value);

} // namespace warpwright::lift
