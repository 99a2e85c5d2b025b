"""Runs the verified kernels that Warpwright wrote into a PyTorch file.

Such a file imports ExportedPlan and fallbacks_of (exported_plan.py) and nothing else. The kernels are compiled by NVRTC for the GPU that is
there, the function that calls them by g++ once for a torch; both are kept in ~/.cache/warpwright-torch.
"""

__version__ = "@PROJECT_VERSION@"  # of the build; CMake writes it


def __getattr__(name):
    if name not in ("ExportedPlan", "fallbacks_of"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import exported_plan

    return getattr(exported_plan, name)
