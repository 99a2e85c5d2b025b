"""The states of a compiled module that states.py compares: modes, layouts of inputs, changes of the module, precision, sizes, training.

A state's inputs and its context are functions of the trial. Those of a changed module change it
before the call and most change it back; a later state then finds code that was compiled for the
earlier ones.
"""

import contextlib
import dataclasses
import typing

import torch
import torch.nn as nn

from states import leaves, mapped, matmul_precision


def usual(trial):
    return trial.draw(trial.entry.batches[0])


@contextlib.contextmanager
def nothing(_):
    yield


@dataclasses.dataclass
class State:
    name: str
    context: typing.Callable = nothing
    inputs: typing.Callable = usual
    train: bool = False      # forward and backward
    inference: bool = False  # under torch.inference_mode


STATES = []


def state(name, context=nothing, **keywords):
    """A state whose module is in eval mode, or in training mode with train=True."""
    train = keywords.get("train", False)

    @contextlib.contextmanager
    def whole(trial):
        trial.model.train(train)
        with torch._dynamo.config.patch(automatic_dynamic_shapes=name in ("dynamic_batch", "attribute")), context(trial):
            yield

    STATES.append(State(name, whole, **keywords))


def changed_state(name, **keywords):
    def keep(context):
        state(name, contextlib.contextmanager(context), **keywords)
        return context

    return keep


def laid_out(change):
    """Inputs of the same values that lie otherwise in memory. Absent where no input can."""
    def inputs(trial):
        given = usual(trial)
        changed = mapped(given, change)
        differs = any(one.stride() != other.stride() or one.storage_offset() != other.storage_offset()
                      for one, other in zip(leaves(given), leaves(changed)))
        return changed if differs else None

    return inputs


def offset(one):
    """By one element: an address that is not aligned."""
    longer = one.new_empty(one.numel() + 1)
    longer[1:] = one.flatten()
    return longer[1:].view(one.shape)


def permuted(one):
    order = list(reversed(range(one.dim())))
    return one.permute(order).contiguous().permute(order)


def expanded(one):
    return one[:1].expand(one.shape) if one.dim() > 1 else one


def gapped(one):
    """Every second element of a larger tensor's last dimension."""
    return one.repeat_interleave(2, dim=-1)[..., ::2] if one.dim() else one


def channels_last(one):
    return one.to(memory_format=torch.channels_last) if one.dim() == 4 else one


def first(model, kinds, exact=False):
    """(parent, name, submodule) of the first submodule of these kinds."""
    for kind in kinds:
        for path, one in model.named_modules():
            if path and (type(one) is kind if exact else isinstance(one, kind)):
                parent, _, name = path.rpartition(".")
                return model.get_submodule(parent), name, one
    return None


class LowRank(nn.Module):
    """A linear map or a convolution with a correction beside it."""

    def __init__(self, base):
        super().__init__()
        self.base, self.scale = base, 0.5
        like = {"device": base.weight.device, "dtype": base.weight.dtype}
        self.down = nn.Parameter(torch.randn(4, base.weight.shape[0], **like) * 0.2)
        self.up = nn.Parameter(torch.randn(base.weight.shape[0], 4, **like) * 0.2)

    @property
    def weight(self):
        return self.base.weight

    @property
    def bias(self):
        return self.base.bias

    def forward(self, x):
        y = self.base(x)
        if isinstance(self.base, nn.Linear):
            return y + self.scale * (y @ self.down.t() @ self.up.t())
        return y + self.scale * torch.einsum("nc...,rc,cr->nc...", y, self.down, self.up)


state("eval")
state("inference_mode", inference=True)
for layout in (offset, permuted, expanded, gapped, channels_last):
    state(layout.__name__, inputs=laid_out(layout))


@changed_state("submodule_trains")
def submodule_trains(trial):
    found = first(trial.model, (nn.modules.batchnorm._BatchNorm, nn.Dropout, nn.Module))
    if found:
        found[2].train()
    yield
    trial.model.eval()


state("submodule_evaluates_again")


@changed_state("attribute")
def attribute(trial):
    """A number that a submodule reads: eps, a scale."""
    before = []
    for one in trial.model.modules():
        for key in ("eps", "variance_epsilon", "scale", "scaling", "negative_slope", "cutoff"):
            value = one.__dict__.get(key)
            if type(value) is float and len(before) < 4:
                before.append((one, key, value))
                setattr(one, key, 0.05 if value < 1e-3 else value * 1.5)
    yield
    for one, key, value in before:
        setattr(one, key, value)


@changed_state("stride")
def stride(trial):
    found = first(trial.model, (nn.Conv2d, nn.Conv1d, nn.Conv3d))
    before = found and found[2].stride
    if found:
        found[2].stride = tuple(2 if one == 1 else 1 for one in before)
    yield
    if found:
        found[2].stride = before


@contextlib.contextmanager
def low_rank(trial):
    found = first(trial.model, (nn.Linear, nn.Conv2d), exact=True)
    if found:
        setattr(found[0], found[1], LowRank(found[2]).train(trial.model.training))
    yield
    if found:
        setattr(found[0], found[1], found[2])


state("lora_in", low_rank)
state("lora_out")


@changed_state("weights_in_place")
def weights_in_place(trial):
    with torch.no_grad():
        for number, one in enumerate(trial.model.parameters()):
            if number % 3 == 2:
                one.data = one.data.clone() * 1.05
            else:
                one.mul_(0.95)
    yield


@changed_state("load_state_dict")
def load_state_dict(trial):
    torch.manual_seed(5)
    trial.model.load_state_dict({name: one * (1 + 0.1 * torch.rand_like(one)) if one.is_floating_point() else one
                                 for name, one in trial.model.state_dict().items()})
    yield


@contextlib.contextmanager
def hooked(trial):
    found = first(trial.model, (nn.Linear, nn.Conv2d, nn.LayerNorm))
    handle = found and found[2].register_forward_hook(lambda module, given, result: result * 1.5)
    yield
    if handle:
        handle.remove()


state("hook_added", hooked)
state("hook_removed")


@changed_state("autocast")
def autocast(trial):
    with torch.autocast(trial.device.partition(":")[0], dtype=torch.bfloat16):
        yield


@changed_state("matmul_precision")
def precision(_):
    with matmul_precision("high"):
        yield


@changed_state("cudnn_tf32")
def cudnn_tf32(_):
    before = torch._C._get_cudnn_allow_tf32()
    torch._C._set_cudnn_allow_tf32(not before)
    yield
    torch._C._set_cudnn_allow_tf32(before)


state("dynamic_batch", inputs=lambda trial: trial.draw(trial.entry.batches[1]))
state("train", train=True)
state("train_permuted", train=True, inputs=laid_out(permuted))
state("train_lora", low_rank, train=True)


@changed_state("train_submodule_evaluates", train=True)
def train_submodule_evaluates(trial):
    found = first(trial.model, (nn.modules.batchnorm._BatchNorm, nn.Dropout, nn.Module))
    if found:
        found[2].eval()
    yield


state("eval_after_training")
