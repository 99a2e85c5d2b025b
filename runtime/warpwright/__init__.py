"""Verified, faster kernels for PyTorch models: a backend of torch.compile, a search, and reports.

    import torch, warpwright
    fast = warpwright.optimize(model, (inputs,))        # searches once, keeps plans that are faster
    model = torch.compile(model, backend="warpwright")  # later, or in another program: uses the plans

PyTorch captures the graph, guards it and differentiates it. Inductor compiles the parts for which
no plan was measured to be faster. Importing this package neither imports torch nor uses a GPU.
"""

from warpwright_runtime import plans  # decorator of exported classes

__all__ = ["backend", "optimize", "explain", "report", "fallbacks", "plans"]
__version__ = "@PROJECT_VERSION@"  # CMake replaces it with the build's version

_WHERE = {"backend": "dynamo", "optimize": "search", "explain": "search", "report": "search", "fallbacks": "calls"}


def __getattr__(name):
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("." + _WHERE[name], __name__), name)
