"""A trace of a module: leaves, the forward pass under the mode, outputs, updates and buffers."""
import torch

import call_guards
from warpwright_runtime import guard_values
from .builder import Builder, contiguous_strides
from .call import dtype_name
from .errors import Refusal
from .mode import GraphMode
from .source import argument_names


def named_tensors(name, tree):
    """[(name, tensor)] of an argument, in order; names contain list indices and dictionary keys."""
    if isinstance(tree, torch.Tensor):
        return [(name, tree)]
    if isinstance(tree, (list, tuple)):
        return [leaf for i, item in enumerate(tree) for leaf in named_tensors("%s_%d" % (name, i), item)]
    if isinstance(tree, dict):
        return [leaf for key, item in tree.items() for leaf in named_tensors("%s_%s" % (name, key), item)]
    return []


def output_tensors(tree):
    """Tensors in nested lists, tuples and dictionaries, in order. None is allowed and skipped."""
    if isinstance(tree, torch.Tensor):
        return [tree]
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return [tensor for item in tree for tensor in output_tensors(item)]
    if tree is None:
        return []
    raise Refusal("forward returns something other than a tensor: %s" % type(tree).__name__)


def pattern(tree):
    """A Python literal of the tree with `...` for tensors; None if the tree has no literal."""
    if isinstance(tree, torch.Tensor):
        return "..."
    if isinstance(tree, float) and (tree != tree or tree in (float("inf"), -float("inf"))):
        return 'float("%r")' % tree
    if tree is None or type(tree) in (bool, int, float, str):
        return repr(tree)
    if type(tree) is dict:
        parts = [(repr(key), pattern(part)) for key, part in tree.items() if type(key) in (bool, int, str)]
        whole = len(parts) == len(tree) and all(part is not None for _, part in parts)
        return "{" + ", ".join("%s: %s" % part for part in parts) + "}" if whole else None
    if type(tree) in (list, tuple):
        parts = [pattern(part) for part in tree]
        if None in parts:
            return None
        return "[" + ", ".join(parts) + "]" if type(tree) is list else "(" + "".join(part + ", " for part in parts) + ")"
    return None


def plain_attributes(module):
    """Tensors in attributes of modules that are neither parameters nor buffers, by dotted name."""
    return {(path + "." if path else "") + name: value for path, part in module.named_modules()
            for name, value in vars(part).items() if isinstance(value, torch.Tensor)}


class BelowAutograd:
    """torch._C._AutoDispatchBelowAutograd as a context manager; it is a plain guard object in old
    versions."""

    def __enter__(self):
        self.guard = torch._C._AutoDispatchBelowAutograd()
        if hasattr(self.guard, "__enter__"):
            self.guard.__enter__()

    def __exit__(self, *error):
        if hasattr(self.guard, "__exit__"):
            self.guard.__exit__(*error)
        self.guard = None


