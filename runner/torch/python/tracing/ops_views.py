"""Views, copies and shapes: what moves elements and computes nothing.

Views say how to write through them: see values.Tracked. `contiguous` and `clone` leave the value as it is.
"""
import torch

from .builder import product
from .errors import Refusal
from .registry import View, handles, shapes


def reshaping(call, shape):
    builder, old = call.builder, tuple(call["self"].shape)
    return View(call["self"], lambda base: builder.reshape(base, shape), lambda base, new: builder.reshape(new, old))


@handles("view", "_reshape_alias", "unsqueeze", "squeeze")
def view(call):
    if call.func._schema.overload_name == "dtype":
        raise Refusal("forward reads a tensor's bytes as another dtype (Tensor.view(dtype))")
    return reshaping(call, call.shape)


@handles("_unsafe_view")
def unsafe_view(call):
    return call.builder.reshape(call("self"), call.shape)


@handles("alias", "detach", "detach_", "view_as_real_copy")
def alias(call):
    return View(call["self"], lambda base: base, lambda base, new: new)


@shapes("lift", "lift_fresh")
def lifted(call):
    return call.mode.fake(call["self"])


@handles("lift", "lift_fresh")
def lift_fresh(call):
    return View(call["self"], lambda base: base, lambda base, new: new)


@handles("lift_fresh_copy", "clone", "contiguous_copy")
def clone(call):
    return call("self")


@handles("permute", "transpose", "t", "numpy_T", "swapaxes", "movedim.intlist")
def permute(call):
    rank = call.rank()
    name = call.func._schema.name.split("::")[-1]
    if name == "permute":
        dims = [d % max(rank, 1) for d in call["dims"]]
    elif name == "transpose" and call.func._schema.overload_name == "int":
        dims = list(range(rank))
        first, second = (call["dim0"] % max(rank, 1), call["dim1"] % max(rank, 1)) if rank else (0, 0)
        if rank:
            dims[first], dims[second] = dims[second], dims[first]
    elif name == "t":
        dims = list(reversed(range(rank)))
    else:
        return NotImplemented
    back = [dims.index(d) for d in range(rank)]
    builder = call.builder
    return View(call["self"], lambda base: builder.permute(base, dims), lambda base, new: builder.permute(new, back))


@handles("expand")
def expand(call):
    builder, old, shape = call.builder, tuple(call["self"].shape), call.shape

    def backward(base, new):
        if product(old) != product(shape):
            raise Refusal("forward writes in place to an expanded tensor")
        return builder.reshape(new, old)
    return View(call["self"], lambda base: builder.expand(base, shape), backward)


def sliced(call, dim, start, stop, step=1):
    builder, extent = call.builder, call["self"].shape[dim]

    def backward(base, new):
        if step == 1:
            parts = [builder.slice(base, dim, 0, start), new, builder.slice(base, dim, stop, extent)]
            return builder.cat(parts, dim)
        return strided_write(builder, base, new, dim, start, stop, step)
    return View(call["self"], lambda base: builder.slice(base, dim, start, stop, step), backward)


def strided_write(builder, base, new, dim, start, stop, step):
    """Every step-th of base is new: gathered from the concatenation of both."""
    extent, written = builder.shape(base)[dim], list(range(start, stop, step))
    indices = list(range(extent))
    for position, index in enumerate(written):
        indices[index] = extent + position
    return builder.index_select(builder.cat([base, new], dim), dim, indices)


@handles("slice.Tensor")
def slice_(call):
    dim = call.dim()
    extent = call["self"].shape[dim]
    start, stop, step = slice(call["start"], call["end"], call["step"]).indices(extent)
    return sliced(call, dim, start, max(start, stop), step)


@handles("narrow")
def narrow(call):
    return NotImplemented


@handles("select.int")
def select(call):
    builder, dim = call.builder, call.dim()
    shape = tuple(call["self"].shape)
    index = call["index"] % shape[dim]

    def backward(base, new):
        new = builder.unsqueeze(new, dim)
        parts = [builder.slice(base, dim, 0, index), new, builder.slice(base, dim, index + 1, shape[dim])]
        return builder.cat(parts, dim)
    return View(call["self"], lambda base: builder.select(base, dim, index), backward)


@handles("split", "split_with_sizes", "chunk", "unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk", "tensor_split")
def split(call):
    dim, start, views = call.dim(), 0, []
    for part in call.out:
        stop = start + part.shape[dim]
        views.append(sliced(call, dim, start, stop))
        start = stop
    return views


@handles("unbind.int")
def unbind(call):
    builder, dim = call.builder, call.dim()
    shape = tuple(call["self"].shape)

    def one(index):
        def backward(base, new):
            parts = [builder.slice(base, dim, 0, index), builder.unsqueeze(new, dim), builder.slice(base, dim, index + 1, shape[dim])]
            return builder.cat(parts, dim)
        return View(call["self"], lambda base: builder.select(base, dim, index), backward)
    return [one(index) for index in range(shape[dim])]


