"""Conversion of FX graphs of ATen operators to JSON and of regions' programs to FX modules, and
replacement of regions by calls.

The core decides which operators form a region (core.py); this file only converts.
"""

import copy
import heapq
import math
import operator

import sympy
import torch
from torch.fx import Graph, GraphModule, Node


NO_LIMIT = 1 << 40  # sizes above are PyTorch's way to say that there is no limit


def name_of(value):
    """The name of a torch object without "torch.": "bfloat16" for torch.bfloat16."""
    return str(value).replace("torch.", "")


def operator_name(target):
    return str(target) if isinstance(target, torch._ops.OpOverload) else ""


def terms_of(expression):
    """[[12, "s0", "s1"], [1]] of 12*s0*s1 + 1; None where it is no polynomial."""
    symbols = sorted(expression.free_symbols, key=str)
    try:
        polynomial = sympy.Poly(expression, *symbols)
        return [[int(factor), *(str(one) for one, power in zip(symbols, powers) for _ in range(power))]
                for powers, factor in polynomial.terms()]
    except (sympy.PolynomialError, sympy.GeneratorsError, TypeError, ValueError):
        return None


def extent(value):
    """A number, {"size": TERMS, "hint": N} where it depends on symbols of which an example is known, or None."""
    if type(value) is int:
        return value
    if not isinstance(value, torch.SymInt) or not value.node.has_hint():
        return None
    expression = value.node.expr
    if expression.is_number:
        return int(expression)
    terms = terms_of(expression)
    return terms and {"size": terms, "hint": int(value.node.hint)}


def value_of(terms, sizes):
    """The number or SymInt of TERMS at {"n0": N}."""
    return sum(math.prod([factor, *(sizes[name] for name in names)]) for factor, *names in terms)


def tensor_json(name, value):
    return {"name": name, "dtype": name_of(value.dtype), "shape": [extent(one) for one in value.shape], "device": str(value.device),
            "strides": [extent(one) for one in value.stride()] if value.layout == torch.strided else [None]}


def argument_json(value):
    if isinstance(value, Node) and isinstance(value.meta.get("val"), (int, torch.SymInt)):
        found = extent(value.meta["val"])
        return {"other": "a size known only at run time"} if found is None else found
    if isinstance(value, Node):
        return {"n": value.name}
    if isinstance(value, (list, tuple)):
        return [argument_json(one) for one in value]
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    for kind, label in ((torch.dtype, "dtype"), (torch.device, "device"), (torch.layout, "layout"), (torch.memory_format, "memory_format")):
        if isinstance(value, kind):
            return {label: name_of(value)}
    return {"other": type(value).__name__}


def argument_of(value, values, size):
    """The inverse of argument_json(), with `values(k, i)` for {"v": [k, i]} and `size(TERMS)` for {"size": TERMS}."""
    if isinstance(value, list):
        return [argument_of(one, values, size) for one in value]
    if not isinstance(value, dict):
        return value
    (label, found), = value.items()
    if label == "v":
        return values(*found)
    if label == "size":
        return size(found)
    if label == "float":
        return float(found)
    if label == "device":
        return torch.device(found) if found else None
    return getattr(torch, found)


def results_json(node, picks):
    """A node's results. Several results are named by the nodes that pick them."""
    value = node.meta.get("val")
    if isinstance(value, torch.Tensor):
        return [tensor_json(node.name, value)]
    if not isinstance(value, (list, tuple)):
        return []
    results = [tensor_json(picks.get((node, index), ""), one) if isinstance(one, torch.Tensor) else None for index, one in enumerate(value)]
    return results if len(results) != 1 else [*results, None]  # the None marks a list of one tensor


UNSIGNED = {torch.uint16: torch.int32, torch.uint32: torch.int64}
CONSTRUCTORS = {"prims.iota", "aten.full"}
COMPARISONS = {"aten.eq", "aten.ne", "aten.lt", "aten.le", "aten.gt", "aten.ge"}


