"""Handlers of views, which access elements and compute nothing.

Views define how to write through them; see values.Tracked. `contiguous` and `clone` keep the value.
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
    """`base` with every step-th element from `new`, selected from the concatenation of both."""
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
            rest = builder.slice(base, dim, index + 1, shape[dim])
            return builder.cat([builder.slice(base, dim, 0, index), builder.unsqueeze(new, dim), rest], dim)
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
        low, high = [0] * len(rest) + [start], [0] * len(rest) + [extents[dim2] - start - length]
        column = builder.emit("pad", [new], {"low": low, "high": high, "value": 0.0}, dtype, rest + (extents[dim2],))
        others = [d for d in range(rank) if d not in (dim1, dim2)]
        order = sorted(range(len(others) + 1), key=lambda i: (others + [dim2])[i])
        column = builder.permute(column, order)
        column = builder.reshape(column, [1 if d == dim1 else extents[d] for d in range(rank)])
        return builder.where(on, column, base)
    return View(call["self"], lambda base: builder.emit("diagonal", [base], attributes, dtype, shape), backward)


@handles("unfold")
def unfold(call):
    """Windows along a dimension. That dimension becomes the number of windows, and the elements of
    a window become the last dimension."""
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
