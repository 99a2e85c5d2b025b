// Move fast_functions(kind): float functions by cheaper ones of the hardware.
//
// `powers`: pow with a small whole exponent becomes products, with 0.5 a square root; a / sqrt(b)
// becomes a * rsqrt(b). `approximate`: expf, logf, sinf and the like become __expf, __logf, __sinf
// (CUDA C++ programming guide, "Intrinsic functions"), with an error that grows with the argument.
// Verification decides whether the result stays as accurate as the reference; each kind is a
// choice, so that one refusal does not cost the other.
#include "generator/text/moves/move_kind.h"

#include <algorithm>

namespace warpwright::moves {
namespace {

using clang::dyn_cast;

/// Functions by either name, and their intrinsics.
const std::map<std::string, std::string> kIntrinsics{
    {"expf", "__expf"},     {"exp", "__expf"},     {"exp10f", "__exp10f"}, {"logf", "__logf"},   {"log", "__logf"},
    {"log2f", "__log2f"},   {"log2", "__log2f"},   {"log10f", "__log10f"}, {"log10", "__log10f"}, {"powf", "__powf"},
    {"pow", "__powf"},      {"sinf", "__sinf"},    {"sin", "__sinf"},      {"cosf", "__cosf"},   {"cos", "__cosf"},
    {"tanf", "__tanf"},     {"tan", "__tanf"}};

bool is_float(const clang::Expr *expression) {
  return expression->getType()->isSpecificBuiltinType(clang::BuiltinType::Float);
}

/// The float function that a call names; empty for other calls.
std::string float_function(const clang::CallExpr *call) {
  const bool floats = is_float(call) && std::ranges::all_of(call->arguments(), [](const clang::Expr *argument) {
                        return is_float(source::strip(argument)) || argument->getType()->isIntegerType() ||
                               is_float(argument);
                      });
  return floats ? source::callee_name(call) : "";
}

source::Edits approximate_edits(const source::KernelSource &source) {
  source::Edits edits;
  for (const auto *call : source::find_all<clang::CallExpr>(source.body())) {
    const auto found = kIntrinsics.find(float_function(call));
    const auto callee = source.range_of(call->getCallee());
    if (found != kIntrinsics.end() && callee)
      edits.push_back({*callee, found->second});
  }
  return edits;
}

/// The value of a literal, casts ignored; nullopt for other expressions.
std::optional<double> literal(const clang::Expr *expression) {
  expression = source::strip_casts(expression);
  if (const auto *real = llvm::dyn_cast_or_null<clang::FloatingLiteral>(expression))
    return real->getValueAsApproximateDouble();
  if (const auto *integer = llvm::dyn_cast_or_null<clang::IntegerLiteral>(expression))
    return static_cast<double>(integer->getValue().getSExtValue());
  return std::nullopt;
}

/// The text of pow(base, exponent) without pow; empty where it stays.
std::string power_text(const source::KernelSource &source, const clang::CallExpr *call) {
  const auto exponent = literal(call->getArg(1));
  const std::string base = source.text_of(call->getArg(0));
  if (!exponent || base.empty())
    return {};
  if (*exponent == 0.5)
    return "sqrtf(" + base + ")";
  const clang::Expr *value = source::strip(call->getArg(0));
  const bool is_plain = source::find_all<clang::CallExpr>(value).empty() &&
                        source::find_all<clang::BinaryOperator>(value).size() <= 2 &&
                        source::find_all<clang::UnaryOperator>(value).empty();
  if (!is_plain || (*exponent != 2 && *exponent != 3 && *exponent != 4))
    return {};
  std::string text = source::parenthesised(base);
  for (int factor = 1; factor < static_cast<int>(*exponent); ++factor)
    text += " * " + source::parenthesised(base);
  return "(" + text + ")";
}

/// Edits of `a / sqrtf(b)` to `a * rsqrtf(b)`; none for other quotients.
source::Edits reciprocal_edits(const source::KernelSource &source, const clang::BinaryOperator *quotient) {
  const auto *root = quotient->getOpcode() == clang::BO_Div ? source::as<clang::CallExpr>(quotient->getRHS()) : nullptr;
  const std::string name = root ? float_function(root) : "";
  if ((name != "sqrtf" && name != "sqrt") || !is_float(quotient))
    return {};
  const auto callee = source.range_of(root->getCallee());
  const auto sign = source.unit().range_of(clang::SourceRange(quotient->getOperatorLoc()));
  if (!callee || !sign)
    return {};
  return {{*sign, "*"}, {*callee, "rsqrtf"}};
}

source::Edits power_edits(const source::KernelSource &source) {
  source::Edits edits;
  for (const auto *call : source::find_all<clang::CallExpr>(source.body())) {
    const std::string name = float_function(call);
    if ((name != "pow" && name != "powf") || call->getNumArgs() != 2)
      continue;
    const std::string text = power_text(source, call);
    const auto range = source.range_of(call);
    const bool overlaps = range && std::ranges::any_of(edits, [&](const TextEdit &edit) {
      return edit.range.begin < range->end && range->begin < edit.range.end;
    });
    if (range && !text.empty() && !overlaps)
      edits.push_back({*range, text});
  }
  const source::Edits powers = edits;
  for (const auto *binary : source::find_all<clang::BinaryOperator>(source.body())) {
    const source::Edits quotient = reciprocal_edits(source, binary);
    const bool is_inside = std::ranges::any_of(quotient, [&](const TextEdit &edit) {
      return std::ranges::any_of(powers, [&](const TextEdit &power) { return power.range.contains(edit.range.begin); });
    });
    if (!is_inside)
      edits.insert(edits.end(), quotient.begin(), quotient.end());
  }
  return edits;
}

} // namespace

Result<Offer> offer_fast_functions(const source::KernelSource &source) {
  const std::map<std::string, source::Edits> kinds{{"approximate", approximate_edits(source)},
                                                   {"powers", power_edits(source)}};
  std::vector<Parameters> choices;
  for (const auto &[kind, edits] : kinds)
    if (!edits.empty())
      choices.push_back({{"kind", kind}});
  if (choices.empty())
    return fail("the kernel calls no float function that has a cheaper one");
  return Offer{choices, [kinds](const Parameters &choice) { return kinds.at(choice.at("kind")); }};
}

} // namespace warpwright::moves