def packet_name(node):
    return operator_name(node.target).rsplit(".", 1)[0]


def is_view(node):
    """Whether the result is one tensor in an argument's memory, with its dtype."""
    return shares_memory(node) and node.target is not torch.ops.aten.view.dtype and isinstance(node.meta.get("val"), torch.Tensor)


def derived(node, is_derivation):
    """(the node and what is derived from it, the other nodes that read those)

    @param is_derivation (reader) -> whether its result is derived"""
    made, others, left = {}, set(), [node]
    while left:
        made[left[-1]] = None
        for user in left.pop().users:
            if is_derivation(user):
                left.append(user)
            else:
                others.add(user)
    return list(made), others


def converted(node, made, to, **keywords):
    """Changes a constructor's keywords, and the examples of what is derived from it."""
    node.kwargs = {**node.kwargs, **keywords}
    for one in made:
        one.meta["val"] = one.meta["val"].to(to)


def examples_of(node):
    """The examples of a node's results, tensors or not."""
    value = node.meta.get("val")
    return value if isinstance(value, (list, tuple)) else [value]


def devices_of(node):
    """The devices of a node's results; with None where anything but a tensor is among them."""
    return {getattr(one, "device", None) for one in examples_of(node)}


def simplify_constructors(gm):
    """Changes tensors that the graph itself makes, in place, so that regions may contain them. No
    values change.

    Unsigned counts that are only compared, as PyTorch writes torch.eye, become signed and wider:
    most operators compute with unsigned ones only in Inductor's code. What is made on the CPU only
    for another device is made there: copied, as by torch.arange(n).to(x), or read there, as the
    number of x[mask] = 0."""
    for node in [one for one in gm.graph.nodes if packet_name(one) in CONSTRUCTORS]:
        made, readers = derived(node, is_view)
        wider = UNSIGNED.get(node.kwargs.get("dtype"))
        if wider and all(packet_name(one) in COMPARISONS for one in readers):
            converted(node, made, wider, dtype=wider)
        made, readers = derived(node, lambda one: is_view(one) or packet_name(one) == "prims.convert_element_type")
        devices = {torch.device(one.args[1]) if packet_name(one) == "prims.device_put" else None for one in readers}
        if len(devices) == 1 and None not in devices:
            (device,) = devices
            converted(node, made, device, device=device)
            for one in readers:
                one.replace_all_uses_with(one.args[0])
                gm.graph.erase_node(one)
            continue
        devices = {place for one in readers for place in devices_of(one)}
        if len(devices) == 1 and devices.isdisjoint({None, node.meta["val"].device}):
            (device,) = devices
            converted(node, made, device, device=device)


def choose_under_masks(gm):
    """Makes writes of one value under a mask choices, in place. PyTorch's operator counts the mask's places on the host, so
    that a region with it could not be captured, nor its time on the device be measured."""
    aten = torch.ops.aten
    for node in gm.graph.find_nodes(op="call_function", target=aten.index_put.default):
        x, indices, value, *accumulate = node.args
        mask = indices[0]
        if any(accumulate) or node.kwargs or len(indices) != 1 or not mask or mask.meta["val"].dtype != torch.bool or value.meta["val"].dim():
            continue
        with gm.graph.inserting_before(node):
            while mask.meta["val"].dim() < x.meta["val"].dim():
                example = mask.meta["val"].unsqueeze(-1)
                mask = gm.graph.call_function(aten.unsqueeze.default, (mask, -1))
                mask.meta["val"] = example
            chosen = gm.graph.call_function(aten.where.self, (mask, value, x))
        chosen.meta["val"] = node.meta["val"]
        node.replace_all_uses_with(chosen)
        gm.graph.erase_node(node)


PRODUCTS = {"aten.mm", "aten.bmm", "aten.addmm", "aten.baddbmm"}


