"""Registry of the handlers that turn ATen operators into nodes.

A handler takes a Call and returns the value of the result, a list of values for several results
(None for a result that must not be read), a View, a list of Views, or NotImplemented. In the last
case PyTorch decomposes the operator, or the operator stays opaque.
"""

HANDLERS = {}  # by name; "div.Tensor_mode" takes precedence over "div"
SHAPES = {}  # Call -> result tensors, if the kernel for fake tensors is missing or slow


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
        self.now = None  # the value, if it is already known
