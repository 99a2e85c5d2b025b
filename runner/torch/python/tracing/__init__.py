"""Turns torch modules into op graphs (docs/internals/op-graph.md), with any torch from 1.13 to 2.11.

`source` makes the module and its inputs, `mode` watches the ATen calls of one forward pass over fake tensors, the `ops_*`
files say which nodes a call becomes, `builder` holds the nodes, `result` adds the buffers.
"""
