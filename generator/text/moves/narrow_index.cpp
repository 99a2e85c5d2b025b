// Move narrow_index(): 64-bit indices and counters become 32-bit numbers.
//
// A product of 64-bit numbers takes several instructions, and a quotient tens of them. A copy of the
// body, as a device function, has 32-bit variables, parameters and casts in place of 64-bit ones if
// their values fit in the task's launch. The kernel calls it where the arguments have the same values
// and the grid and the block are not larger, and else runs as before. The arguments that the proof
// uses become numbers of the compiler. Legal if the sums, products and shifts fit that become 32-bit
// with the variables; variables and casts with sums that may not fit stay as they are.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/body_function.h"
#include "generator/text/source/value_range.h"

#include <clang/AST/ExprCXX.h>

#include <algorithm>
#include <limits>

namespace warpwright::moves {
namespace {

using clang::dyn_cast;
using source::ValueRange;

constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();

/// The 64-bit variables and casts of a kernel that can be 32-bit.
class Narrowing {
public:
  explicit Narrowing(const source::KernelSource &source);

  bool is_empty() const { return variables_.empty() && casts_.empty(); }
  /// Edits of the types. Errors: a type from a macro.
  Result<source::Edits> edits() const;
  /// The facts that the ranges follow from.
  source::RangeReader facts() const;

private:
  bool is_wide(clang::QualType type) const;
  bool fits(const std::optional<ValueRange> &range, clang::QualType type) const;
  void collect();
  /// True if the expression would be computed in 32 bits.
  bool becomes_narrow(const clang::Expr *expression) const;
  /// Takes out what would make a sum, product or shift overflow. False: there is nothing to take out.
  bool remove_overflows();
  bool remove_parts(const clang::Stmt *root);
  /// Takes out the variables of declarations that have others too, and those that calls refer to.
  void remove_bound();

  const source::KernelSource &source_;
  mutable source::RangeReader ranges_;
  std::set<const clang::VarDecl *> variables_;
  std::set<const clang::ExplicitCastExpr *> casts_;
};

bool is_computed(const clang::BinaryOperator *binary) {
  const auto opcode = binary->getOpcode();
  return opcode == clang::BO_Add || opcode == clang::BO_Sub || opcode == clang::BO_Mul || opcode == clang::BO_Shl;
}

Narrowing::Narrowing(const source::KernelSource &source) : source_(source), ranges_(source) {
  collect();
  do
    remove_bound();
  while (remove_overflows());
}

bool Narrowing::is_wide(clang::QualType type) const {
  return !type->isDependentType() && type->isIntegerType() && source_.unit().context().getTypeSize(type) == 64;
}

bool Narrowing::fits(const std::optional<ValueRange> &range, clang::QualType type) const {
  return range && range->within(type->isUnsignedIntegerType() ? 0 : -kLargest, kLargest);
}

void Narrowing::collect() {
  for (const clang::ParmVarDecl *parameter : source_.kernel()->parameters())
    if (is_wide(parameter->getType()) && fits(ranges_.of_variable(parameter), parameter->getType()))
      variables_.insert(parameter);
  for (const auto *declaration : source::find_all<clang::DeclStmt>(source_.body()))
    for (const clang::VarDecl *variable : source::variables_of(declaration))
      if (variable->isLocalVarDecl() && !variable->isStaticLocal() && is_wide(variable->getType()) &&
          fits(ranges_.of_variable(variable), variable->getType()))
        variables_.insert(variable);
  for (const auto *cast : source::find_all<clang::ExplicitCastExpr>(source_.body()))
    if (is_wide(cast->getType()) && cast->getSubExpr()->getType()->isIntegerType() &&
        fits(ranges_.of(cast), cast->getType()))
      casts_.insert(cast);
}

bool Narrowing::becomes_narrow(const clang::Expr *expression) const {
  expression = source::strip(expression);
  if (!expression || expression->getType()->isDependentType() || !expression->getType()->isIntegerType())
    return false;
  if (const clang::VarDecl *variable = source::variable_of(expression); variable && variables_.contains(variable))
    return true;
  if (const auto *cast = dyn_cast<clang::ExplicitCastExpr>(expression); cast && casts_.contains(cast))
    return true;
  if (!is_wide(expression->getType()))
    return true;
  if (const auto *binary = dyn_cast<clang::BinaryOperator>(expression); binary && !binary->isAssignmentOp())
    return becomes_narrow(binary->getLHS()) && (binary->isShiftOp() || becomes_narrow(binary->getRHS()));
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(expression); unary && unary->isArithmeticOp())
    return becomes_narrow(unary->getSubExpr());
  if (const auto *choice = dyn_cast<clang::ConditionalOperator>(expression))
    return becomes_narrow(choice->getTrueExpr()) && becomes_narrow(choice->getFalseExpr());
  return false;
}

bool Narrowing::remove_parts(const clang::Stmt *root) {
  std::size_t removed = 0;
  for (const auto *reference : source::find_all<clang::DeclRefExpr>(root))
    if (const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl()))
      removed += variables_.erase(variable);
  for (const auto *cast : source::find_all<clang::ExplicitCastExpr>(root))
    removed += casts_.erase(cast);
  return removed > 0;
}

