"""Tracer that turns torch modules into op graphs (docs/internals/op-graph.md), with torch 1.13 to
2.11.

`source` makes the module and its inputs. `mode` intercepts the ATen calls of one forward pass over
fake tensors. The `ops_*` files convert calls to nodes. `builder` holds the nodes. `result` adds the
buffers.
"""
