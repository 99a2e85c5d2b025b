// Reaching definitions, and differences between the threads of a block; see affine.h.
//
// Uniformity is block-wide: the result of a warp vote counts as varying. Loads through a uniform
// address are uniform. Local arrays are not tracked by element and count as varying.
// Thread: the unit's thread.
#include "analysis/facts/affine.h"

#include "support/budget.h"

#include <clang/AST/ExprCXX.h>

#include <algorithm>

namespace warpwright::analysis {

using namespace clang;

Reaching AffineAnalysis::reaching(const VarDecl *variable, const Position &at) const {
  Reaching result;
  const std::vector<Definition> &definitions = flow_.definitions_of(variable);
  for (const Definition &definition : definitions)
    if (flow_.dominates(definition.at, at))
      result.base = &definition;
  const unsigned after = result.base ? result.base->at.order : 0;
  const unsigned base_region = result.base ? result.base->at.region : 0;
  const auto shares_loop = [&](const Definition &definition) {
    // A loop around both that does not contain the base carries the definition back to the use.
    for (const unsigned region : flow_.regions_around(at.region))
      if (flow_.regions()[region].is_loop && flow_.is_within(definition.at.region, region) &&
          !(result.base && flow_.is_within(base_region, region)))
        return true;
    return false;
  };
  for (const Definition &definition : definitions) {
    if (&definition == result.base)
      continue;
    const bool between = definition.at.order > after && definition.at.order < at.order;
    if (between || (definition.at.order > at.order && shares_loop(definition)))
      result.updates.push_back(&definition);
  }
  return result;
}

bool AffineAnalysis::diverges(const Definition &definition, const Definition *base) {
  if (definition.update == Update::Unknown || (definition.value && varies(definition.value)))
    return true;
  const unsigned outer = base ? base->at.region : 0;
  return std::ranges::any_of(flow_.conditions_between(definition.at.region, outer),
                             [&](const Expr *condition) { return varies(condition); });
}

bool AffineAnalysis::advances_uniformly(const Reaching &reaching) {
  return std::ranges::all_of(reaching.updates, [&](const Definition *update) {
    const bool is_step = update->update == Update::Add || update->update == Update::Subtract;
    return is_step && !diverges(*update, reaching.base);
  });
}

bool AffineAnalysis::use_varies(const DeclRefExpr *use) {
  const SymbolKind kind = kind_of(value_of_use(use));
  return kind == SymbolKind::Varying || kind == SymbolKind::Thread;
}

bool AffineAnalysis::varies(const Expr *expression) {
  checkpoint();
  if (!expression)
    return false;
  if (depth_ > 200 || ++steps_ > 100'000)
    return true;
  expression = expression->IgnoreParenImpCasts();
  if (const std::string name = builtin_index(expression); !name.empty())
    return name.starts_with("threadIdx");
  if (const auto *use = dyn_cast<DeclRefExpr>(expression))
    return isa<VarDecl>(use->getDecl())
               ? (use->getDecl()->getName() == "threadIdx" || use_varies(use))
               : false;
  if (const auto *call = dyn_cast<CallExpr>(expression); call && varying_call(call))
    return true;
  if (isa<LambdaExpr>(expression))
    return false;
  ++depth_;
  const bool result = std::ranges::any_of(expression->children(), [&](const Stmt *child) {
    const auto *operand = dyn_cast_or_null<Expr>(child);
    return operand && varies(operand);
  });
  --depth_;
  return result;
}

bool AffineAnalysis::depends_on_thread_position(const Expr *expression) {
  checkpoint();
  if (!expression)
    return false;
  expression = expression->IgnoreParenImpCasts();
  const QualType type = expression->getType();
  if (!type.isNull() && type->isIntegralOrEnumerationType() && !isa<CallExpr>(expression))
    for (const std::string &name : root_symbols(value(expression)))
      if (name.starts_with("threadIdx.") || name.starts_with("blockIdx."))
        return true;
  ++depth_;
  const bool result = depth_ < 200 && std::ranges::any_of(
                                          expression->children(),
                                          [&](const Stmt *child) {
                                            const auto *operand = dyn_cast_or_null<Expr>(child);
                                            return operand && depends_on_thread_position(operand);
                                          });
  --depth_;
  return result;
}

/// Whether a call's result differs between threads for any arguments.
bool AffineAnalysis::varying_call(const CallExpr *call) {
  const Expr *named = call->getCallee()->IgnoreParenImpCasts();
  std::string name;
  if (const auto *lookup = dyn_cast<OverloadExpr>(named))
    name = lookup->getName().getAsString();
  else if (const auto *member = dyn_cast<MemberExpr>(named))
    name = member->getMemberDecl()->getNameAsString();
  else if (const FunctionDecl *callee = call->getDirectCallee(); callee && callee->getIdentifier())
    name = callee->getNameAsString();
  const auto starts = [&](const char *prefix) { return name.starts_with(prefix); };
  if (starts("__syncthreads_"))
    return false;
  if (starts("__shfl") || starts("atomic") || starts("clock") || starts("__ballot") ||
      starts("__any") || starts("__all") || starts("__match") || starts("__activemask") ||
      starts("__reduce_") || starts("curand") || name == "thread_rank" || name == "thread_index" ||
      name == "shfl" || name == "shfl_down" || name == "shfl_xor" || name == "shfl_up")
    return true;
  const FunctionDecl *callee = call->getDirectCallee();
  return callee && reads_thread_index(callee, 0);
}

namespace {

bool mentions_thread_index(const Stmt *statement, int depth) {
  checkpoint();
  if (!statement || depth > 200)
    return false;
  if (const auto *expression = dyn_cast<Expr>(statement))
    if (builtin_index(expression).starts_with("threadIdx"))
      return true;
  return std::ranges::any_of(statement->children(), [&](const Stmt *child) {
    return mentions_thread_index(child, depth + 1);
  });
}

} // namespace

bool AffineAnalysis::reads_thread_index(const FunctionDecl *function, int depth) {
  const FunctionDecl *definition = nullptr;
  return depth < 3 && function->hasBody(definition) && definition &&
         mentions_thread_index(definition->getBody(), 0);
}

} // namespace warpwright::analysis
