// Arithmetic intensity: floating-point operations per byte of global memory, counted statically.
//
// Loops with constant bounds multiply the count; other loops count once. The number is a guide for
// the reader and for search, not a measurement. A fused multiply-add is two operations.
// Thread: the unit's thread.
#include "analysis/facts/kernel_context.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace warpwright::analysis {

using namespace clang;

namespace {

bool is_floating(QualType type) {
  if (type.isNull())
    return false;
  type = type.getNonReferenceType();
  if (type->isRealFloatingType() || type->isTemplateTypeParmType())
    return true;
  const auto *record = type->getAsCXXRecordDecl();
  if (!record)
    return false;
  const StringRef name = record->getName();
  return name.starts_with("__half") || name.starts_with("__nv_bfloat16");
}

int operations_of_call(const std::string &name) {
  if (name == "fmaf" || name == "fma" || name == "__fmaf_rn" || name == "__hfma" ||
      name == "__hfma2")
    return 2;
  static const std::set<std::string> one{
      "sqrtf", "sqrt",       "rsqrtf", "rsqrt",  "expf",    "exp",    "__expf", "exp2f", "logf",
      "log",   "__logf",     "log2f",  "powf",   "pow",     "tanhf",  "tanh",   "sinf",  "sin",
      "cosf",  "cos",        "fmaxf",  "fmax",   "fminf",   "fmin",   "fabsf",  "fabs",  "erff",
      "erf",   "__fdividef", "__hadd", "__hmul", "__hadd2", "__hmul2"};
  return one.contains(name) ? 1 : 0;
}

int operations_of(const Stmt *statement) {
  if (const auto *binary = dyn_cast<BinaryOperator>(statement)) {
    const bool is_arithmetic = binary->isAdditiveOp() || binary->isMultiplicativeOp() ||
                               (binary->isCompoundAssignmentOp() && !binary->isBitwiseOp());
    return is_arithmetic && is_floating(binary->getType()) ? 1 : 0;
  }
  if (const auto *operation = dyn_cast<CXXOperatorCallExpr>(statement)) {
    const bool is_arithmetic = operation->isInfixBinaryOp() &&
                               operation->getOperator() != OO_Equal && !operation->isComparisonOp();
    return is_arithmetic && operation->getNumArgs() == 2 &&
                   is_floating(operation->getArg(0)->getType())
               ? 1
               : 0;
  }
  const auto *call = dyn_cast<CallExpr>(statement);
  return call ? operations_of_call(callee_name(call)) : 0;
}

/// Iterations of `for (i = a; i < b; i += c)` with constant bounds; 1 if unknown.
double trip_count(AffineAnalysis &values, const Stmt *statement) {
  const auto *loop = dyn_cast_or_null<ForStmt>(statement);
  const auto *condition = loop && loop->getCond()
                              ? dyn_cast<BinaryOperator>(loop->getCond()->IgnoreParenImpCasts())
                              : nullptr;
  const VarDecl *counter = condition ? named_variable(condition->getLHS()) : nullptr;
  if (!counter || !condition->isRelationalOp())
    return 1;
  const auto &definitions = values.flow().definitions_of(counter);
  if (definitions.size() != 2 || !definitions[0].value || definitions[0].update != Update::Assign)
    return 1;
  const auto start = values.value(definitions[0].value).number(),
             end = values.value(condition->getRHS()).number();
  const auto step = definitions[1].value ? values.value(definitions[1].value).number()
                                         : std::optional<std::int64_t>(1);
  const bool counts_up = condition->getOpcode() == BO_LT && definitions[1].update == Update::Add;
  if (!start || !end || !step || *step <= 0 || !counts_up || *end <= *start)
    return 1;
  return static_cast<double>((*end - *start + *step - 1) / *step);
}

} // namespace

std::optional<double> arithmetic_intensity(KernelContext &context) {
  AffineAnalysis &values = context.values;
  const Flow &flow = values.flow();
  std::vector<double> trips(flow.regions().size(), 1);
  for (std::size_t region = 1; region < trips.size(); ++region)
    trips[region] =
        trips[flow.regions()[region].parent] *
        (flow.regions()[region].is_loop ? trip_count(values, flow.regions()[region].statement) : 1);
  double operations = 0, bytes = 0;
  for_each_statement(context.kernel.getBody(), [&](const Stmt *statement) {
    if (const auto at = flow.position_of(statement))
      operations += operations_of(statement) * trips[at->region];
  });
  for (const AccessSite &site : context.sites)
    if (site.access.space == MemorySpace::Global)
      bytes +=
          (site.access.element_bytes > 0 ? site.access.element_bytes : 4) * trips[site.at.region];
  if (bytes == 0)
    return std::nullopt;
  return operations / bytes;
}

} // namespace warpwright::analysis
