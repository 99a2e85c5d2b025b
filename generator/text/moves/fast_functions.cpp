// Move fast_functions(kind): float functions by cheaper ones of the hardware.
//
// `powers`: pow with a whole exponent becomes products, with 0.5 a square root; a / sqrt(b) becomes
// a * rsqrt(b); float and double. `approximate`: expf, logf, sinf and the like become __expf,
// __logf, __sinf (CUDA C++ programming guide, "Intrinsic functions"), with an error that grows with
// the argument; `exponentials`, `logarithms` and `trigonometric` do so for one group of functions.
// Also in device functions that only this kernel runs. Verification decides whether the result
// stays as accurate as the reference; each kind is a choice, so that one refusal does not cost the
// other.
#include "generator/text/moves/move_kind.h"

#include <algorithm>

namespace warpwright::moves {
namespace {

using clang::dyn_cast;

struct Intrinsic {
  std::string name, group;
};

/// Functions by either name, and their intrinsics.
const std::map<std::string, Intrinsic> kIntrinsics{
    {"expf", {"__expf", "exponentials"}},     {"exp", {"__expf", "exponentials"}},
    {"exp10f", {"__exp10f", "exponentials"}}, {"powf", {"__powf", "exponentials"}},
    {"pow", {"__powf", "exponentials"}},      {"logf", {"__logf", "logarithms"}},
    {"log", {"__logf", "logarithms"}},        {"log2f", {"__log2f", "logarithms"}},
    {"log2", {"__log2f", "logarithms"}},      {"log10f", {"__log10f", "logarithms"}},
    {"log10", {"__log10f", "logarithms"}},    {"sinf", {"__sinf", "trigonometric"}},
    {"sin", {"__sinf", "trigonometric"}},     {"cosf", {"__cosf", "trigonometric"}},
    {"cos", {"__cosf", "trigonometric"}},     {"tanf", {"__tanf", "trigonometric"}},
    {"tan", {"__tanf", "trigonometric"}}};

using Bodies = std::vector<const clang::Stmt *>;

/// The function of float, or of double, that a call names; empty for other calls.
std::string function_of(const clang::CallExpr *call, clang::BuiltinType::Kind kind) {
  const bool fits = source::has_type(call, kind) && std::ranges::all_of(call->arguments(), [kind](const clang::Expr *argument) {
                      return source::has_type(source::strip(argument), kind) || argument->getType()->isIntegerType() ||
                             source::has_type(argument, kind);
                    });
  return fits ? source::callee_name(call) : "";
}

/// The edits by the groups of their functions.
std::map<std::string, source::Edits> approximate_edits(const source::KernelSource &source, const Bodies &bodies) {
  std::map<std::string, source::Edits> edits;
  for (const auto *call : source::find_all<clang::CallExpr>(bodies)) {
    const auto found = kIntrinsics.find(function_of(call, clang::BuiltinType::Float));
    const auto callee = source.range_of(call->getCallee());
    if (found != kIntrinsics.end() && callee)
      source::add_edits(edits[found->second.group], {{*callee, found->second.name}});
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

/// The largest exponent that becomes products: the compiler computes equal parts once, so 32 takes 5 products.
constexpr int kLargestExponent = 32;
constexpr std::size_t kLongestPower = 400; ///< characters

/// base to the power of `exponent`, by squaring.
std::string product_text(const std::string &base, int exponent) {
  if (exponent == 1)
    return base;
  const std::string half = product_text(base, exponent / 2);
  const std::string square = exponent < 4 ? half + " * " + half : "(" + half + ") * (" + half + ")";
  return exponent % 2 ? square + " * " + base : square;
}

/// The text of pow(base, exponent) without pow; empty where it stays.
std::string power_text(const source::KernelSource &source, const clang::CallExpr *call, bool is_float) {
  const auto exponent = literal(call->getArg(1));
  const std::string base = source.text_of(call->getArg(0));
  if (!exponent || base.empty())
    return {};
  if (*exponent == 0.5)
    return (is_float ? "sqrtf(" : "sqrt(") + base + ")";
  const clang::Expr *value = source::strip(call->getArg(0));
  const bool is_plain = source::find_all<clang::CallExpr>(value).empty() &&
                        source::find_all<clang::BinaryOperator>(value).size() <= 2 &&
                        source::find_all<clang::UnaryOperator>(value).empty() && value->getType()->isRealFloatingType();
  if (!is_plain || *exponent < 2 || *exponent > kLargestExponent || *exponent != static_cast<int>(*exponent))
    return {};
  const bool is_widened = !is_float && !source::has_type(value, clang::BuiltinType::Double);
  const std::string factor = is_widened ? "double(" + base + ")" : source::parenthesised(base);
  const std::string text = "(" + product_text(factor, static_cast<int>(*exponent)) + ")";
  return *exponent <= 4 || text.size() <= kLongestPower ? text : std::string();
}

/// Edits of `a / sqrtf(b)` to `a * rsqrtf(b)`; none for other quotients.
source::Edits reciprocal_edits(const source::KernelSource &source, const clang::BinaryOperator *quotient) {
  const auto *root = quotient->getOpcode() == clang::BO_Div ? source::as<clang::CallExpr>(quotient->getRHS()) : nullptr;
  if (!root)
    return {};
  const bool is_float = source::has_type(quotient, clang::BuiltinType::Float);
  const std::string name = function_of(root, is_float ? clang::BuiltinType::Float : clang::BuiltinType::Double);
  if ((name != "sqrtf" && name != "sqrt") || (!is_float && !source::has_type(quotient, clang::BuiltinType::Double)))
    return {};
  const auto callee = source.range_of(root->getCallee());
  const auto sign = source.range_of(clang::SourceRange(quotient->getOperatorLoc()));
  if (!callee || !sign)
    return {};
  return {{*sign, "*"}, {*callee, is_float ? "rsqrtf" : "rsqrt"}};
}

source::Edits power_edits(const source::KernelSource &source, const Bodies &bodies) {
  source::Edits edits;
  for (const auto *call : source::find_all<clang::CallExpr>(bodies)) {
    const bool is_float = source::has_type(call, clang::BuiltinType::Float);
    const std::string name = function_of(call, is_float ? clang::BuiltinType::Float : clang::BuiltinType::Double);
    if ((name != "pow" && name != "powf") || call->getNumArgs() != 2)
      continue;
    const std::string text = power_text(source, call, is_float);
    const auto range = source.range_of(call);
    const bool overlaps = range && std::ranges::any_of(edits, [&](const TextEdit &edit) {
      return edit.range.begin < range->end && range->begin < edit.range.end;
    });
    if (range && !text.empty() && !overlaps)
      edits.push_back({*range, text});
  }
  const source::Edits powers = edits;
  for (const auto *binary : source::find_all<clang::BinaryOperator>(bodies)) {
    const source::Edits quotient = reciprocal_edits(source, binary);
    const bool is_inside = std::ranges::any_of(quotient, [&](const TextEdit &edit) {
      return std::ranges::any_of(powers, [&](const TextEdit &power) { return power.range.contains(edit.range.begin); });
    });
    if (!is_inside)
      source::add_edits(edits, quotient);
  }
  return edits;
}

} // namespace

Result<Offer> offer_fast_functions(const source::KernelSource &source) {
  const Bodies bodies = source.own_bodies();
  std::map<std::string, source::Edits> kinds = approximate_edits(source, bodies);
  source::Edits all;
  for (const auto &[group, edits] : kinds)
    source::add_edits(all, edits);
  if (kinds.size() == 1)
    kinds.clear(); // the group is all
  kinds["approximate"] = all;
  kinds["powers"] = power_edits(source, bodies);
  std::vector<Parameters> choices;
  for (const auto &[kind, edits] : kinds)
    if (!edits.empty())
      choices.push_back({{"kind", kind}});
  if (choices.empty())
    return fail("the kernel calls no float function that has a cheaper one");
  return Offer{choices, [kinds](const Parameters &choice) { return kinds.at(choice.at("kind")); }};
}

} // namespace warpwright::moves
