"""Operators that a graph cannot represent, and the message for each kind."""
import traceback

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .call import with_dtype
from .errors import NeedsValues, Refusal

READS = {"_local_scalar_dense", "item", "is_nonzero", "equal", "allclose", "nonzero", "nonzero_numpy", "argwhere", "masked_select",
         "unique_dim", "unique_consecutive", "_unique", "_unique2", "unique_dim_consecutive", "bincount", "repeat_interleave.Tensor"}
RANDOM = {"rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm", "bernoulli", "multinomial", "normal",
          "poisson", "binomial", "uniform", "random", "exponential", "cauchy", "geometric", "log_normal", "native_dropout",
          "_fused_dropout", "rrelu_with_noise", "fractional_max_pool2d", "fractional_max_pool3d", "_sample_dirichlet",
          "_standard_gamma"}
DROPOUTS = {"dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"}
RESHAPERS = {"t_", "transpose_", "squeeze_", "unsqueeze_", "swapaxes_", "swapdims_", "resize_", "resize_as_", "set_", "as_strided_"}


def position():
    """The line of the user's source that made the call: " (line 12)"; "" if there is none."""
    for frame in reversed(traceback.extract_stack()):
        if frame.filename == SOURCE_NAME:
            return " (line %d)" % frame.lineno
    return ""


SOURCE_NAME = "<module source>"


def is_mask(index):
    return index is not None and index.dtype in (torch.bool, torch.uint8)


class MakingMode(TorchDispatchMode):
    """Mode in which the module and the inputs are made: everything is on the CPU, and reads of fake
    tensors' values raise NeedsValues.
    @param fake whether tensors are fake"""

    def __init__(self, fake):
        super().__init__()
        self.fake = fake

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func._schema.name.split("::")[-1]
        if self.fake and (name in READS or name + "." + func._schema.overload_name in READS):
            raise NeedsValues()
        args, kwargs = on_cpu(args, kwargs or {})
        return func(*args, **with_dtype(func, args, kwargs))


def on_cpu(args, kwargs):
    """Arguments of a call with every device replaced by the CPU."""
    def replaced(value):
        return torch.device("cpu") if isinstance(value, torch.device) else value
    kwargs = {name: replaced(value) for name, value in kwargs.items() if name != "pin_memory"}
    return tuple(replaced(value) for value in args), kwargs


def refuse_by_name(func, bound):
    """Refuses operators that a graph cannot represent. @param bound the call's arguments by name"""
    if torch.is_autocast_enabled():
        raise Refusal("forward uses torch.autocast, which casts on the GPU only%s" % position())
    full = func._schema.name.split("::")[-1]
    name = full[:-1] if full.endswith("_") and not full.endswith("__") else full
    overload = name + "." + func._schema.overload_name
    if name in READS or overload in READS:
        raise Refusal("forward's control flow or a shape depends on data: aten::%s reads a tensor's values%s" % (full, position()))
    if name in ("index", "_unsafe_index") and any(is_mask(i) for i in bound.get("indices") or []):
        raise Refusal("forward's shapes depend on data: it indexes with a mask%s" % position())
    if name in DROPOUTS:
        if bound.get("train") and (bound.get("p") or 0) > 0:
            raise Refusal("forward is random: dropout with p = %g in training%s" % (bound["p"], position()))
        return
    if name == "rrelu" or name == "rrelu_with_noise":
        if not bound.get("training"):
            return
    if name in RANDOM:
        raise Refusal("forward is random: aten::%s%s" % (full, position()))
    if full in RESHAPERS:
        raise Refusal("forward changes a tensor's shape in place: aten::%s%s" % (full, position()))
