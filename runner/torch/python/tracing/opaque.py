"""Operators that stay calls of ATen: arguments as an ATen step of a plan holds them, with {"tensor": i} for the node's inputs[i]."""
import json

import torch

from .builder import number
from .call import DTYPES, dtype_name
from .errors import Refusal

SKIPPED = {"device", "layout", "pin_memory", "generator"}


def is_tensor_list(value):
    return isinstance(value, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in value)


class Arguments:
    def __init__(self, call):
        self.call = call
        self.inputs = []

    def tensor(self, tensor):
        if tensor is None:
            return None
        self.inputs.append(self.call.value(tensor))
        return len(self.inputs) - 1

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


def opaque(call):
    """@return values of the results"""
    arguments = Arguments(call)
    positional = [arguments.json(value) for value in call.positional]
    keywords = {name: arguments.json(value) for name, value in call.keywords.items()
                if name not in SKIPPED and value is not None}
    overload = call.func._schema.overload_name
    target = call.func._schema.name + ("." + overload if overload else "")
    results = [call.out] if isinstance(call.out, torch.Tensor) else list(call.out)
    if not all(isinstance(result, torch.Tensor) for result in results):
        raise Refusal("%s gives something that is no tensor" % target)
    attributes = {"target": target, "arguments": json.dumps(positional), "keywords": json.dumps(keywords)}
    types = [(dtype_name(result.dtype), result.shape) for result in results]
    return call.builder.emit_several("aten", arguments.inputs, attributes, types)
