"""Makes a module and its inputs from the text of a source file (KernelBench conventions), with real or with fake tensors."""
import contextlib
import inspect
import sys
import types

import torch

from .errors import Refusal
from .refusals import SOURCE_NAME

MODULE_NAME = "_warpwright_traced_source"


def first_line(error):
    text = str(error).strip().splitlines()
    return "%s: %s" % (type(error).__name__, text[0][:300]) if text else type(error).__name__


@contextlib.contextmanager
def on_the_cpu():
    """Devices that the source names are not needed to trace it."""
    saved = torch.Tensor.cuda, torch.nn.Module.cuda
    torch.Tensor.cuda = lambda self, *_, **__: self
    torch.nn.Module.cuda = lambda self, *_, **__: self
    try:
        yield
    finally:
        torch.Tensor.cuda, torch.nn.Module.cuda = saved


def load(text):
    """Runs the source as a Python module; classes may ask for its text."""
    import linecache
    namespace = types.ModuleType(MODULE_NAME)
    namespace.__file__ = SOURCE_NAME
    sys.modules[MODULE_NAME] = namespace
    linecache.cache[SOURCE_NAME] = (len(text), None, text.splitlines(True), SOURCE_NAME)
    try:
        exec(compile(text, SOURCE_NAME, "exec"), namespace.__dict__)
    except Exception as error:
        raise Refusal("the source does not import: %s" % first_line(error))
    return namespace


def evaluated(namespace, what):
    """The list that a function of the source, or an expression over `torch`, gives."""
    if what in namespace.__dict__:
        value = namespace.__dict__[what]
        value = value() if callable(value) else value
    elif what.isidentifier():
        return None
    else:
        value = eval(what, dict(namespace.__dict__, torch=torch))
    return value if isinstance(value, (list, tuple, dict)) else [value]


def make_module(namespace, model, init_inputs, training):
    if model not in namespace.__dict__:
        raise Refusal("the source has no class %s" % model)
    made = evaluated(namespace, init_inputs)
    made = [] if made is None else made
    constructor = namespace.__dict__[model]
    if isinstance(made, dict):
        module = constructor(**made)
    elif len(made) == 2 and isinstance(made[0], list) and isinstance(made[1], dict):
        module = constructor(*made[0], **made[1])
    else:
        module = constructor(*made)
    if not isinstance(module, torch.nn.Module):
        raise Refusal("%s is no torch.nn.Module" % model)
    return module.train(training)


def make_inputs(namespace, inputs):
    made = evaluated(namespace, inputs)
    if made is None:
        raise Refusal("the source has no function %s that gives the inputs of a call" % inputs)
    return made if isinstance(made, dict) else distinct(made)


def distinct(tensors):
    """A tensor that is given twice becomes two inputs."""
    seen, result = set(), []
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor):
            tensor = tensor.clone() if id(tensor) in seen else tensor
            seen.add(id(tensor))
        result.append(tensor)
    return result


def argument_names(module, count):
    """Names of forward's positional arguments, as many as are given."""
    names = []
    for parameter in inspect.signature(module.forward).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            names += ["%s_%d" % (parameter.name, i) for i in range(count - len(names))]
        elif parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            names.append(parameter.name)
    return names[:count] + ["argument_%d" % i for i in range(len(names), count)]
