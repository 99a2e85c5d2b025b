// Move fast_division(kind): quotients by cheaper operations.
//
// `reciprocals`: a / b becomes a * (1 / b) where b is a literal, or keeps its value in the
// innermost loop around it, so that the compiler divides once; float and double. `approximate`: in
// addition, other quotients of float become __fdividef (CUDA C++ programming guide, "Intrinsic
// functions"). Its error is 2 units in the last place, and it gives 0 for divisors above 2^126.
// Also in device functions that only this kernel runs. Verification decides whether the result
// stays as accurate as the reference.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/effects.h"

#include <algorithm>
#include <cmath>

namespace warpwright::moves {
namespace {

using clang::dyn_cast;

/// One quotient and the places of its parts.
struct Quotient {
  Range left, sign, right;
  bool assigns = false;  ///< a /= b
  bool is_float = false; ///< else double
  bool by_reciprocal = false;
};

/// The value of a divisor that the compiler knows, if it can be a number of C++ source.
std::optional<double> known_value(const source::KernelSource &source, const clang::Expr *divisor) {
  clang::Expr::EvalResult result;
  if (divisor->isValueDependent() || !divisor->EvaluateAsRValue(result, source.unit().context()))
    return std::nullopt;
  if (!result.Val.isFloat())
    return std::nullopt;
  llvm::APFloat value = result.Val.getFloat();
  bool is_exact = true;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &is_exact);
  return value.convertToDouble();
}

/// True for powers of two: the compiler multiplies already.
bool has_exact_reciprocal(double value) {
  int exponent = 0;
  return value == 0 || std::abs(std::frexp(value, &exponent)) == 0.5;
}

/// True if the expression keeps its value in the loop and loads nothing.
bool is_kept(const clang::Stmt *loop, const clang::Expr *expression) {
  const auto references = source::find_all<clang::DeclRefExpr>(expression);
  return source::is_invariant(loop, expression) &&
         source::find_all<clang::ArraySubscriptExpr>(expression).empty() &&
         source::find_all<clang::UnaryOperator>(expression).empty() &&
         std::ranges::all_of(references, [](const clang::DeclRefExpr *reference) {
           const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl());
           return variable->isLocalVarDeclOrParm() && variable->getType()->isArithmeticType();
         });
}

/// The innermost loop of the body around an expression; null: there is none.
const clang::Stmt *loop_around(const source::KernelSource &source, const clang::Stmt *body,
                               const Range &inner) {
  const clang::Stmt *found = nullptr;
  source::for_each_node(body, [&](const clang::Stmt *node) {
    if (!llvm::isa<clang::ForStmt>(node) && !llvm::isa<clang::WhileStmt>(node) &&
        !llvm::isa<clang::DoStmt>(node))
      return;
    if (const auto range = source.range_of(node);
        range && range->begin <= inner.begin && inner.end <= range->end)
      found = node;
  });
  return found;
}

/// The quotient of a node if it can be written in another way; nullopt for other nodes.
std::optional<Quotient> quotient_of(const source::KernelSource &source, const clang::Stmt *body,
                                    const clang::BinaryOperator *binary) {
  Quotient quotient{.assigns = binary->getOpcode() == clang::BO_DivAssign,
                    .is_float = source::has_type(binary, clang::BuiltinType::Float)};
  if (binary->getOpcode() != clang::BO_Div && !quotient.assigns)
    return std::nullopt;
  if (const auto *compound = dyn_cast<clang::CompoundAssignOperator>(binary);
      compound && compound->getComputationResultType() != compound->getType().getUnqualifiedType())
    return std::nullopt;
  if (!quotient.is_float && !source::has_type(binary, clang::BuiltinType::Double))
    return std::nullopt;
  if (quotient.assigns && !source::variable_of(binary->getLHS()))
    return std::nullopt;
  const auto left = source.range_of(binary->getLHS()), right = source.range_of(binary->getRHS());
  const auto sign = source.range_of(clang::SourceRange(binary->getOperatorLoc()));
  if (!left || !right || !sign || binary->isValueDependent() ||
      (!quotient.assigns && binary->isEvaluatable(source.unit().context())))
    return std::nullopt;
  quotient.left = *left;
  quotient.sign = *sign;
  quotient.right = *right;
  if (const auto value = known_value(source, binary->getRHS())) {
    if (has_exact_reciprocal(*value))
      return std::nullopt;
    quotient.by_reciprocal = true;
  } else if (const clang::Stmt *loop = loop_around(source, body, *sign)) {
    // A quotient of two invariants is computed once already.
    quotient.by_reciprocal =
        is_kept(loop, binary->getRHS()) && (quotient.assigns || !is_kept(loop, binary->getLHS()));
  }
  return quotient.is_float || quotient.by_reciprocal ? std::optional(quotient) : std::nullopt;
}

