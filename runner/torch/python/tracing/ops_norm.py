"""Handlers of normalizations."""
from .call import map_tensors
from .registry import handles, shapes


def short(call):
    return call.func._schema.name.split("::")[-1]


def optional(call, names):
    """Values of the operands that are given, and the attribute that names the absent ones."""
    present = [call(name) for name in names if call.has(name)]
    absent = ",".join(name for name in names if not call.has(name))
    return present, {"absent": absent} if absent else {}


def trailing_dims(call):
    rank, count = call["input"].dim(), len(call["normalized_shape"])
    return list(range(rank - count, rank))


@handles("layer_norm", "native_layer_norm")
def layer_norm(call):
    operands, attributes = optional(call, ["weight", "bias"])
    attributes.update(dims=trailing_dims(call), eps=float(call["eps"]))
    value = call.builder.emit("layer_norm", [call("input")] + operands, attributes, call.dtype, call.shape)
    return [value, None, None] if short(call).startswith("native") else value


@handles("rms_norm", "_fused_rms_norm")
def rms_norm(call):
    import torch
    builder, x = call.builder, call("input")
    eps = call["eps"] if call.get("eps") is not None else torch.finfo(call["input"].dtype).eps
    wide = builder.cast(x, "float32") if builder.dtype(x) in ("float16", "bfloat16") else x
    mean = builder.reduce("mean", builder.unary("square", wide), trailing_dims(call), True)
    value = builder.binary("mul", wide, builder.unary("rsqrt", builder.binary("add", mean, float(eps))))
    value = builder.cast(value, builder.dtype(x))
    value = builder.binary("mul", value, call("weight", builder.dtype(value))) if call.has("weight") else value
    return value if short(call) == "rms_norm" else [value, None]


@handles("group_norm", "native_group_norm")
def group_norm(call):
    operands, attributes = optional(call, ["weight", "bias"])
    attributes.update(groups=int(call["num_groups" if short(call) == "group_norm" else "group"]), eps=float(call["eps"]))
    value = call.builder.emit("group_norm", [call("input")] + operands, attributes, call.dtype, call.shape)
    return [value, None, None] if short(call).startswith("native") else value


@handles("instance_norm")
def instance_norm(call):
    if call.has("running_mean") or not call["use_input_stats"]:
        return NotImplemented
    operands, attributes = optional(call, ["weight", "bias"])
    attributes.update(groups=int(call["input"].shape[1]), eps=float(call["eps"]))
    return call.builder.emit("group_norm", [call("input")] + operands, attributes, call.dtype, call.shape)


BATCH_NORMS = ("batch_norm", "native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training",
               "cudnn_batch_norm")


@shapes(*BATCH_NORMS)
def batch_norm_shapes(call):
    x = map_tensors(call.mode.fake, call["input"])
    out, others = x.new_empty(x.shape), len(call.func._schema.returns) - 1
    return out if short(call) == "batch_norm" else tuple([out] + [x.new_empty(0) for _ in range(others)])


@handles(*BATCH_NORMS)
def batch_norm(call):
    """Batch normalization. In training, running statistics are written even if the schema does not
    say so."""
    operands, attributes = optional(call, ["weight", "bias", "running_mean", "running_var"])
    training = bool(call.get("training", False))
    momentum = call.get("momentum", call.get("exponential_average_factor", 0.1))
    eps = call.get("eps", call.get("epsilon", 1e-5))
    attributes.update(training=training, eps=float(eps), momentum=float(momentum))
    types = [(call.dtype, call.shape)]
    updates = [name for name in ("running_mean", "running_var") if call.has(name)] if training else []
    if len(updates) == 1:
        return NotImplemented
    types += [(call.builder.dtype(call(name)), call.builder.shape(call(name))) for name in updates]
    values = call.builder.emit_several("batch_norm", [call("input")] + operands, attributes, types)
    for name, value in zip(updates, values[1:]):
        call.write(name, value)
    return values[0] if short(call) == "batch_norm" else [values[0]]