def before_padding(value):
    """The value before zeros were added behind its last two dimensions; without them the value itself."""
    if packet_name(value) != "aten.constant_pad_nd" or (len(value.args) > 2 and value.args[2] != 0):
        return value
    pad = value.args[1]
    return value.args[0] if not any(pad[0::2]) and not any(pad[4:]) else value


def ends_of_slices(node, shape):
    """The values of this shape that slices from the start cut out of the node's; None: others read it too."""
    if node.meta["val"].shape == shape:
        return [node]
    ends = []
    for user in node.users:
        start, step = (*user.args[2:3], 0)[0], (*user.args[4:5], 1)[0]
        is_slice = packet_name(user) == "aten.slice" and start in (0, None) and step == 1
        more = ends_of_slices(user, shape) if is_slice else None
        if more is None:
            return None
        ends += more
    return ends or None


def without_padding(gm):
    """A copy in which products have the program's sizes; without padded ones the graph itself.

    Inductor pads products where that seems faster in a measurement, so that equal programs have
    different graphs from process to process. Plans are kept for the program's own."""
    names = {node.name for node in gm.graph.nodes
             if packet_name(node) in PRODUCTS and any(before_padding(one) is not one for one in node.args[-2:])}
    if not names:
        return gm
    gm = copied(gm)
    for node in [one for one in gm.graph.nodes if one.name in names]:
        operands = [before_padding(one) if isinstance(one, Node) else one for one in node.args]
        first, second = (one.meta["val"] for one in operands[-2:])
        shape = torch.Size([*first.shape[:-1], second.shape[-1]])
        ends = ends_of_slices(node, shape) if first.shape[-1] == second.shape[-2] else None
        if not ends:
            continue
        with gm.graph.inserting_before(node):
            product = gm.graph.call_function(node.target, tuple(operands), node.kwargs)
        product.meta.update(node.meta, val=node.meta["val"].new_empty(shape))
        for one in ends:
            one.replace_all_uses_with(product)
        drop_unread(gm.graph, ends)
    gm.recompile()
    return gm


def describe(gm):
    """The graph as JSON for the core (regions/graph.h)."""
    picks = {}
    for node in gm.graph.nodes:
        if picks_result(node):
            picks.setdefault((node.args[0], node.args[1]), node.name)
    nodes = [node_json(node, picks) for node in described(gm)]
    last = next(node for node in reversed(gm.graph.nodes) if node.op == "output")
    return {"nodes": nodes, "outputs": [one.name for one in torch.utils._pytree.tree_leaves(last.args) if isinstance(one, Node)],
            "symbols": {name: limits_of(node.meta["val"]) for name, node in symbols_of(gm).items()}}


def symbols_of(gm):
    """{symbol: the graph's input that has its value}."""
    found = {}
    for node in gm.graph.nodes:
        value = node.meta.get("val") if node.op == "placeholder" else None
        if isinstance(value, torch.SymInt) and value.node.has_hint() and value.node.expr.is_symbol:
            found.setdefault(str(value.node.expr), node)
    return found


def limits_of(value):
    """{"hint", "low", "high"} of a symbol; "high" is None where PyTorch knows no limit."""
    limits = value.node.shape_env.var_to_range[value.node.expr]
    high = int(limits.upper) if limits.upper.is_finite and limits.upper < NO_LIMIT else None
    return {"hint": int(value.node.hint), "low": max(int(limits.lower), 2), "high": high}


def described(gm):
    """The nodes that describe() lists: all except the output and nodes that pick a result."""
    return [node for node in gm.graph.nodes if node.op != "output" and not picks_result(node)]


def picks_result(node):
    return node.target is operator.getitem and isinstance(node.args[0], Node) and node.args[0].op == "call_function"


def writes(node):
    """Whether a node may change an argument. A node without a schema may, unless its result is a
    number."""
    if node.op != "call_function":
        return False
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return not isinstance(node.meta.get("val"), (int, float, torch.SymInt, torch.SymFloat, torch.SymBool))
    return any(one.alias_info and one.alias_info.is_write for one in schema.arguments)


