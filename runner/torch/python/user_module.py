"""The user's file as a Python module, and the torch module that it defines.

The file follows the conventions of KernelBench: a class, a function that gives the inputs of one
call, and a function that gives the arguments of the class's constructor. The file is written to
disk so that `inspect` and tracebacks find its lines. project_files.py handles other files of the
project. Thread: one.
"""

import contextlib
import hashlib
import linecache
import os
import random
import sys
import tempfile
import types

import torch

import cpp_module
import framework_flags
import host_errors
import module_copy
import module_modes
import project_files
from host_errors import HostError, told_by

LOADED_SEED = 42  # seed of the kept module, which also fixes state that is no parameter or buffer


class UserModule:
    def __init__(self, spec, device):
        self.spec = dict(spec)
        self.device = device
        self.in_device_context = False  # whether forward makes tensors without naming a device
        self.file, self.namespace = read_source(spec)
        self.flags = framework_flags.current()
        if not hasattr(self.namespace, spec["model"]):
            raise HostError("unsupported", f"the module's file has no '{spec['model']}'")
        self._template = None
        self._drawn = None
        self.guards = None  # guards of a candidate's call, set by the first watched forward (ModuleCall)
        self._model = self.construct(LOADED_SEED)
        self.inputs_template()

    def model(self):
        """The module as constructed under LOADED_SEED. Callers must not change it."""
        return self._model

    def construct(self, seed, on_host=False):
        make = getattr(self.namespace, self.spec["model"])
        with torch.no_grad(), contextlib.nullcontext() if on_host else on_device(self.device):
            given = mapped(self.constructor_arguments(seed), lambda tensor: tensor.to(self.device))
            seed_everything(seed)
            with told_by(f"{self.spec['model']}'s constructor"):
                model = make(**given) if isinstance(given, dict) else make(*given)
        if not isinstance(model, torch.nn.Module):
            raise HostError("unsupported", f"{self.spec['model']} is not a torch.nn.Module")
        with told_by("moving the module to its device"):
            return module_modes.in_mode(model.to(self.device), self.spec.get("mode", "made"))

    def constructor_arguments(self, seed):
        seed_everything(seed)
        with told_by("the arguments of the constructor"):
            return self.evaluate("init_inputs", [])

    def initialised(self, seed, vary, on_host=False):
        """A module with the parameters of this seed.
        @param vary whether parameters with one constant value are drawn around that value
        @param on_host whether the constructor runs on the CPU, which draws other values than a
            GPU"""
        key = seed, vary, on_host
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = None
            model = self.construct(seed, on_host)
            if vary:
                with torch.no_grad():
                    vary_constants(model, seed, self.device)
            self._drawn = key, model
        return self._drawn[1]

    def make_inputs(self, seed):
        seed_everything(seed)
        with torch.no_grad(), on_device(self.device), told_by("making the inputs"):
            inputs = self.evaluate("inputs", None)
            if inputs is None:
                raise HostError("unsupported", f"the module's file has no '{self.spec['inputs']}'")
            return mapped(inputs, lambda tensor: tensor.detach().to(self.device))

    def inputs_template(self):
        """Inputs of one call, with empty tensors as placeholders."""
        if self._template is None:
            made = self.make_inputs(LOADED_SEED)
            self._template = mapped(made, lambda tensor: torch.empty(0, dtype=tensor.dtype))
        return self._template

    def evaluate(self, which, absent):
        """The value of the file's function that the spec names, or of an expression over torch.
        @param absent the value if the function does not exist"""
        text = self.spec[which]
        if text.isidentifier():
            function = getattr(self.namespace, text, None)
            return absent if function is None else function()
        return eval(text, {"torch": torch, **vars(self.namespace)})  # as trusted as the user's file

    def call(self, function, inputs):
        """One call, as in the user's program."""
        with torch.no_grad():
            if not self.in_device_context:
                try:
                    return invoke(function, inputs)
                except RuntimeError as error:
                    if self.device.type == "cpu" or "same device" not in str(error):
                        raise
                    self.in_device_context = True  # forward makes tensors without naming a device
            with on_device(self.device):
                return invoke(function, inputs)


def invoke(function, inputs):
    return function(**inputs) if isinstance(inputs, dict) else function(*inputs)


