"""A candidate as a torch module, which a user's program would call.

compiled_call() makes the equivalent of an exported ModelNew (warpwright_runtime): the user's own
class with a forward that looks up the module's tensors, checks them, allocates outputs and scratch
memory, starts the kernels through the executor, and calls ATen for library steps, in order.
PythonCall does the same in Python, more slowly, if that extension could not be compiled. Places of
memory are numbered as on the C++ side: arguments, outputs, temporaries, then the results of torch
calls. Thread: the main thread.
"""

import copy
import ctypes
import types

import torch

import call_guards
import user_module
from host_errors import HostError
from tensors import as_tensor, contiguous_strides, dtype_of, span
from warpwright_runtime.description import describe, layout, operation, size_of
from warpwright_runtime.guard_values import for_call


class Borrowed:
    """An argument of a torch call that lies in a place: a view of the place's current tensor."""

    def __init__(self, place, offset_bytes, tensor):
        self.place = place
        self.offset = offset_bytes // tensor.element_size()
        self.shape, self.strides = tuple(tensor.shape), tuple(tensor.stride())

    def of(self, held):
        if self.offset == 0 and tuple(held.shape) == self.shape and held.stride() == self.strides:
            return held
        return held.as_strided(self.shape, self.strides, held.storage_offset() + self.offset)

    def described(self):
        return ("view", self.place, self.offset, list(self.shape), list(self.strides))


class Program:
    """The places of a call and its steps.
    @param steps [{"group", "call"}], group -1 for a torch call
    @param arguments, outputs, temporaries [{address, dtype, shape, strides, name}]"""

    def __init__(self, host, steps, executor, arguments, outputs, temporaries):
        self.start, self.executor, self.device = host.start, executor, host.device
        self.calls = [None if step["group"] >= 0 else host.calls[step["call"]] for step in steps]
        self.groups = [step["group"] for step in steps]
        self.arguments = arguments
        self.places = [as_tensor(one, host.device) for one in arguments + outputs + temporaries]
        # State that a torch call updates stays in the place of its argument.
        self.updated = [[self.argument_of(output, len(arguments)) for output in call.outputs] if call is not None else []
                        for call in self.calls]
        self.places += [None if argument >= 0 else output for call, updated in zip(self.calls, self.updated) if call is not None
                        for output, argument in zip(call.outputs, updated)]
        self.first_output = len(arguments)
        self.first_temporary = self.first_output + len(outputs)
        self.first_result = self.first_temporary + len(temporaries)
        self.made = []  # (place, dtype, shape) of outputs that no torch call makes
        self.flats = []  # the same for temporaries that torch calls read; one-dimensional
        self.returned = []  # places
        self.results = [(dtype_of(output["dtype"]), list(output["shape"])) for output in outputs]
        self.scratch = []  # (place, bytes) of the other temporaries that no torch call reads
        self.describe_outputs(outputs)
        self.describe_temporaries(temporaries)
        self.borrowed = [self.borrow(call) for call in self.calls]

    def describe_outputs(self, outputs):
        made_by_torch = {tensor.data_ptr(): self.first_result + i
                         for i, tensor in enumerate(self.places[self.first_result:]) if tensor is not None}
        for i, (output, tensor) in enumerate(zip(outputs, self.places[self.first_output:])):
            source = made_by_torch.get(tensor.data_ptr()) if tensor.numel() else None
            self.returned.append(self.first_output + i if source is None else source)
            if source is None:
                self.made.append((self.first_output + i, dtype_of(output["dtype"]), tuple(output["shape"])))

    def describe_temporaries(self, temporaries):
        used = self.used_places()
        for i, temporary in enumerate(temporaries):
            place = self.first_temporary + i
            strides = temporary.get("strides") or contiguous_strides(temporary["shape"])
            dtype, shape = dtype_of(temporary["dtype"]), (span(temporary["shape"], strides),)
            if place in used:
                self.flats.append((place, dtype, shape))
            else:
                self.scratch.append((place, size_of(dtype, shape)))

    def used_places(self):
        used = set()
        for call in self.calls:
            if call is not None:
                for tensor in user_module.tensors_in([call.arguments, call.keywords]):
                    used.add(find_place(self.places, tensor)[0])
        return used

    def borrow(self, call):
        """The call's arguments and keywords, with Borrowed in place of tensors."""
        if call is None:
            return None

        def borrowed(tensor):
            place, offset = find_place(self.places, tensor)
            if place < 0:
                raise HostError("internal", f"{call.name} reads memory outside of the plan's buffers")
            return Borrowed(place, offset, tensor)

        return user_module.mapped(call.arguments, borrowed), user_module.mapped(call.keywords, borrowed)

    def argument_of(self, output, count):
        """The argument (state) that a result is published to; -1 if there is none."""
        return -1 if output is None or output.numel() == 0 else find_place(self.places[:count], output)[0]


def find_place(places, tensor):
    """(place, bytes from its start) of a tensor's memory; (-1, 0) if it lies in no place. Later
    places take precedence over earlier ones."""
    address = tensor.data_ptr()
    for place in reversed(range(len(places))):
        held = places[place]
        if held is None or held.numel() == 0:
            continue
        first = held.data_ptr()
        if first <= address < first + span(held.shape, held.stride()) * held.element_size():
            return place, address - first
    return -1, 0


def candidate_call(host, program):
    """(module, inputs): a module like the reference, with the kernels in place of its forward."""
    if host.extension is None:
        return PythonCall(program), tuple(program.places[:program.first_output])
    return compiled_call(host, program)


