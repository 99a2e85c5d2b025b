"""Handlers of matrix products, convolution and attention."""
import math


from .builder import broadcast
from .registry import handles


def short(call):
    return call.func._schema.name.split("::")[-1]


def product(call, first, second):
    """torch.matmul of two values, which may be vectors."""
    builder = call.builder
    left, right = builder.shape(first), builder.shape(second)
    if len(left) == 1:
        first = builder.reshape(first, (1,) + left)
    if len(right) == 1:
        second = builder.reshape(second, right + (1,))
    return builder.reshape(builder.matmul(first, second), call.shape)


@handles("matmul", "mm", "bmm", "mv", "dot", "vdot")
def matmul(call):
    names = {"mm": ("self", "mat2"), "bmm": ("self", "mat2"), "mv": ("self", "vec"), "dot": ("self", "tensor")}
    first, second = names.get(short(call), ("self", "other"))
    return product(call, call(first), call(second))


@handles("linear")
def linear(call):
    builder, weight = call.builder, call("weight")
    if call["weight"].dim() != 2:
        return NotImplemented
    value = product(call, call("input"), builder.permute(weight, [1, 0]))
    return builder.binary("add", value, call("bias")) if call.has("bias") else value


def weighted(builder, value, factor):
    return value if factor == 1 else builder.binary("mul", value, factor)


@handles("addmm", "addmv", "baddbmm")
def add_product(call):
    builder = call.builder
    first, second = {"addmm": ("mat1", "mat2"), "addmv": ("mat", "vec"), "baddbmm": ("batch1", "batch2")}[short(call)]
    value = weighted(builder, product(call, call(first), call(second)), call.get("alpha", 1))
    if call["beta"] == 0:
        return value
    return builder.binary("add", value, weighted(builder, call("self"), call["beta"]))


@handles("addr", "outer", "ger")
def outer(call):
    builder, name = call.builder, short(call)
    first, second = ("vec1", "vec2") if name == "addr" else ("self", "vec2")
    column = builder.reshape(call(first, call.dtype), (call[first].numel(), 1))
    value = builder.binary("mul", column, call(second, call.dtype))
    if name != "addr":
        return value
    value = weighted(builder, value, call["alpha"])
    return builder.binary("add", value, weighted(builder, call("self", call.dtype), call["beta"]))


# Convolution.

def spatial_list(value, count):
    value = list(value) if isinstance(value, (list, tuple)) else [value]
    return [int(v) for v in (value * count if len(value) == 1 else value)]


def convolution(call, x, weight, bias, transposed, groups, output_padding):
    count = len(call.builder.shape(weight)) - 2
    attributes = {"stride": spatial_list(call["stride"], count), "padding": spatial_list(call["padding"], count),
                  "dilation": spatial_list(call["dilation"], count), "groups": int(groups), "transposed": bool(transposed),
                  "output_padding": spatial_list(output_padding, count)}
    inputs = [x, weight] + ([bias] if bias else [])
    return call.builder.emit("conv", inputs, attributes, call.dtype, call.shape)


@handles("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv(call):
    """Convolution. PyTorch decomposes calls without a batch dimension or with `padding="same"`."""
    if call["input"].dim() != call["weight"].dim() or isinstance(call["padding"], str):
        return NotImplemented
    transposed = "transpose" in short(call)
    return convolution(call, call("input"), call("weight"), call("bias") if call.has("bias") else None, transposed,
                       call["groups"], call.get("output_padding", [0]))


@handles("convolution", "_convolution", "convolution_overrideable")
def general_convolution(call):
    if call["input"].dim() != call["weight"].dim() or "padding" not in call.args or isinstance(call["padding"], str):
        return NotImplemented
    return convolution(call, call("input"), call("weight"), call("bias") if call.has("bias") else None, call["transposed"],
                       call["groups"], call.get("output_padding", [0]))


# Attention.

@handles("scaled_dot_product_attention")
def attention(call):
    builder = call.builder
    if call.get("dropout_p", 0.0) > 0:
        from .errors import Refusal
        raise Refusal("forward is random: attention with dropout_p = %g" % call["dropout_p"])
    query, key, value = call("query"), call("key"), call("value")
    if call.get("enable_gqa", False) and builder.shape(query)[-3] != builder.shape(key)[-3]:
        key, value = (repeated_heads(builder, v, builder.shape(query)[-3]) for v in (key, value))
    rank = len(builder.shape(query))
    batch = broadcast(builder.shape(query)[:-2], builder.shape(key)[:-2], builder.shape(value)[:-2])
    if rank < 2 or any(builder.shape(v)[:-2] != batch for v in (query, key, value)):
        return NotImplemented
    scale = call.get("scale")
    attributes = {"causal": bool(call.get("is_causal", False)),
                  "scale": float(scale) if scale is not None else 1 / math.sqrt(builder.shape(query)[-1])}
    inputs = [query, key, value] + ([call("attn_mask")] if call.has("attn_mask") else [])
    return builder.emit("attention", inputs, attributes, call.dtype, call.shape)


def repeated_heads(builder, value, heads):
    shape = builder.shape(value)
    grown = builder.expand(builder.unsqueeze(value, len(shape) - 2),
                           shape[:-2] + (heads // shape[-3],) + shape[-2:])
    return builder.reshape(grown, shape[:-3] + (heads,) + shape[-2:])


@handles("_scaled_dot_product_attention")
def early_attention(call):
    """PyTorch 1.13's operator, which also returns the weights; it is composite."""
    return NotImplemented


