"""Conditions in addition to tensors under which a plan is valid: the module's submodules with their
classes and modes, the attributes that forward reads, hooks, and the framework's flags. Tracer and
worker record the conditions here; warpwright_runtime's call/guards.h checks them at each call.

A description is a dict of literals:
    modules     [(parent's index or -1, name, class, number of children)], parents first; the
                class of the module itself is guard_values.ROOT
    training    one letter per module: T or F
    attributes  [(module's index, name, value)]: attributes that forward reads, without
                tensors. The value is the result of guard_values.described(); ("class",) for an
                attribute of the class, which no attribute of the object may hide; ("constant",
                value) for a value that the class holds
    flags       {name: value} of the flags that matter
Globals of the user's file are not recorded, nor are changes in place of values in objects deeper
than guard_values.DEEPEST. Thread: one.
"""

import inspect

import torch

from warpwright_runtime.guard_values import ROOT, Scope, described, name_of

HOOKS = ("_forward_hooks", "_forward_pre_hooks")  # the hooks that run without gradients
TABLES = ("_parameters", "_buffers", "_modules")
OWN_NAMES = set(dir(torch.nn.Module)) | set(vars(torch.nn.Module()))
FLAGS = ("matmul_tf32", "cudnn_tf32", "deterministic", "default_dtype")
MISSING = object()


class Reads:
    """Context manager that records which attributes of the model's modules are read, and their
    values at the first read. Attributes of torch.nn.Module itself are left out, as are attributes
    that forward writes before it reads them."""

    def __init__(self, model, owner):
        self.scope = Scope(owner, model)
        self.found = {id(module): {} for _, _, module in tree(model)}

    def __enter__(self):
        found, scope, write = self.found, self.scope, torch.nn.Module.__setattr__

        def read_one(module, name):
            known = found.get(id(module))
            if known is not None and name not in OWN_NAMES and name not in known:
                known[name] = MISSING  # ends the recursion if the description reads the attribute
                known[name] = attribute_of(module, name, scope)
            return object.__getattribute__(module, name)

        def write_one(module, name, value):
            if name not in OWN_NAMES:
                found.get(id(module), {}).setdefault(name, MISSING)
            write(module, name, value)

        self.write = write
        torch.nn.Module.__getattribute__, torch.nn.Module.__setattr__ = read_one, write_one
        return self

    def __exit__(self, *_):
        del torch.nn.Module.__getattribute__
        torch.nn.Module.__setattr__ = self.write

    def of(self, module):
        """[(name, value)] of a module's attributes, in the order of their first reads."""
        return [(name, value) for name, value in self.found.get(id(module), {}).items() if value is not MISSING]


def owner_of(namespace):
    """The name under which the user's file was imported; "" for a C++ file."""
    return getattr(namespace, "__name__", "")


def tree(model):
    """[(parent's index, name, module)], parents first. A module with two holders appears twice."""
    found, waiting = [], [(-1, "", model, ())]
    while waiting:
        parent, name, module, above = waiting.pop(0)
        found.append((parent, name, module))
        if id(module) not in above:
            waiting += [(len(found) - 1, name, child, above + (id(module),)) for name, child in module._modules.items()
                        if child is not None]
    return found


def of_model(model, reads, owner, flags=FLAGS):
    """The description of a model: the attributes that a forward read, and the current modes and
    flags.
    @param reads a Reads that watched the forward
    @param owner the `__name__` of the user's file
    @param flags the names of the flags that matter"""
    modules, training, attributes, scope = [], "", [], Scope(owner, model)
    for index, (parent, name, module) in enumerate(tree(model)):
        modules.append((parent, name, ROOT if parent < 0 else name_of(type(module), owner), len(module._modules)))
        training += "T" if module.training else "F"
        attributes += [(index, attribute, value) for attribute, value in reads.of(module)]
        if parent >= 0:
            attributes += changes_of_call(index, module, scope)
    known = current_flags()
    return {"modules": modules, "training": training, "attributes": attributes, "flags": {name: known[name] for name in flags}}


def attribute_of(module, name, scope):
    """The description of an attribute; MISSING for a tensor or a submodule."""
    held = vars(module).get(name, MISSING)
    if held is not MISSING:
        return MISSING if torch.is_tensor(held) else described_whatever(held, scope)
    for table in TABLES:
        if name in getattr(module, table):
            return None if getattr(module, table)[name] is None else MISSING
    value = inspect.getattr_static(type(module), name, MISSING)
    if value is MISSING or callable(value) or hasattr(value, "__get__"):
        return ("class",)
    return ("constant", described_whatever(value, scope))


def described_whatever(value, scope):
    """The description of a value; its class alone if the description fails, because users' objects
    may raise from any operation."""
    try:
        return described(value, scope)
    except Exception:
        return ("is", "object " + name_of(type(value), scope.owner))


def changes_of_call(index, module, scope):
    """Hooks of a submodule, and a forward that was assigned to it, at the time of verification."""
    found = [(index, name, ("values", [described(hook, scope) for hook in vars(module)[name].values()]))
             for name in HOOKS if vars(module)[name]]
    if "forward" in vars(module):
        found.append((index, "forward", described(vars(module)["forward"], scope)))
    return found


def flags_of(nodes):
    """Names of the flags that matter to a graph. The TF32 flags matter if a library may compute a
    float32 product of the graph with TF32."""
    products = {node["op"] for node in nodes if node["op"] in ("matmul", "conv", "aten", "attention")
                and any(kind["dtype"] == "float32" for kind in node["types"])}
    return [name for name in FLAGS if name == "matmul_tf32" and products or name == "cudnn_tf32" and products & {"conv", "aten"}
            or name in ("deterministic", "default_dtype")]


def current_flags():
    return {"matmul_tf32": is_allowed(torch.backends.cuda.matmul), "cudnn_tf32": is_allowed(torch.backends.cudnn),
            "deterministic": torch.are_deterministic_algorithms_enabled(),
            "default_dtype": str(torch.get_default_dtype()).rpartition(".")[2]}


def is_allowed(backend):
    try:
        return bool(backend.allow_tf32)
    except RuntimeError:  # both the old and the new flag were set
        return False
