"""Handlers of tensor factories: constants, ranges, and tensors with the shape of another."""
import math

from torch.utils._mode_utils import no_dispatch

from .registry import handles

COMPUTED_ELEMENTS = 65536


def short(call):
    return call.func._schema.name.split("::")[-1]


@handles("zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "full", "full_like", "new_full", "empty",
         "empty_like", "new_empty", "empty_strided", "new_empty_strided", "scalar_tensor", "_efficientzerotensor")
def full(call):
    """Tensors with one value everywhere; uninitialized memory counts as zero."""
    value = call.get("fill_value", call.get("s", 1 if "ones" in short(call) else 0))
    return call.builder.expand(call.operand(value, call.dtype), call.shape)


@handles("arange")
def arange(call):
    builder, start, step = call.builder, call.get("start", 0), call.get("step", 1)
    value = builder.iota(call.shape[0])
    if isinstance(start, float) or isinstance(step, float):
        value = builder.cast(value, "float64")
    if step != 1:
        value = builder.binary("mul", value, step)
    if start != 0:
        value = builder.binary("add", value, start)
    return builder.cast(value, call.dtype)


@handles("eye")
def eye(call):
    builder, (rows, columns) = call.builder, call.shape
    value = builder.binary("eq", builder.reshape(builder.iota(rows), (rows, 1)), builder.iota(columns))
    return builder.cast(value, call.dtype)


@handles("linspace", "logspace", "tril_indices", "triu_indices", "hann_window", "hamming_window", "blackman_window",
         "bartlett_window")
def computed(call):
    """Small tables that depend only on numbers; they become constants."""
    if math.prod(call.shape) > COMPUTED_ELEMENTS:
        return NotImplemented
    with no_dispatch():
        values = call.func(*call.positional, **call.keywords).reshape(-1).tolist()
    return call.builder.constant_tensor(values, call.dtype, call.shape)