/// Insertions before and behind operands, by their places: one operand may belong to several quotients.
class Rewriter {
public:
  void add(const source::KernelSource &source, const Quotient &quotient) {
    const std::string one = quotient.is_float ? "1.0f" : "1.0";
    if (quotient.by_reciprocal) {
      // The right operand of `/` binds closer than `/`.
      const std::string right = source.text_of(quotient.right);
      const bool needs_parentheses = quotient.assigns && source::parenthesised(right) != right;
      edits_.push_back({quotient.sign, quotient.assigns ? "*=" : "*"});
      before_[quotient.right.begin] += "(" + one + " / " + (needs_parentheses ? "(" : "");
      behind_[quotient.right.end] += needs_parentheses ? "))" : ")";
    } else if (quotient.assigns) {
      edits_.push_back({quotient.sign, "="});
      before_[quotient.right.begin] += "__fdividef(" + source.text_of(quotient.left) + ", ";
      behind_[quotient.right.end] += ")";
    } else {
      const bool is_adjacent =
          source::trimmed(source.text_of({quotient.left.end, quotient.sign.begin})).empty();
      edits_.push_back(
          {{is_adjacent ? quotient.left.end : quotient.sign.begin, quotient.sign.end}, ","});
      before_[quotient.left.begin] += "__fdividef(";
      behind_[quotient.right.end] += ")";
    }
  }

  source::Edits edits() const {
    source::Edits all;
    for (const auto &[offset, text] : behind_)
      all.push_back({{offset, offset}, text});
    for (const auto &[offset, text] : before_)
      all.push_back({{offset, offset}, text});
    all.insert(all.end(), edits_.begin(), edits_.end());
    return all;
  }

private:
  source::Edits edits_;
  std::map<std::size_t, std::string> before_, behind_;
};

std::vector<Quotient> all_quotients(const source::KernelSource &source) {
  std::vector<Quotient> found;
  for (const clang::Stmt *body : source.own_bodies())
    for (const auto *binary : source::find_all<clang::BinaryOperator>(body))
      if (const auto quotient = quotient_of(source, body, binary);
          quotient && std::ranges::find(found, quotient->sign, &Quotient::sign) ==
                          found.end()) // an argument of a macro
        found.push_back(*quotient);
  return found;
}

} // namespace

Result<Offer> offer_fast_division(const source::KernelSource &source) {
  const std::vector<Quotient> quotients = all_quotients(source);
  if (quotients.empty())
    return fail("the kernel has no quotient that can be cheaper");
  std::vector<Parameters> choices;
  if (std::ranges::any_of(quotients, &Quotient::by_reciprocal))
    choices.push_back({{"kind", "reciprocals"}});
  if (!std::ranges::all_of(quotients, &Quotient::by_reciprocal))
    choices.push_back({{"kind", "approximate"}});
  return Offer{choices, [&source, quotients](const Parameters &choice) -> Result<source::Edits> {
                 Rewriter rewriter;
                 for (const Quotient &quotient : quotients)
                   if (quotient.by_reciprocal || choice.at("kind") == "approximate")
                     rewriter.add(source, quotient);
                 return rewriter.edits();
               }};
}

} // namespace warpwright::moves
