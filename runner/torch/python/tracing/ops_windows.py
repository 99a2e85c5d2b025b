"""Handlers of pooling and upsampling. Values without a batch dimension get one temporarily."""
import re

from .opaque import opaque
from .registry import handles, shapes


def short(call):
    return call.func._schema.name.split("::")[-1]


def spatial(call):
    return int(re.search(r"([123])d", short(call)).group(1))


def numbers(call, name, default):
    value = call.args.get(name)
    value = list(value) if isinstance(value, (list, tuple)) else [value] if value is not None else []
    value = value or list(default)
    return [int(v) for v in (value * spatial(call) if len(value) == 1 else value)]


def pooled_extent(extent, kernel, stride, padding, dilation, ceil):
    """The formula of torch.nn.MaxPool2d: the last window must start inside the input or its left
    padding."""
    span = extent + 2 * padding - dilation * (kernel - 1) - 1
    count = (-(-span // stride) if ceil else span // stride) + 1
    return count - 1 if ceil and (count - 1) * stride >= extent + padding else count


@shapes("max_pool1d", "max_pool3d", "avg_pool1d", "avg_pool3d")
def pool_shapes(call):
    """Shapes of pooling, for which PyTorch 1.13 has no kernels for fake tensors."""
    x, count = call.mode.fake(call["self"]), spatial(call)
    kernel = numbers(call, "kernel_size", [])
    sizes = zip(x.shape[-count:], kernel, numbers(call, "stride", kernel), numbers(call, "padding", [0]),
                numbers(call, "dilation", [1]))
    return x.new_empty(tuple(x.shape[:-count]) + tuple(pooled_extent(*size, call["ceil_mode"]) for size in sizes))


def pooled(call, op, attributes):
    builder, x = call.builder, call("self")
    shape, count = call.shape, spatial(call)
    if len(shape) == count + 1:
        x = builder.unsqueeze(x, 0)
        return builder.reshape(builder.emit(op, [x], attributes, call.dtype, (1,) + shape), shape)
    return builder.emit(op, [x], attributes, call.dtype, shape)


@handles(*["max_pool%dd%s" % (n, form) for n in (1, 2, 3) for form in ("", "_with_indices")])
def max_pool(call):
    kernel = numbers(call, "kernel_size", [])
    value = pooled(call, "max_pool", {
        "kernel": kernel, "stride": numbers(call, "stride", kernel), "padding": numbers(call, "padding", [0]),
        "dilation": numbers(call, "dilation", [1]), "ceil": bool(call["ceil_mode"])})
    return [value, opaque(call)[1]] if short(call).endswith("indices") else value


@handles("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(call):
    kernel = numbers(call, "kernel_size", [])
    attributes = {"kernel": kernel, "stride": numbers(call, "stride", kernel), "padding": numbers(call, "padding", [0]),
                  "ceil": bool(call["ceil_mode"]), "count_include_pad": bool(call["count_include_pad"])}
    if call.get("divisor_override") is not None:
        attributes["divisor"] = int(call["divisor_override"])
    return pooled(call, "avg_pool", attributes)


@handles("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d")
def adaptive_avg_pool(call):
    return pooled(call, "adaptive_avg_pool", {})


@handles("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(call):
    return [pooled(call, "adaptive_max_pool", {}), opaque(call)[1]]


@handles(*["%supsample_nearest%s%dd" % (lead, form, n) for n in (1, 2, 3) for lead, form in (("", ""), ("_", "_exact"))])
def upsample_nearest(call):
    builder, count = call.builder, spatial(call)
    before, after = tuple(call["input" if "input" in call.args else "self"].shape)[2:], call.shape[2:]
    x = call.operand(call["input" if "input" in call.args else "self"])
    exact = "exact" in short(call)
    if all(new % old == 0 for old, new in zip(before, after)) and not given_scales(call, count, before, after):
        scales = [new // old for old, new in zip(before, after)]
        return builder.emit("upsample_nearest", [x], {"scales": scales}, call.dtype, call.shape)
    if given_scales(call, count, before, after):
        return NotImplemented
    for d, (old, new) in enumerate(zip(before, after)):
        places = [min(int((2 * i + 1) * old // (2 * new) if exact else i * old // new), old - 1) for i in range(new)]
        x = builder.index_select(x, d + 2, places) if places != list(range(old)) else x
    return x


@handles("upsample_linear1d.vec", "upsample_bilinear2d.vec", "upsample_bicubic2d.vec", "upsample_trilinear3d.vec",
         "_upsample_bilinear2d_aa.vec", "_upsample_bicubic2d_aa.vec")
def upsample(call):
    """Upsampling as the overload with one argument per scale factor, because op graphs have no
    lists of floating-point numbers."""
    factors = list(call["scale_factors"] or [None] * spatial(call))
    return opaque(call, "aten::" + short(call), [call["input"], list(call.shape[2:]), call["align_corners"]] + factors)


def given_scales(call, count, before, after):
    """Whether scale factors are given that differ from the ratio of the extents. PyTorch then
    samples by the factors."""
    factors = call.args.get("scale_factors")
    if factors is None:
        factors = [call.args.get(name) for name in ("scales_d", "scales_h", "scales_w", "scales")]
    factors = [f for f in factors if f is not None]
    if not factors:
        return False
    return any(f != new / old for f, old, new in zip(factors[-count:], before[-len(factors):], after[-len(factors):]))
