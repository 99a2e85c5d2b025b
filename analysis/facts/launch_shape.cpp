// Constant evaluation of launch configurations; see launch_shape.h.
// Thread: the unit's thread.
#include "analysis/facts/launch_shape.h"

#include "analysis/facts/flow.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>

namespace warpwright::analysis {

using namespace clang;

namespace {

constexpr int kMaxDepth = 16; ///< number of variables to look through

bool is_set_once(const VarDecl *variable) {
  const auto *owner = dyn_cast_or_null<FunctionDecl>(variable->getDeclContext());
  if (!owner || !owner->getBody())
    return !owner && variable->getType().isConstQualified();
  return Flow(owner->getBody()).definitions_of(variable).size() == 1;
}

bool is_dim3(QualType type) {
  const auto *record = type.isNull() ? nullptr : type.getNonReferenceType()->getAsCXXRecordDecl();
  return record && record->getName() == "dim3";
}

std::optional<std::int64_t> constant(const ASTContext &context, const Expr *expression, int depth) {
  if (!expression || depth > kMaxDepth || expression->isValueDependent() ||
      expression->isTypeDependent() || expression->containsErrors())
    return std::nullopt;
  const QualType type = expression->getType();
  if (type.isNull() || !type->isIntegralOrEnumerationType())
    return std::nullopt;
  Expr::EvalResult result;
  if (expression->EvaluateAsInt(result, context) && result.Val.isInt() &&
      result.Val.getInt().isRepresentableByInt64())
    return result.Val.getInt().getExtValue();
  const Expr *stripped = expression->IgnoreParenCasts();
  if (const auto *binary = dyn_cast<BinaryOperator>(stripped)) {
    const auto left = constant(context, binary->getLHS(), depth + 1);
    const auto right = constant(context, binary->getRHS(), depth + 1);
    if (!left || !right || *left < INT32_MIN || *left > INT32_MAX || *right < INT32_MIN ||
        *right > INT32_MAX)
      return std::nullopt;
    switch (binary->getOpcode()) {
    case BO_Add:
      return *left + *right;
    case BO_Sub:
      return *left - *right;
    case BO_Mul:
      return *left * *right;
    case BO_Div:
      return *right != 0 ? std::optional(*left / *right) : std::nullopt;
    default:
      return std::nullopt;
    }
  }
  const VarDecl *variable = named_variable(stripped);
  if (variable && variable->hasInit() && !isa<ParmVarDecl>(variable) && is_set_once(variable))
    return constant(context, variable->getInit(), depth + 1);
  return std::nullopt;
}

void fill_from_arguments(const ASTContext &context, const CXXConstructExpr *construct,
                         Dimensions &result) {
  for (unsigned i = 0; i < 3; ++i) {
    const Expr *argument = i < construct->getNumArgs() ? construct->getArg(i) : nullptr;
    if (!argument || isa<CXXDefaultArgExpr>(argument)) {
      result.sizes[i] = 1;
      continue;
    }
    result.components[i] = argument->IgnoreImpCasts();
    result.sizes[i] = constant(context, argument, 0);
  }
}

void fill(const ASTContext &context, const Expr *expression, Dimensions &result, int depth) {
  if (!expression || depth > kMaxDepth)
    return;
  if (const auto *cleanups = dyn_cast<ExprWithCleanups>(expression))
    expression = cleanups->getSubExpr();
  expression = expression->IgnoreParenImpCasts();
  if (const auto *temporary = dyn_cast<CXXBindTemporaryExpr>(expression))
    return fill(context, temporary->getSubExpr(), result, depth + 1);
  if (const auto *cast = dyn_cast<ExplicitCastExpr>(expression); cast && is_dim3(cast->getType()))
    return fill(context, cast->getSubExpr(), result, depth + 1);
  if (const auto *construct = dyn_cast<CXXConstructExpr>(expression)) {
    const Expr *first = construct->getNumArgs() > 0 ? construct->getArg(0) : nullptr;
    if (first && is_dim3(first->getType()))
      return fill(context, first, result, depth + 1);
    return fill_from_arguments(context, construct, result);
  }
  const VarDecl *variable = named_variable(expression);
  if (variable && is_dim3(variable->getType())) {
    if (!variable->hasInit() || !is_set_once(variable))
      return;
    fill(context, variable->getInit(), result, depth + 1);
    result.variable = variable;
    return;
  }
  if (!expression->getType().isNull() && expression->getType()->isIntegralOrEnumerationType()) {
    result.components[0] = expression;
    result.sizes = {constant(context, expression, 0), 1, 1};
  }
}

void collect_template_values(const CUDAKernelCallExpr *launch,
                             std::map<std::string, std::int64_t> &values,
                             std::set<std::string> &conflicts) {
  const FunctionDecl *callee = launch->getDirectCallee();
  const auto *arguments = callee ? callee->getTemplateSpecializationArgs() : nullptr;
  const FunctionTemplateDecl *primary = callee ? callee->getPrimaryTemplate() : nullptr;
  if (!arguments || !primary)
    return;
  const TemplateParameterList *parameters = primary->getTemplateParameters();
  for (unsigned i = 0; i < parameters->size() && i < arguments->size(); ++i) {
    const TemplateArgument &argument = arguments->get(i);
    if (argument.getKind() != TemplateArgument::Integral ||
        !argument.getAsIntegral().isRepresentableByInt64())
      continue;
    const std::string name = parameters->getParam(i)->getNameAsString();
    const std::int64_t value = argument.getAsIntegral().getExtValue();
    if (const auto [place, inserted] = values.try_emplace(name, value);
        !inserted && place->second != value)
      conflicts.insert(name);
  }
}

} // namespace

std::optional<std::int64_t> host_constant(const ASTContext &context, const Expr *expression) {
  return constant(context, expression, 0);
}

Dimensions dimensions_of(const ASTContext &context, const Expr *configuration) {
  Dimensions result;
  fill(context, configuration, result, 0);
  return result;
}

KernelShape shape_of(const ParsedUnit &unit, const FunctionDecl &kernel) {
  KernelShape shape;
  std::set<std::string> conflicts;
  bool is_first = true;
  for (const CUDAKernelCallExpr *launch : unit.launches()) {
    const FunctionDecl *launched = ParsedUnit::kernel_of(launch);
    if (!launched || launched->getCanonicalDecl() != kernel.getCanonicalDecl())
      continue;
    const CallExpr *configuration = launch->getConfig();
    const Dimensions block = configuration && configuration->getNumArgs() > 1
                                 ? dimensions_of(unit.context(), configuration->getArg(1))
                                 : Dimensions{};
    for (unsigned i = 0; i < 3; ++i)
      if (is_first || shape.block[i] != block.sizes[i])
        shape.block[i] = is_first ? block.sizes[i] : std::nullopt;
    is_first = false;
    collect_template_values(launch, shape.template_values, conflicts);
  }
  for (const std::string &name : conflicts)
    shape.template_values.erase(name);
  return shape;
}

} // namespace warpwright::analysis
