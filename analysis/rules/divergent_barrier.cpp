// divergent-barrier: a block-wide barrier that some threads of a block may not reach.
//
// A fix is offered if the barrier is the first or last statement of the branch, or if the
// statements before it declare nothing. The barrier then moves out of the branch. An early return
// before the barrier is replaced by guards around the later accesses. Loops with a trip count that
// depends on the thread have no safe edit. Thread: the unit's thread.
#include "analysis/rules/guard.h"
#include "analysis/rules/rules.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace warpwright::analysis {

using namespace clang;

namespace {

const CallExpr *barrier_call(const RuleInput &input, const RuleKernel &kernel,
                             const Barrier &barrier) {
  const CallExpr *found = nullptr;
  for_each_statement(kernel.context->kernel.getBody(), [&](const Stmt *statement) {
    const auto *call = dyn_cast<CallExpr>(statement);
    if (!found && call && input.unit.range_of(call->getSourceRange()) == barrier.range)
      found = call;
  });
  return found;
}

/// The innermost region around a position with a divergent condition, or null.
const Region *divergent_region(KernelContext &context, const Position &at) {
  const Flow &flow = context.values.flow();
  for (const unsigned region : flow.regions_around(at.region))
    if (flow.regions()[region].condition && context.values.varies(flow.regions()[region].condition))
      return &flow.regions()[region];
  return nullptr;
}

const Exit *divergent_exit(KernelContext &context, const Position &at) {
  for (const Exit *exit : context.values.flow().exits_before(at))
    if (context.values.varies(exit->condition))
      return exit;
  return nullptr;
}

bool declares(const CompoundStmt *block, const Stmt *until) {
  for (const Stmt *statement : block->body()) {
    if (statement == until)
      return false;
    if (isa<DeclStmt>(statement))
      return true;
  }
  return false;
}

/// Whether a variable of the condition changes inside the branch, or evaluating the condition has
/// side effects.
bool condition_changes(KernelContext &context, const IfStmt *branch) {
  if (branch->getCond()->HasSideEffects(context.values.context()))
    return true;
  const auto inside = context.values.flow().position_of(branch->getThen());
  bool changes = !inside;
  for_each_statement(branch->getCond(), [&](const Stmt *statement) {
    const auto *expression = dyn_cast<Expr>(statement);
    changes |= isa<ArraySubscriptExpr>(statement) || isa<CallExpr>(statement);
    if (const VarDecl *variable = expression ? named_variable(expression) : nullptr;
        variable && inside)
      for (const Definition &definition : context.values.flow().definitions_of(variable))
        changes |= context.values.flow().is_within(definition.at.region, inside->region);
  });
  return changes;
}

/// Range of a statement with the indentation and the line end before it, so that its line is
/// removed with it.
std::optional<Range> with_leading_space(const RuleInput &input, const Stmt *statement) {
  const auto range = input.unit.range_of(statement->getSourceRange());
  const auto end = end_of_statement(input, statement);
  if (!range || !end)
    return std::nullopt;
  std::size_t begin = range->begin;
  while (begin > 0 && (input.unit.text()[begin - 1] == ' ' || input.unit.text()[begin - 1] == '\t'))
    --begin;
  if (begin > 0 && input.unit.text()[begin - 1] == '\n')
    --begin;
  return Range{begin, *end};
}

std::optional<QuickFix> move_out_of_branch(const RuleInput &input, KernelContext &context,
                                           const CallExpr *call, const Region &region) {
  const auto *branch = dyn_cast_or_null<IfStmt>(region.statement);
  const auto *block =
      branch && !branch->getElse() ? dyn_cast<CompoundStmt>(branch->getThen()) : nullptr;
  const auto whole = branch ? input.unit.range_of(branch->getSourceRange()) : std::nullopt;
  const auto barrier = input.unit.range_of(call->getSourceRange());
  if (!block || !whole || !barrier ||
      std::find(block->body_begin(), block->body_end(), call) == block->body_end())
    return std::nullopt;
  const auto removed = with_leading_space(input, call);
  if (!removed)
    return std::nullopt;
  const std::string text = input.text(*barrier) + ";";
  const std::string line = new_line_at(input, whole->begin);
  if (block->body_back() == call)
    return QuickFix{"Move the barrier behind the branch",
                    {{*removed, ""}, insertion(whole->end, line + text)}};
  if (block->body_front() == call)
    return QuickFix{"Move the barrier before the branch",
                    {insertion(whole->begin, text + line), {*removed, ""}}};
  const auto condition = input.unit.range_of(branch->getCond()->getSourceRange());
  if (!condition || declares(block, call) || condition_changes(context, branch))
    return std::nullopt;
  const std::string split =
      line + "}" + line + text + line + "if (" + input.text(*condition) + ") {";
  return QuickFix{"Split the branch at the barrier", {{*removed, split}}};
}

/// The condition under which threads continue, as text.
std::string negated(const RuleInput &input, const Expr *condition) {
  condition = condition->IgnoreParenImpCasts();
  const auto *binary = dyn_cast<BinaryOperator>(condition);
  const auto text = [&](const Expr *part) {
    return std::string(input.unit.text_of(part->getSourceRange()));
  };
  if (binary && binary->isRelationalOp()) {
    const char *opposite = binary->getOpcode() == BO_GE   ? " < "
                           : binary->getOpcode() == BO_GT ? " <= "
                           : binary->getOpcode() == BO_LT ? " >= "
                                                          : " > ";
    return text(binary->getLHS()) + opposite + text(binary->getRHS());
  }
  if (binary && binary->getOpcode() == BO_LOr) {
    const std::string left = negated(input, binary->getLHS()),
                      right = negated(input, binary->getRHS());
    return left.empty() || right.empty() ? "" : left + " && " + right;
  }
  const std::string whole = text(condition);
  return whole.empty() ? "" : "!(" + whole + ")";
}

std::optional<QuickFix> guard_instead_of_exit(const RuleInput &input, const RuleKernel &kernel,
                                              const Exit &exit) {
  KernelContext &context = *kernel.context;
  if (!exit.leaves_function || exit.at.region != 0)
    return std::nullopt;
  std::vector<const AccessSite *> sites;
  for (const AccessSite &site : context.sites)
    if (site.at.order > exit.at.order && site.access.space == MemorySpace::Global) {
      if (site.access.is_atomic)
        return std::nullopt;
      sites.push_back(&site);
    }
  const std::string condition = negated(input, exit.condition);
  auto edits = condition.empty() ? std::nullopt : guard_accesses(input, kernel, sites, condition);
  const auto removed = with_leading_space(input, exit.statement);
  if (!edits || !removed)
    return std::nullopt;
  edits->push_back({*removed, ""});
  return QuickFix{"Guard the accesses instead of returning early", std::move(*edits)};
}

} // namespace

