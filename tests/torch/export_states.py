"""Ways in which users change a module after it was exported, for export_check.py: each is done to Model and to ModelNew alike.

A change returns what undoes it where that lies outside of the module, else None, and raises NotHere
where the module has nothing to change.
"""

import torch


class NotHere(Exception):
    """The module has nothing of the kind."""


class Wrapped(torch.nn.Module):
    """A Linear with LoRA."""

    def __init__(self, base):
        super().__init__()
        self.base = base
        self.weight, self.bias = base.weight, base.bias
        self.down = torch.full_like(base.weight[:1], 0.25)

    def forward(self, x):
        return self.base(x) + torch.nn.functional.linear(x, self.down)


class Scaled(torch.nn.Module):
    def forward(self, weight):
        return weight * 0.5


def first(model, wanted):
    """(holder, name, submodule)"""
    for path, module in model.named_modules():
        if path and wanted(module):
            holder, _, name = path.rpartition(".")
            return model.get_submodule(holder), name, module
    raise NotHere()


def is_leaf(module):
    return not list(module.children()) and not isinstance(module, (torch.nn.Identity, torch.nn.Dropout))


def other_mode(model):
    model.train(not model.training)


def mode_of_a_part(model):
    kinds = torch.nn.modules.batchnorm._BatchNorm, torch.nn.Dropout
    try:
        part = first(model, lambda one: isinstance(one, kinds))[2]
    except NotHere:
        part = first(model, is_leaf)[2]
    part.train(not part.training)


def numbers(model):
    """Whatever of them forward reads."""
    found = attributes(model, (float,))
    for module, name in found:
        setattr(module, name, getattr(module, name) * 1.5 + 0.01)


def activation(model):
    functions = type(torch.relu), type(torch.nn.functional.relu)
    try:
        for module, name in attributes(model, functions):
            setattr(module, name, torch.sin)
    except NotHere:
        holder, name, _ = first(model, lambda one: type(one).__module__ == "torch.nn.modules.activation"
                                and not isinstance(one, torch.nn.MultiheadAttention))
        holder._modules[name] = torch.nn.Tanh()


def attributes(model, kinds):
    """[(module, name)] of all of these types."""
    found = [(module, name) for module in model.modules() for name, value in vars(module).items() if type(value) in kinds]
    if not found:
        raise NotHere()
    return found


def lora(model):
    holder, name, linear = first(model, lambda one: type(one) is torch.nn.Linear)
    holder._modules[name] = Wrapped(linear)


def forward_hook(model):
    first(model, is_leaf)[2].register_forward_hook(lambda module, inputs, output: times(output, 0.5))


def forward_pre_hook(model):
    first(model, is_leaf)[2].register_forward_pre_hook(lambda module, inputs: tuple(times(one, 0.5) for one in inputs))


def hook_of_all_modules(model):
    first(model, is_leaf)
    kind = type(first(model, is_leaf)[2])
    handle = torch.nn.modules.module.register_module_forward_hook(
        lambda module, inputs, output: times(output, 0.5) if type(module) is kind else None)
    return handle.remove


def times(value, factor):
    return value * factor if torch.is_tensor(value) and value.is_floating_point() else value


def parametrization(model):
    part = first(model, lambda one: is_leaf(one) and isinstance(one._parameters.get("weight"), torch.nn.Parameter))[2]
    torch.nn.utils.parametrize.register_parametrization(part, "weight", Scaled())


def own_forward(model):
    part = first(model, is_leaf)[2]
    run = part.forward
    part.forward = lambda *values, **named: times(run(*values, **named), 0.5)


def without_tf32(_):
    flags = torch.backends.cuda.matmul, torch.backends.cudnn
    before = [one.allow_tf32 for one in flags]

    def allow(values):
        for one, allowed in zip(flags, values):
            one.allow_tf32 = allowed

    allow((False, False))
    return lambda: allow(before)


def deterministic(_):
    torch.use_deterministic_algorithms(True, warn_only=True)
    return lambda: torch.use_deterministic_algorithms(False)


def default_dtype(_):
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    return lambda: torch.set_default_dtype(before)


def autocast(model):
    device = next((one.device.type for one in model.parameters()), "cuda" if torch.cuda.is_available() else "cpu")
    context = torch.autocast(device, dtype=torch.bfloat16)
    context.__enter__()
    return lambda: context.__exit__(None, None, None)


def weights_in_place(model):
    for one in model.parameters():
        if one.is_floating_point():
            one.data.mul_(1.25)


def weights_replaced(model):
    model.load_state_dict({name: one * 0.75 if one.is_floating_point() else one for name, one in model.state_dict().items()})


STATES = [other_mode, mode_of_a_part, numbers, activation, lora, forward_hook, forward_pre_hook, hook_of_all_modules, parametrization,
          own_forward, without_tf32, deterministic, default_dtype, autocast, weights_in_place, weights_replaced]
