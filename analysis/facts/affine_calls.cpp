// Values of calls: device functions for minimum, maximum and product, thread_rank() of cooperative
// groups, and functions of the file that return one expression. Thread: the unit's thread.
#include "analysis/facts/affine.h"

#include <clang/AST/ExprCXX.h>

#include <utility>

namespace warpwright::analysis {

using namespace clang;

symbolic::Polynomial AffineAnalysis::value_of_call(const CallExpr *call) {
  const FunctionDecl *callee = call->getDirectCallee();
  const std::string name =
      callee && callee->getIdentifier() ? callee->getNameAsString() : std::string();
  if (call->getNumArgs() == 2) {
    if (name == "min" || name == "umin")
      return derived(Operation::Minimum, value(call->getArg(0)), value(call->getArg(1)));
    if (name == "max" || name == "umax")
      return derived(Operation::Maximum, value(call->getArg(0)), value(call->getArg(1)));
    if (name == "__mul24" || name == "__umul24")
      return value_of_binary(BO_Mul, call->getArg(0), call->getArg(1), call);
  }
  if (auto rank = group_rank(call))
    return *rank;
  if (auto result = inlined(call))
    return *result;
  return opaque(call, varies(call) ? SymbolKind::Varying : SymbolKind::Uniform);
}

/// Value of thread_rank() of a cooperative group.
std::optional<symbolic::Polynomial> AffineAnalysis::group_rank(const CallExpr *call) {
  const auto *member = dyn_cast<MemberExpr>(call->getCallee()->IgnoreParenImpCasts());
  if (!member || member->getMemberDecl()->getNameAsString() != "thread_rank")
    return std::nullopt;
  const std::string group =
      member->getBase()->getType().getCanonicalType().getUnqualifiedType().getAsString();
  const auto thread = [&](const char *name) { return opaque(name, SymbolKind::Thread); };
  const auto uniform = [&](const char *name) { return opaque(name, SymbolKind::Uniform); };
  if (group.find("grid_group") != std::string::npos)
    return thread("threadIdx.x") + uniform("blockDim.x") * uniform("blockIdx.x");
  if (const std::size_t at = group.find("thread_block_tile<"); at != std::string::npos) {
    const int width = std::atoi(group.c_str() + at + sizeof("thread_block_tile<") - 1);
    if (width > 0)
      return derived(Operation::Remainder, thread("threadIdx.x"), width);
    return std::nullopt;
  }
  if (group.find("thread_block") != std::string::npos)
    return thread("threadIdx.x") + uniform("blockDim.x") * thread("threadIdx.y");
  return std::nullopt;
}

/// Result of a function whose body is one return statement.
std::optional<symbolic::Polynomial> AffineAnalysis::inlined(const CallExpr *call) {
  const FunctionDecl *callee = call->getDirectCallee();
  const FunctionDecl *definition = nullptr;
  if (!callee || !callee->hasBody(definition) || !definition || isa<CXXMethodDecl>(callee))
    return std::nullopt;
  const auto *body = dyn_cast_or_null<CompoundStmt>(definition->getBody());
  const auto *result =
      body && body->size() == 1 ? dyn_cast<ReturnStmt>(body->body_front()) : nullptr;
  if (!result || !result->getRetValue() || definition->getNumParams() != call->getNumArgs() ||
      bound_.size() > 16)
    return std::nullopt;
  auto bindings = bound_;
  for (unsigned i = 0; i < call->getNumArgs(); ++i)
    if (!bindings.try_emplace(definition->getParamDecl(i), value(call->getArg(i))).second)
      return std::nullopt;
  std::swap(bindings, bound_);
  symbolic::Polynomial value_of_result = value(result->getRetValue());
  std::swap(bindings, bound_);
  return value_of_result;
}

} // namespace warpwright::analysis
