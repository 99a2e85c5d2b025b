"""Runtime for the verified kernels of plan files, which Warpwright writes next to a PyTorch file.

The PyTorch file decorates a class with plans("NAME.wwplan") (plan_file.py). NVRTC compiles the
kernels for the GPU of the machine. A C++ compiler compiles the function that calls them, once per
torch version. Both results are kept in ~/.cache/warpwright-torch. Importing this package does not
import torch.
"""

from .plan_file import plans

__all__ = ["plans"]
__version__ = "@PROJECT_VERSION@"  # CMake replaces it with the build's version
