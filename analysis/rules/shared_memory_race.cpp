// shared-memory-race: a thread reads an element of shared memory that another thread of the block
// wrote, with no barrier in between.
//
// Only the simple case is found: a write and a later read in the same loops of one body, affine
// indices of different threads' elements, and no barrier, warp synchronization or call of unknown
// code between them. Code for a single warp and races around a loop's back edge are not analyzed.
// The fix inserts the barrier before the reading statement if all threads get there. Thread: the
// unit's thread.
#include "analysis/rules/guard.h"
#include "analysis/rules/rules.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace warpwright::analysis {

using namespace clang;

namespace {

bool depends_on_thread(const KernelContext &context, const symbolic::Polynomial &value) {
  return std::ranges::any_of(context.values.root_symbols(value), [](const std::string &name) {
    return name.starts_with("threadIdx.");
  });
}

/// Whether a call between two positions may synchronize threads or is unknown to this rule.
bool is_synchronised(KernelContext &context, const Position &from, const Position &to) {
  bool found = false;
  for_each_statement(context.kernel.getBody(), [&](const Stmt *statement) {
    const auto *call = dyn_cast<CallExpr>(statement);
    const auto at = call ? context.values.flow().position_of(call) : std::nullopt;
    if (!at || at->order <= from.order || at->order >= to.order)
      return;
    const std::string name = callee_name(call);
    found |= name.starts_with("__sync") || name.find("sync") != std::string::npos ||
             name.find("wait") != std::string::npos;
    const FunctionDecl *callee = call->getDirectCallee();
    found |= !callee || (callee->hasBody() && !callee->isConstexpr());
  });
  return found;
}

/// Whether two positions are in the same loops.
bool share_loops(const KernelContext &context, const Position &a, const Position &b) {
  const auto loops = [&](const Position &at) {
    std::vector<unsigned> result;
    for (const unsigned region : context.values.flow().regions_around(at.region))
      if (context.values.flow().regions()[region].is_loop)
        result.push_back(region);
    return result;
  };
  return loops(a) == loops(b);
}

/// Whether one expression statement contains both: s[t] += s[t + 1] reads before it writes.
bool share_statement(const KernelContext &context, const AccessSite &a, const AccessSite &b) {
  const auto first = path_to(context.kernel.getBody(), a.expression),
             second = path_to(context.kernel.getBody(), b.expression);
  std::size_t common = 0;
  while (common < first.size() && common < second.size() && first[common] == second[common])
    ++common;
  return common > 0 && isa<Expr>(first[common - 1]);
}

/// Whether the access is under `if (threadIdx.x < 32)`. Other means may synchronize a single warp.
bool is_one_warp(KernelContext &context, const AccessSite &site) {
  return std::ranges::any_of(
      context.values.flow().conditions_between(site.at.region, 0), [&](const Expr *condition) {
        const auto *comparison = dyn_cast<BinaryOperator>(condition->IgnoreParenImpCasts());
        const auto bound = comparison && comparison->isComparisonOp()
                               ? context.values.value(comparison->getRHS()).number()
                               : std::nullopt;
        return bound && *bound <= 32 && context.values.varies(condition);
      });
}

bool is_race(KernelContext &context, const AccessSite &write, const AccessSite &read) {
  if (!write.access.is_write || read.access.is_write || write.access.space != MemorySpace::Shared ||
      write.place.base != read.place.base || write.at.order >= read.at.order ||
      read.access.is_atomic || write.access.is_atomic || write.access.range == read.access.range)
    return false;
  const symbolic::Polynomial &a = write.place.bytes, &b = read.place.bytes;
  if (a == b || context.values.kind_of(a) == SymbolKind::Varying ||
      context.values.kind_of(b) == SymbolKind::Varying || !depends_on_thread(context, a) ||
      !share_loops(context, write.at, read.at))
    return false;
  // s[t] = ...; s[t + s/2]: written by another thread. Different loop counters are no evidence.
  const symbolic::Polynomial difference = a - b;
  const bool is_offset = difference.number() && *difference.number() != 0;
  if (!is_offset && !depends_on_thread(context, difference))
    return false;
  const auto &block = context.shape.block;
  if (block[0] && *block[0] * block[1].value_or(1) <= 32)
    return false;
  return !is_synchronised(context, write.at, read.at) && !is_one_warp(context, read) &&
         !share_statement(context, write, read);
}

std::optional<QuickFix> barrier_fix(const RuleInput &input, const RuleKernel &kernel,
                                    const AccessSite &read) {
  const auto path = path_to(kernel.context->kernel.getBody(), read.expression);
  if (is_divergent_at(kernel.context->values, read.at))
    return std::nullopt;
  for (std::size_t i = path.size(); i-- > 1;) {
    if (!isa<CompoundStmt>(path[i - 1]))
      continue;
    const auto range = input.unit.range_of(path[i]->getSourceRange());
    if (!range)
      return std::nullopt;
    return QuickFix{
        "Insert __syncthreads()",
        {insertion(range->begin, "__syncthreads();" + new_line_at(input, range->begin))}};
  }
  return std::nullopt;
}

} // namespace

void check_shared_memory_race(const RuleInput &input, std::vector<Diagnostic> &out) {
  for (const RuleKernel &kernel : input.kernels) {
    std::set<const ValueDecl *> reported;
    const auto &sites = kernel.context->sites;
    for (const AccessSite &read : sites) {
      const auto write = std::ranges::find_if(sites, [&](const AccessSite &candidate) {
        return is_race(*kernel.context, candidate, read);
      });
      if (write == sites.end() || !reported.insert(read.place.base).second)
        continue;
      Diagnostic diagnostic = make_diagnostic(
          input, "shared-memory-race", Severity::Warning, read.access.range,
          "'" + read.access.buffer +
              "' is read here at an element that another thread writes on line " +
              std::to_string(write->access.line) + ", with no __syncthreads() in between.");
      if (auto fix = barrier_fix(input, kernel, read))
        diagnostic.fixes.push_back(std::move(*fix));
      out.push_back(std::move(diagnostic));
    }
  }
}

} // namespace warpwright::analysis
