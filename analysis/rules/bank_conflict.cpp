// bank-conflict: a warp's access to shared memory that uses few banks and needs several passes.
//
// The fix pads the innermost dimension of a static array by one element. It is offered only if it
// reduces the conflict, makes no other access worse, and every use of the array is a full
// subscript, so that no vector access loses its alignment. Two-way conflicts are reported as hints.
// Thread: the unit's thread.
#include "analysis/rules/rules.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/TypeLoc.h>

#include <algorithm>

namespace warpwright::analysis {

using namespace clang;

namespace {

/// Indices of a subscript chain, outermost first; empty if the base is not `array`.
std::vector<const Expr *> subscripts_of(const Expr *expression, const ValueDecl *array) {
  std::vector<const Expr *> indices;
  expression = expression->IgnoreParenImpCasts();
  while (const auto *subscript = dyn_cast<ArraySubscriptExpr>(expression)) {
    indices.insert(indices.begin(), subscript->getRHS());
    expression = subscript->getLHS()->IgnoreParenImpCasts();
  }
  return named_variable(expression) == array ? indices : std::vector<const Expr *>{};
}

/// Extents of the array as polynomials, outermost first, with the last one padded.
std::vector<symbolic::Polynomial> padded_extents(KernelContext &context, const VarDecl *array) {
  std::vector<symbolic::Polynomial> extents;
  QualType type = array->getType();
  while (const ArrayType *level = context.values.context().getAsArrayType(type)) {
    if (const auto *constant = dyn_cast<ConstantArrayType>(level))
      extents.emplace_back(constant->getSize().getSExtValue());
    else if (const auto *dependent = dyn_cast<DependentSizedArrayType>(level))
      extents.push_back(context.values.value(dependent->getSizeExpr()));
    else
      return {};
    type = level->getElementType();
  }
  if (!extents.empty())
    extents.back() = extents.back() + symbolic::Polynomial(1);
  return extents;
}

int ways_when_padded(KernelContext &context, const AccessSite &site,
                     const std::vector<symbolic::Polynomial> &extents) {
  const auto indices = subscripts_of(site.expression, site.place.base);
  if (indices.size() != extents.size())
    return site.access.bank_conflict_ways;
  symbolic::Polynomial elements;
  for (std::size_t i = 0; i < indices.size(); ++i)
    elements = elements * extents[i] + context.values.value(indices[i]);
  const int bytes = std::max(site.access.element_bytes, 4);
  return simulate_warp(elements * symbolic::Polynomial(bytes), bytes, context.values.symbols(),
                       context.shape)
      .bank_conflict_ways;
}

bool is_only_subscripted(KernelContext &context, const VarDecl *array, std::size_t dimensions) {
  std::size_t uses = 0, subscripted = 0;
  for_each_statement(context.kernel.getBody(), [&](const Stmt *statement) {
    const auto *reference = dyn_cast<DeclRefExpr>(statement);
    uses += reference && reference->getDecl() == array;
    const auto *subscript = dyn_cast<ArraySubscriptExpr>(statement);
    if (!subscript || subscripts_of(subscript, array).size() != dimensions)
      return;
    subscripted += 1;
  });
  // Detects &tile[i][j] and casts of it: they take the address of a subscript.
  bool has_address = false;
  for_each_statement(context.kernel.getBody(), [&](const Stmt *statement) {
    const auto *unary = dyn_cast<UnaryOperator>(statement);
    has_address |= unary && unary->getOpcode() == UO_AddrOf &&
                   !subscripts_of(unary->getSubExpr(), array).empty();
  });
  return uses > 0 && uses == subscripted && !has_address;
}

std::optional<QuickFix> padding_fix(const RuleInput &input, KernelContext &context,
                                    const AccessSite &site) {
  const auto *array = dyn_cast_or_null<VarDecl>(site.place.base);
  const auto extents = array ? padded_extents(context, array) : std::vector<symbolic::Polynomial>{};
  if (extents.size() < 2 || !is_only_subscripted(context, array, extents.size()))
    return std::nullopt;
  for (const AccessSite &other : context.sites)
    if (other.place.base == array &&
        ways_when_padded(context, other, extents) > other.access.bank_conflict_ways)
      return std::nullopt;
  if (ways_when_padded(context, site, extents) >= site.access.bank_conflict_ways ||
      !array->getTypeSourceInfo())
    return std::nullopt;
  const Expr *size = nullptr;
  for (TypeLoc type = array->getTypeSourceInfo()->getTypeLoc(); !type.isNull();
       type = type.getNextTypeLoc())
    if (const auto level = type.getAs<ArrayTypeLoc>())
      size = level.getSizeExpr();
  const auto range = size ? input.unit.range_of(size->getSourceRange()) : std::nullopt;
  if (!range)
    return std::nullopt;
  const auto *literal = dyn_cast<IntegerLiteral>(size->IgnoreParenImpCasts());
  const std::string text = input.text(*range);
  const bool is_decimal = literal && text.find_first_not_of("0123456789") == std::string::npos;
  const std::string padded =
      is_decimal ? std::to_string(literal->getValue().getLimitedValue() + 1) : text + " + 1";
  return QuickFix{"Pad the rows of '" + array->getNameAsString() + "' by one element",
                  {{*range, padded}}};
}

} // namespace

void check_bank_conflict(const RuleInput &input, std::vector<Diagnostic> &out) {
  for (const RuleKernel &kernel : input.kernels) {
    std::optional<Range> last;
    for (const AccessSite &site : kernel.context->sites) {
      const int ways = site.access.bank_conflict_ways;
      if (site.access.space != MemorySpace::Shared || ways < 2 || last == site.access.range)
        continue;
      last = site.access.range;
      const Severity severity = ways >= 8   ? Severity::Warning
                                : ways >= 4 ? Severity::Information
                                            : Severity::Hint;
      Diagnostic diagnostic = make_diagnostic(
          input, "bank-conflict", severity, site.access.range,
          std::to_string(ways) +
              "-way bank conflict: threads of a warp access different rows of the same bank of '" +
              site.access.buffer + "', so this access takes " + std::to_string(ways) +
              " passes through shared memory instead of 1.");
      if (auto fix = padding_fix(input, *kernel.context, site))
        diagnostic.fixes.push_back(std::move(*fix));
      out.push_back(std::move(diagnostic));
    }
  }
}

} // namespace warpwright::analysis
