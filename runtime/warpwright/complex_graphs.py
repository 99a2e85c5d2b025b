"""Replacement of complex operators in FX graphs by operators on their parts (complex_parts.py).

An operator without a rule, such as a Fourier transform, stays complex. Its operands are put
together from parts, and views of its results are their parts.
"""

import contextlib
import operator

import torch
from torch._guards import detect_fake_mode
from torch.fx import Node
from torch.fx.node import map_arg

from warpwright_runtime import complex_parts
from warpwright_runtime.complex_parts import Parts

from . import graphs

aten = torch.ops.aten


def is_complex(value):
    return isinstance(value, torch.Tensor) and value.is_complex()


def holds_complex(value):
    return is_complex(value) or (isinstance(value, (list, tuple)) and any(map(is_complex, value)))


def without_complex(gm, inputs):
    """A copy with real operators in place of complex ones; the graph itself if it has none, or if an input is conjugated
    lazily, so that it has no real view.

    @param inputs examples of the graph's inputs"""
    if not any(holds_complex(node.meta.get("val")) for node in gm.graph.nodes if node.op == "call_function"):
        return gm
    if any(is_complex(one) and one.is_conj() for one in inputs):
        return gm
    gm = graphs.copied(gm)
    Rewriting(gm).run()
    gm.recompile()
    return gm


class Unfit(Exception):
    """A part has no node of the wanted shape."""


class Rewriting:
    def __init__(self, gm):
        self.graph = gm.graph
        self.parts = {}  # node with complex values -> Parts of nodes; for several results a list
        self.replaced = set()  # those whose own operator goes
        self.whole = {}  # such a node -> the node that puts it together
        self.made = []
        values = [node.meta.get("val") for node in gm.graph.nodes]
        self.fake_mode = detect_fake_mode([one for one in values if isinstance(one, torch.Tensor)])

    def run(self):
        touched = [node for node in self.graph.nodes if node.op != "placeholder" and self.touches(node)]
        for node in touched:
            with self.graph.inserting_before(node):
                if node.op == "call_function" and graphs.picks_result(node):
                    self.pick(node)
                elif node.op == "call_function":
                    self.rewrite(node)
                else:
                    self.use_whole(node)
        graphs.drop_unread(self.graph, [node for node in [*touched, *self.made]
                                        if graphs.picks_result(node) or not graphs.writes(node)])

    @staticmethod
    def touches(node):
        return any(holds_complex(one.meta.get("val")) for one in (node, *node.all_input_nodes))

    def emit(self, function, *args, **kwargs):
        """A node, with the value that the operator has for fake tensors; for several results a list of nodes."""
        node = self.node(function, args, kwargs)
        value = node.meta["val"]
        if not isinstance(value, (list, tuple)):
            return node
        return [self.node(operator.getitem, (node, index)) for index in range(len(value))]

    def node(self, function, args, kwargs=None):
        node = self.graph.call_function(function, args, kwargs or {})
        given, named = (map_arg(one, lambda one: one.meta["val"]) for one in (node.args, node.kwargs))
        with self.fake_mode or contextlib.nullcontext():
            node.meta["val"] = function(*given, **named)
        self.made.append(node)
        return node

    def of(self, node):
        """The Parts of a node with a complex value."""
        if node not in self.parts:
            with self.graph.inserting_after(node):
                real = self.node(aten.view_as_real.default, (node,))
            with self.graph.inserting_after(real):
                self.parts[node] = complex_parts.view_as_complex(self.emit, None, real)
        return self.parts[node]

    def marked(self, arguments):
        """Arguments with Parts in place of complex nodes."""
        return map_arg(arguments, lambda one: self.of(one) if is_complex(one.meta.get("val")) else one)

    def fitted(self, part, value):
        """A part as a node of the shape and component dtype of a value. @raise Unfit"""
        dtype = complex_parts.REAL.get(value.dtype, value.dtype)
        if not isinstance(part, Node):
            return self.emit(aten.full.default, fixed(value.shape), float(part or 0), dtype=dtype,
                             device=value.device, pin_memory=False)
        if part.meta["val"].dtype != dtype:
            part = self.emit(torch.ops.prims.convert_element_type.default, part, dtype)
        return part if part.meta["val"].shape == value.shape else self.emit(aten.expand.default, part, fixed(value.shape))

    def keep(self, node, parts):
        self.parts[node] = Parts(*(self.fitted(one, node.meta["val"]) for one in (parts.real, parts.imaginary)))
        self.replaced.add(node)

    def rewrite(self, node):
        try:
            done = self.rewritten(node)
        except Unfit:
            done = False
        if not done:
            self.use_whole(node)

    def rewritten(self, node):
        """@return whether the node's operator is replaced. @raise Unfit"""
        name, value = graphs.operator_name(node.target), node.meta.get("val")
        if name == "aten.view_as_real.default":
            made = complex_parts.interleaved(self.emit, self.of(node.args[0]))
        elif name == "aten.view.dtype":
            made = self.view_of_bits(node.args[0], value)
        else:
            made = NotImplemented if not name else complex_parts.rewritten(
                self.emit, node.target, self.marked(node.args), self.marked(node.kwargs))
        if made is NotImplemented:
            return False
        if isinstance(made, list):
            self.parts[node] = made
            self.replaced.add(node)
        elif is_complex(value):
            self.keep(node, made)
        else:
            node.replace_all_uses_with(self.fitted(made.real if isinstance(made, Parts) else made, value))
        return True

    def view_of_bits(self, source, value):
        """Bits of complex numbers as real numbers, or the reverse, as Inductor writes additions."""
        given = source.meta["val"]
        if complex_parts.REAL.get(given.dtype) == value.dtype:
            return self.emit(aten.reshape.default, complex_parts.interleaved(self.emit, self.of(source)), fixed(value.shape))
        if complex_parts.REAL.get(value.dtype) == given.dtype:
            pairs = self.emit(aten.reshape.default, source, [*fixed(value.shape), 2])
            return complex_parts.view_as_complex(self.emit, None, pairs)
        return NotImplemented

    def pick(self, node):
        several, index = node.args
        if several in self.replaced:
            self.keep(node, self.parts[several][index])

    def use_whole(self, node):
        """Lets a node read complex values that are put together from their parts."""
        for one in node.all_input_nodes:
            if one in self.replaced:
                if one not in self.whole:
                    both = complex_parts.interleaved(self.emit, self.parts[one])
                    self.whole[one] = self.emit(aten.view_as_complex.default, both)
                node.replace_input_with(one, self.whole[one])


def fixed(shape):
    """@raise Unfit for a size that is known only at run time"""
    if not all(type(one) is int for one in shape):
        raise Unfit
    return list(shape)