void check_divergent_barrier(const RuleInput &input, std::vector<Diagnostic> &out) {
  for (const RuleKernel &kernel : input.kernels) {
    std::set<const Exit *> reported;
    for (const Barrier &barrier : kernel.facts.barriers) {
      const CallExpr *call = barrier.is_divergent ? barrier_call(input, kernel, barrier) : nullptr;
      const auto at = call ? kernel.context->values.flow().position_of(call) : std::nullopt;
      if (!barrier.is_divergent)
        continue;
      const Region *region = at ? divergent_region(*kernel.context, *at) : nullptr;
      const Exit *exit = at && !region ? divergent_exit(*kernel.context, *at) : nullptr;
      // An early return makes every later barrier divergent; only the first of them is reported.
      if (exit && !reported.insert(exit).second)
        continue;
      const char *reason =
          region && region->is_loop
              ? "the loop around it runs a different number of times in each thread"
          : region ? "the branch around it depends on the thread"
                   : "threads leave before it";
      Diagnostic diagnostic =
          make_diagnostic(input, "divergent-barrier",
                          exit ? Severity::Information : Severity::Warning, barrier.range,
                          barrier.kind + " has to be reached by every thread of the block, but " +
                              reason + ": the result is undefined, a deadlock at worst.");
      std::optional<QuickFix> fix;
      if (region && !region->is_loop)
        fix = move_out_of_branch(input, *kernel.context, call, *region);
      else if (exit)
        fix = guard_instead_of_exit(input, kernel, *exit);
      if (fix)
        diagnostic.fixes.push_back(std::move(*fix));
      out.push_back(std::move(diagnostic));
    }
  }
}

} // namespace warpwright::analysis
