"""A C++ torch::nn::Module object as a Python module. Parameters and buffers are the object's own
tensors, under the same names.

Changes from Python (another device or dtype, the runner's memory) go to `.data`, so that the object
sees them. A copy is a newly constructed object with copied tensors. Tensors that the object does
not register stay as its constructor made them, as in C++. Thread: one.
"""

import torch


class SharedTensors(dict):
    """A table of parameters or buffers. Assignment replaces the data of an existing tensor."""

    def __setitem__(self, name, tensor):
        if name in self and tensor is not self[name]:
            self[name].data = tensor.detach()
        else:
            super().__setitem__(name, tensor)


class CppModule(torch.nn.Module):
    """A module whose forward is that of the C++ object."""

    def __init__(self, make):
        super().__init__()
        self.make = make
        self.object = make()
        for name, tensor in self.object.named_parameters():
            tensor._is_param = True  # counts as a Parameter; a real Parameter would be another tensor
            hold(self, "_parameters", name, tensor)
        for name, tensor in self.object.named_buffers():
            hold(self, "_buffers", name, tensor)

    def forward(self, *arguments):
        return self.object.forward(*arguments)

    def train(self, mode=True):
        self.object.train(mode)
        return super().train(mode)

    def __deepcopy__(self, memo):
        other = CppModule(self.make)
        other.train(self.training)
        theirs = dict(state_of(other))
        with torch.no_grad():
            for name, tensor in state_of(self):
                known = memo.get(id(tensor))
                theirs[name].data = tensor.detach().clone() if known is None else known.detach()
        memo[id(self)] = other
        return other


def hold(module, table, name, tensor):
    *path, last = name.split(".")
    for part in path:
        if part not in module._modules:
            module._modules[part] = torch.nn.Module()
        module = module._modules[part]
    if not isinstance(module.__dict__[table], SharedTensors):
        module.__dict__[table] = SharedTensors()
    module.__dict__[table][last] = tensor


def state_of(module):
    return module.object.named_parameters() + module.object.named_buffers()
