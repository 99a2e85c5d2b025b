"""Handlers of operators that copy elements to a new tensor or write them to an existing one."""
from .builder import product
from .ops_views import select, sliced
from .registry import handles, shapes


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
    """Padding with elements at computed positions, dimension by dimension."""
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
