"""Handlers of losses, composed of pointwise operations, reductions and gathers."""
from .call import is_floating
from .errors import Refusal
from .registry import handles

MEAN, SUM = 1, 2


def short(call):
    return call.func._schema.name.split("::")[-1]


def summed(call, value):
    """The call's `reduction` over all elements of a value."""
    reduction = call.get("reduction", MEAN)
    if reduction == 0 or not call.builder.shape(value):
        return value
    return call.builder.reduce("mean" if reduction == MEAN else "sum", value, [], False)


def difference(call):
    dtype = call.promoted("self", "target")
    return call.builder.binary("sub", call("self", dtype), call("target", dtype))


@handles("mse_loss")
def mse_loss(call):
    return summed(call, call.builder.unary("square", difference(call)))


@handles("l1_loss")
def l1_loss(call):
    return summed(call, call.builder.unary("abs", difference(call)))


@handles("smooth_l1_loss", "huber_loss")
def huber_loss(call):
    """Loss that is quadratic below the bound and linear above; smooth_l1 is huber over beta."""
    builder = call.builder
    smooth = short(call).startswith("smooth")
    bound = float(call["beta" if smooth else "delta"])
    distance = builder.unary("abs", difference(call))
    if smooth and bound == 0:
        return summed(call, distance)
    squared = builder.binary("mul", builder.unary("square", distance), 0.5 / bound if smooth else 0.5)
    linear = builder.binary("sub", distance, 0.5 * bound)
    linear = linear if smooth else builder.binary("mul", linear, bound)
    return summed(call, builder.where(builder.binary("lt", distance, bound), squared, linear))


@handles("kl_div")
def kl_div(call):
    builder, x, target = call.builder, call("self"), call("target")
    if call["log_target"]:
        return summed(call, builder.binary("mul", builder.unary("exp", target), builder.binary("sub", target, x)))
    product = builder.binary("mul", target, builder.binary("sub", builder.unary("log", target), x))
    zero = builder.binary("le", target, 0)
    entropy = builder.binary("mul", target, x)
    return summed(call, builder.where(zero, builder.unary("neg", entropy), product))


@handles("binary_cross_entropy")
def binary_cross_entropy(call):
    """Binary cross entropy; logarithms are at least -100, as in PyTorch."""
    builder, x, target = call.builder, call("self"), call("target")
    near = builder.binary("maximum", builder.unary("log", x), -100.0)
    far = builder.binary("maximum", builder.unary("log1p", builder.unary("neg", x)), -100.0)
    far = builder.binary("mul", builder.binary("sub", target, 1.0), far)
    value = builder.binary("sub", far, builder.binary("mul", target, near))
    return summed(call, builder.binary("mul", value, call("weight")) if call.has("weight") else value)


@handles("binary_cross_entropy_with_logits")
def bce_with_logits(call):
    builder, x, target = call.builder, call("self"), call("target")
    tail = builder.unary("log1p", builder.unary("exp", builder.unary("neg", builder.unary("abs", x))))
    log_sigmoid = builder.binary("sub", builder.binary("minimum", x, 0), tail)
    rest = builder.binary("mul", builder.binary("sub", 1.0, target), x)
    if call.has("pos_weight"):
        extra = builder.binary("mul", builder.binary("sub", call("pos_weight"), 1.0), target)
        log_sigmoid = builder.binary("mul", builder.binary("add", extra, 1.0), log_sigmoid)
    value = builder.binary("sub", rest, log_sigmoid)
    return summed(call, builder.binary("mul", value, call("weight")) if call.has("weight") else value)


@handles("soft_margin_loss")
def soft_margin_loss(call):
    builder = call.builder
    power = builder.unary("exp", builder.unary("neg", builder.binary("mul", call("target"), call("self"))))
    return summed(call, builder.unary("log1p", power))


# Classification.

