"""Runs a graph (docs/internals/op-graph.md) with plain torch operations, to prove that it computes what its
module computes.

Every op is written from its description in that document, not from the tracer, so that both can be
held against the module.
"""
import json
import math

import torch
import torch.nn.functional as F

from tracing.operators_table import pointwise

DTYPES = {name: getattr(torch, name) for name in
          "bool int8 uint8 int16 int32 int64 float16 bfloat16 float32 float64 uint16 uint32 uint64".split() if hasattr(torch, name)}


def number(value):
    return float(value["number"]) if isinstance(value, dict) else value


class Node:
    def __init__(self, node, device):
        self.attributes = {key: number(value) for key, value in node["attributes"].items()}
        self.types = node["types"]
        self.dtype = DTYPES[node["types"][0]["dtype"]]
        self.shape = node["types"][0]["shape"]
        self.op, self.inputs, self.device = node["op"], node["inputs"], device

    def __getitem__(self, name):
        return self.attributes[name]


def of_pytorch(names):
    return {name: getattr(torch, name, None) or getattr(F, name) for name in names if name != "cast"}


UNARY = of_pytorch(pointwise(1) + pointwise(1, truth=True))
BINARY = of_pytorch(pointwise(2) + pointwise(2, truth=True))


def constant(n):
    if "values" in n.attributes:
        values = [number(value) for value in json.loads(n["values"])]
        return torch.tensor(values, dtype=n.dtype, device=n.device).reshape(n.shape)
    return torch.tensor(n["value"], dtype=n.dtype, device=n.device)


def iota(n):
    extent = n.shape[n["dim"]]
    shape = [extent if d == n["dim"] else 1 for d in range(len(n.shape))]
    return torch.arange(extent, dtype=n.dtype, device=n.device).reshape(shape).expand(n.shape)


def elu(n, x):
    return n["scale"] * torch.where(x > 0, x, n["alpha"] * torch.expm1(x * n["input_scale"]))


def pad(n, x):
    """Negative widths cut."""
    amounts = [amount for low, high in reversed(list(zip(n["low"], n["high"]))) for amount in (low, high)]
    value = bool(n["value"]) if x.dtype == torch.bool else n["value"]
    return F.pad(x, amounts, value=value)


def slice_(n, x):
    index = [slice(None)] * x.dim()
    index[n["dim"]] = slice(n["start"], n["stop"], n["step"])
    return x[tuple(index)]


def reduction(n, x):
    dims, keep = n["dims"], n["keepdim"]
    if n.op in ("prod", "any", "all"):
        for d in sorted(dims, reverse=True):
            x = getattr(torch, n.op)(x, d, keepdim=keep)
        return x
    if n.op == "var":
        if "correction" in n.attributes:
            count = math.prod(x.shape[d] for d in dims)
            biased = ((x - x.mean(dims, keepdim=True)) ** 2).sum(dims, keepdim=keep)
            return biased / max(count - n["correction"], 0)
    if n.op == "norm":
        return torch.linalg.vector_norm(x, n["p"], dims, keepdim=keep)
    return getattr(torch, n.op)(x, dims, keepdim=keep)


def optional_operands(n, names, operands):
    absent = n.attributes.get("absent", "").split(",")
    rest = list(operands)
    return [None if name in absent or not rest else rest.pop(0) for name in names]


def layer_norm(n, x, *operands):
    weight, bias = optional_operands(n, ["weight", "bias"], operands)
    return F.layer_norm(x, [x.shape[d] for d in n["dims"]], weight, bias, n["eps"])


def group_norm(n, x, *operands):
    """From its definition, since torch's refuses groups of one element in training."""
    weight, bias = optional_operands(n, ["weight", "bias"], operands)
    rows = x.reshape(x.shape[0], n["groups"], -1)
    mean = rows.mean(-1, keepdim=True)
    variance = ((rows - mean) ** 2).mean(-1, keepdim=True)
    value = ((rows - mean) * torch.rsqrt(variance + n["eps"])).reshape(x.shape)
    shape = [1, -1] + [1] * (x.dim() - 2)
    value = value if weight is None else value * weight.reshape(shape)
    return value if bias is None else value + bias.reshape(shape)