def read_source(spec):
    """(path, namespace) of the user's file."""
    if spec["language"] == "cpp":
        host_errors.user_file = cpp_module.FILE_NAME
        with told_by("compiling the function's file"):
            return cpp_module.FILE_NAME, cpp_module.namespace_of(spec["source"], spec["model"], spec["init_inputs"],
                                                                 spec.get("files"), spec.get("path", ""))
    if spec["language"] != "python":
        raise HostError("unsupported", f"this worker calls Python and C++ modules, not {spec['language']} ones")
    host_errors.user_file = file = write_source(spec["source"])
    with told_by("importing the module's file"), project_files.importable(spec) as package:
        return file, import_source(spec["source"], file, package)


def write_source(text):
    """Writes the text to a file. @return its path. If no file can be written, `inspect` and
    tracebacks still find the lines."""
    name = "task_" + hashlib.sha256(text.encode()).hexdigest()[:16] + ".py"
    try:
        path = os.path.join(tempfile.mkdtemp(prefix="warpwright-module-"), name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        path = os.path.join("unwritten", name)
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    return path


def import_source(text, path, package=None):
    name = os.path.basename(path)[:-len(".py")]
    module = types.ModuleType(name)
    module.__file__ = path
    module.__package__ = package
    sys.modules[name] = module  # dataclasses, pickle and inspect look the module up
    exec(compile(text, path, "exec"), module.__dict__)
    return module


def seed_everything(seed):
    """Seeds all generators. torch.manual_seed() is not used, because it imports parts of
    torch.compile, which takes seconds."""
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def on_device(device):
    """Context in which factories make their tensors on the device, if this torch supports that."""
    if device.type != "cpu" and hasattr(torch, "set_default_device"):
        return torch.device(device)
    return contextlib.nullcontext()


def vary_constants(model, seed, device):
    generator = torch.Generator(device=device)
    generator.manual_seed(seed)
    for tensor in list(model.parameters()) + list(model.buffers()):
        if not tensor.is_floating_point() or tensor.numel() == 0:
            continue
        value = tensor.flatten()[0].item()
        if value != value or abs(value) == float("inf") or not bool((tensor == value).all()):
            continue
        share = torch.rand(tensor.shape, generator=generator, device=device, dtype=torch.float32).to(tensor.dtype)
        tensor.copy_(share * 0.5 - 0.25 if value == 0 else value * (1 + share * 0.5))


def state(model, name):
    """A parameter, buffer or plain tensor attribute by its dotted name."""
    *path, last = name.split(".")
    holder = model
    for part in path:
        holder = holder._modules.get(part)
        if holder is None:
            break
    for table in () if holder is None else (holder._parameters, holder._buffers, vars(holder)):
        if torch.is_tensor(table.get(last)):
            return table[last]
    raise HostError("unsupported", f"the module has no parameter, buffer or tensor '{name}'")


def set_state(model, name, tensor):
    *path, last = name.split(".")
    holder = model
    for part in path:
        holder = holder._modules[part]
    if last in holder._parameters:
        holder._parameters[last].data = tensor
    else:
        (holder._buffers if last in holder._buffers else vars(holder))[last] = tensor


def on_memory(model, memory, convert=None):
    """A copy of the module whose state is the tensors of `memory`, by dotted name. Other tensors
    are copied.
    @param convert function for the tensors that are copied"""
    memo = {}
    for name, tensor in memory.items():
        old = state(model, name)
        memo[id(old)] = torch.nn.Parameter(tensor, requires_grad=False) if isinstance(old, torch.nn.Parameter) else tensor
    with told_by("copying the module"):
        return module_copy.on_memory(model, memo, convert)


def tensors_in(value):
    """All tensors in nested lists, tuples and dicts, in order."""
    if torch.is_tensor(value):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for part in value for tensor in tensors_in(part)]
    return []


def mapped(value, function):
    if torch.is_tensor(value):
        return function(value)
    if isinstance(value, dict):
        return {key: mapped(part, function) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [mapped(part, function) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def with_tensors(template, tensors):
    """The template with its tensors replaced, in order."""
    rest = iter(tensors)
    return mapped(template, lambda _: next(rest))