@handles("diagonal")
def diagonal(call):
    builder = call.builder
    rank = call.rank()
    dim1, dim2 = call["dim1"] % rank, call["dim2"] % rank
    attributes, shape, dtype = {"offset": call["offset"], "dim1": dim1, "dim2": dim2}, call.shape, call.dtype

    def backward(base, new):
        extents = builder.shape(base)
        rows = builder.reshape(builder.iota(extents[dim1]), [extents[d] if d == dim1 else 1 for d in range(rank)])
        columns = builder.reshape(builder.iota(extents[dim2]), [extents[d] if d == dim2 else 1 for d in range(rank)])
        on = builder.binary("eq", builder.binary("add", rows, call["offset"]), columns)
        length = shape[-1]
        start = max(0, call["offset"])
        rest = builder.shape(new)[:-1]
        column = builder.emit("pad", [new], {"low": [0] * len(rest) + [start], "high": [0] * len(rest) + [extents[dim2] - start - length],
                                             "value": 0.0}, dtype, rest + (extents[dim2],))
        others = [d for d in range(rank) if d not in (dim1, dim2)]
        order = sorted(range(len(others) + 1), key=lambda i: (others + [dim2])[i])
        column = builder.permute(column, order)
        column = builder.reshape(column, [1 if d == dim1 else extents[d] for d in range(rank)])
        return builder.where(on, column, base)
    return View(call["self"], lambda base: builder.emit("diagonal", [base], attributes, dtype, shape), backward)


@handles("unfold")
def unfold(call):
    """Windows along a dimension, which becomes their number; their elements are the last dimension."""
    builder, dim = call.builder, call["dimension"] % max(call.rank(), 1)
    size, step, rank = call["size"], call["step"], call.rank()
    if not rank:
        return NotImplemented
    extent = call["self"].shape[dim]
    count, shape = (extent - size) // step + 1, tuple(call["self"].shape)
    order = [d for d in range(rank + 1) if d != dim + 1] + [dim + 1]

    def forward(base):
        if size == step:
            windows = builder.slice(base, dim, 0, count * size)
        else:
            windows = builder.index_select(base, dim, [w * step + i for w in range(count) for i in range(size)])
        return builder.permute(builder.reshape(windows, shape[:dim] + (count, size) + shape[dim + 1:]), order)

    def backward(base, new):
        if size > step:
            raise Refusal("forward writes in place to overlapping windows (Tensor.unfold)")
        windows = builder.reshape(builder.permute(new, [order.index(d) for d in range(rank + 1)]),
                                  shape[:dim] + (count * size,) + shape[dim + 1:])
        places = list(range(extent))
        for position, place in enumerate(w * step + i for w in range(count) for i in range(size)):
            places[place] = extent + position
        return builder.index_select(builder.cat([base, windows], dim), dim, places)
    return View(call["self"], forward, backward)


@handles("as_strided")
def as_strided(call):
    source = call["self"]
    whole = source.is_contiguous() and call.result().is_contiguous() and product(call.shape) == source.numel()
    if whole and (call["storage_offset"] or 0) == source.storage_offset():
        return reshaping(call, call.shape)
    return NotImplemented


@handles("cat", "concat", "concatenate")
def cat(call):
    if "tensors" not in call.args or not isinstance(call.args.get("dim"), int):
        return NotImplemented
    tensors = [t for t in call["tensors"] if t.dim() > 1 or t.shape != (0,)] or list(call["tensors"][:1])
    dim = call["dim"] % max(tensors[0].dim(), 1)
    return call.builder.cat([call.operand(t, call.dtype) for t in tensors], dim)


@handles("stack")
def stack(call):
    dim = call["dim"] % call.result().dim()
    values = [call.builder.unsqueeze(call.operand(t, call.dtype), dim) for t in call["tensors"]]
    return call.builder.cat(values, dim)


@handles("repeat")
def repeat(call):
    builder, repeats = call.builder, list(call["repeats"])
    shape = (1,) * (len(repeats) - call.rank()) + tuple(call["self"].shape)
    if all(r == 1 or e == 1 for r, e in zip(repeats, shape)):
        return builder.expand(builder.reshape(call("self"), shape), call.shape)
    paired = [extent for e in shape for extent in (1, e)]
    grown = [extent for r, e in zip(repeats, shape) for extent in (r, e)]
    return builder.reshape(builder.expand(builder.reshape(call("self"), paired), grown), call.shape)


@shapes("repeat_interleave")
def repeated_shape(call):
    if call.func._schema.overload_name != "self_int":
        return NotImplemented
    if call["dim"] is None:
        return call.mode.fake(call["self"]).new_empty((call["self"].numel() * call["repeats"],))
    dim, shape = call.dim(), list(call["self"].shape)
    shape[dim] *= call["repeats"]
    return call.mode.fake(call["self"]).new_empty(shape)


