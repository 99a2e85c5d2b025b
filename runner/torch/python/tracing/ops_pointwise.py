"""Handlers of elementwise arithmetic, comparisons and activations. Operands are cast to the dtype
in which PyTorch computes."""
import math

import torch

from .call import is_floating
from .operators_table import pointwise
from .registry import handles


@handles(*pointwise(1))  # PyTorch uses the same names
def unary(call):
    name = call.func._schema.name.split("::")[-1]
    # Only round has the argument `decimals`.
    return NotImplemented if call.get("decimals", 0) else call.builder.unary(name, call("self", call.dtype))


@handles("absolute", "negative", "fix", "sgn", "special_exp2", "special_expm1", "special_log1p", "special_erf", "special_erfc",
         "special_expit", "positive")
def alias(call):
    name = call.func._schema.name.split("::")[-1].replace("special_", "")
    name = {"absolute": "abs", "negative": "neg", "fix": "trunc", "sgn": "sign", "expit": "sigmoid"}.get(name, name)
    return call("self") if name == "positive" else call.builder.unary(name, call("self", call.dtype))


@handles("logical_not")
def logical_not(call):
    return call.builder.unary("logical_not", call("self"), dtype="bool")


@handles("bitwise_not")
def bitwise_not(call):
    if call.dtype == "bool":
        return call.builder.unary("logical_not", call("self"), dtype="bool")
    return call.builder.unary("bitwise_not", call("self"))


# Two operands.

def scaled(call, name="other"):
    """The operand multiplied by alpha."""
    value, alpha = call(name, call.dtype), call.get("alpha", 1)
    return value if alpha == 1 else call.builder.binary("mul", value, alpha)


@handles("add", "sub", "subtract", "rsub")
def add(call):
    name = call.func._schema.name.split("::")[-1]
    if name == "rsub":
        return call.builder.binary("sub", call("other", call.dtype), scaled(call, "self"))
    return call.builder.binary("add" if name == "add" else "sub", call("self", call.dtype), scaled(call))


@handles("mul", "multiply")
def mul(call):
    return call.builder.binary("mul", call("self", call.dtype), call("other", call.dtype))


@handles("div", "divide", "true_divide", "floor_divide")
def div(call):
    mode = call.get("rounding_mode")
    if call.func._schema.name.endswith("floor_divide"):
        mode = "floor"
    if mode and not is_floating(call.dtype):
        return integer_division(call, mode)
    quotient = call.builder.binary("div", call("self", call.dtype), call("other", call.dtype))
    return call.builder.unary(mode, quotient) if mode else quotient


def integer_division(call, mode):
    """Integer division in float64, which is exact below 2^53 and thus for indices."""
    builder = call.builder
    quotient = builder.binary("div", call.builder.cast(call("self", call.dtype), "float64"),
                              builder.cast(call("other", call.dtype), "float64"))
    return builder.cast(builder.unary(mode, quotient), call.dtype)


@handles("remainder", "atan2", "arctan2", "fmod", "copysign", "hypot")
def remainder(call):
    name = call.func._schema.name.split("::")[-1].replace("arctan2", "atan2")
    return call.builder.binary(name, call("self", call.dtype), call("other", call.dtype))


@handles("maximum", "minimum", "max.other", "min.other")
def maximum(call):
    op = "maximum" if call.func._schema.name.split("::")[-1].startswith("max") else "minimum"
    return call.builder.binary(op, call("self", call.dtype), call("other", call.dtype))


@handles("heaviside")
def heaviside(call):
    x = call("self", call.dtype)
    step = call.builder.cast(call.builder.binary("gt", x, 0), call.dtype)
    return call.builder.where(call.builder.binary("eq", x, 0), call("values", call.dtype), step)


@handles("logaddexp")
def logaddexp(call):
    """max + log1p(exp(-|a - b|)); equal infinities stay."""
    builder, a, b = call.builder, call("self", call.dtype), call("other", call.dtype)
    high = builder.binary("maximum", a, b)
    apart = builder.unary("neg", builder.unary("abs", builder.binary("sub", a, b)))
    total = builder.binary("add", high, builder.unary("log1p", builder.unary("exp", apart)))
    same = builder.binary("logical_and", builder.binary("eq", a, b), builder.binary("eq", builder.unary("abs", a), math.inf))
    return builder.where(same, a, total)


MOST_PLACES = 8  # indices that are compared with each place


@handles("scatter.value", "scatter.src")
def scatter(call):
    """Few indices along the dimension, which then are a choice at each place. Several elements may fall on one place, so
    only one index along the dimension chooses among them."""
    builder, index, dim = call.builder, call["index"], call.dim()
    shape = tuple(call.result().shape)
    of_value = "src" not in call.args
    if not shape or not 1 <= index.shape[dim] <= (MOST_PLACES if of_value else 1) or any(
            index.shape[i] != size for i, size in enumerate(shape) if i != dim):
        return NotImplemented
    if not of_value and tuple(call["src"].shape) != tuple(index.shape):
        return NotImplemented
    places = builder.reshape(builder.iota(shape[dim]), tuple(shape[dim] if i == dim else 1 for i in range(len(shape))))
    is_there = None
    for number in range(index.shape[dim]):
        here = builder.binary("eq", builder.slice(call("index", "int64"), dim, number, number + 1), places)
        is_there = here if is_there is None else builder.binary("logical_or", is_there, here)
    return builder.where(is_there, call.operand(call["value"], call.dtype) if of_value else call("src"), call("self"))