class Trace:
    """@param inputs a list of forward's positional arguments, or a dictionary of its keyword arguments
    @param owner the `__name__` of the user's file"""

    def __init__(self, module, inputs, fake_mode, owner=""):
        self.module, self.inputs, self.owner = module, inputs, owner
        self.reads = call_guards.Reads(module, owner)
        self.builder = Builder()
        self.mode = GraphMode(self.builder, fake_mode)
        self.leaves = []  # (name, torch_name, tensor)
        self.states = {}  # for buffers: torch_name -> name

    def run(self):
        tree = self.forward()
        outputs = output_tensors(tree)
        if not outputs:
            raise Refusal("forward returns no tensor")
        values = self.output_values(outputs)
        updates = self.updates()
        return {"graph": self.builder.graph(values, updates), "buffers": self.buffers(outputs, updates),
                "call": {"inputs": self.input_pattern(), "outputs": pattern(tree) or "",
                         "guards": guard_values.literal(self.guards())}}

    def guards(self):
        """The guards of plans for this graph."""
        return call_guards.of_model(self.module, self.reads, self.owner, call_guards.flags_of(self.builder.nodes))



    def input_pattern(self):
        """Pattern of forward's positional arguments. "[]" if forward is not called by position, or
        if a value has no literal."""
        inputs = self.inputs
        if isinstance(inputs, dict):
            names = argument_names(self.module, len(inputs))
            inputs = list(inputs.values()) if list(inputs) == list(names) else [object()]
        return pattern(list(inputs)) or "[]"

    def forward(self):
        self.reserve_output_names()
        self.add_leaves()
        arguments, keywords = ([], self.inputs) if isinstance(self.inputs, dict) else (list(self.inputs), {})
        with self.reads, BelowAutograd(), self.mode:
            tree = self.module(*arguments, **keywords)
        return tree

    def reserve_output_names(self):
        self.builder.names.taken.update({"output"} | {"output_%d" % i for i in range(256)})

    def add_leaf(self, op, torch_name, tensor):
        if not isinstance(tensor, torch.Tensor):
            return
        if self.mode.values.find(tensor):
            return
        name = self.builder.names.leaf(torch_name)
        kind = (dtype_name(tensor.dtype), tuple(tensor.shape))
        self.builder.add(name, op, [], {"torch_name": torch_name}, [kind])
        if op == "parameter":
            self.builder.set_strides(name, contiguous_strides(kind[1]))
        self.mode.track(tensor, name)
        self.leaves.append((name, torch_name, tensor))

    def add_leaves(self):
        if isinstance(self.inputs, dict):
            named = [leaf for name, value in self.inputs.items() for leaf in named_tensors(name, value)]
        else:
            names = argument_names(self.module, len(self.inputs))
            named = [leaf for name, value in zip(names, self.inputs) for leaf in named_tensors(name, value)]
        for name, tensor in named:
            self.add_leaf("input", name, tensor)
        for name, tensor in list(self.module.named_parameters()) + list(self.module.named_buffers()):
            self.add_leaf("parameter", name, tensor)
        places = {id(tensor): (name, tensor) for name, tensor in plain_attributes(self.module).items()}
        self.mode.attribute = lambda tensor: self.add_attribute(*places[id(tensor)]) if id(tensor) in places else None

    def add_attribute(self, torch_name, tensor):
        """Adds a leaf for a tensor that forward reads from an attribute that is no parameter or
        buffer."""
        self.add_leaf("parameter", torch_name, tensor)
        return self.mode.values.find(tensor)

    def output_values(self, outputs):
        """Values of the outputs. An output whose layout differs from its node gets its own node."""
        values = []
        for tensor in outputs:
            value = self.mode.read(tensor)
            wanted = list(tensor.stride())
            if self.builder.strides(value) != wanted and tensor.numel() > 1 and not self.same_places(value, wanted):
                value = self.builder.emit("reshape", [value], {}, self.builder.dtype(value), self.builder.shape(value))
                self.builder.set_strides(value, wanted)
            values.append(value)
        return values

    def same_places(self, value, strides):
        """Whether a value has these strides, ignoring dimensions of one element."""
        return all(extent == 1 or mine == wanted
                   for extent, mine, wanted in zip(self.builder.shape(value), self.builder.strides(value), strides))

    def updates(self):
        """Updates of state: tensors that forward wrote to, and buffers that it replaced."""
        now = dict(plain_attributes(self.module), **dict(self.module.named_buffers()))
        updates = []
        for name, torch_name, tensor in self.leaves:
            current = tensor if self.builder.by_name[name]["op"] == "input" else now.get(torch_name, tensor)
            value = self.mode.read(current if current is not tensor else tensor)
            if value != name:
                kind = self.builder.dtype(value), self.builder.shape(value)
                if kind != (self.builder.dtype(name), self.builder.shape(name)):
                    raise Refusal("forward gives the buffer %s another shape or dtype" % torch_name)
                updates.append({"parameter": name, "value": value})
        return updates

    def buffers(self, outputs, updates):
        written = {update["parameter"] for update in updates}
        described = [self.buffer(name, torch_name, tensor, "inout" if name in written else "in")
                     for name, torch_name, tensor in self.leaves]
        names = ["output"] if len(outputs) == 1 else ["output_%d" % i for i in range(len(outputs))]
        return described + [self.buffer(name, name, tensor, "out") for name, tensor in zip(names, outputs)]

    @staticmethod
    def buffer(name, torch_name, tensor, direction):
        return {"name": name, "torch_name": torch_name, "dtype": dtype_name(tensor.dtype), "shape": list(tensor.shape),
                "direction": direction}
