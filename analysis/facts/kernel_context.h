// Context of one kernel for facts and rules: the unit, the affine analysis and the accesses with
// their AST nodes.
//
// facts.h has no Clang types, but rules need them, so the context is rebuilt from the AST on
// demand.
// Thread: the unit's thread.
#pragma once

#include "analysis/facts/affine.h"
#include "analysis/facts/launch_shape.h"
#include "analysis/facts/warp.h"
#include "analysis/parsed_unit.h"

namespace warpwright::analysis {

/// An access and its expression.
struct AccessSite {
  Access access;
  const clang::Expr *expression =
      nullptr; ///< the element, or the pointer argument of a call such as atomicAdd
  Place place;
  Position at;
};

struct KernelContext {
  KernelContext(const ParsedUnit &unit, const clang::FunctionDecl &kernel);

  const ParsedUnit &unit;
  const clang::FunctionDecl &kernel;
  AffineAnalysis values;
  KernelShape shape;
  std::vector<AccessSite> sites; ///< in text order; a read-modify-write has two entries
};

/// The accesses of a function's body, without those of its callees.
std::vector<AccessSite> collect_accesses(const ParsedUnit &unit, AffineAnalysis &values,
                                         const KernelShape &shape);

std::vector<Parameter> collect_parameters(KernelContext &context);
std::vector<SharedArray> collect_shared_arrays(KernelContext &context);
std::vector<Barrier> collect_barriers(KernelContext &context);
/// Whether `condition` compares a thread's position with a size: `i < n`, `row >= rows || col >= cols`.
bool is_bounds_check(AffineAnalysis &values, const clang::Expr *condition);
/// Whether some threads of a block may not reach a position.
bool is_divergent_at(AffineAnalysis &values, const Position &at);
bool has_divergence(KernelContext &context);
std::optional<double> arithmetic_intensity(KernelContext &context);
std::optional<std::string> recognise_pattern(KernelContext &context);

/// Name of the called function, resolved or not: "atomicAdd", "__shfl_down_sync"; otherwise empty.
std::string callee_name(const clang::CallExpr *call);
/// Canonical, unqualified name of a type. A type that depends on template parameters is named as
/// written.
std::string type_name(const clang::ASTContext &context, clang::QualType type);
/// Range for display: as range_of(), or the use of the macro that produced the code.
Range shown_range(const ParsedUnit &unit, clang::SourceRange range);
/// Visits every statement under `root`, including `root`, in text order.
template <class Visit>
void for_each_statement(const clang::Stmt *root, const Visit &visit, int depth = 0) {
  if (!root || depth > 500)
    return;
  visit(root);
  for (const clang::Stmt *child : root->children())
    for_each_statement(child, visit, depth + 1);
}

} // namespace warpwright::analysis
