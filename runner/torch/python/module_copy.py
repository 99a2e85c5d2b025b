"""Copies of a torch module on other memory.

copy.deepcopy() does not copy functions. A lambda that a constructor stores in the module, such as
`self.act = lambda x: layer(x) * 2`, would therefore still call the layers of the original module,
on their memory. This file recreates functions that hold copied objects, with the copies in their
place. Objects of other classes are left to deepcopy(). Thread: one.
"""

import copy
import functools
import types

import torch


def on_memory(model, memo, convert=None):
    """A deep copy of the model.
    @param memo {id of a tensor of the model: the tensor that replaces it}
    @param convert function for the tensors that are copied"""
    if convert is not None:
        for old in walk(model):
            if torch.is_tensor(old) and id(old) not in memo:
                new = convert(old.detach())
                memo[id(old)] = torch.nn.Parameter(new, requires_grad=False) if isinstance(old, torch.nn.Parameter) else new
    made = copy.deepcopy(model, memo)
    rebinding = Rebinding(memo)
    for part in made.modules():
        for name, value in list(vars(part).items()):
            rebound = rebinding.of(value)
            if rebound is not value:
                vars(part)[name] = rebound
    return made


def walk(value):
    """The value itself, then all objects that it holds directly or indirectly."""
    seen, waiting = set(), [value]
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += held_by(one)


def held_by(value):
    if isinstance(value, torch.nn.Module):
        return list(vars(value).values())
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, types.FunctionType):
        return [content(cell) for cell in value.__closure__ or ()] + list(value.__defaults__ or ()) + list((value.__kwdefaults__ or {}).values())
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, types.MethodType):
        return [value.__self__]
    return []


def content(cell):
    try:
        return cell.cell_contents
    except ValueError:  # the cell is still empty
        return None


class Rebinding:
    """Recreates functions around copied objects. @param memo deepcopy()'s memo after the copy"""

    def __init__(self, memo):
        self.memo = memo
        self.made = {}  # by id: recreated functions and cells, and visited containers

    def of(self, value):
        """A value of the copy with recreated functions; containers are changed in place."""
        if id(value) in self.made:
            return self.made[id(value)]
        if isinstance(value, types.FunctionType):
            return self.function(value) if self.holds_copied(value) else value
        if isinstance(value, functools.partial) and any(isinstance(one, types.FunctionType) for one in held_by(value)):
            return functools.partial(self.of(value.func), *map(self.of, value.args), **{key: self.of(one) for key, one in value.keywords.items()})
        if isinstance(value, (dict, list)):
            self.made[id(value)] = value
            for key, one in list(value.items() if isinstance(value, dict) else enumerate(value)):
                rebound = self.of(one)
                if rebound is not one:
                    value[key] = rebound
        if isinstance(value, tuple):
            parts = [self.of(one) for one in value]
            if any(part is not one for part, one in zip(parts, value)):
                return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        return value

    def holds_copied(self, function):
        return any(id(one) in self.memo for one in walk(function) if torch.is_tensor(one) or isinstance(one, torch.nn.Module))

    def function(self, old):
        cells = tuple(self.made.setdefault(id(cell), types.CellType()) for cell in old.__closure__ or ())
        new = types.FunctionType(old.__code__, old.__globals__, old.__name__, None, cells or None)
        self.made[id(old)] = new
        new.__dict__.update(old.__dict__)
        new.__doc__, new.__qualname__, new.__module__ = old.__doc__, old.__qualname__, old.__module__
        new.__defaults__, new.__kwdefaults__ = self.copied(old.__defaults__), self.copied(old.__kwdefaults__)
        for cell, source in zip(cells, old.__closure__ or ()):
            if content(cell) is None and content(source) is not None:
                cell.cell_contents = self.copied(source.cell_contents)
        return new

    def copied(self, value):
        """The copy's counterpart of a value that a function holds."""
        held = (torch.nn.Module, torch.Tensor, dict, list, tuple, functools.partial, types.MethodType, types.FunctionType)
        if not isinstance(value, held) or not any(id(one) in self.memo for one in walk(value)):
            return value
        return self.of(copy.deepcopy(value, self.memo))