def shares_memory(node):
    """Whether results lie in an argument's memory, and nothing is written."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and any(one.alias_info for one in schema.returns) and not writes(node)


def node_json(node, picks):
    results = results_json(node, picks)
    if not any(results):  # the result is no tensor, so no region may read it
        results = [{"name": node.name, "dtype": "", "shape": [None], "strides": [None], "device": ""}]
    if node.op != "call_function":
        return {"op": "", "results": results}
    name, arguments = operator_name(node.target), node.args
    if name == "aten.cudnn_grid_sampler.default":  # regions are traced on the CPU, which lacks it
        name, arguments = "aten.grid_sampler_2d.default", (*arguments, 0, 0, True)  # bilinear, zeros, align_corners
    return {"op": name or "other", "args": argument_json(arguments), "kwargs": {key: argument_json(one) for key, one in node.kwargs.items()},
            "results": results, "tags": [tag.name for tag in getattr(node.target, "tags", ())], "view": shares_memory(node), "writes": writes(node)}


def function_of(name):
    """The overload with a name such as "aten.mm.default". @raise AttributeError if this torch lacks
    it"""
    if name in ("aten.view.default", "aten._unsafe_view.default"):
        name = "aten.reshape.default"  # a region's values may have other strides than in the graph
    space, packet, overload = name.split(".")
    return getattr(getattr(getattr(torch.ops, space), packet), overload)


def module_of(program, device):
    """The region's ATen program as a module (*inputs, {"n0": size}) that runs it operator by operator. Inputs and
    outputs are contiguous, as for a plan."""
    graph, made = Graph(), []
    for index, one in enumerate(program["inputs"]):
        value = graph.placeholder(f"a{index}")
        made.append(value)
    sizes = graph.placeholder("sizes")
    for index, one in enumerate(program["inputs"]):
        if one["order"]:
            made[index] = graph.call_function(torch.ops.aten.permute.default, (made[index], inverse(one["order"])))

    counts = [1] * len(made)

    def value(k, i):
        return made[k] if counts[k] == 1 else graph.call_function(operator.getitem, (made[k], i))

    def size(terms):
        return graph.call_function(value_of, (terms, sizes))

    for one in program["operators"]:
        keywords = {key: argument_of(part, value, size) for key, part in one["kwargs"].items()}
        if "device" in keywords:
            keywords["device"] = device
        made.append(graph.call_function(function_of(one["op"]), tuple(argument_of(one["args"], value, size)), keywords))
        counts.append(one["results"])
    outputs = []
    for one in program["outputs"]:
        result = value(*one["value"])
        if one["order"]:
            result = graph.call_function(torch.ops.aten.permute.default, (result, one["order"]))
        outputs.append(graph.call_method("contiguous", (result,)))
    graph.output(outputs)
    return GraphModule(torch.nn.Module(), graph)


def inverse(order):
    result = [0] * len(order)
    for place, dimension in enumerate(order):
        result[dimension] = place
    return result


def copied(gm):
    """A copy for Inductor, which changes its input. Constants are shared, because the compiler's
    fake tensors cannot be copied."""
    result = GraphModule(gm, copy.deepcopy(gm.graph), type(gm).__name__)
    result.meta = dict(gm.meta)
    for name, part in gm.named_children():
        if isinstance(part, GraphModule) and hasattr(result, name):
            setattr(result, name, copied(part))
    return result


def exchanged(gm, regions, call, ordered):
    """A copy of the graph in which each region is one call of the operator `call`.

    @param ordered indices in describe() of the nodes that keep their order
    """
    gm = copied(gm)
    nodes = {node.name: node for node in gm.graph.nodes}  # by names in regions; replaced nodes keep theirs
    place = {node: index for index, node in enumerate(gm.graph.nodes)}
    listed = described(gm)
    symbols = {name: node.name for name, node in symbols_of(gm).items()}
    olds = [old for region in regions for old in exchange(gm.graph, region, call, nodes, place, symbols)]
    drop_unread(gm.graph, olds)
    put_in_order(gm.graph, place, [listed[index] for index in ordered])
    gm.recompile()
    return gm


def put_in_order(graph, place, ordered):
    """Sorts the nodes: each node follows the nodes that it reads, and otherwise keeps its place.
    `ordered` nodes keep their order, and no node passes a node that writes.

    @param place {node: its index before the replacement}; a call has the index of its first output
    """
    nodes = list(graph.nodes)
    reads = {node: set(node.all_input_nodes) for node in nodes}
    for before, after in zip(ordered, ordered[1:]):
        reads[after].add(before)
    writers, rank, segment = set(filter(writes, ordered)), {}, 0
    for node in sorted(nodes, key=place.get):
        segment += node in writers
        rank[node] = (segment, place[node])
        segment += node in writers
    users = {node: [] for node in nodes}
    for node, read in reads.items():
        for one in read:
            users[one].append(node)
    ready = [(rank[node], number, node) for number, node in enumerate(nodes) if not reads[node]]
    numbers, waits = {node: number for number, node in enumerate(nodes)}, {node: len(read) for node, read in reads.items()}
    heapq.heapify(ready)
    last, count = None, 0
    while ready:
        _, _, node = heapq.heappop(ready)
        if last is not None and last.next is not node:
            last.append(node)
        last, count = node, count + 1
        for user in users[node]:
            waits[user] -= 1
            if not waits[user]:
                heapq.heappush(ready, (rank[user], numbers[user], user))
    if count != len(nodes):
        raise RuntimeError("regions of this graph read each other in a circle")


def drop_unread(graph, nodes):
    """Removes operators that nothing reads any more, starting at these. PyTorch's own elimination
    needs a sorted graph, and a graph with calls of regions is not sorted yet."""
    waiting = [node for node in nodes if not node.users]
    while waiting:
        node = waiting.pop()
        if node.op != "call_function" or node.users or node.graph is not graph:
            continue
        read = node.all_input_nodes
        graph.erase_node(node)
        waiting += [one for one in read if not one.users]


def exchange(graph, region, call, nodes, place, symbols):
    """Replaces one region by a call. @return the region's old outputs, which no node reads any
    more"""
    last = next(node for node in reversed(graph.nodes) if node.op == "output")
    sizes = [nodes[symbols[name]] for name in region["symbols"]]
    permute, clone = torch.ops.aten.permute.default, torch.ops.aten.clone.default

    def made(target, args, kwargs, value):
        node = graph.call_function(target, args, kwargs)
        node.meta["val"] = value
        place[node] = first
        return node

    olds = [nodes[border["name"]] for border in region["outputs"]]
    first = min(place[old] for old in olds)
    with graph.inserting_before(last):
        given = []
        for border in region["inputs"]:
            node = nodes[border["name"]]
            if border["order"]:
                node = made(permute, (node, border["order"]), {}, node.meta["val"].permute(border["order"]))
            elif border["copied"]:
                keywords = {"memory_format": torch.contiguous_format}
                node = made(clone, (node,), keywords, clone(node.meta["val"], **keywords))
            given.append(node)
        values = [old.meta["val"].permute(border["order"]) if border["order"] else old.meta["val"]
                  for old, border in zip(olds, region["outputs"])]
        result = made(call, (given, sizes, region["plan"]), {}, values)
        for index, (old, border) in enumerate(zip(olds, region["outputs"])):
            new = made(operator.getitem, (result, index), {}, values[index])
            if border["order"]:
                new = made(permute, (new, inverse(border["order"])), {}, old.meta["val"])
            old.replace_all_uses_with(new)
            nodes[border["name"]] = new
        return olds
