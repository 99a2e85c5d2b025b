"""Runs the verified kernels of plan files, which Warpwright wrote beside a PyTorch file.

The file decorates a class with plans("NAME.wwplan") (plan_file.py). The kernels are compiled by NVRTC for the GPU that is there, the
function that calls them by g++ once for a torch; both are kept in ~/.cache/warpwright-torch. Importing this package imports no torch.
"""

from .plan_file import plans

__all__ = ["plans"]
__version__ = "@PROJECT_VERSION@"  # of the build; CMake writes it
