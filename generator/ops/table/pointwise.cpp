// Pointwise operators with PyTorch's numerics: promotion, NaN, thresholds, precise functions.
#include "generator/ops/attributes.h"
#include "generator/ops/infer.h"
#include "generator/ops/scalar_ops.h"
#include "generator/ops/table/rows.h"

#include <numbers>

namespace warpwright::ops::table {
namespace {

using model::Node;
using enum AttributeKind;
using Operands = std::span<const ElementText>;

Op unary(std::string_view name, Recompute recompute, Formula formula,
         InferBounds bounds = nullptr) {
  return {.name = name,
          .kind = Kind::Pointwise,
          .least_operands = 1,
          .most_operands = 1,
          .infer = infer::unary,
          .recompute = recompute,
          .formula = formula,
          .bounds = bounds};
}

/// Returns the row of an operator that takes only floating-point operands.
Op floating(std::string_view name, Formula formula, InferBounds bounds = nullptr,
            std::vector<AttributeRule> attributes = {}, Recompute recompute = Expensive) {
  Op op = unary(name, recompute, formula, bounds);
  op.infer = infer::floating_unary;
  op.attributes = std::move(attributes);
  return op;
}

Op binary(std::string_view name, Recompute recompute, Formula formula,
          InferBounds bounds = nullptr) {
  return {.name = name,
          .kind = Kind::Pointwise,
          .least_operands = 2,
          .most_operands = 2,
          .infer = infer::arithmetic,
          .recompute = recompute,
          .formula = formula,
          .bounds = bounds};
}

Op written(Op op, WriteElement write) {
  op.write = write;
  return op;
}

Op valued(Op op, Formula::Value value) {
  op.formula.value = value;
  return op;
}

/// Returns the row of a comparison or a logical operator, with `sign` between the operands.
template <class Value> Op boolean(std::string_view name, WriteElement write, Value, bool compares) {
  Op op = binary(name, Cheap, {});
  op.infer = infer::comparison;
  op.write = write;
  op.compares = compares;
  op.logical = !compares;
  return valued(std::move(op), [](const Node &, std::span<const double> x) -> double {
    return Value{}(x[0], x[1]);
  });
}
#define WARPWRIGHT_BETWEEN(sign)                                                                   \
  [](const Node &, const Node *, Operands x) {                                                     \
    return "(" + x[0].bare() + " " #sign " " + x[1].bare() + ")";                                  \
  }
#define WARPWRIGHT_SIGN(sign) WARPWRIGHT_BETWEEN(sign), [](double a, double b) { return a sign b; }

/// Returns the row of an operator on the bits of integers.
Op integral(Op op, WriteElement write) {
  op.infer = infer::integral;
  op.write = write;
  op.integral = true;
  return op;
}

/// Returns the text without the bits that the dtype has not.
std::string wrapped(const std::string &text, model::Dtype dtype) {
  return "(" + compute_type_of(dtype) + ")(" + memory_type_of(dtype) + ")" + text;
}

/// Returns the text of a shift, which PyTorch defines for all distances: by those outside of the dtype's bits it gives
/// `outside`.
std::string shift(Operands x, const char *sign, const std::string &outside) {
  const std::string &value = x[0].bare(), &by = x[1].bare();
  const std::string bits = std::to_string(8 * model::size_bytes(x[0].dtype()));
  const std::string shifted = wrapped("(" + value + " " + sign + " " + by + ")", x[0].dtype());
  return "(" + by + " >= 0 && " + by + " < " + bits + " ? " + shifted + " : " + outside + ")";
}

long long bits_of(double value) { return static_cast<long long>(value); }

/// Returns the row of a rounding operator: floating-point values as CUDA's function gives them, integers unchanged.
template <class Value> Op rounding(std::string_view name, WriteElement write, Value) {
  Op op = unary(name, Cheap, {}, [](const Node &, std::span<const Bounds> x) -> Bounds {
    return {std::floor(x[0].low), std::ceil(x[0].high)};
  });
  op.write = write;
  return valued(std::move(op),
                [](const Node &, std::span<const double> x) -> double { return Value{}(x[0]); });
}
#define WARPWRIGHT_ROUNDING(function)                                                              \
  [](const Node &, const Node *, Operands x) {                                                     \
    return model::is_floating(x[0].dtype()) ? x[0].call(#function).bare() : x[0].bare();           \
  },                                                                                               \
      [](double x) { return std::function(x); }

std::string of_two(Operands x, const char *function) {
  return ElementText(x[0].bare() + ", " + x[1].bare(), x[0].dtype()).call(function).bare();
}
#define WARPWRIGHT_TWO(function)                                                                   \
  [](const Node &, const Node *, Operands x) { return of_two(x, #function); }

/// A function of CUDA's library, called by its own name.
#define WARPWRIGHT_FUNCTION(function)                                                              \
  Formula {                                                                                        \
    [](const Node &, Operands x) { return x[0].call(#function); },                                 \
        [](const Node &, std::span<const double> x) -> double { return std::function(x[0]); }      \
  }

template <double (*function)(double)>
Bounds monotone(const Node &, std::span<const Bounds> x) {
  return {function(x[0].low), function(x[0].high)};
}
Bounds unit(const Node &, std::span<const Bounds>) { return {-1, 1}; }

/// Returns the text of a power: products and roots for simple constant exponents, a library call for others.
std::string power(const Node &, const Node *second, Operands operands) {
  const ElementText &x = operands[0], &y = operands[1];
  if (!model::is_floating(x.dtype()))
    return "warpwright_power(" + x.bare() + ", " + y.bare() + ")";
  const std::string &base = x.bare(), one = x.number(1).bare();
  if (second && op_of(*second).kind == Kind::Generated && second->type().shape.empty()) {
    const double value = number_attribute(*second, "value", NAN);
    if (value == 1)
      return base;
    if (value == 2)
      return "(" + base + " * " + base + ")";
    if (value == 3)
      return "(" + base + " * " + base + " * " + base + ")";
    if (value == 0.5)
      return x.call("sqrt").bare();
    if (value == -0.5)
      return x.call("rsqrt").bare();
    if (value == -1)
      return "(" + one + " / " + base + ")";
    if (value == -2)
      return "(" + one + " / (" + base + " * " + base + "))";
  }
  return of_two(operands, "pow");
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
/// Returns log(1 + e^x) without overflow.
double log_of_one_and_exp(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

double remainder_of(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

} // namespace

using namespace element;

const std::vector<Op> kPointwise = {
    unary("neg", Cheap, formula([](auto x) { return -x; }),
          [](const Node &, std::span<const Bounds> x) -> Bounds { return {-x[0].high, -x[0].low}; })
        .judged_by([](double x) { return -x; }),
    written(unary("abs", Cheap, formula([](auto x) { return fabs(x); }),
                  [](const Node &, std::span<const Bounds> x) { return bounds::magnitude(x[0]); }),
            [](const Node &, const Node *, Operands operands) {
              const std::string &x = operands[0].bare();
              return model::is_floating(operands[0].dtype())
                         ? operands[0].call("fabs").bare()
                         : "(" + x + " < 0 ? -" + x + " : " + x + ")";
            })
        .judged_by([](double x) { return std::abs(x); }),
    written(valued(unary("sign", Cheap, {}, unit),
                   [](const Node &, std::span<const double> x) -> double {
                     return (0 < x[0]) - (x[0] < 0);
                   }),
            [](const Node &, const Node *, Operands operands) {
              const std::string &x = operands[0].bare(), zero = operands[0].number(0).bare();
              return "(" + compute_type_of(operands[0].dtype()) + ")((" + zero + " < " + x +
                     ") - (" + x + " < " + zero + "))";
            })
        .judged_by([](double x) { return x > 0   ? 1.0
                                         : x < 0 ? -1.0
                                                 : 0.0; }),
    rounding("floor", WARPWRIGHT_ROUNDING(floor)).judged_by([](double x) { return std::floor(x); }),
    rounding("ceil", WARPWRIGHT_ROUNDING(ceil)).judged_by([](double x) { return std::ceil(x); }),
    rounding("round", WARPWRIGHT_ROUNDING(rint)).judged_by([](double x) {
      return std::nearbyint(x);
    }),
    rounding("trunc", WARPWRIGHT_ROUNDING(trunc)).judged_by([](double x) { return std::trunc(x); }),
    unary("relu", Cheap, formula([](auto x) { return select(x < 0.0, 0.0, x); }),
          monotone<[](double x) { return std::max(x, 0.0); }>)
        .judged_by([](double x) { return x < 0 ? 0.0 : x; }),
    unary("square", Cheap, formula([](auto x) { return x * x; }),
          [](const Node &, std::span<const Bounds> x) -> Bounds {
            const Bounds size = bounds::magnitude(x[0]);
            return {size.low * size.low, size.high * size.high};
          })
        .judged_by([](double x) { return x * x; }),
    {.name = "logical_not",
     .kind = Kind::Pointwise,
     .least_operands = 1,
     .most_operands = 1,
     .infer = infer::logical_not,
     .recompute = Cheap,
     .write = [](const Node &, const Node *, Operands x) { return "(!" + x[0].bare() + ")"; },
     .logical = true,
     .reference = [](const Node &, std::span<const double> x) { return x[0] == 0 ? 1.0 : 0.0; }},
    integral(unary("bitwise_not", Cheap, {}),
             [](const Node &, const Node *, Operands x) {
               return "(" + wrapped("~" + x[0].bare(), x[0].dtype()) + ")";
             })
        .judged_by([](double x) { return -1 - x; }),
    {.name = "cast",
     .kind = Kind::Pointwise,
     .least_operands = 1,
     .most_operands = 1,
     .infer = infer::cast,
     .recompute = Cheap,
     .bounds = [](const Node &, std::span<const Bounds> x) { return x[0]; },
     .keeps_uniform = true,
     .reference = [](const Node &, std::span<const double> x) { return x[0]; }},

    floating("exp", formula([](auto x) { return exp(x); }),
             monotone<[](double x) { return std::exp(x); }>)
        .judged_by([](double x) { return std::exp(x); }),
    floating("expm1", formula([](auto x) { return expm1(x); })).judged_by([](double x) {
      return std::expm1(x);
    }),
    floating("log", formula([](auto x) { return log(x); }))
        .judged_by([](double x) { return std::log(x); })
        .within({.low = 0.01}),
    floating("log1p", formula([](auto x) { return log1p(x); }))
        .judged_by([](double x) { return std::log1p(x); })
        .within({.low = -0.9}),
    floating("log2", formula([](auto x) { return log2(x); }))
        .judged_by([](double x) { return std::log2(x); })
        .within({.low = 0.01}),
    floating("sqrt", formula([](auto x) { return sqrt(x); }),
             [](const Node &, std::span<const Bounds> x) -> Bounds {
               return {std::sqrt(std::max(x[0].low, 0.0)),
                       x[0].high < 0 ? 0 : std::sqrt(x[0].high)};
             })
        .judged_by([](double x) { return std::sqrt(x); })
        .within({.low = 0}),
    floating("rsqrt", formula([](auto x) { return rsqrt(x); }))
        .judged_by([](double x) { return 1 / std::sqrt(x); })
        .within({.low = 0.01}),
    floating("reciprocal", formula([](auto x) { return 1.0 / x; }))
        .judged_by([](double x) { return 1 / x; })
        .within({.low = 0.01}),
    floating("sin", formula([](auto x) { return sin(x); }), unit).judged_by([](double x) {
      return std::sin(x);
    }),
    floating("cos", formula([](auto x) { return cos(x); }), unit).judged_by([](double x) {
      return std::cos(x);
    }),
    floating("tan", formula([](auto x) { return tan(x); }))
        .judged_by([](double x) { return std::tan(x); })
        .within({-1.5, 1.5}),
    floating("atan", formula([](auto x) { return atan(x); })).judged_by([](double x) {
      return std::atan(x);
    }),
    floating("tanh", formula([](auto x) { return tanh(x); }),
             monotone<[](double x) { return std::tanh(x); }>)
        .judged_by([](double x) { return std::tanh(x); }),
    floating("erf", formula([](auto x) { return erf(x); }), unit).judged_by([](double x) {
      return std::erf(x);
    }),
    floating("erfc", formula([](auto x) { return erfc(x); })).judged_by([](double x) {
      return std::erfc(x);
    }),
    floating("exp2", WARPWRIGHT_FUNCTION(exp2)).judged_by([](double x) { return std::exp2(x); }),
    floating("log10", WARPWRIGHT_FUNCTION(log10))
        .judged_by([](double x) { return std::log10(x); })
        .within({.low = 0.01}),
    floating("sinh", WARPWRIGHT_FUNCTION(sinh)).judged_by([](double x) { return std::sinh(x); }),
    floating("cosh", WARPWRIGHT_FUNCTION(cosh)).judged_by([](double x) { return std::cosh(x); }),
    floating("asin", WARPWRIGHT_FUNCTION(asin))
        .judged_by([](double x) { return std::asin(x); })
        .within({-0.99, 0.99}),
    floating("acos", WARPWRIGHT_FUNCTION(acos))
        .judged_by([](double x) { return std::acos(x); })
        .within({-0.99, 0.99}),
    floating("asinh", WARPWRIGHT_FUNCTION(asinh)).judged_by([](double x) { return std::asinh(x); }),
    floating("acosh", WARPWRIGHT_FUNCTION(acosh))
        .judged_by([](double x) { return std::acosh(x); })
        .within({.low = 1.01}),
    floating("atanh", WARPWRIGHT_FUNCTION(atanh))
        .judged_by([](double x) { return std::atanh(x); })
        .within({-0.99, 0.99}),
    floating("sigmoid", formula([](auto x) { return 1.0 / (1.0 + exp(-x)); }),
             monotone<[](double x) { return 1 / (1 + std::exp(-x)); }>)
        .judged_by([](double x) { return logistic(x); }),
    floating("silu", formula([](auto x) { return x / (1.0 + exp(-x)); })).judged_by([](double x) {
      return x * logistic(x);
    }),
    floating("mish", formula([](auto x) { return x * tanh(log1p(exp(x))); }))
        .judged_by([](double x) { return x * std::tanh(log_of_one_and_exp(x)); }),
    floating("softsign", formula([](auto x) { return x / (1.0 + fabs(x)); }), unit)
        .judged_by([](double x) { return x / (1 + std::abs(x)); }),
    floating("hardsigmoid",
             formula([](auto x) { return minimum(maximum(x + 3.0, 0.0), 6.0) / 6.0; }),
             monotone<[](double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }>, {}, Cheap)
        .judged_by([](double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }),
    floating("hardswish",
             formula([](auto x) { return x * minimum(maximum(x + 3.0, 0.0), 6.0) / 6.0; }), nullptr,
             {}, Cheap)
        .judged_by([](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }),
    floating("gelu", formula_of_node([](const Node &node, auto x) {
               if (text_attribute(node, "approximate", "none") == "tanh")
                 return 0.5 * x * (1.0 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
               return x * 0.5 * (1.0 + erf(x * 0.7071067811865476));
             }),
             nullptr, {{"approximate", Text, false}})
        .judged_by([](const Node &node, double x) {
          if (text_attribute(node, "approximate", "none") == "none")
            return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
          return 0.5 * x *
                 (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
        }),
    floating("elu", formula_of_node([](const Node &node, auto x) {
               const double scale = number_attribute(node, "scale", 1);
               return select(x <= 0.0,
                             expm1(x * number_attribute(node, "input_scale", 1)) *
                                 (number_attribute(node, "alpha", 1) * scale),
                             x * scale);
             }),
             nullptr,
             {{"alpha", Number, false}, {"scale", Number, false}, {"input_scale", Number, false}})
        .judged_by([](const Node &node, double x) {
          const double scale = number_attribute(node, "scale", 1);
          return x > 0 ? scale * x
                       : scale * number_attribute(node, "alpha", 1) *
                             std::expm1(x * number_attribute(node, "input_scale", 1));
        }),
    floating("leaky_relu", formula_of_node([](const Node &node, auto x) {
               return select(x > 0.0, x, x * number_attribute(node, "negative_slope", 0.01));
             }),
             nullptr, {{"negative_slope", Number}}, Cheap)
        .judged_by([](const Node &node, double x) {
          return x < 0 ? number_attribute(node, "negative_slope", 0.01) * x : x;
        }),
    floating("softplus", formula_of_node([](const Node &node, auto x) {
               const double beta = number_attribute(node, "beta", 1);
               const auto scaled = parenthesised(x * beta);
               return select(scaled > number_attribute(node, "threshold", 20), x,
                             log1p(exp(scaled)) / beta);
             }),
             [](const Node &, std::span<const Bounds>) { return Bounds{.low = 0}; },
             {{"beta", Number, false}, {"threshold", Number, false}})
        .judged_by([](const Node &node, double x) {
          const double beta = number_attribute(node, "beta", 1);
          return x * beta > number_attribute(node, "threshold", 20)
                     ? x
                     : log_of_one_and_exp(x * beta) / beta;
        }),

    binary("add", Cheap, formula_of_two([](auto a, auto b) { return a + b; }),
           [](const Node &, std::span<const Bounds> x) -> Bounds {
             return {x[0].low + x[1].low, x[0].high + x[1].high};
           })
        .judged_by([](double a, double b) { return a + b; }),
    binary("sub", Cheap, formula_of_two([](auto a, auto b) { return a - b; }),
           [](const Node &, std::span<const Bounds> x) -> Bounds {
             return {x[0].low - x[1].high, x[0].high - x[1].low};
           })
        .judged_by([](double a, double b) { return a - b; }),
    selecting(
        binary("mul", Cheap, formula_of_two([](auto a, auto b) { return a * b; }),
               [](const Node &, std::span<const Bounds> x) { return bounds::product(x[0], x[1]); }))
        .judged_by([](double a, double b) { return a * b; }),
    selecting(binary("div", Expensive, formula_of_two([](auto a, auto b) { return a / b; }),
                     [](const Node &, std::span<const Bounds> x) -> Bounds {
                       const Bounds by = x[1];
                       const bool is_far = (by.low > 0 || by.high < 0) && std::isfinite(by.low) &&
                                           std::isfinite(by.high);
                       return is_far ? bounds::product(x[0], {1 / by.high, 1 / by.low}) : Bounds{};
                     }))
        .judged_by([](double a, double b) { return a / b; }),
    valued(written(binary("pow", Expensive, {}), power),
           [](const Node &, std::span<const double> x) { return std::pow(x[0], x[1]); })
        .judged_by([](double a, double b) { return std::pow(a, b); })
        .within({0.01, 10}),
    binary("maximum", Cheap, formula_of_two([](auto a, auto b) { return maximum(a, b); }),
           [](const Node &, std::span<const Bounds> x) -> Bounds {
             return {std::max(x[0].low, x[1].low), std::max(x[0].high, x[1].high)};
           })
        .judged_by([](double a, double b) { return std::isnan(a) || a > b ? a : b; }),
    binary("minimum", Cheap, formula_of_two([](auto a, auto b) { return minimum(a, b); }),
           [](const Node &, std::span<const Bounds> x) -> Bounds {
             return {std::min(x[0].low, x[1].low), std::min(x[0].high, x[1].high)};
           })
        .judged_by([](double a, double b) { return std::isnan(a) || a < b ? a : b; }),
    valued(written(binary("remainder", Expensive, {}),
                   [](const Node &, const Node *, Operands x) {
                     return "warpwright_remainder(" + x[0].bare() + ", " + x[1].bare() + ")";
                   }),
           [](const Node &, std::span<const double> x) { return remainder_of(x[0], x[1]); })
        .judged_by([](double a, double b) { return a - b * std::floor(a / b); }),
    valued(written(binary("atan2", Expensive, {}), WARPWRIGHT_TWO(atan2)),
           [](const Node &, std::span<const double> x) { return std::atan2(x[0], x[1]); })
        .judged_by([](double a, double b) { return std::atan2(a, b); }),
    valued(written(binary("fmod", Expensive, {}),
                   [](const Node &, const Node *, Operands x) {
                     if (!model::is_floating(x[0].dtype()))
                       return "(" + x[0].bare() + " % " + x[1].bare() + ")";
                     return of_two(x, "fmod");
                   }),
           [](const Node &, std::span<const double> x) { return std::fmod(x[0], x[1]); })
        .judged_by([](double a, double b) { return a - b * std::trunc(a / b); }),
    valued(written(binary("copysign", Cheap, {}), WARPWRIGHT_TWO(copysign)),
           [](const Node &, std::span<const double> x) { return std::copysign(x[0], x[1]); })
        .judged_by([](double a, double b) { return std::signbit(b) ? -std::abs(a) : std::abs(a); }),
    valued(written(binary("hypot", Expensive, {}), WARPWRIGHT_TWO(hypot)),
           [](const Node &, std::span<const double> x) { return std::hypot(x[0], x[1]); })
        .judged_by([](double a, double b) { return std::sqrt(a * a + b * b); }),

    boolean("eq", WARPWRIGHT_SIGN(==), true).judged_by([](double a, double b) {
      return a == b ? 1.0 : 0.0;
    }),
    boolean("ne", WARPWRIGHT_SIGN(!=), true).judged_by([](double a, double b) {
      return a != b ? 1.0 : 0.0;
    }),
    boolean("lt", WARPWRIGHT_SIGN(<), true).judged_by([](double a, double b) {
      return a < b ? 1.0 : 0.0;
    }),
    boolean("le", WARPWRIGHT_SIGN(<=), true).judged_by([](double a, double b) {
      return a <= b ? 1.0 : 0.0;
    }),
    boolean("gt", WARPWRIGHT_SIGN(>), true).judged_by([](double a, double b) {
      return a > b ? 1.0 : 0.0;
    }),
    boolean("ge", WARPWRIGHT_SIGN(>=), true).judged_by([](double a, double b) {
      return a >= b ? 1.0 : 0.0;
    }),
    boolean("logical_and", WARPWRIGHT_SIGN(&&), false).judged_by([](double a, double b) {
      return a != 0 && b != 0 ? 1.0 : 0.0;
    }),
    boolean("logical_or", WARPWRIGHT_SIGN(||), false).judged_by([](double a, double b) {
      return a != 0 || b != 0 ? 1.0 : 0.0;
    }),
    boolean("logical_xor", WARPWRIGHT_SIGN(!=), false).judged_by([](double a, double b) {
      return (a != 0) != (b != 0) ? 1.0 : 0.0;
    }),
    integral(binary("bitwise_and", Cheap, {}), WARPWRIGHT_BETWEEN(&))
        .judged_by([](double a, double b) { return double(bits_of(a) & bits_of(b)); }),
    integral(binary("bitwise_or", Cheap, {}), WARPWRIGHT_BETWEEN(|))
        .judged_by([](double a, double b) { return double(bits_of(a) | bits_of(b)); }),
    integral(binary("bitwise_xor", Cheap, {}), WARPWRIGHT_BETWEEN(^))
        .judged_by([](double a, double b) { return double(bits_of(a) ^ bits_of(b)); }),
    integral(binary("bitwise_left_shift", Cheap, {}),
             [](const Node &, const Node *, Operands x) {
               return shift(x, "<<", x[0].number(0).bare());
             })
        .judged_by([](double a, double b) { return a * std::exp2(b); })
        .within({0, 4}),
    integral(binary("bitwise_right_shift", Cheap, {}),
             [](const Node &, const Node *, Operands x) {
               return shift(x, ">>",
                            "(" + x[0].bare() + " < 0 ? " + x[0].number(-1).bare() + " : " +
                                x[0].number(0).bare() + ")");
             })
        .judged_by([](double a, double b) { return std::floor(a * std::exp2(-b)); })
        .within({0, 4}),
    {.name = "where",
     .kind = Kind::Pointwise,
     .least_operands = 3,
     .most_operands = 3,
     .infer = infer::where,
     .recompute = Cheap,
     .bounds = [](const Node &, std::span<const Bounds> x) { return bounds::hull(x[1], x[2]); },
     .selects = true,
     .reference = [](const Node &, std::span<const double> x) { return x[0] != 0 ? x[1] : x[2]; }},
};

} // namespace warpwright::ops::table
