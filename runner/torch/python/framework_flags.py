"""The framework's flags that affect results or speed. A module's file may set them at import, as in
the user's program; they are reset to torch's defaults before the next module. Thread: one."""

import torch

NAMES = (
    "backends.cuda.matmul.allow_tf32",
    "backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
    "backends.cudnn.allow_tf32",
    "backends.cudnn.benchmark",
    "backends.cudnn.deterministic",
    "backends.cudnn.enabled",
)


def _holder(name):
    *path, last = name.split(".")
    holder = torch
    for part in path:
        holder = getattr(holder, part)
    return holder, last


def current():
    flags = {"default_dtype": torch.get_default_dtype(),
             "deterministic": torch.are_deterministic_algorithms_enabled()}
    for name in NAMES:
        try:
            holder, last = _holder(name)
            flags[name] = getattr(holder, last)
        except (AttributeError, AssertionError, RuntimeError):
            pass  # this torch does not have the flag
    return flags


def restore(flags):
    torch.set_default_dtype(flags["default_dtype"])
    torch.use_deterministic_algorithms(flags["deterministic"])
    for name in NAMES:
        if name in flags:
            holder, last = _holder(name)
            setattr(holder, last, flags[name])


DEFAULTS = current()


def restore_defaults():
    restore(DEFAULTS)
