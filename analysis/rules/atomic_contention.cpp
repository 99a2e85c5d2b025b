// atomic-contention: all threads of a warp add to one address, so the additions are serialized.
//
// Not reported: additions by one thread of a warp or block, and additions of a constant, which
// compilers aggregate themselves. The fix first sums each warp with shuffles. It needs full warps,
// so it is offered only if the launches have full warps and no condition on the thread surrounds
// the call. Thread: the unit's thread.
#include "analysis/rules/guard.h"
#include "analysis/rules/rules.h"

#include <clang/AST/ExprCXX.h>

#include <algorithm>

namespace warpwright::analysis {

using namespace clang;

namespace {

const CallExpr *atomic_call(const RuleKernel &kernel, const AccessSite &site) {
  const CallExpr *found = nullptr;
  for_each_statement(kernel.context->kernel.getBody(), [&](const Stmt *statement) {
    const auto *call = dyn_cast<CallExpr>(statement);
    if (call && call->getNumArgs() >= 1 && call->getArg(0) == site.expression)
      found = call;
  });
  return found;
}

/// Whether a condition around the access depends on the thread and is not a bounds check, so that
/// it may select few lanes of a warp.
bool picks_lanes(KernelContext &context, const AccessSite &site) {
  const auto conditions = context.values.flow().conditions_between(site.at.region, 0);
  return std::ranges::any_of(conditions, [&](const Expr *condition) {
    return context.values.varies(condition) && !is_bounds_check(context.values, condition);
  });
}

std::optional<QuickFix> aggregate_fix(const RuleInput &input, const RuleKernel &kernel,
                                      const AccessSite &site, const CallExpr *call) {
  static const std::set<std::string> types{"float", "double", "int", "unsigned int",
                                           "unsigned long long"};
  const auto path = path_to(kernel.context->kernel.getBody(), call);
  const bool is_statement = path.size() >= 2 && isa<CompoundStmt>(path[path.size() - 2]);
  const auto range = input.unit.range_of(call->getSourceRange());
  const auto target = input.unit.range_of(call->getArg(0)->getSourceRange());
  const auto value = input.unit.range_of(call->getArg(1)->getSourceRange());
  const auto block = kernel.context->shape.block;
  const bool full_warps = block[0] && *block[0] % 32 == 0 && block[1] == 1;
  if (!is_statement || !range || !target || !value || !full_warps ||
      !types.contains(site.access.element_type) ||
      is_divergent_at(kernel.context->values, site.at) ||
      input.text(kernel.facts.range).find("warp_sum") != std::string::npos)
    return std::nullopt;
  const std::string line = new_line_at(input, range->begin);
  return QuickFix{"Sum each warp with shuffles first",
                  {{*range, site.access.element_type + " warp_sum = " + input.text(*value) + ";" +
                                line + "for (int offset = 16; offset > 0; offset >>= 1)" + line +
                                "  warp_sum += __shfl_down_sync(0xffffffff, warp_sum, offset);" +
                                line + "if (threadIdx.x % 32 == 0)" + line + "  atomicAdd(" +
                                input.text(*target) + ", warp_sum)"}}};
}

} // namespace

void check_atomic_contention(const RuleInput &input, std::vector<Diagnostic> &out) {
  for (const RuleKernel &kernel : input.kernels) {
    for (const AccessSite &site : kernel.context->sites) {
      if (!site.access.is_atomic || site.access.pattern != AccessPattern::Broadcast ||
          site.access.space != MemorySpace::Global || picks_lanes(*kernel.context, site))
        continue;
      const CallExpr *call = atomic_call(kernel, site);
      if (!call || callee_name(call) != "atomicAdd" || call->getNumArgs() != 2 ||
          !kernel.context->values.varies(call->getArg(1)))
        continue;
      Diagnostic diagnostic = make_diagnostic(
          input, "atomic-contention", Severity::Warning,
          shown_range(input.unit, call->getSourceRange()),
          "All 32 threads of a warp add to the same element of '" + site.access.buffer +
              "': the atomic unit serves them one after the other. One addition a warp or a block, "
              "after a shuffle "
              "reduction, costs 1/32 or less.");
      if (auto fix = aggregate_fix(input, kernel, site, call))
        diagnostic.fixes.push_back(std::move(*fix));
      out.push_back(std::move(diagnostic));
    }
  }
}

} // namespace warpwright::analysis
