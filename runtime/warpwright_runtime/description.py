"""Descriptions of calls for the extension's make() (call/plan.h): the places of memory, and the
steps.

Places are numbered: the call's arguments (inputs, then the module's own tensors), outputs,
temporaries, and further places of the caller. Scratch memory is one allocation, which the
temporaries share. Thread: any.
"""

import torch

ALIGNMENT = 256  # alignment of temporaries in bytes


def describe(*, outputs, flats, scratch, device, **described):
    """The description of a call.
    @param outputs, flats [(place, dtype, shape)] that the call allocates: results, and temporaries
        that operators read
    @param scratch [(place, bytes)] of the other temporaries
    @param described name, names (of the arguments), guards, inputs (their patterns, `...` for a
        tensor), state (paths of the module's tensors), arguments and results [(dtype, shape)],
        returned (places), places (their number), steps (operation() or the number of a group of
        launches), prepare (device index -> executor, or the reason why there is none), start
        (address of the function that starts a group)"""
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
    """The offset of each temporary in the scratch allocation, and the allocation's size: ([bytes],
    bytes)."""
    offsets, size = [], 0
    for _, needed in scratch:
        offsets.append(size)
        size += -(-needed // ALIGNMENT) * ALIGNMENT
    return offsets, size


def size_of(dtype, shape):
    """Size of a contiguous tensor in bytes."""
    size = torch.empty(0, dtype=dtype).element_size()
    for extent in shape:
        size *= extent
    return size


def operation(function, values, keywords, results, copies, layouts):
    """The description of an operator's call for operation.h.
    @param function an overload of torch.ops
    @param values, keywords its arguments, with ("view", place, offset, shape, strides) for tensors
    @param results the place of each result; -1 for none
    @param copies the argument to which each result is copied; -1 for none
    @param layouts (dtype, shape, strides) of each result"""
    arguments = []
    for index, argument in enumerate(function._schema.arguments):
        if index < len(values):
            arguments.append(values[index])
        else:
            arguments.append(keywords.get(argument.name, ...))
    name, _, overload = str(function._schema).partition("(")[0].partition(".")
    return {"name": name, "overload": overload, "arguments": arguments, "results": list(results), "copies": list(copies),
            "layouts": [(dtype, list(shape), list(strides)) for dtype, shape, strides in layouts]}
