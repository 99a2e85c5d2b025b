"""Handlers of recurrent layers, which stay calls of ATen, and of one step of them.

This file computes the shapes of the layers' results, because kernels for fake tensors would run
every step.
"""
from .errors import Refusal
from .opaque import opaque
from .registry import handles, shapes

NAMES = ("lstm", "gru", "rnn_tanh", "rnn_relu")


@shapes(*NAMES)
def shape(call):
    if "batch_sizes" in call.args:
        return NotImplemented
    x, state = call.mode.fake(call["input"]), call["hx"]
    states = [call.mode.fake(s) for s in state] if isinstance(state, (list, tuple)) else [call.mode.fake(state)]
    features = states[0].shape[-1] * (2 if call["bidirectional"] else 1)
    if call["batch_first"]:
        steps, batch = x.shape[1], x.shape[0]
        out = x.new_empty((steps, batch, features)).transpose(0, 1)
    else:
        out = x.new_empty(tuple(x.shape[:-1]) + (features,))
    return tuple([out] + [s.new_empty(s.shape) for s in states])


@handles(*NAMES)
def recurrent(call):
    if call["train"] and call["dropout"] > 0:
        raise Refusal("forward is random: dropout with p = %g between recurrent layers" % call["dropout"])
    return opaque(call)


@handles("_thnn_fused_lstm_cell")
def lstm_cell(call):
    """A step of an LSTM from its products: hidden state, cell state and the gates."""
    builder, gates = call.builder, None
    for name in ("input_gates", "hidden_gates", "input_bias", "hidden_bias"):
        if call.has(name):
            gates = call(name) if gates is None else builder.binary("add", gates, call(name))
    dim, width = len(builder.shape(gates)) - 1, builder.shape(gates)[-1] // 4
    parts = [builder.slice(gates, dim, k * width, (k + 1) * width) for k in range(4)]
    keep, forget, new, shown = (builder.unary("tanh" if k == 2 else "sigmoid", one) for k, one in enumerate(parts))
    cell = builder.binary("add", builder.binary("mul", forget, call("cx")), builder.binary("mul", keep, new))
    return [builder.binary("mul", shown, builder.unary("tanh", cell)), cell, builder.cat([keep, forget, new, shown], dim)]


@shapes("_thnn_fused_lstm_cell")
def lstm_cell_shape(call):
    gates, cell = call.mode.fake(call["input_gates"]), call.mode.fake(call["cx"])
    return cell.new_empty(cell.shape), cell.new_empty(cell.shape), gates.new_empty(gates.shape)
