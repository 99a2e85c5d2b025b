"""The environment on which a verdict depends in addition to the graph, and the folder of records.
Importing this file checks PyTorch's version."""

import functools
import os
import re

OLDEST_TORCH = (2, 6)
NEEDED = "warpwright needs PyTorch {}.{} or later".format(*OLDEST_TORCH)

try:
    import torch
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ImportError(f"{NEEDED}, and this Python has none: install torch") from None
if tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2]) < OLDEST_TORCH:
    raise ImportError(f"{NEEDED}, and this Python has {torch.__version__}: upgrade torch, or name another backend in torch.compile")


def store():
    """The folder of records: WARPWRIGHT_STORE, else a folder in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("WARPWRIGHT_STORE") or os.path.join(base, "warpwright", "store")


@functools.lru_cache(maxsize=None)
def device_facts(index):
    if index is None:
        return {"device": "cpu"}
    found = torch.cuda.get_device_properties(index)
    return {"device": found.name, "capability": 10 * found.major + found.minor, "multiprocessors": found.multi_processor_count}


def precision_flags():
    """The settings that affect the rounding of products and convolutions. They are read by one API
    only, because PyTorch raises errors if its old and new APIs are mixed."""
    return {"matmul": torch.get_float32_matmul_precision(), "cudnn_tf32": bool(torch._C._get_cudnn_allow_tf32())}


def environment(device):
    """The environment of a graph, as a dict. @param device the torch.device of the graph's
    tensors"""
    index = None
    if device.type == "cuda":
        index = torch.cuda.current_device() if device.index is None else device.index
    return {**device_facts(index), **precision_flags(), "torch": torch.__version__, "cuda": torch.version.cuda or "",
            "cudnn": torch.backends.cudnn.version() or 0}


def place_of(device):
    """Where the core finds the records of a device's graphs."""
    return {"store": store(), "environment": environment(device)}
