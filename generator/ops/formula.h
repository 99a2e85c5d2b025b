// Formulas of pointwise operators: each is written once, as a generic function, and applied to texts and to numbers.
//
//   formula([](auto x) { return x / (1.0 + exp(-x)); })
//
// gives "(x / (1.0f + expf(-x)))" for a float operand named x, and a number for a double. A formula may take the node
// first, for its attributes.
#pragma once

#include "support/model/graph.h"

#include <cmath>
#include <span>
#include <string>
#include <type_traits>

namespace warpwright::ops {

/// CUDA C++ text of an element in the compute type of a dtype, with the parentheses that C++ needs.
class ElementText {
public:
  enum Precedence { Choice, Comparison, Sum, Product, Sign, Primary };

  ElementText(std::string text, model::Dtype dtype, Precedence precedence = Primary)
      : text_(std::move(text)), dtype_(dtype), precedence_(precedence) {}

  model::Dtype dtype() const { return dtype_; }
  const std::string &bare() const { return text_; }
  /// Returns the text, in parentheses where it binds less tightly than `least`.
  std::string within(Precedence least) const {
    return precedence_ >= least ? text_ : "(" + text_ + ")";
  }
  /// Returns a literal of the same dtype.
  ElementText number(double value) const;
  /// Returns a call such as "expf(x)" or "exp(x)".
  ElementText call(const std::string &function) const;

private:
  std::string text_;
  model::Dtype dtype_;
  Precedence precedence_;
};

ElementText infix(const ElementText &a, const char *sign, const ElementText &b,
                  ElementText::Precedence precedence);

#define WARPWRIGHT_INFIX(sign, precedence)                                                         \
  inline ElementText operator sign(const ElementText &a, const ElementText &b) {                   \
    return infix(a, #sign, b, ElementText::precedence);                                            \
  }                                                                                                \
  inline ElementText operator sign(const ElementText &a, double b) { return a sign a.number(b); }  \
  inline ElementText operator sign(double a, const ElementText &b) { return b.number(a) sign b; }
WARPWRIGHT_INFIX(+, Sum)
WARPWRIGHT_INFIX(-, Sum)
WARPWRIGHT_INFIX(*, Product)
WARPWRIGHT_INFIX(/, Product)
WARPWRIGHT_INFIX(<, Comparison)
WARPWRIGHT_INFIX(<=, Comparison)
WARPWRIGHT_INFIX(>, Comparison)
#undef WARPWRIGHT_INFIX

inline ElementText operator-(const ElementText &x) {
  return {"-" + x.within(ElementText::Sign), x.dtype(), ElementText::Sign};
}

/// Functions that formulas call, for texts and for double.
namespace element {

#define WARPWRIGHT_CALL(name)                                                                      \
  inline ElementText name(const ElementText &x) { return x.call(#name); }                          \
  inline double name(double x) { return std::name(x); }
WARPWRIGHT_CALL(exp)
WARPWRIGHT_CALL(expm1)
WARPWRIGHT_CALL(log)
WARPWRIGHT_CALL(log1p)
WARPWRIGHT_CALL(log2)
WARPWRIGHT_CALL(sqrt)
WARPWRIGHT_CALL(sin)
WARPWRIGHT_CALL(cos)
WARPWRIGHT_CALL(tan)
WARPWRIGHT_CALL(atan)
WARPWRIGHT_CALL(tanh)
WARPWRIGHT_CALL(erf)
WARPWRIGHT_CALL(erfc)
WARPWRIGHT_CALL(fabs)
#undef WARPWRIGHT_CALL

inline ElementText rsqrt(const ElementText &x) { return x.call("rsqrt"); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }

/// Returns NaN where either operand is NaN.
ElementText maximum(const ElementText &a, const ElementText &b);
ElementText minimum(const ElementText &a, const ElementText &b);
inline double maximum(double a, double b) { return a < b || b != b ? b : a; }
inline double minimum(double a, double b) { return b < a || b != b ? b : a; }
inline ElementText maximum(const ElementText &a, double b) { return maximum(a, a.number(b)); }
inline ElementText minimum(const ElementText &a, double b) { return minimum(a, a.number(b)); }

/// Returns `condition ? yes : no`.
ElementText select(const ElementText &condition, const ElementText &yes, const ElementText &no);
inline double select(bool condition, double yes, double no) { return condition ? yes : no; }
inline ElementText select(const ElementText &condition, double yes, const ElementText &no) {
  return select(condition, no.number(yes), no);
}

/// Adds parentheses that C++ would not need.
inline ElementText parenthesised(const ElementText &x) {
  return {"(" + x.bare() + ")", x.dtype(), ElementText::Primary};
}
inline double parenthesised(double x) { return x; }

} // namespace element

/// A formula for texts and for numbers. Both members are null where there is no formula.
struct Formula {
  using Text = ElementText (*)(const model::Node &node, std::span<const ElementText> operands);
  using Value = double (*)(const model::Node &node, std::span<const double> operands);
  Text text = nullptr;
  Value value = nullptr;

  explicit operator bool() const { return text != nullptr; }
};

namespace formulas {

template <class Apply> constexpr Formula both(Apply) {
  return {[](const model::Node &node, std::span<const ElementText> x) -> ElementText {
            return Apply{}(node, x);
          },
          [](const model::Node &node, std::span<const double> x) -> double {
            return Apply{}(node, x);
          }};
}

} // namespace formulas

/// Makes a formula of a generic lambda with one operand, without captures.
template <class Function> constexpr Formula formula(Function) {
  return formulas::both(
      [](const model::Node &, const auto &x) -> auto { return Function{}(x[0]); });
}
/// Makes a formula of a lambda that takes the node, for its attributes, and one operand.
template <class Function> constexpr Formula formula_of_node(Function) {
  return formulas::both(
      [](const model::Node &node, const auto &x) -> auto { return Function{}(node, x[0]); });
}
/// Makes a formula of a lambda with two operands.
template <class Function> constexpr Formula formula_of_two(Function) {
  return formulas::both(
      [](const model::Node &, const auto &x) -> auto { return Function{}(x[0], x[1]); });
}

} // namespace warpwright::ops