@handles("repeat_interleave.self_int")
def repeat_interleave(call):
    if call["dim"] is None:
        whole = call.builder.unsqueeze(call.builder.reshape(call("self"), (product(call["self"].shape),)), 1)
        grown = call.builder.expand(whole, (product(call["self"].shape), call["repeats"]))
        return call.builder.reshape(grown, call.shape)
    builder, dim, repeats = call.builder, call.dim(), call["repeats"]
    shape = tuple(call["self"].shape)
    x = builder.unsqueeze(call("self"), dim + 1)
    return builder.reshape(builder.expand(x, shape[:dim + 1] + (repeats,) + shape[dim + 1:]), call.shape)


@handles("flip")
def flip(call):
    dims = call.dims("dims") if call["dims"] else []
    return call.builder.unary("flip", call("self"), {"dims": dims}) if dims else call("self")


@handles("roll")
def roll(call):
    builder, dims, shifts = call.builder, list(call["dims"]), list(call["shifts"])
    x = call("self")
    if not dims:
        x, dims = builder.reshape(x, (product(builder.shape(x)),)), [0]
    shape = builder.shape(x)
    dims = [d % len(shape) for d in dims]
    shifts = [s % max(shape[d], 1) for s, d in zip(shifts, dims)]
    return builder.reshape(builder.unary("roll", x, {"shifts": shifts, "dims": dims}), call.shape)


@handles("constant_pad_nd")
def constant_pad(call):
    rank, low, high = call.rank(), [0] * call.rank(), [0] * call.rank()
    for index in range(len(call["pad"]) // 2):
        low[rank - 1 - index], high[rank - 1 - index] = call["pad"][2 * index], call["pad"][2 * index + 1]
    value = float(call["value"] or 0)
    if not any(low) and not any(high):
        return call("self")
    return call.builder.emit("pad", [call("self")], {"low": low, "high": high, "value": value}, call.dtype, call.shape)


def reflected(index, extent):
    period = max(2 * (extent - 1), 1)
    index = abs(index) % period
    return period - index if index >= extent else index


@handles("reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d", "replication_pad2d", "replication_pad3d")
def index_pad(call):
    """Elements at computed places, dimension by dimension."""
    builder, x, rank = call.builder, call("self"), call.rank()
    reflect = call.func._schema.name.split("::")[-1].startswith("reflection")
    for index in range(len(call["padding"]) // 2):
        dim = rank - 1 - index
        low, high = call["padding"][2 * index], call["padding"][2 * index + 1]
        extent = builder.shape(x)[dim]
        places = range(-low, extent + high)
        if low or high:
            chosen = [reflected(p, extent) if reflect else min(max(p, 0), extent - 1) for p in places]
            x = builder.index_select(x, dim, chosen)
    return x


@handles("pixel_shuffle")
def pixel_shuffle(call):
    builder, factor = call.builder, call["upscale_factor"]
    *batch, channels, height, width = call["self"].shape
    n, c = len(batch), channels // factor ** 2
    x = builder.reshape(call("self"), [*batch, c, factor, factor, height, width])
    x = builder.permute(x, list(range(n)) + [n, n + 3, n + 1, n + 4, n + 2])
    return builder.reshape(x, call.shape)


@handles("pixel_unshuffle")
def pixel_unshuffle(call):
    builder, factor = call.builder, call["downscale_factor"]
    *batch, channels, height, width = call["self"].shape
    n = len(batch)
    x = builder.reshape(call("self"), [*batch, channels, height // factor, factor, width // factor, factor])
    x = builder.permute(x, list(range(n)) + [n, n + 2, n + 4, n + 1, n + 3])
    return builder.reshape(x, call.shape)


@handles("channel_shuffle")
def channel_shuffle(call):
    builder, groups = call.builder, call["groups"]
    shape = tuple(call["self"].shape)
    x = builder.reshape(call("self"), (shape[0], groups, shape[1] // groups) + shape[2:])
    return builder.reshape(builder.transpose(x, 1, 2), call.shape)


@handles("slice_scatter")
def slice_scatter(call):
    dim = call["dim"] % call.rank()
    extent = call["self"].shape[dim]
    start, stop, step = slice(call["start"], call["end"], call["step"]).indices(extent)
    return sliced(call, dim, start, max(start, stop), step).backward(call("self"), call("src", call.dtype))


@handles("select_scatter")
def select_scatter(call):
    return select(call).backward(call("self"), call("src", call.dtype))


@handles("_to_copy")
def to_copy(call):
    return call("self", call.dtype)


@handles("copy_")
def copy(call):
    builder, target = call.builder, call["self"]
    source = call.operand(call["src"], builder.dtype(call.value(target)))
    call.write("self", builder.expand(source, tuple(target.shape)))
    call.out = target
    return None


@handles("copy")
def functional_copy(call):
    return call.builder.expand(call("src", call.dtype), call.shape)


@handles("zero_", "fill_")
def fill(call):
    builder, target = call.builder, call["self"]
    dtype = builder.dtype(call.value(target))
    value = call["value"] if "value" in call.args else 0
    call.write("self", builder.expand(call.operand(value, dtype), tuple(target.shape)))
    call.out = target
    return None
