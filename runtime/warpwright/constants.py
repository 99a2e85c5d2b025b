"""Values that a graph computes from constants alone, computed once instead of in each call."""

import torch
from torch._subclasses import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes

from . import graphs

MOST_ELEMENTS = 1 << 22  # PyTorch's cache of compiled graphs reads each constant element by element
UNKNOWN = ("aten.empty", "aten.new_empty", "prims.inductor_")  # what they return is not the same in each call


def fold(gm):
    """Replaces results by constants of the graph, in place, where a call would pay for them: what the
    CPU makes for a device, as torch.tensor([0.3, 0.6], device="cuda") does, and results of operators
    that are not fused into what reads them, as the sums in a window's overlap."""
    constant, costly = set(), set()
    for node in gm.graph.nodes:
        if constant.issuperset(node.all_input_nodes) and is_pure(gm, node):
            constant.add(node)
            if not costly.isdisjoint(node.all_input_nodes) or is_costly(node):
                costly.add(node)
    ends = [node for node in gm.graph.nodes if node in costly and is_worth_it(gm, node) and not constant.issuperset(node.users)]
    for node, value in zip(ends, computed(gm, ends)):
        replace(gm, node, value)
    graphs.drop_unread(gm.graph, [node for node in constant if node.op == "call_function" and node not in ends])
    gm.recompile()


def is_pure(gm, node):
    """Whether the node is a tensor of the graph, or an operator whose result depends on its arguments alone."""
    if node.op == "get_attr":
        value = getattr(gm, node.target, None)
        return isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor)
    if graphs.picks_result(node):
        return True
    name = graphs.operator_name(node.target)
    return (name.startswith(("aten.", "prims.")) and not name.startswith(UNKNOWN) and not graphs.writes(node)
            and torch.Tag.nondeterministic_seeded not in node.target.tags
            and not any(isinstance(one, torch.SymInt) for value in tensors_of(node) for one in value.shape))


def tensors_of(node):
    """The tensors of a node's result."""
    return [one for one in graphs.examples_of(node) if isinstance(one, torch.Tensor)]


def is_costly(node):
    """Whether a call pays for the node: its arguments are on another device, or nothing fuses it."""
    if node.op != "call_function" or graphs.picks_result(node) or graphs.packet_name(node) in graphs.CONSTRUCTORS:
        return False
    here = {one.device for one in tensors_of(node)}
    if any(one.device not in here for read in node.all_input_nodes for one in tensors_of(read)):
        return True
    return not (graphs.is_view(node) or torch.Tag.pointwise in node.target.tags or graphs.packet_name(node) == "prims.convert_element_type")


def is_worth_it(gm, node):
    """Whether the node may become a constant: a tensor of few elements, on the device of what reads it."""
    value = node.meta.get("val")
    if node.op != "call_function" or not isinstance(value, torch.Tensor) or value.layout != torch.strided or value.numel() > MOST_ELEMENTS:
        return False
    return is_dense(value) and all(one.device == value.device for user in node.users for one in tensors_of(user))


def is_dense(value):
    """Whether the elements lie one behind the other, in some order of the dimensions."""
    place = 1
    for stride, extent in sorted(zip(value.stride(), value.shape)):
        if extent != 1 and stride != place:
            return False
        place *= extent
    return True


def computed(gm, ends):
    """The values of nodes that read constants alone."""
    needed, known = set(ends), {}
    for node in reversed(gm.graph.nodes):
        if node in needed:
            needed.update(node.all_input_nodes)
    with _disable_current_modes(), torch.no_grad():
        for node in gm.graph.nodes:
            if node not in needed:
                continue
            if node.op == "get_attr":
                known[node] = getattr(gm, node.target)
            else:
                args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), known.get)
                known[node] = node.target(*args, **kwargs)
        return [laid_out(known[node], node.meta["val"]) for node in ends]


def laid_out(value, like):
    """A copy of the value with the strides that readers were compiled for."""
    return torch.empty_strided(like.shape, like.stride(), dtype=value.dtype, device=value.device).copy_(value)


def replace(gm, node, value):
    """Lets a constant take the node's place. What the graph returns stays a tensor of its own."""
    name = f"_warpwright_{node.name}"
    gm.register_buffer(name, value, persistent=False)
    with gm.graph.inserting_before(node):
        new = gm.graph.create_node("get_attr", name)
        new.meta["val"] = node.meta["val"]
        if any(user.op == "output" for user in graphs.derived(node, graphs.is_view)[1]):
            new = gm.graph.call_function(torch.ops.aten.clone.default, (new,))
            new.meta["val"] = node.meta["val"]
    node.replace_all_uses_with(new)
    gm.graph.erase_node(node)