def batch_norm(n, x, *operands):
    weight, bias, mean, variance = optional_operands(n, ["weight", "bias", "running_mean", "running_var"], operands)
    mean = None if mean is None else mean.clone()
    variance = None if variance is None else variance.clone()
    value = F.batch_norm(x, mean, variance, weight, bias, n["training"], n["momentum"], n["eps"])
    return (value, mean, variance) if n["training"] and mean is not None else value


def conv(n, x, weight, bias=None):
    return torch.convolution(x, weight, bias, n["stride"], n["padding"], n["dilation"], n["transposed"], n["output_padding"], n["groups"])


def spatial(n):
    return len(n.shape) - 2


def max_pool(n, x):
    return getattr(F, "max_pool%dd" % spatial(n))(x, n["kernel"], n["stride"], n["padding"], n["dilation"], n["ceil"])


def avg_pool(n, x):
    arguments = [n["kernel"], n["stride"], n["padding"], n["ceil"], n["count_include_pad"]]
    if "divisor" in n.attributes:
        arguments.append(n["divisor"])
    return getattr(F, "avg_pool%dd" % spatial(n))(x, *arguments)


def adaptive_pool(n, x):
    return getattr(F, "%s%dd" % (n.op, spatial(n)))(x, n.shape[2:])


def upsample_nearest(n, x):
    for d, scale in enumerate(n["scales"]):
        x = x.repeat_interleave(scale, dim=d - len(n["scales"]))
    return x


def attention(n, q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-1, -2)) * n["scale"]
    if n["causal"]:
        allowed = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~allowed, -math.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    return torch.matmul(scores.softmax(-1), v)


def aten(n, *tensors):
    """The operator itself, arguments as in an ATen step."""
    def argument(value):
        if isinstance(value, dict) and "tensor" in value:
            return None if value["tensor"] is None else tensors[value["tensor"]]
        if isinstance(value, dict) and "tensors" in value:
            return [None if i is None else tensors[i] for i in value["tensors"]]
        if isinstance(value, str) and (value in DTYPES or value.endswith("_format")):
            return getattr(torch, value)
        return number(value)
    name, _, overload = n["target"][len("aten::"):].partition(".")
    operator = getattr(getattr(torch.ops.aten, name), overload or "default")
    positional = [argument(value) for value in json.loads(n["arguments"])]
    return operator(*positional, **{key: argument(value) for key, value in json.loads(n["keywords"]).items()})


