"""Construction of a module and its inputs from the text of a source file (KernelBench conventions),
with real or fake tensors."""
import contextlib
import inspect
import sys
import traceback
import types

import torch

import module_modes
from .call import map_tensors
from .errors import Refusal
from .refusals import SOURCE_NAME

MODULE_NAME = "_warpwright_traced_source"


def first_line(error):
    text = str(error).strip().splitlines()
    return "%s: %s" % (type(error).__name__, text[0][:300]) if text else type(error).__name__


def line_of(error):
    """The line of the user's source that raised the error: " (line 12)"; "" for errors from
    elsewhere."""
    if isinstance(error, SyntaxError) and error.filename == SOURCE_NAME:
        return " (line %d)" % (error.lineno or 1)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == SOURCE_NAME]
    return " (line %d)" % lines[-1] if lines else ""


def unchanged(function=None, *_, **__):
    """Replacement for functions and decorators that compile a function: returns the function."""
    return function if function is not None else unchanged


def to_the_cpu(to):
    """Tensor.to with GPUs replaced by the CPU. A torch without CUDA refuses GPUs before
    dispatch."""
    def replaced(value):
        if isinstance(value, (str, torch.device)):
            return torch.device("cpu") if str(value).startswith("cuda") else value
        return torch.device("cpu") if isinstance(value, int) and not isinstance(value, bool) else value

    def moved(self, *args, **kwargs):
        kwargs = {name: replaced(value) if name == "device" else value for name, value in kwargs.items()}
        return to(self, *[replaced(value) for value in args], **kwargs)
    return moved


@contextlib.contextmanager
def eager_on_the_cpu():
    """Context in which GPU devices and compilers that the source names have no effect."""
    places = {(torch.Tensor, "cuda"): unchanged, (torch.nn.Module, "cuda"): unchanged, (torch.jit, "script"): unchanged,
              (torch, "compile"): unchanged, (torch.cuda, "_lazy_init"): lambda: None,
              (torch.Tensor, "to"): to_the_cpu(torch.Tensor.to)}
    saved = [(place, name, getattr(place, name)) for place, name in places if hasattr(place, name)]
    for place, name, _ in saved:
        setattr(place, name, places[place, name])
    try:
        yield
    finally:
        for place, name, value in saved:
            setattr(place, name, value)


def load(text, files=None, path=""):
    """Runs the source as a Python module, whose text `inspect` can find.
    @param files, path other files of the project by path, and the path of the source itself"""
    import linecache
    import project_files
    namespace = types.ModuleType(MODULE_NAME)
    namespace.__file__ = SOURCE_NAME
    sys.modules[MODULE_NAME] = namespace
    linecache.cache[SOURCE_NAME] = (len(text), None, text.splitlines(True), SOURCE_NAME)
    try:
        with project_files.importable({"files": files, "path": path, "source": text}) as package:
            namespace.__package__ = package
            exec(compile(text, SOURCE_NAME, "exec"), namespace.__dict__)
    except Exception as error:
        raise Refusal("the source does not import: %s%s" % (first_line(error), line_of(error)))
    return namespace


def load_cpp(text, model, init_inputs, files=None, path=""):
    """Compiles the C++ source. @return a namespace with the function or class `model` as a
    module"""
    from cpp_module import CppError, namespace_of
    try:
        return namespace_of(text, model, init_inputs, files, path)
    except CppError as error:
        raise Refusal(str(error))


def evaluated(namespace, what):
    """The list that a function of the source or an expression over `torch` gives; None if the
    function does not exist."""
    if what in namespace.__dict__:
        value = namespace.__dict__[what]
        value = value() if callable(value) else value
    elif what.isidentifier():
        return None
    else:
        value = eval(what, dict(namespace.__dict__, torch=torch))
    return value if isinstance(value, (list, tuple, dict)) else [value]


def make_module(namespace, model, init_inputs, mode):
    """Constructs the module. @param mode see module_modes.in_mode()"""
    if model not in namespace.__dict__:
        raise Refusal("the source has no class %s" % model)
    made = evaluated(namespace, init_inputs)
    made = [] if made is None else made
    constructor = namespace.__dict__[model]
    if isinstance(made, dict):
        module = constructor(**made)
    else:
        module = constructor(*made)
    if not isinstance(module, torch.nn.Module):
        raise Refusal("%s is not a torch.nn.Module" % model)
    for tensor in list(module.parameters()) + list(module.buffers()):
        if not tensor.is_contiguous():
            tensor.data = tensor.data.contiguous()  # the task's buffers are contiguous
    return module_modes.in_mode(module, mode)


def make_inputs(namespace, inputs):
    made = evaluated(namespace, inputs)
    if made is None:
        raise Refusal("the source has no function %s that gives the inputs of a call" % inputs)
    made = map_tensors(lambda tensor: tensor.detach().contiguous(), made)
    return made if isinstance(made, dict) else distinct(made)


def distinct(tensors):
    """The tensors, with copies in place of repetitions, so that each becomes a separate input."""
    seen, result = set(), []
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor):
            tensor = tensor.clone() if id(tensor) in seen else tensor
            seen.add(id(tensor))
        result.append(tensor)
    return result


def argument_names(module, count):
    """Names of forward's first `count` positional arguments."""
    names = []
    for parameter in inspect.signature(module.forward).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            names += ["%s_%d" % (parameter.name, i) for i in range(count - len(names))]
        elif parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            names.append(parameter.name)
    return names[:count] + ["argument_%d" % i for i in range(len(names), count)]