# ---- With the compiled extension

def compiled_call(host, program):
    loaded = host.loaded
    template = [] if loaded is None else loaded.inputs_template()
    count = program.first_output if loaded is None else len(user_module.tensors_in(template))
    tensors = program.places[:program.first_output]
    names = [one["name"] for one in program.arguments[count:]]
    if loaded is None:
        model, inputs, patterns = torch.nn.Module(), tensors, [...] * count
    else:
        model = model_on_memory(host, names, tensors[count:])
        values = list(template.values()) if isinstance(template, dict) else template
        inputs = user_module.with_tensors(values, tensors[:count])
        patterns = user_module.mapped(list(values), lambda _: ...)
    made = as_model_new(model)
    plan = host.extension.make(description(host, program, names, patterns, guards_for(host.loaded, type(made))))
    type(made).forward = forward_of(host.extension, plan)
    return made, tuple(inputs)


def model_on_memory(host, names, tensors):
    """A copy of the loaded module on the given memory. The copy is cached, because copies of large
    modules are slow and every load of the candidate's kernels needs the same one."""
    key = tuple(tensor.data_ptr() for tensor in tensors)
    if key not in host.models:
        host.models[key] = user_module.on_memory(host.loaded.model(), dict(zip(names, tensors)))
    return copy.copy(host.models[key])


def as_model_new(model):
    """Changes the model's class to a new class derived from it. @return the model"""
    model.__class__ = types.new_class(type(model).__name__ + "New", (type(model),))
    return model


def forward_of(extension, plan):
    def forward(self, *inputs):
        outputs = plan(self, *inputs)
        if outputs is NotImplemented:
            why = ", ".join(extension.counts(plan)[1])
            raise HostError("internal", f"the candidate's call refuses what it was made for: {why}")
        return outputs

    return forward


def guards_for(loaded, kind):
    """The guards that an export checks at each call; a candidate checks the same.
    @param kind the candidate's class"""
    if loaded is None:
        return []
    owner = call_guards.owner_of(loaded.namespace)
    if loaded.guards is None:  # no earlier run of the module, so the attributes it reads are unknown
        loaded.guards = call_guards.of_model(loaded.model(), call_guards.Reads(loaded.model(), owner), owner)
    return [for_call(loaded.guards, owner, lambda one: one is kind)]


def description(host, program, state, inputs, guards):
    return describe(
        name="the candidate",
        names=[one["name"] for one in program.arguments],
        guards=guards,
        inputs=inputs,
        state=[name.split(".") for name in state],
        arguments=[(one.dtype, list(one.shape)) for one in program.places[:program.first_output]],
        outputs=program.made,
        returned=program.returned,
        results=program.results,
        flats=program.flats,
        scratch=program.scratch,
        places=len(program.places),
        steps=operations(program),
        device=host.device,
        prepare=lambda _index, executor=program.executor: executor,
        start=ctypes.cast(host.start, ctypes.c_void_p).value,
    )


def operations(program):
    steps, next_result = [], program.first_result
    for group, call, borrowed, updated in zip(program.groups, program.calls, program.borrowed, program.updated):
        if call is None:
            steps.append(group)
            continue
        values, keywords = described(borrowed[0]), described(borrowed[1])
        results = [-1 if output is None or argument >= 0 else next_result + i
                   for i, (output, argument) in enumerate(zip(call.outputs, updated))]
        layouts = [(torch.uint8, [], []) if output is None else (output.dtype, output.shape, output.stride())
                   for output in call.outputs]
        steps.append(operation(call.function, values, keywords, results, updated, layouts))
        next_result += len(call.outputs)
    return steps


def described(value):
    if isinstance(value, Borrowed):
        return value.described()
    if isinstance(value, (list, tuple)):
        return [described(one) for one in value]
    if isinstance(value, dict):
        return {name: described(one) for name, one in value.items()}
    return value


# ---- Without the compiled extension

class PythonCall(torch.nn.Module):
    def __init__(self, program):
        super().__init__()
        self.program = program
        self.array = ctypes.c_uint64 * len(program.places)

    def forward(self, *arguments):
        program = self.program
        held = dict(enumerate(arguments))
        for place, dtype, shape in program.made + program.flats:
            held[place] = torch.empty(shape, dtype=dtype, device=program.device)
        addresses = self.array()
        for place, tensor in held.items():
            addresses[place] = tensor.data_ptr()
        offsets, size = layout(program.scratch)
        workspace = torch.empty(size, dtype=torch.uint8, device=program.device)
        for (place, _), offset in zip(program.scratch, offsets):
            addresses[place] = workspace.data_ptr() + offset
        next_result = program.first_result
        for group, call, borrowed, updated in zip(program.groups, program.calls, program.borrowed, program.updated):
            if call is None:
                status = program.start(program.executor, group, addresses)
                if status:
                    raise HostError("crash", f"launching the candidate: CUDA error {status}")
                continue
            values, keywords = lend(borrowed, held)
            value = call.function(*values, **keywords)
            given = value if isinstance(value, (tuple, list)) else (value,)
            for result, argument in zip(given, updated):
                if argument >= 0:
                    held[argument].copy_(result)
                else:
                    held[next_result] = result
                    addresses[next_result] = result.data_ptr()
                next_result += 1
        outputs = [held[place].as_strided(shape, contiguous_strides(shape)) for place, (_, shape) in zip(program.returned, program.results)]
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