OPS = {
    "constant": constant, "iota": iota, "elu": elu, "pad": pad, "slice": slice_, "layer_norm": layer_norm, "group_norm": group_norm,
    "batch_norm": batch_norm, "conv": conv, "max_pool": max_pool, "avg_pool": avg_pool, "adaptive_avg_pool": adaptive_pool,
    "adaptive_max_pool": adaptive_pool, "upsample_nearest": upsample_nearest, "attention": attention, "aten": aten,
    "cast": lambda n, x: x.to(n.dtype),
    "gelu": lambda n, x: F.gelu(x, approximate=n["approximate"]),
    "leaky_relu": lambda n, x: F.leaky_relu(x, n["negative_slope"]),
    "softplus": lambda n, x: F.softplus(x, n["beta"], n["threshold"]),
    "where": lambda n, c, a, b: torch.where(c, a, b),
    "reshape": lambda n, x: x.reshape(n.shape),
    "permute": lambda n, x: x.permute(n["dims"]),
    "expand": lambda n, x: x.expand(n.shape),
    "flip": lambda n, x: x.flip(n["dims"]),
    "cat": lambda n, *x: torch.cat(x, n["dim"]),
    "roll": lambda n, x: torch.roll(x, n["shifts"], n["dims"]),
    "gather": lambda n, x, i: torch.gather(x, n["dim"], i),
    "index_select": lambda n, x, i: torch.index_select(x, n["dim"], i),
    "embedding": lambda n, w, i: w[i],
    "triu": lambda n, x: torch.triu(x, n["diagonal"]),
    "tril": lambda n, x: torch.tril(x, n["diagonal"]),
    "diagonal": lambda n, x: torch.diagonal(x, n["offset"], n["dim1"], n["dim2"]),
    "diag_embed": lambda n, x: torch.diag_embed(x),
    "scatter_add": lambda n, x, i, s: torch.scatter_add(x, n["dim"], i, s),
    "scatter_amax": lambda n, x, i, s: torch.scatter_reduce(x, n["dim"], i, s, "amax", include_self=n["include_self"]),
    "scatter_amin": lambda n, x, i, s: torch.scatter_reduce(x, n["dim"], i, s, "amin", include_self=n["include_self"]),
    "argmax": lambda n, x: torch.argmax(x, n["dims"][0], keepdim=n["keepdim"]),
    "argmin": lambda n, x: torch.argmin(x, n["dims"][0], keepdim=n["keepdim"]),
    "softmax": lambda n, x: torch.softmax(x, n["dim"]),
    "log_softmax": lambda n, x: torch.log_softmax(x, n["dim"]),
    "cumsum": lambda n, x: torch.cumsum(x, n["dim"]),
    "cumprod": lambda n, x: torch.cumprod(x, n["dim"]),
    "cummax": lambda n, x: torch.cummax(x, n["dim"]).values,
    "cummin": lambda n, x: torch.cummin(x, n["dim"]).values,
    "logcumsumexp": lambda n, x: torch.logcumsumexp(x, n["dim"]),
    "topk": lambda n, x: torch.topk(x, n["k"], n["dim"], n["largest"], n["sorted"]).indices,
    "matmul": lambda n, a, b: torch.matmul(a, b),
}
for _name in UNARY:
    OPS[_name] = lambda n, x, f=UNARY[_name]: f(x)
for _name in BINARY:
    OPS[_name] = lambda n, a, b, f=BINARY[_name]: f(a, b)
for _name in "sum mean amax amin prod any all logsumexp var norm".split():
    OPS[_name] = reduction


def checked(node, results):
    for result, kind in zip(results, node["types"]):
        if list(result.shape) != kind["shape"] or result.dtype != DTYPES[kind["dtype"]]:
            raise AssertionError("%s (%s) is stated as %s%s and comes out as %s%s" % (
                node["name"], node["op"], kind["dtype"], kind["shape"], result.dtype, list(result.shape)))


def run(graph, leaves, device="cpu"):
    """@param leaves tensors by the names of inputs and parameters
    @return outputs, and the updated state by parameter name"""
    values = {name: (tensor,) for name, tensor in leaves.items()}
    last = {name: i for i, node in enumerate(graph["nodes"]) for name in node["inputs"]}
    kept = set(graph["outputs"]) | {update["value"] for update in graph["updates"]}
    for i, node in enumerate(graph["nodes"]):
        if node["op"] in ("input", "parameter"):
            result = values[node["name"]]
        elif node["op"] == "item":
            result = (values[node["inputs"][0]][node["attributes"]["index"]],)
        else:
            n = Node(node, device)
            result = OPS[node["op"]](n, *[values[name][0] for name in node["inputs"]])
            result = (result,) if isinstance(result, torch.Tensor) else tuple(result)
        checked(node, result)
        values[node["name"]] = result
        for name in set(node["inputs"]) - kept:
            if last[name] == i:
                del values[name]
    outputs = [values[name][0] for name in graph["outputs"]]
    return outputs, {update["parameter"]: values[update["value"]][0] for update in graph["updates"]}
