"""Handlers of recurrent layers, which stay calls of ATen.

This file computes the shapes of their results, because kernels for fake tensors would run every
step.
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
