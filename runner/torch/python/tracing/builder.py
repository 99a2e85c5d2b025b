"""Builder of a graph's nodes, with the basic steps that handlers compose.

A value is the name of a node. Types are (dtype name, shape); strides are set afterwards from the
traced tensors. Steps without effect (a reshape to the same shape, a cast to the same dtype) add no
node.
"""
import json
import math

from .names import Names


def number(value):
    """A number in the graph's JSON form."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    return value


def product(shape):
    return math.prod(shape)


def contiguous_strides(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= max(extent, 1)
    return strides


def broadcast(*shapes):
    rank = max(len(shape) for shape in shapes)
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(next((extent for extent in extents if extent != 1), 1) for extents in zip(*padded))


class Builder:
    def __init__(self):
        self.nodes = []
        self.by_name = {}
        self.names = Names()
        self.constants = {}

    # Properties of a value.

    def dtype(self, value):
        return self.by_name[value]["types"][0]["dtype"]

    def shape(self, value):
        return tuple(self.by_name[value]["types"][0]["shape"])

    def strides(self, value):
        kind = self.by_name[value]["types"][0]
        return kind.get("strides") or contiguous_strides(kind["shape"])

    # Nodes.

    def add(self, name, op, inputs, attributes, types):
        node = {"name": name, "op": op, "inputs": list(inputs),
                "attributes": {key: number(value) for key, value in attributes.items()},
                "types": [{"dtype": dtype, "shape": [int(e) for e in shape]} for dtype, shape in types]}
        self.nodes.append(node)
        self.by_name[name] = node
        return name

    def emit(self, op, inputs, attributes, dtype, shape):
        return self.add(self.names.result(op), op, inputs, attributes, [(dtype, shape)])

    def emit_several(self, op, inputs, attributes, types):
        """Adds a node with several results. @return one value per result"""
        name = self.add(self.names.result(op), op, inputs, attributes, types)
        return [name] + [self.emit("item", [name], {"index": i}, *types[i]) for i in range(1, len(types))]

    def set_strides(self, value, strides, index=0):
        kind = self.by_name[value]["types"][index]
        if list(strides) == contiguous_strides(kind["shape"]) or 0 in kind["shape"]:
            kind.pop("strides", None)
        else:
            kind["strides"] = [int(s) for s in strides]

    # Leaves.

    def constant(self, value, dtype):
        """A scalar of shape []. Equal values of one dtype share a node."""
        if dtype == "bool":
            value = bool(value)
        elif dtype.startswith(("float", "bfloat")):
            value = float(value)
        else:
            value = int(value)
        key = (repr(value), dtype)
        if key not in self.constants:
            self.constants[key] = self.emit("constant", [], {"value": number(value)}, dtype, ())
        return self.constants[key]

    def constant_tensor(self, values, dtype, shape):
        """A constant tensor. @param values flat list, row-major"""
        if values and all(repr(value) == repr(values[0]) for value in values):
            return self.expand(self.constant(values[0], dtype), shape)
        text = json.dumps([number(value) for value in values], separators=(",", ":"))
        key = (text, dtype, tuple(shape))
        if key not in self.constants:
            self.constants[key] = self.emit("constant", [], {"values": text}, dtype, shape)
        return self.constants[key]

    def full(self, value, dtype, shape):
        return self.expand(self.constant(value, dtype), shape)

    def iota(self, length, dtype="int64"):
        return self.emit("iota", [], {"dim": 0}, dtype, (length,))

    # Views.

    def reshape(self, x, shape):
        shape = tuple(int(e) for e in shape)
        return x if shape == self.shape(x) else self.emit("reshape", [x], {}, self.dtype(x), shape)

    def permute(self, x, dims):
        shape = self.shape(x)
        if list(dims) == list(range(len(shape))):
            return x
        value = self.emit("permute", [x], {"dims": [int(d) for d in dims]}, self.dtype(x), [shape[d] for d in dims])
        self.set_strides(value, [self.strides(x)[d] for d in dims])
        return value

    def transpose(self, x, first=-2, second=-1):
        dims = list(range(len(self.shape(x))))
        dims[first], dims[second] = dims[second], dims[first]
        return self.permute(x, dims)

    def expand(self, x, shape):
        shape = tuple(int(e) for e in shape)
        if shape == self.shape(x):
            return x
        value = self.emit("expand", [x], {}, self.dtype(x), shape)
        added = len(shape) - len(self.shape(x))
        old, strides = (1,) * added + self.shape(x), [0] * added + self.strides(x)
        self.set_strides(value, [s if was == now else 0 for was, now, s in zip(old, shape, strides)])
        return value

    def slice(self, x, dim, start, stop, step=1):
        shape = list(self.shape(x))
        if (start, stop, step) == (0, shape[dim], 1):
            return x
        node = self.by_name[x]
        if step == 1 and stop > start and node["attributes"].get("dim") == dim:
            if node["op"] == "slice" and node["attributes"]["step"] == 1:
                offset = node["attributes"]["start"]
                return self.slice(node["inputs"][0], dim, offset + start, offset + stop)
            if node["op"] == "cat":
                return self.slice_of_cat(node["inputs"], dim, start, stop)
        shape[dim] = max(0, -(-(stop - start) // step))
        attributes = {"dim": dim, "start": start, "stop": stop, "step": step}
        value = self.emit("slice", [x], attributes, self.dtype(x), shape)
        self.set_strides(value, [s * step if d == dim else s for d, s in enumerate(self.strides(x))])
        return value

    def slice_of_cat(self, parts, dim, start, stop):
        """A slice of a concatenation, as a concatenation of slices of its parts. Successive writes
        to slices thereby become one concatenation."""
        chosen, position = [], 0
        for part in parts:
            extent = self.shape(part)[dim]
            low, high = max(start - position, 0), min(stop - position, extent)
            if low < high:
                chosen.append(self.slice(part, dim, low, high))
            position += extent
        return self.cat(chosen, dim)

    def select(self, x, dim, index):
        shape = self.shape(x)
        return self.reshape(self.slice(x, dim, index, index + 1), shape[:dim] + shape[dim + 1:])

    def unsqueeze(self, x, dim):
        shape = self.shape(x)
        return self.reshape(x, shape[:dim] + (1,) + shape[dim:])

    def cat(self, values, dim):
        values = [v for v in values if self.shape(v)[dim] != 0] or values[:1]
        values = [part for v in values for part in self.parts_of_cat(v, dim)]
        if len(values) == 1:
            return values[0]
        shape = list(self.shape(values[0]))
        shape[dim] = sum(self.shape(v)[dim] for v in values)
        return self.emit("cat", values, {"dim": dim}, self.dtype(values[0]), shape)

    def parts_of_cat(self, value, dim):
        node = self.by_name[value]
        return node["inputs"] if node["op"] == "cat" and node["attributes"]["dim"] == dim else [value]

    def index_select(self, x, dim, indices):
        """@param indices a list of ints, or the value of an index vector"""
        if isinstance(indices, list):
            indices = self.constant_tensor(indices, "int64", (len(indices),))
        shape = list(self.shape(x))
        shape[dim] = self.shape(indices)[0]
        return self.emit("index_select", [x, indices], {"dim": dim}, self.dtype(x), shape)

    # Arithmetic.

    def cast(self, x, dtype):
        return x if self.dtype(x) == dtype else self.emit("cast", [x], {}, dtype, self.shape(x))

    def unary(self, op, x, attributes=None, dtype=None):
        return self.emit(op, [x], attributes or {}, dtype or self.dtype(x), self.shape(x))

    def binary(self, op, a, b):
        """@param a, b values or numbers; numbers become constants of the other operand's dtype"""
        if not isinstance(a, str):
            a = self.constant(a, self.dtype(b))
        if not isinstance(b, str):
            b = self.constant(b, self.dtype(a))
        compared = op in ("eq", "ne", "lt", "le", "gt", "ge") or op.startswith("logical")
        return self.emit(op, [a, b], {}, "bool" if compared else self.dtype(a),
                         broadcast(self.shape(a), self.shape(b)))

    def where(self, condition, a, b):
        if not isinstance(a, str):
            a = self.constant(a, self.dtype(b))
        if not isinstance(b, str):
            b = self.constant(b, self.dtype(a))
        shape = broadcast(self.shape(condition), self.shape(a), self.shape(b))
        return self.emit("where", [condition, a, b], {}, self.dtype(a), shape)

    def reduce(self, op, x, dims, keepdim, dtype=None, attributes=None):
        """@param dims reduced dimensions; [] for all"""
        shape = self.shape(x)
        dims = sorted(dims) if dims else list(range(len(shape)))
        kept = [1 if d in dims else e for d, e in enumerate(shape) if keepdim or d not in dims]
        attributes = dict(attributes or {}, dims=dims, keepdim=bool(keepdim))
        return self.emit(op, [x], attributes, dtype or self.dtype(x), kept)

    def matmul(self, a, b):
        """Matrix product of two values with at least two dimensions."""
        left, right = self.shape(a), self.shape(b)
        shape = broadcast(left[:-2], right[:-2]) + (left[-2], right[-1])
        return self.emit("matmul", [a, b], {}, self.dtype(a), shape)

    # The graph.

    def graph(self, outputs, updates):
        """@return the JSON form, without unused nodes; all inputs and parameters stay"""
        needed = set(outputs) | {update["value"] for update in updates} | {update["parameter"] for update in updates}
        for node in reversed(self.nodes):
            if node["name"] in needed or node["op"] in ("input", "parameter"):
                needed.add(node["name"])
                needed.update(node["inputs"])
        nodes = [node for node in self.nodes if node["name"] in needed]
        leaves = [node for node in nodes if node["op"] in ("input", "parameter")]
        others = [node for node in nodes if node["op"] not in ("input", "parameter")]
        return {"nodes": leaves + others, "outputs": list(outputs), "updates": updates}