@handles("pow", "float_power")
def power(call):
    builder, exponent = call.builder, call["exponent"]
    if isinstance(exponent, (int, float)) and isinstance(call["self"], torch.Tensor):
        x = call("self", call.dtype)
        special = {2: "square", 0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}.get(exponent)
        if exponent == 1:
            return x
        if special == "square" or (special and is_floating(call.dtype)):
            return builder.unary(special, x)
    return builder.binary("pow", call("self", call.dtype), call("exponent", call.dtype))


COMPARISONS = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "not_equal": "ne", "less": "lt",
               "less_equal": "le", "greater": "gt", "greater_equal": "ge"}


@handles(*COMPARISONS)
def comparison(call):
    common = call.promoted("self", "other")
    return call.builder.binary(COMPARISONS[call.func._schema.name.split("::")[-1]], call("self", common), call("other", common))


def as_bool(builder, value):
    return value if builder.dtype(value) == "bool" else builder.binary("ne", value, 0)


@handles("logical_and", "logical_or", "logical_xor")
def logical(call):
    name = call.func._schema.name.split("::")[-1]
    return call.builder.binary(name, as_bool(call.builder, call("self")), as_bool(call.builder, call("other")))


@handles("bitwise_and", "bitwise_or", "bitwise_xor")
def bitwise(call):
    name = call.func._schema.name.split("::")[-1]
    if call.dtype == "bool":
        name = name.replace("bitwise", "logical")
    return call.builder.binary(name, call("self", call.dtype), call("other", call.dtype))


SHIFTS = {"bitwise_left_shift": "bitwise_left_shift", "__lshift__": "bitwise_left_shift",
          "bitwise_right_shift": "bitwise_right_shift", "__rshift__": "bitwise_right_shift"}


@handles(*SHIFTS)
def shift(call):
    if is_floating(call.dtype) or call.dtype == "bool":
        return NotImplemented
    return call.builder.binary(SHIFTS[call.func._schema.name.split("::")[-1]], call("self", call.dtype), call("other", call.dtype))


@handles("isnan")
def isnan(call):
    return call.builder.binary("ne", call("self"), call("self"))


@handles("isinf")
def isinf(call):
    if not is_floating(call.builder.dtype(call("self"))):
        return call.builder.full(False, "bool", call.shape)
    return call.builder.binary("eq", call.builder.unary("abs", call("self")), math.inf)


@handles("isfinite")
def isfinite(call):
    if not is_floating(call.builder.dtype(call("self"))):
        return call.builder.full(True, "bool", call.shape)
    return call.builder.binary("lt", call.builder.unary("abs", call("self")), math.inf)


# Bounds and choices.

@handles("clamp", "clip", "clamp_min", "clamp_max", "hardtanh", "relu6")
def clamp(call):
    builder, x = call.builder, call("self", call.dtype)
    if call.func._schema.name.endswith("relu6"):
        return builder.binary("minimum", builder.binary("maximum", x, 0), 6)
    low, high = call.get("min", call.get("min_val")), call.get("max", call.get("max_val"))
    if low is not None:
        x = builder.binary("maximum", x, call.operand(low, call.dtype))
    if high is not None:
        x = builder.binary("minimum", x, call.operand(high, call.dtype))
    return x


@handles("where")
def where(call):
    if "self" not in call.args:
        return NotImplemented
    return call.builder.where(as_bool(call.builder, call("condition")), call("self", call.dtype), call("other", call.dtype))


@handles("masked_fill")
def masked_fill(call):
    x = call("self")
    return call.builder.where(call("mask", "bool"), call.operand(call["value"], call.builder.dtype(x)), x)


@handles("threshold")
def threshold(call):
    builder, x = call.builder, call("self")
    return builder.where(builder.binary("le", x, call["threshold"]), call.operand(call["value"], call.dtype), x)


@handles("nan_to_num")
def nan_to_num(call):
    builder, x = call.builder, call("self")
    if not is_floating(call.dtype):
        return x
    limits = torch.finfo(call.result().dtype)
    high, low = call.get("posinf", limits.max), call.get("neginf", limits.min)
    result = builder.where(builder.binary("ne", x, x), float(call.get("nan", 0.0)), x)
    result = builder.where(builder.binary("eq", x, math.inf), float(high), result)
    return builder.where(builder.binary("eq", x, -math.inf), float(low), result)


# Compositions.

@handles("addcmul", "addcdiv")
def addc(call):
    builder, op = call.builder, "mul" if call.func._schema.name.endswith("mul") else "div"
    term = builder.binary(op, call("tensor1", call.dtype), call("tensor2", call.dtype))
    if call.get("value", 1) != 1:
        term = builder.binary("mul", term, call["value"])
    return builder.binary("add", call("self", call.dtype), term)


@handles("lerp")
def lerp(call):
    builder, start = call.builder, call("self", call.dtype)
    step = builder.binary("sub", call("end", call.dtype), start)
    return builder.binary("add", start, builder.binary("mul", step, call("weight", call.dtype)))


@handles("frac")
def frac(call):
    x = call("self")
    return call.builder.binary("sub", x, call.builder.unary("trunc", x))


@handles("xlogy", "special_xlogy")
def xlogy(call):
    builder, x, y = call.builder, call("self", call.dtype), call("other", call.dtype)
    result = builder.where(builder.binary("eq", x, 0), 0.0, builder.binary("mul", x, builder.unary("log", y)))
    return builder.where(builder.binary("ne", y, y), y, result)
