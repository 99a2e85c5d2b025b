"""Descriptions of calls, as the extension's make() takes them (call/plan.h): which place of memory is what, and the steps.

Places are numbered: the call's arguments (inputs, then the module's own tensors), outputs, temporaries, and what else the caller adds.
Scratch memory is one allocation, of which each temporary has a piece. Thread: any.
"""

import torch

ALIGNMENT = 256  # of temporaries, bytes


def describe(*, outputs, flats, scratch, device, **described):
    """The description of a call.
    outputs, flats: [(place, dtype, shape)] that the call allocates: results, and temporaries that operators read
    scratch: [(place, bytes)] of the other temporaries
    described: name, names (of the arguments), guards, inputs (their patterns, `...` for a tensor), state (paths of the module's tensors),
    arguments and results [(dtype, shape)], returned (places), places (how many), steps (operation() or the number of a group of
    launches), prepare (device index -> executor, or why there is none), start (address of the function that starts a group)"""
    offsets, size = layout(scratch)
    return {
        **described,
        "outputs": [(dtype, list(shape)) for _, dtype, shape in outputs],
        "made": [place for place, _, _ in outputs],
        "flats": [(dtype, list(shape)) for _, dtype, shape in flats],
        "flat_places": [place for place, _, _ in flats],
        "workspace_bytes": size,
        "workspace_places": [place for place, _ in scratch],
        "workspace_offsets": offsets,
        "device": device,
        "stream": torch._C._cuda_getCurrentRawStream if device.type == "cuda" else None,
    }


def layout(scratch):
    """Where each temporary begins in the one allocation, and its size: ([bytes], bytes)."""
    offsets, size = [], 0
    for _, needed in scratch:
        offsets.append(size)
        size += -(-needed // ALIGNMENT) * ALIGNMENT
    return offsets, size


def size_of(dtype, shape):
    """Bytes of a contiguous tensor."""
    size = torch.empty(0, dtype=dtype).element_size()
    for extent in shape:
        size *= extent
    return size


def operation(function, values, keywords, results, copies, layouts):
    """One operator's call, as operation.h takes it.
    function: torch.ops' overload; values, keywords: its arguments, ("view", place, offset, shape, strides) for tensors;
    results: the place of each result, -1 for none; copies: the argument that each is to be copied to, -1 for none;
    layouts: (dtype, shape, strides) of each result"""
    arguments = []
    for index, argument in enumerate(function._schema.arguments):
        if index < len(values):
            arguments.append(values[index])
        else:
            arguments.append(keywords.get(argument.name, ...))
    name, _, overload = str(function._schema).partition("(")[0].partition(".")
    return {"name": name, "overload": overload, "arguments": arguments, "results": list(results), "copies": list(copies),
            "layouts": [(dtype, list(shape), list(strides)) for dtype, shape, strides in layouts]}
