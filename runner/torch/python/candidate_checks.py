"""Checks for manipulations in a candidate's process: changed framework flags, replaced functions,
threads, lazy results.

No honest answer to a task needs these. The checks run next to the candidate's code, so they find
the tricks of published cheats but not code that hides from them. docs/use/candidates.md describes
the guarantees that do not depend on these checks. Thread: the main thread.
"""

import _thread
import sys
import threading
import types

import torch

import framework_flags
from host_errors import HostError

#: Modules whose functions are compared: modules that a harness may use, and the runner's own.
WATCHED = ("torch", "torch.cuda", "torch.cuda.graphs", "torch.cuda.streams", "torch.nn.functional", "torch.testing", "torch.linalg", "time",
           "gc", "builtins", "json", "mmap", "ctypes", "framework_flags", "user_module", "tensors", "host_errors", "module_host", "gpu_host",
           "candidate_module", "candidate_timer", "candidate_checks")
WATCHED_CLASSES = ((torch, "Tensor"), (torch.cuda, "Event"), (torch.cuda, "Stream"), (torch.cuda, "CUDAGraph"), (torch.nn, "Module"))
CALLABLE = (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, type)


class Watch:
    """Snapshot of a process, taken before any of a candidate's code runs in it."""

    def __init__(self, flags):
        framework_flags.restore(flags)
        self.flags = all_flags()
        self.functions = {}
        for name in WATCHED:
            module = sys.modules.get(name)
            if module is not None:
                self.functions[name] = {key: value for key, value in vars(module).items() if isinstance(value, CALLABLE)}
        self.methods = [(holder, name, dict(vars(getattr(holder, name)))) for holder, name in WATCHED_CLASSES if hasattr(holder, name)]
        self.threads = set(threading.enumerate())
        self.thread_count = _thread._count()

    def look(self, when):
        """Compares the process with the snapshot. @raise HostError if something was changed
        @param when the end of the message, such as "when its file is imported" """
        for name, value in all_flags().items():
            if value != self.flags.get(name):
                raise HostError("suspected", f"the candidate changes the framework's {name} from {self.flags.get(name)} to {value} {when}")
        for name, functions in self.functions.items():
            held = vars(sys.modules[name]) if name in sys.modules else {}
            for key, function in functions.items():
                if held.get(key) is not function:
                    raise HostError("suspected", f"the candidate replaces {name}.{key} {when}")
        for holder, name, methods in self.methods:
            found = vars(getattr(holder, name))
            for key, method in methods.items():
                if found.get(key) is not method and isinstance(method, CALLABLE):
                    raise HostError("suspected", f"the candidate replaces {holder.__name__}.{name}.{key} {when}")
        more = [thread.name for thread in threading.enumerate() if thread not in self.threads and thread.is_alive()]
        if more or _thread._count() > self.thread_count:
            raise HostError("suspected", f"the candidate leaves a thread running ({more[0] if more else 'without a name'}) {when}")


def all_flags():
    flags = framework_flags.current()
    for name in ("get_float32_matmul_precision", "is_autocast_enabled", "is_grad_enabled", "get_num_threads"):
        if hasattr(torch, name):
            flags[name] = getattr(torch, name)()
    return flags


def check_plain(result):
    """Refuses tensor subclasses, which could compute lazily, and layouts other than strided."""
    if type(result) not in (torch.Tensor, torch.nn.Parameter):
        raise HostError("suspected", f"the candidate returns a {type(result).__name__}, not a tensor")
    if result.layout != torch.strided:
        raise HostError("bad_launch", f"the candidate returns a tensor of layout {result.layout}")
