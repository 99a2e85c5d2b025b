"""Opaque nodes: operators that stay calls of ATen.

Arguments have the form of an ATen step of a plan, with {"tensor": i} for the node's inputs[i].
"""
import json

import torch

from .builder import number
from .call import DTYPES, dtype_name
from .errors import Refusal

SKIPPED = {"device", "layout", "pin_memory", "generator"}


def is_tensor_list(value):
    return isinstance(value, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in value)


def wants_tensor(argument):
    return str(argument.type) in ("Tensor", "Optional[Tensor]")


def number_dtype(value):
    return torch.bool if isinstance(value, bool) else torch.int64 if isinstance(value, int) else torch.float32


class Arguments:
    def __init__(self, call):
        self.call = call
        self.inputs = []

    def tensor(self, tensor):
        if tensor is None:
            return None
        self.inputs.append(self.call.value(tensor))
        return len(self.inputs) - 1

    def argument(self, value, declared):
        """The JSON form of an argument. A number in place of a tensor becomes a constant."""
        if declared is not None and wants_tensor(declared) and isinstance(value, (bool, int, float)):
            self.inputs.append(self.call.builder.constant(value, DTYPES[number_dtype(value)]))
            return {"tensor": len(self.inputs) - 1}
        return self.json(value)

    def json(self, value):
        if isinstance(value, torch.Tensor):
            return {"tensor": self.tensor(value)}
        if is_tensor_list(value):
            return {"tensors": [self.tensor(item) for item in value]}
        if isinstance(value, (list, tuple)):
            if any(isinstance(item, float) for item in value):
                raise Refusal("%s takes a list of floating-point numbers, which op graphs do not hold" % self.call.func)
            return [int(item) for item in value]
        if isinstance(value, torch.dtype):
            return DTYPES[value]
        if isinstance(value, torch.memory_format):
            return str(value).replace("torch.", "")
        return number(value)


def opaque(call, target=None, positional=None):
    """Adds an opaque node for a call.
    @param target, positional another operator with the same result, and its arguments
    @return values of the results"""
    arguments = Arguments(call)
    if positional is None:
        positional = [arguments.argument(value, declared)
                      for value, declared in zip(call.positional, call.func._schema.arguments)]
        keywords = call.keywords
    else:
        positional, keywords = [arguments.json(value) for value in positional], {}
    keywords = {name: arguments.json(value) for name, value in keywords.items()
                if name not in SKIPPED and value is not None}
    overload = call.func._schema.overload_name
    target = target or call.func._schema.name + ("." + overload if overload else "")
    results = [call.out] if isinstance(call.out, torch.Tensor) else list(call.out)
    if not all(isinstance(result, torch.Tensor) for result in results):
        raise Refusal("%s returns something other than a tensor" % target)
    attributes = {"target": target, "arguments": json.dumps(positional), "keywords": json.dumps(keywords)}
    types = [(dtype_name(result.dtype), result.shape) for result in results]
    return call.builder.emit_several("aten", arguments.inputs, attributes, types)