def picked(call, table, target, dim):
    """The entries of `table` at the target's classes. Ignored targets read class 0.
    @return the entries, and a mask of the targets that are not ignored"""
    builder, shape = call.builder, call.builder.shape(target)
    counts = builder.binary("ne", target, int(call["ignore_index"]))
    index = builder.unsqueeze(builder.where(counts, target, 0), dim)
    kept = shape[:dim] + (1,) + shape[dim:]
    value = builder.emit("gather", [table, index], {"dim": dim}, builder.dtype(table), kept)
    return builder.reshape(value, shape), counts


def weight_of(call, target, counts):
    builder = call.builder
    flat = builder.where(counts, target, 0)
    shape = builder.shape(flat)
    count = 1
    for extent in shape:
        count *= extent
    return builder.reshape(builder.index_select(call("weight"), 0, builder.reshape(flat, (count,))), shape)


def nll(call, table, target, dim):
    builder, dtype = call.builder, call.builder.dtype(table)
    value, counts = picked(call, table, target, dim)
    value = builder.unary("neg", value)
    if call.has("weight"):
        weight = weight_of(call, target, counts)
        value = builder.binary("mul", value, weight)
    value = builder.where(counts, value, 0.0)
    if call["reduction"] != MEAN:
        return summed(call, value)
    share = builder.where(counts, weight, 0.0) if call.has("weight") else builder.cast(counts, dtype)
    if not builder.shape(value):
        return builder.binary("div", value, share)
    return builder.binary("div", builder.reduce("sum", value, [], False), builder.reduce("sum", share, [], False))


@handles("nll_loss", "nll_loss2d", "nll_loss_nd", "nll_loss_forward", "nll_loss2d_forward")
def nll_loss(call):
    dim = 0 if call.rank() == 1 else 1
    value = nll(call, call("self"), call("target", "int64"), dim)
    return [value, None] if short(call).endswith("forward") else value


@handles("cross_entropy_loss")
def cross_entropy(call):
    builder, x, smoothing = call.builder, call("self"), call.get("label_smoothing", 0.0)
    dim = 0 if call.rank() == 1 else 1
    classes = builder.shape(x)[dim]
    logarithms = builder.unary("log_softmax", x, {"dim": dim})
    if call["target"].shape == call["self"].shape and is_floating(builder.dtype(call("target"))):
        return soft_cross_entropy(call, logarithms, dim, classes, smoothing)
    value = nll(call, logarithms, call("target", "int64"), dim)
    if not smoothing:
        return value
    if call.has("weight") or call["reduction"] == 0:
        raise Refusal("cross_entropy with label smoothing and class weights (or no reduction) is not supported")
    counts = builder.binary("ne", call("target", "int64"), int(call["ignore_index"]))
    spread = builder.unary("neg", builder.reduce("sum", logarithms, [dim], False))
    spread = builder.where(counts, spread, 0.0)
    spread = builder.reduce("sum", spread, [], False) if builder.shape(spread) else spread
    if call["reduction"] == MEAN:
        share = builder.cast(counts, call.dtype)
        spread = builder.binary("div", spread, builder.reduce("sum", share, [], False) if builder.shape(share) else share)
    value = builder.binary("mul", value, 1.0 - smoothing)
    return builder.binary("add", value, builder.binary("mul", spread, smoothing / classes))


def soft_cross_entropy(call, logarithms, dim, classes, smoothing):
    """Cross entropy whose targets are probabilities."""
    builder, target = call.builder, call("target")
    if smoothing:
        target = builder.binary("add", builder.binary("mul", target, 1.0 - smoothing), smoothing / classes)
    value = builder.binary("mul", logarithms, target)
    if call.has("weight"):
        shape = [classes if d == dim else 1 for d in range(call.rank())]
        value = builder.binary("mul", value, builder.reshape(call("weight"), shape))
    value = builder.unary("neg", builder.reduce("sum", value, [dim], False))
    return summed(call, value)
