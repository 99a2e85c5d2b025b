// All that facts and rules share about one kernel: the unit, its affine analysis and its accesses with their AST nodes.
//
// Facts.h carries no Clang types, rules need them; this is the bridge, rebuilt from the AST where it is needed.
// Thread: that of the unit.
#pragma once

#include "analysis/facts/affine.h"
#include "analysis/facts/launch_shape.h"
#include "analysis/facts/warp.h"
#include "analysis/parsed_unit.h"

namespace warpwright::analysis {

/// One access with the expression that makes it.
struct AccessSite {
  Access access;
  const clang::Expr *expression =
      nullptr; ///< the element, or the pointer that a call such as atomicAdd takes
  Place place;
  Position at;
};

struct KernelContext {
  KernelContext(const ParsedUnit &unit, const clang::FunctionDecl &kernel);

  const ParsedUnit &unit;
  const clang::FunctionDecl &kernel;
  AffineAnalysis values;
  KernelShape shape;
  std::vector<AccessSite> sites; ///< in the order of the text; a read-modify-write is two
};

/// The accesses of a function's body. Those of functions that it calls are not among them.
std::vector<AccessSite> collect_accesses(const ParsedUnit &unit, AffineAnalysis &values,
                                         const KernelShape &shape);

std::vector<Parameter> collect_parameters(KernelContext &context);
std::vector<SharedArray> collect_shared_arrays(KernelContext &context);
std::vector<Barrier> collect_barriers(KernelContext &context);
/// Whether `condition` compares a thread's position with a size: `i < n`, `row >= rows || col >= cols`.
bool is_bounds_check(AffineAnalysis &values, const clang::Expr *condition);
/// Whether some threads of a block may miss what stands at a position.
bool is_divergent_at(AffineAnalysis &values, const Position &at);
bool has_divergence(KernelContext &context);
std::optional<double> arithmetic_intensity(KernelContext &context);
std::optional<std::string> recognise_pattern(KernelContext &context);

/// Name of the function that a call names, resolved or not: "atomicAdd", "__shfl_down_sync"; empty otherwise.
std::string callee_name(const clang::CallExpr *call);
/// Canonical and unqualified; a type that depends on template parameters as written.
std::string type_name(const clang::ASTContext &context, clang::QualType type);
/// Where something is shown: as range_of, or the macro's use when it came from a macro.
Range shown_range(const ParsedUnit &unit, clang::SourceRange range);
/// Every statement under `root`, `root` included, in the order of the text.
template <class Visit>
void for_each_statement(const clang::Stmt *root, const Visit &visit, int depth = 0) {
  if (!root || depth > 500)
    return;
  visit(root);
  for (const clang::Stmt *child : root->children())
    for_each_statement(child, visit, depth + 1);
}

} // namespace warpwright::analysis
