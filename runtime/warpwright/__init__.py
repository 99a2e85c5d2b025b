"""Verified, faster kernels for PyTorch models: a backend of torch.compile, a search, and reports.

    import torch, warpwright
    fast = warpwright.optimize(model, (inputs,))              # searches once, keeps what is faster
    model = torch.compile(model, backend="warpwright")        # later, or in another program: uses what was found

PyTorch captures the graph, guards it and differentiates it; Inductor compiles what no plan was measured faster for. Importing this
package imports no torch and touches no GPU.
"""

from warpwright_runtime import plans  # of exported classes

__all__ = ["backend", "optimize", "explain", "report", "fallbacks", "plans"]
__version__ = "@PROJECT_VERSION@"  # of the build; CMake writes it

_WHERE = {"backend": "dynamo", "optimize": "search", "explain": "search", "report": "search", "fallbacks": "calls"}


def __getattr__(name):
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("." + _WHERE[name], __name__), name)
