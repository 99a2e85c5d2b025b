"""Handlers of activations with parameters, and of dropout and type_as."""
import torch

from .call import dtype_name
from .registry import View, handles


@handles("gelu")
def gelu(call):
    return call.builder.unary("gelu", call("self"), {"approximate": call.get("approximate", "none")})


@handles("elu")
def elu(call):
    attributes = {name: float(call.get(name, 1)) for name in ("alpha", "scale", "input_scale")}
    return call.builder.unary("elu", call("self"), attributes)


@handles("celu", "selu")
def composite_elu(call):
    if call.func._schema.name.endswith("celu"):
        attributes = {"alpha": float(call["alpha"]), "scale": 1.0, "input_scale": 1.0 / float(call["alpha"])}
    else:
        attributes = {"alpha": 1.6732632423543772848170429916717, "scale": 1.0507009873554804934193349852946, "input_scale": 1.0}
    return call.builder.unary("elu", call("self"), attributes)


@handles("leaky_relu")
def leaky_relu(call):
    return call.builder.unary("leaky_relu", call("self"), {"negative_slope": float(call["negative_slope"])})


@handles("rrelu", "rrelu_with_noise")
def rrelu(call):
    slope = (float(call["lower"]) + float(call["upper"])) / 2
    return call.builder.unary("leaky_relu", call("self"), {"negative_slope": slope})


@handles("prelu", "_prelu_kernel")
def prelu(call):
    builder, x, weight = call.builder, call("self"), call("weight", call.dtype)
    if call["weight"].dim() == 1 and call.rank() > 1:
        weight = builder.reshape(weight, (1, builder.shape(weight)[0]) + (1,) * (call.rank() - 2))
    return builder.where(builder.binary("gt", x, 0), x, builder.binary("mul", x, weight))


@handles("softplus")
def softplus(call):
    return call.builder.unary("softplus", call("self"), {"beta": float(call["beta"]), "threshold": float(call["threshold"])})


@handles("log_sigmoid", "log_sigmoid_forward")
def log_sigmoid(call):
    builder, x = call.builder, call("self")
    tail = builder.unary("log1p", builder.unary("exp", builder.unary("neg", builder.unary("abs", x))))
    value = builder.binary("sub", builder.binary("minimum", x, 0), tail)
    return value if isinstance(call.out, torch.Tensor) else [value, None]


@handles("hardshrink")
def hardshrink(call):
    builder, x = call.builder, call("self")
    return builder.where(builder.binary("le", builder.unary("abs", x), call["lambd"]), 0.0, x)


@handles("softshrink")
def softshrink(call):
    builder, x, bound = call.builder, call("self"), call["lambd"]
    low = builder.where(builder.binary("lt", x, -bound), builder.binary("add", x, bound), 0.0)
    return builder.where(builder.binary("gt", x, bound), builder.binary("sub", x, bound), low)


@handles("glu")
def glu(call):
    builder, dim = call.builder, call.dim()
    half = call["self"].shape[dim] // 2
    x = call("self")
    gate = builder.unary("sigmoid", builder.slice(x, dim, half, 2 * half))
    return builder.binary("mul", builder.slice(x, dim, 0, half), gate)


@handles("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
def dropout(call):
    """Dropout in evaluation mode or with p = 0, which has no effect; refuse_by_name() refuses the
    rest."""
    return View(call["input"], lambda base: base, lambda base, new: new)


@handles("type_as")
def type_as(call):
    return call("self", dtype_name(call["other"].dtype))
