// Shared arrays, barriers and divergence of a kernel.
//
// A barrier is divergent if a condition, a loop or an earlier exit that depends on threadIdx
// decides whether a thread reaches it. Barriers of a warp or a tile are never divergent, because
// they take a mask or a group. Thread: the unit's thread.
#include "analysis/facts/kernel_context.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>

#include <algorithm>

namespace warpwright::analysis {

using namespace clang;

namespace {

bool is_size_like(AffineAnalysis &values, const symbolic::Polynomial &value) {
  if (value.number() || values.kind_of(value) != SymbolKind::Uniform)
    return false;
  return std::ranges::none_of(values.root_symbols(value), [](const std::string &name) {
    return name.starts_with("blockDim.");
  });
}

/// The kind of barrier that a call executes; empty if the call is no barrier.
std::string barrier_kind(const ParsedUnit &unit, const CallExpr *call) {
  const std::string name = callee_name(call);
  if (name.starts_with("__syncthreads") || name == "__syncwarp")
    return name;
  if (name != "sync")
    return {};
  if (const auto *member = dyn_cast<MemberExpr>(call->getCallee()->IgnoreParenImpCasts()))
    return std::string(unit.text_of(member->getBase()->getSourceRange())) + ".sync";
  return call->getNumArgs() == 1 ? "sync" : "";
}

/// Whether every thread of the block must take part in the barrier.
bool is_block_wide(const CallExpr *call, const std::string &kind) {
  if (kind.starts_with("__syncthreads"))
    return true;
  if (kind == "__syncwarp")
    return false;
  const auto *member = dyn_cast<MemberExpr>(call->getCallee()->IgnoreParenImpCasts());
  const Expr *group = member                   ? member->getBase()
                      : call->getNumArgs() > 0 ? call->getArg(0)
                                               : nullptr;
  const std::string type = group ? group->getType().getCanonicalType().getAsString() : "";
  return (type.find("thread_block") != std::string::npos &&
          type.find("tile") == std::string::npos) ||
         type.find("grid_group") != std::string::npos;
}

} // namespace

bool is_bounds_check(AffineAnalysis &values, const Expr *condition) {
  if (!condition)
    return false;
  const auto *comparison = dyn_cast<BinaryOperator>(condition->IgnoreParenImpCasts());
  if (!comparison)
    return false;
  if (comparison->isLogicalOp())
    return is_bounds_check(values, comparison->getLHS()) &&
           is_bounds_check(values, comparison->getRHS());
  if (!comparison->isRelationalOp())
    return false;
  const Expr *sides[] = {comparison->getLHS(), comparison->getRHS()};
  for (int side = 0; side < 2; ++side)
    if (values.depends_on_thread_position(sides[side]) &&
        is_size_like(values, values.value(sides[1 - side])))
      return true;
  // A check at the borders of a grid: row > 0, i < n - 1 with both sides computed.
  const auto number = values.value(comparison->getRHS()).number();
  return number && *number >= 0 && *number <= 1 &&
         values.depends_on_thread_position(comparison->getLHS()) &&
         values.root_symbols(values.value(comparison->getLHS())).contains("blockIdx.x");
}

bool is_divergent_at(AffineAnalysis &values, const Position &at) {
  const Flow &flow = values.flow();
  for (const unsigned region : flow.regions_around(at.region))
    if (flow.regions()[region].condition && values.varies(flow.regions()[region].condition))
      return true;
  for (const Exit &exit : flow.exits()) {
    const bool before = flow.dominates(exit.at, at);
    // A later exit in a loop around the position decides about the next iteration. A break counts
    // only if it leaves that loop.
    const auto around = flow.regions_around(at.region);
    const bool around_again = !exit.continues && std::ranges::any_of(around, [&](unsigned region) {
      return flow.regions()[region].is_loop && flow.is_within(exit.at.region, region) &&
             (exit.leaves_function || exit.loop == region);
    });
    if ((before || around_again) && values.varies(exit.condition))
      return true;
  }
  return false;
}

std::vector<SharedArray> collect_shared_arrays(KernelContext &context) {
  std::vector<SharedArray> arrays;
  const LineIndex lines(context.unit.text());
  for_each_statement(context.kernel.getBody(), [&](const Stmt *statement) {
    const auto *declarations = dyn_cast<DeclStmt>(statement);
    if (!declarations)
      return;
    for (const Decl *declaration : declarations->decls()) {
      const auto *variable = dyn_cast_or_null<VarDecl>(declaration);
      if (!variable || !variable->hasAttr<CUDASharedAttr>())
        continue;
      SharedArray array;
      array.name = variable->getNameAsString();
      QualType element = variable->getType();
      symbolic::Polynomial extent(1);
      while (const ArrayType *type = context.values.context().getAsArrayType(element)) {
        array.is_dynamic |= isa<IncompleteArrayType>(type);
        if (const auto *constant = dyn_cast<ConstantArrayType>(type))
          extent = extent * symbolic::Polynomial(constant->getSize().getSExtValue());
        else if (const auto *dependent = dyn_cast<DependentSizedArrayType>(type))
          extent = extent * context.values.value(dependent->getSizeExpr());
        element = type->getElementType();
      }
      for (const auto &[name, value] : context.shape.template_values)
        extent = extent.substitute(name, value);
      array.element_type = type_name(context.values.context(), element);
      if (!array.is_dynamic)
        array.extent = extent.number();
      array.range = shown_range(context.unit, variable->getSourceRange());
      array.line = lines.line_of(array.range.begin) + 1;
      arrays.push_back(std::move(array));
    }
  });
  return arrays;
}

std::vector<Barrier> collect_barriers(KernelContext &context) {
  std::vector<Barrier> barriers;
  const LineIndex lines(context.unit.text());
  for_each_statement(context.kernel.getBody(), [&](const Stmt *statement) {
    const auto *call = dyn_cast<CallExpr>(statement);
    if (!call)
      return;
    Barrier barrier;
    barrier.kind = barrier_kind(context.unit, call);
    if (barrier.kind.empty())
      return;
    const auto at = context.values.flow().position_of(call);
    barrier.is_divergent =
        at && is_block_wide(call, barrier.kind) && is_divergent_at(context.values, *at);
    barrier.range = shown_range(context.unit, call->getSourceRange());
    barrier.line = lines.line_of(barrier.range.begin) + 1;
    barriers.push_back(std::move(barrier));
  });
  return barriers;
}

bool has_divergence(KernelContext &context) {
  AffineAnalysis &values = context.values;
  const auto diverges = [&](const Expr *condition) {
    return condition && values.varies(condition) && !is_bounds_check(values, condition);
  };
  const auto &regions = values.flow().regions();
  return std::ranges::any_of(regions, [&](const Region &region) {
    const bool is_branch = region.statement && isa<IfStmt>(region.statement);
    return is_branch && diverges(region.condition);
  });
}

} // namespace warpwright::analysis
