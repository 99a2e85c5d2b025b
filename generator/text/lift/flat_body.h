// A kernel's body with its bounds checks taken off: what lifting matches against.
//
// `if (r >= M || c >= N) return;` and a last `if (r < M && c < N) {...}` become bounds; what stays is the list of
// statements that run for elements inside. Also the small shapes that all recognisers share: counted loops and
// accumulations. Thread: that of the unit.
#pragma once

#include "generator/text/source/guarded.h"
#include "generator/text/templates/reduce.h"

namespace warpwright::generator {

struct FlatBody {
  std::vector<const clang::Stmt *> statements;
  std::vector<std::pair<Polynomial, Polynomial>> bounds; ///< first < second

  std::optional<Polynomial> bound_of(const Polynomial &value) const;
};
/// nullopt when a branch is no bounds check.
std::optional<FlatBody> flatten(const IndexReader &form);

/// `for (int k = begin; k < end; ++k)`.
struct CountedLoop {
  const clang::ForStmt *loop = nullptr;
  const clang::VarDecl *counter = nullptr;
  std::string name; ///< of the counter
  Polynomial begin, end;
};
std::optional<CountedLoop> counted_loop(const IndexReader &form, const clang::Stmt *statement);

/// `acc += value`, `acc = acc + value`, `acc = fmaf(a, b, acc)`, `acc = fmaxf(acc, value)`, `if (v > acc) acc = v`.
struct Accumulation {
  const clang::VarDecl *accumulator = nullptr;
  std::vector<const clang::Expr *> factors; ///< two for fmaf and products, else one
  Combine combine = Combine::Sum;
};
std::optional<Accumulation> accumulation(const clang::Stmt *statement);

/// The local variable whose value is exactly `value`; null when there is none.
const clang::VarDecl *variable_with_value(const IndexReader &form, const FlatBody &body,
                                          const Polynomial &value);

/// Text of `last` statements of the user, preceded by the earlier declarations that they need, in two spaces a level.
/// nullopt when they need a variable that is neither declared so nor in `available`, or the thread's position.
std::optional<std::string> epilogue_text(const IndexReader &form,
                                         const std::vector<const clang::Stmt *> &before,
                                         const std::vector<const clang::Stmt *> &last,
                                         const std::set<const clang::VarDecl *> &available);

/// Source of statements with `edits` (offsets of the file) applied, in two spaces a level; nullopt inside macros.
std::optional<std::string> statements_text(const KernelSource &source,
                                           const std::vector<const clang::Stmt *> &statements,
                                           const std::vector<TextEdit> &edits = {});

/// Only parameters and numbers?
bool is_uniform(const KernelSource &source, const Polynomial &value);

/// Text of a polynomial over parameters at a launch, from the arguments passed there.
std::optional<std::string> at_launch(const KernelSource &source,
                                     const clang::CUDAKernelCallExpr *launch,
                                     const Polynomial &value);

/// Edits that give every launch the grid and block that `shape` returns for its texts; nullopt from `shape` fails.
using ShapeTexts = std::pair<std::array<std::string, 3>, std::array<std::string, 3>>;
Result<std::vector<TextEdit>> reshape_launches(
    const KernelSource &source,
    const std::function<std::optional<ShapeTexts>(const clang::CUDAKernelCallExpr *)> &shape);

/// "(text + 127) / 128".
std::string ceil_div_text(const std::string &text, int divisor);

/// Common grounds for refusing any template; empty when there is none.
std::string refuses_templates(const KernelSource &source);

} // namespace warpwright::generator