bool Narrowing::remove_overflows() {
  bool removed = false;
  const auto check = [&](const clang::Expr *node, bool has_sign) {
    if (!is_wide(node->getType()) || !becomes_narrow(node))
      return;
    const auto range = ranges_.of(node);
    if (!fits(range, node->getType()) || (!has_sign && range->low < 0))
      removed |= remove_parts(node);
  };
  auto binaries = source::find_all<clang::BinaryOperator>(source_.body());
  std::ranges::reverse(binaries); // operands first, so that only what overflows is taken out
  for (const auto *binary : binaries) {
    const auto has_sign = [](const clang::Expr *side) { return source::strip(side)->getType()->isSignedIntegerType(); };
    if (is_computed(binary))
      check(binary, has_sign(binary->getLHS()) && has_sign(binary->getRHS()));
    // Without the wide type, a number with a sign may be compared with one that has none.
    const bool mixes = binary->isComparisonOp() && is_wide(source::strip(binary->getLHS())->getType()) !=
                                                       is_wide(source::strip(binary->getRHS())->getType());
    if (mixes)
      for (const clang::Expr *side : {binary->getLHS(), binary->getRHS()})
        if (const auto range = ranges_.of(side); !range || range->low < 0)
          removed |= remove_parts(binary);
  }
  for (const auto *unary : source::find_all<clang::UnaryOperator>(source_.body()))
    if (unary->getOpcode() == clang::UO_Minus || unary->getOpcode() == clang::UO_Not)
      check(unary, true);
  return removed;
}

void Narrowing::remove_bound() {
  for (const auto *declaration : source::find_all<clang::DeclStmt>(source_.body())) {
    const auto variables = source::variables_of(declaration);
    if (std::ranges::any_of(variables, [&](const auto *one) { return !variables_.contains(one); }))
      for (const clang::VarDecl *variable : variables)
        variables_.erase(variable);
    for (const clang::VarDecl *variable : variables)
      if (variable->getType()->isReferenceType() && variable->hasInit())
        remove_parts(variable->getInit());
  }
  for (const auto *call : source::find_all<clang::CallExpr>(source_.body())) {
    const clang::FunctionDecl *callee = call->getDirectCallee();
    for (unsigned i = 0; i < call->getNumArgs(); ++i)
      if (!callee || i >= callee->getNumParams() || callee->getParamDecl(i)->getType()->isReferenceType() ||
          source::callee_name(call).starts_with("atomic"))
        remove_parts(call->getArg(i));
  }
}

Result<source::Edits> Narrowing::edits() const {
  source::Edits edits;
  const auto add = [&](const clang::TypeSourceInfo *info, clang::QualType type) -> Result<void> {
    const auto range = info ? source_.range_of(info->getTypeLoc().getUnqualifiedLoc().getSourceRange())
                            : std::nullopt;
    if (!range)
      return fail("a 64-bit type comes from a macro");
    if (type->getContainedAutoType())
      return {};
    source::add_edits(edits, {{*range, type->isUnsignedIntegerType() ? "unsigned" : "int"}});
    return {};
  };
  for (const clang::VarDecl *variable : variables_)
    if (auto added = add(variable->getTypeSourceInfo(), variable->getType()); !added)
      return std::unexpected(added.error());
  for (const clang::ExplicitCastExpr *cast : casts_)
    if (auto added = add(cast->getTypeInfoAsWritten(), cast->getType()); !added)
      return std::unexpected(added.error());
  return edits;
}

source::RangeReader Narrowing::facts() const {
  source::RangeReader facts(source_);
  for (const clang::VarDecl *variable : variables_)
    facts.of_variable(variable);
  for (const clang::ExplicitCastExpr *cast : casts_)
    facts.of(cast);
  for (const auto *binary : source::find_all<clang::BinaryOperator>(source_.body()))
    if (is_wide(binary->getType()) && becomes_narrow(binary))
      facts.of(binary);
  return facts;
}

constexpr std::string_view kDispatch = R"cuda(if ($test) {
  $call
  return;
})cuda";

Result<source::Edits> narrow_edits(const source::KernelSource &source) {
  if (!source::find_all<clang::LambdaExpr>(source.body()).empty())
    return fail("the kernel has a lambda");
  const Narrowing narrowing(source);
  if (narrowing.is_empty())
    return fail("the kernel has no 64-bit index that is known to fit into 32 bits");
  if (source.body_text().contains("__shared__") && !source.body_text().contains("extern __shared__"))
    return fail("a copy of the body would need separate shared memory");
  const source::RangeReader facts = narrowing.facts();
  const std::string test = facts.condition();
  if (test.empty())
    return fail("the 64-bit indices do not depend on the launch");
  const auto function = TRY(body_function(source, "narrow", TRY(narrowing.edits())));
  const std::string dispatch =
      source::indent(source::render(kDispatch, {{"test", test}, {"call", function.call(facts.arguments())}}),
                     source.body_indent(), source.indent_step());
  const std::size_t begin = source.body_inside().begin;
  return source::Edits{function.definition, {{begin, begin}, "\n" + dispatch}};
}

} // namespace

Result<Offer> offer_narrow_index(const source::KernelSource &source) {
  auto edits = narrow_edits(source);
  if (!edits)
    return std::unexpected(edits.error());
  return Offer{{Parameters{}}, [edits = *edits](const Parameters &) { return edits; }};
}

} // namespace warpwright::moves
