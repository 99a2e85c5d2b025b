"""Tensors on memory with other owners, by address and without copies. Thread: any."""

import ctypes

import torch

DTYPES = {name: getattr(torch, name) for name in (
    "bool", "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "uint16", "uint32", "uint64") if hasattr(torch, name)}


def dtype_of(name):
    if name not in DTYPES:
        raise ValueError(f"torch {torch.__version__} has no {name}")
    return DTYPES[name]



def contiguous_strides(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return strides


def span(shape, strides):
    """Number of elements from the first to the last in memory, inclusive."""
    if any(extent == 0 for extent in shape):
        return 0
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides))


class CudaBytes:
    """Memory with the CUDA array interface:
    https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html"""

    def __init__(self, address, size):
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}


def bytes_at(address, size, device):
    if device.type == "cuda":
        return torch.as_tensor(CudaBytes(address, size), device=device)
    return torch.frombuffer((ctypes.c_uint8 * size).from_address(address), dtype=torch.uint8)


def as_tensor(argument, device):
    """A tensor on the argument's memory. @param argument {address, dtype, shape, strides}; strides
    are in elements, and empty for a contiguous tensor"""
    dtype = dtype_of(argument["dtype"])
    shape = list(argument["shape"])
    strides = list(argument.get("strides") or contiguous_strides(shape))
    elements = span(shape, strides)
    if elements == 0:
        return torch.empty(shape, dtype=dtype, device=device)
    width = torch.empty(0, dtype=dtype).element_size()
    memory = bytes_at(argument["address"], elements * width, device)
    return memory.view(dtype).as_strided(shape, strides)


def same_layout(one, other):
    """Whether both tensors have the same shape and the same strides, ignoring dimensions of one
    element."""
    return tuple(one.shape) == tuple(other.shape) and (one.numel() == 0 or all(
        a == b for extent, a, b in zip(one.shape, one.stride(), other.stride()) if extent > 1))


def copy_flat(source, target):
    """Copies the memory from the first to the last element. Both tensors must have the same layout,
    which may overlap itself."""
    elements = span(source.shape, source.stride())
    target.as_strided([elements], [1]).copy_(source.as_strided([elements], [1]))
