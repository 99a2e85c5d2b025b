"""A candidate as a torch module: what a program that uses it would call.

It is given the module's inputs, parameters and state, makes its outputs and scratch memory with torch.empty, starts its kernels through
the executor and calls ATen for library steps, in order. The C++ side numbers the places of memory: arguments, outputs, temporaries,
then the results of torch calls. Thread: the main thread.
"""

import ctypes

import torch

import user_module
from host_errors import HostError
from module_host import OperatorCall
from tensors import as_tensor, contiguous_strides, dtype_of, span

ALIGNMENT = 256


class Borrowed:
    """A torch call's argument that lies in one of the places: made of what the place holds in this call."""

    def __init__(self, place, offset_bytes, tensor):
        self.place = place
        self.offset = offset_bytes // tensor.element_size()
        self.shape, self.strides = tuple(tensor.shape), tuple(tensor.stride())

    def of(self, held):
        if self.offset == 0 and tuple(held.shape) == self.shape and held.stride() == self.strides:
            return held
        return held.as_strided(self.shape, self.strides, held.storage_offset() + self.offset)


class CandidateCall(torch.nn.Module):
    def __init__(self, host, steps, executor, arguments, outputs, temporaries):
        super().__init__()
        self.start, self.executor, self.device = host.start, executor, host.device
        self.calls = [None if step["group"] >= 0 else host.calls[step["call"]] for step in steps]
        self.groups = [step["group"] for step in steps]
        results = [output for call in self.calls if call is not None for output in call.outputs]
        places = [as_tensor(one, host.device) for one in arguments + outputs + temporaries] + results
        self.first_output = len(arguments)
        self.first_temporary = self.first_output + len(outputs)
        self.first_result = self.first_temporary + len(temporaries)
        self.array = ctypes.c_uint64 * len(places)
        self.is_plain = self.groups == [0]
        self.made = []  # (place, shape, dtype, strides) of outputs, and of temporaries that torch calls use
        self.returned = []  # places
        self.describe(places, outputs, temporaries)
        self.borrowed = [self.borrow(call, places) for call in self.calls]

    def describe(self, places, outputs, temporaries):
        made_by_torch = {tensor.data_ptr(): self.first_result + i
                         for i, tensor in enumerate(places[self.first_result:]) if tensor is not None}
        for i, (output, tensor) in enumerate(zip(outputs, places[self.first_output:])):
            source = made_by_torch.get(tensor.data_ptr()) if tensor.numel() else None
            self.returned.append(self.first_output + i if source is None else source)
            if source is None:
                self.made.append((self.first_output + i, tuple(output["shape"]), dtype_of(output["dtype"])))
        used = self.used_places(places)
        self.workspace, self.offsets = 0, []
        for i, temporary in enumerate(temporaries):
            place = self.first_temporary + i
            strides = temporary.get("strides") or contiguous_strides(temporary["shape"])
            elements = span(temporary["shape"], strides)
            if place in used:
                self.made.append((place, (elements,), dtype_of(temporary["dtype"])))
                continue
            self.offsets.append((place, self.workspace))
            size = elements * torch.empty(0, dtype=dtype_of(temporary["dtype"])).element_size()
            self.workspace += (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT

    def used_places(self, places):
        used = set()
        for call in self.calls:
            if call is not None:
                for tensor in user_module.tensors_in([call.arguments, call.keywords]):
                    used.add(find_place(places, tensor)[0])
        return used

    def borrow(self, call, places):
        """The call's arguments and keywords, with Borrowed in place of tensors."""
        if call is None:
            return None

        def borrowed(tensor):
            place, offset = find_place(places, tensor)
            return tensor if place < 0 else Borrowed(place, offset, tensor)

        return user_module.mapped(call.arguments, borrowed), user_module.mapped(call.keywords, borrowed)

    def forward(self, *arguments):
        device = self.device
        if not self.is_plain:
            return self.forward_steps(arguments, device)
        # One run of kernels: the places are arguments, outputs, temporaries.
        outputs = [torch.empty(shape, dtype=dtype, device=device) for _, shape, dtype in self.made]
        addresses = [one.data_ptr() for one in arguments]
        addresses += [one.data_ptr() for one in outputs]
        if self.workspace:
            workspace = torch.empty(self.workspace, dtype=torch.uint8, device=device)
            base = workspace.data_ptr()
            addresses += [base + offset for _, offset in self.offsets]
        status = self.start(self.executor, 0, self.array(*addresses))
        if status:
            raise HostError("crash", f"launching the candidate: CUDA error {status}")
        return outputs[0] if len(outputs) == 1 else outputs

    def forward_steps(self, arguments, device):
        held = dict(enumerate(arguments))
        for place, shape, dtype in self.made:
            held[place] = torch.empty(shape, dtype=dtype, device=device)
        addresses = self.array()
        for place, tensor in held.items():
            addresses[place] = tensor.data_ptr()
        if self.workspace:
            workspace = torch.empty(self.workspace, dtype=torch.uint8, device=device)
            base = workspace.data_ptr()
            for place, offset in self.offsets:
                addresses[place] = base + offset
        next_result = self.first_result
        for group, call, borrowed in zip(self.groups, self.calls, self.borrowed):
            if call is None:
                status = self.start(self.executor, group, addresses)
                if status:
                    raise HostError("crash", f"launching the candidate: CUDA error {status}")
                continue
            values, keywords = lend(borrowed, held)
            value = call.function(*values, **keywords)
            given = value if isinstance(value, (tuple, list)) else (value,)
            for result, _ in zip(given, call.outputs):
                held[next_result] = result
                addresses[next_result] = result.data_ptr()
                next_result += 1
        outputs = [held[place] for place in self.returned]
        return outputs[0] if len(outputs) == 1 else outputs


def lend(borrowed, held):
    def of(value):
        if isinstance(value, Borrowed):
            return value.of(held[value.place])
        if isinstance(value, list):
            return [of(one) for one in value]
        return value

    values, keywords = borrowed
    return [of(value) for value in values], {name: of(value) for name, value in keywords.items()}


def find_place(places, tensor):
    """(place, bytes from its start) of memory; (-1, 0) where it is in none. Later places hold before earlier ones."""
    address = tensor.data_ptr()
    for place in reversed(range(len(places))):
        held = places[place]
        if held is None or held.numel() == 0:
            continue
        first = held.data_ptr()
        if first <= address < first + span(held.shape, held.stride()) * held.element_size():
            return place, address - first
    return -1, 0
