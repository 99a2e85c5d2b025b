"""Values in addition to tensors that a module's forward reads, as literals that another process can
compare with its own values.

Plain constants stand for themselves. Other values are tuples whose first member is the kind:
("list", parts), ("tuple", parts), ("dict", pairs), ("values", parts) for a dict whose keys do not
matter, ("object", class, pairs) with the object's own attributes, and ("is", text). The last kind
is for functions, classes, enumerators, tensors in containers and all other values; such values are
equal if their texts are equal. A text names a submodule (for example in a lambda's closure) by its
path in the module, because a copy of a module keeps the lambdas of the original. All devices are
equal, because the device of each tensor is checked separately. Objects are compared DEEPEST levels
deep; below that, only their class counts. Exported classes use this file too, so it imports nothing
from the runner. Thread: any.
"""

import builtins
import enum
import functools
import types

PLAIN = (bool, int, float, str, bytes, complex, type(None))
DEEPEST = 3
MOST_LEVELS = 2  # nesting depth of described functions
MOST_PARTS = 512  # parts of a container or an object; larger ones are compared by their class
ROOT = ""  # stands for the class of the module itself


class Scope:
    """Scope of descriptions.
    @param owner the `__name__` of the user's file
    @param root the module that the plan is for"""

    def __init__(self, owner, root):
        self.owner, self.root = owner, root

    def place_of(self, module):
        """The place of a module in the root, as a text; "" if the root does not contain it."""
        if not hasattr(self, "places"):
            named = self.root.named_modules() if hasattr(self.root, "named_modules") else ()
            self.places = {id(one): path for path, one in named}
        path = self.places.get(id(module))
        return "" if path is None else f" at {path!r}"


def name_of(value, owner):
    """The name of a class or function. Names from the user's file, whose module is `owner`, have no
    module prefix, because that file may be imported under any name. torch's names have the full
    module name, other names the last part of the module name."""
    module = getattr(value, "__module__", None) or ""
    name = getattr(value, "__qualname__", None) or type(value).__qualname__
    if getattr(builtins, name, None) is value:
        return "builtins." + name
    if module == owner:
        return name
    return (module if module.partition(".")[0] == "torch" else module.rpartition(".")[2]) + "." + name


def described(value, scope, depth=0, level=0):
    """The literal of a value.
    @param depth number of containers and objects around it
    @param level number of functions around it"""
    kind = type(value)
    if kind in PLAIN:
        return value
    if depth >= DEEPEST:
        return ("is", text_of(value, scope, level))
    if kind in (list, tuple) and len(value) <= MOST_PARTS:
        return (kind.__name__, [described(part, scope, depth + 1, level) for part in value])
    if isinstance(value, dict) and len(value) <= MOST_PARTS and all(type(key) in PLAIN for key in value):
        return ("dict", [(key, described(part, scope, depth + 1, level)) for key, part in value.items()])
    if is_opaque(value):
        return ("is", text_of(value, scope, level))
    own = sorted(vars(value).items())
    if len(own) > MOST_PARTS:
        return ("is", text_of(value, scope, level))
    return ("object", name_of(kind, scope.owner), [(name, described(part, scope, depth + 1, level)) for name, part in own])


def is_opaque(value):
    """Whether a value's attributes are ignored."""
    import torch

    return not isinstance(getattr(value, "__dict__", None), dict) or isinstance(
        value, (type, enum.Enum, functools.partial, torch.nn.Module, torch.Tensor, types.FunctionType, types.ModuleType, set, frozenset,
                dict, list, tuple))


def text_of(value, scope, level=0):
    """A text for a value that is the same in all processes for equal values."""
    import torch

    if isinstance(value, enum.Enum):
        return f"{name_of(type(value), scope.owner)}.{value.name}"
    if isinstance(value, type):
        return "class " + name_of(value, scope.owner)
    if isinstance(value, torch.Tensor):
        return f"tensor {value.dtype}{list(value.shape)}"
    if isinstance(value, torch.nn.Module):
        return "module " + name_of(type(value), scope.owner) + scope.place_of(value)
    if isinstance(value, types.FunctionType):
        return "function " + name_of(value, scope.owner) + code_of(value, scope, level)
    if isinstance(value, types.MethodType):
        return f"method {name_of(value.__func__, scope.owner)} of {name_of(type(value.__self__), scope.owner)}"
    if isinstance(value, types.BuiltinFunctionType):
        return "builtin " + name_of(value, scope.owner)
    if isinstance(value, functools.partial):
        parts = (value.func, value.args, value.keywords) if level < MOST_LEVELS else ()
        return "partial " + repr([described(part, scope, DEEPEST - 2, level + 1) for part in parts])
    if isinstance(value, (set, frozenset)) and len(value) <= MOST_PARTS and all(type(part) in PLAIN for part in value):
        return f"{type(value).__name__} {sorted(map(repr, value))}"
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format, torch.Size)):
        return repr(value)
    return "object " + name_of(type(value), scope.owner)


def code_of(function, scope, level):
    """The names, constants, closure and defaults of a lambda or an inner function, as a text; ""
    for other functions, which are identified by name."""
    if "<" not in function.__qualname__ or level >= MOST_LEVELS:
        return ""
    code = function.__code__
    held = [cell.cell_contents for cell in function.__closure__ or () if not is_empty(cell)]
    constants = [one for one in code.co_consts if type(one) in PLAIN]
    values = [list(code.co_names), constants, held, list(function.__defaults__ or ())]
    return " " + repr([described(part, scope, DEEPEST - 2, level + 1) for part in values])


def is_empty(cell):
    try:
        cell.cell_contents
    except ValueError:
        return True
    return False


def literal(value):
    """The Python text of a description, with infinity and NaN as calls of float()."""
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
        return f'float("{value}")'
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, tuple):
        return "(" + "".join(literal(part) + ", " for part in value) + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(part)}" for key, part in value.items()) + "}"
    return repr(value)


def for_call(guards, owner, is_root):
    """A description (call_guards.py) with the Python objects and predicates that call/guards.h
    needs.
    @param is_root whether a class is the module's own class"""
    import torch

    hooks = torch.nn.modules.module
    flags = dict(guards["flags"])
    if "default_dtype" in flags:
        flags["default_dtype"] = getattr(torch, flags["default_dtype"])
    return dict(guards, flags=flags, global_hooks=[hooks._global_forward_hooks, hooks._global_forward_pre_hooks],
                is_class=lambda kind, name: is_root(kind) if name == ROOT else name_of(kind, owner) == name,
                is_value=lambda value, text, root: text_of(value, Scope(owner, root)) == text)
