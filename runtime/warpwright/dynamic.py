"""Sizes that differ from call to call: which dimensions optimize() is told of, and where a graph's plans end."""

import inspect
import re

import torch
from torch.utils._pytree import tree_leaves


class Dimensions:
    """{parameter of forward: {dimension: (low, high)}}, as optimize() takes it."""

    def __init__(self, model, dynamic):
        self.names = list(inspect.signature(model.forward).parameters)
        self.limits, self.fixed, self.compiled = {}, [], set()
        for name, dimensions in (dynamic or {}).items():
            if name not in self.names:
                raise ValueError(f"dynamic names {name!r}, and forward has the parameters {', '.join(self.names)}")
            for dimension, limits in dimensions.items():
                if len(limits) != 2 or not 2 <= limits[0] < limits[1]:
                    raise ValueError(f"dynamic[{name!r}][{dimension}] is {limits!r}, and takes (low, high) with 2 <= low < high")
                self.limits[name, dimension] = tuple(limits)

    def mark(self, inputs, kwargs):
        """Marks these dimensions of a call's tensors for Dynamo."""
        given = {**dict(zip(self.names, inputs)), **kwargs}
        for (name, dimension), (low, high) in self.limits.items():
            if isinstance(given.get(name), torch.Tensor) and given[name].size(dimension) >= 2:
                torch._dynamo.mark_dynamic(given[name], dimension, min=low, max=high)

    def call(self, function, inputs, kwargs):
        """Calls a compiled function. Only calls that may compile need marks, which cost as much as a small kernel."""
        kind = (torch.is_grad_enabled(), *((one.dtype, one.device, one.dim(), one.requires_grad, min(one.shape, default=2) < 2)
                                           for one in (*inputs, *kwargs.values()) if isinstance(one, torch.Tensor)))
        if kind in self.compiled:
            return function(*inputs, **kwargs)
        self.mark(inputs, kwargs)
        results = function(*inputs, **kwargs)
        self.compiled.add(kind)
        return results

    @staticmethod
    def unmark(inputs, kwargs):
        """Takes all marks from a call's tensors."""
        for value in tree_leaves((inputs, kwargs)):
            for name in ("_dynamo_dynamic_indices", "_dynamo_dynamic_range", "_dynamo_hint_overrides"):
                if isinstance(value, torch.Tensor) and hasattr(value, name):
                    delattr(value, name)

    def give_up(self, error):
        """Dimensions that the model or PyTorch fixes are fixed from now on. @return whether the error names any"""
        named = {(name, int(dimension)) for name, dimension in re.findall(r"L\['(\w+)'\]\.size\(\)\[(\d+)\]", str(error))}
        found = [one for one in self.limits if one in named]
        for one in found:
            del self.limits[one]
        self.fixed += found
        return bool(found)

    def __str__(self):
        return "".join(f"\n  {name}'s dimension {dimension} is fixed by the model: sizes of it are compiled one by one"
                       for name, dimension in self.fixed)


def served(gm, regions, symbols, function, plain):
    """A compiled graph that leaves to `plain` the sizes for which a plan of `regions` was not verified.

    @param symbols {symbol: the graph's input that has its value}
    @param function, plain the graph compiled with and without plans
    """
    limits = {}
    for region in regions:
        found = region["limits"] or {"low": (), "high": ()}
        for name, low, high in zip(region["symbols"], found["low"], found["high"]):
            before = limits.get(name, (low, high))
            limits[name] = (max(low, before[0]), min(high, before[1]))
    if not limits:
        return function
    places = [node.name for node in gm.graph.nodes if node.op == "placeholder"]
    checks = [(places.index(symbols[name].name), low, high) for name, (low, high) in limits.items()]

    def call(values):
        inside = all(low <= values[place] <= high for place, low, high in checks)
        return function(values) if inside else plain(values)

    call._boxed_call = True
    return call
