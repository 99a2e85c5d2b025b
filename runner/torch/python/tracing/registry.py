"""Which function turns which ATen operator into nodes.

A handler takes a Call and gives the value of the result, a list of values for several results (None for one that must not be
read), a View, a list of Views, or NotImplemented: then PyTorch takes the operator apart, or it stays opaque.
"""

HANDLERS = {}  # "conv2d", or "div.Tensor_mode" before "div"
SHAPES = {}  # results of operators whose kernel for fake tensors is missing or slow: Call -> tensors


def handles(*names):
    def register(function):
        for name in names:
            HANDLERS[name] = function
        return function
    return register


def shapes(*names):
    def register(function):
        for name in names:
            SHAPES[name] = function
        return function
    return register


class View:
    """A result that shares memory with `base`; see values.Tracked."""

    def __init__(self, base, forward, backward):
        self.base = base
        self.forward = forward
        self.backward = backward
        self.now = None  # the value, where it is known already
