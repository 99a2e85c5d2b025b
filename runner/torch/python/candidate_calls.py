"""Calls of another system's module on the runner's memory: what a worker's host keeps of them.

The module lives in a CandidateProcess, which gets copies of the inputs and gives copies of the outputs; the runner's buffers, the
reference and every expected result stay here. Before a call whose result is judged the module is called with other inputs in the same
memory, so that what it keeps from call to call shows. Thread: the main thread.
"""

import torch

import user_module
from candidate_process import CandidateProcess, Layout, LOAD_LIMIT_S, pickled, refused
from host_errors import HostError
from module_host import BoundCall, ModuleCall
from tensors import as_tensor


class Candidates:
    """The one candidate of a job, for a ModuleHost."""

    def __init__(self):
        self.key = None
        self.process = None

    def forget(self):
        if self.process is not None:
            self.process.close()
        self.key = self.process = None

    def bind(self, host, source, model, arguments, outputs):
        """A CandidateCall. host: whose module is loaded, and drew inputs and parameters last"""
        module = host.loaded
        count = input_count(module)
        key = (source, model, module.spec["source"])
        if self.key != key or self.process is None or self.process.process.poll() is not None:
            self.forget()
            self.process, self.key = started(host, source, Layout(arguments[:count] + outputs + arguments[count:])), key
            try:
                self.process.open(host.device, host.device.type == "cuda")
                self.process.ask("load", load_request(module, source, model), LOAD_LIMIT_S)
            except HostError:
                self.forget()
                raise
        return CandidateCall(self.process, module, arguments, outputs, host.device, host.drawn_parameters)


def started(host, source, layout):
    """The candidate's process, without a device yet. Where others use the GPU too it is theirs until then: what importing the candidate's
    file compiles, a process that cannot open the GPU has compiled before."""
    architectures = architectures_of(host.device)
    if host.turn is None:
        return CandidateProcess(layout, architectures)
    with host.turn.given_away():
        return CandidateProcess(layout, architectures, again=compile_ahead(source, architectures))


def compile_ahead(source, architectures):
    """Whether its folder was kept for the next. What goes wrong is said where it goes wrong again, with the GPU there."""
    try:
        process = CandidateProcess(Layout([]), architectures, opens_gpu=False)
    except HostError:  # nothing here keeps it from the GPU
        return False
    try:
        process.open("cpu", False)
        process.ask("compile", {"source": source}, LOAD_LIMIT_S)
    except HostError:
        pass
    process.close(keeps_folder=True)
    return True


def architectures_of(device):
    """As torch.utils.cpp_extension chooses them where it sees the GPU."""
    return "%d.%d+PTX" % torch.cuda.get_device_capability(device) if device.type == "cuda" else ""


def input_count(module):
    return len(user_module.tensors_in(module.inputs_template()))


def load_request(module, source, model):
    """Everything that it may know: how the task's own module is made and called, and nothing of what it computes."""
    with torch.no_grad():
        arguments = module.constructor_arguments(user_module.LOADED_SEED)
    return {"source": source, "model": model, "mode": module.spec.get("mode", "made"), "flags": pickled(module.flags),
            "init_inputs": pickled(user_module.mapped(arguments, lambda tensor: tensor.cpu())),
            "template": pickled(module.inputs_template())}


class CandidateCall(BoundCall):
    """@param drawn (seed of the parameters, whether constants among them vary). Where they do, no constructor makes them: they are
    loaded into it by name, as a program loads a trained module's"""

    def __init__(self, process, module, arguments, outputs, device, drawn):
        count = input_count(module)
        self.process, self.module, self.device = process, module, device
        self.described = (arguments, outputs)
        self.inputs = [as_tensor(one, device) for one in arguments[:count]]
        self.outputs = [as_tensor(one, device) for one in outputs]
        self.results = []
        places = process.layout.places
        if [(one["dtype"], list(one["shape"])) for one in arguments[:count] + outputs + arguments[count:]] != \
                [(place["dtype"], place["shape"]) for place in places]:
            raise HostError("internal", "the task's buffers changed their shapes")
        end = count + len(outputs)
        self.shared_inputs, self.shared_outputs = process.views[:count], process.views[count:end]
        seed, loaded = drawn
        self.loaded = [as_tensor(one, device) for one in arguments[count:]] if loaded else []
        self.shared_loaded = process.views[end:]
        state = {one["name"]: place for one, place in zip(arguments[count:], places[end:])} if loaded else {}
        self.handle = process.ask("bind", {"inputs": places[:count], "outputs": places[count:end], "seed": seed, "state": state},
                                  LOAD_LIMIT_S)

    def close(self):
        if self.process.process.poll() is None:
            try:
                self.process.ask("forget", {"handle": self.handle})
            except HostError:
                pass  # whatever comes next will say so

    def refresh(self):
        """It has its own parameters."""

    def run(self):
        # Two runs on one drawing follow each other, and what was kept of the first is right for the second.
        self.process.runs += 1
        others = [turned(one) for one in self.inputs] if self.process.runs % 2 else None
        if others is not None:
            self.send(others)
            self.process.ask("call", {"handle": self.handle})
            before = [one.clone() for one in self.shared_outputs]
        self.send(self.inputs)
        self.process.ask("call", {"handle": self.handle})
        if others is not None:
            self.look_for_earlier_results(before, others)

    def send(self, inputs):
        for shared, one in zip(self.shared_inputs, inputs):
            shared.copy_(one)
        for shared, one in zip(self.shared_outputs, self.outputs):
            shared.copy_(one)  # the runner's poison
        for shared, one in zip(self.shared_loaded, self.loaded):
            shared.copy_(one)

    def look_for_earlier_results(self, before, others):
        """The same result for other inputs is suspect where the task's module gives two."""
        if not all(same_bytes(one, other) for one, other in zip(before, self.shared_outputs)) or \
                all(same_bytes(one, other) for one, other in zip(self.inputs, others)) or any(is_one_value(one) for one in before):
            return
        results = []
        for inputs in (self.inputs, others):
            reference = ModuleCall(self.module, False, *self.described, self.device)
            state = {name: tensor.clone() for name, tensor in reference.state.items()}
            reference.inputs = user_module.with_tensors(self.module.inputs_template(), inputs)
            reference.run()
            results.append([one.clone() for one in reference.results])
            for name, tensor in reference.state.items():
                tensor.copy_(state[name])
        if not all(same_bytes(one, other) for one, other in zip(*results)):
            raise refused("suspected", "the candidate gives the result of an earlier call: it was the same for other inputs in the same "
                          "memory, for which the task's module gives another")

    def publish(self, given=None):
        for shared, one in zip(self.shared_outputs, self.outputs):
            one.copy_(shared)
        for shared, one in zip(self.shared_inputs, self.inputs):
            one.copy_(shared)  # as the candidate left them: a change shows

    def record(self):
        """Why it has no device time; empty: it has."""
        self.send(self.inputs)
        self.process.ask("upload", {"handle": self.handle})
        return str(self.process.ask("record", {"handle": self.handle}, LOAD_LIMIT_S) or "")[:500]

    def time(self, as_called):
        self.send(self.inputs)
        self.process.ask("upload", {"handle": self.handle})
        ns, throttled = self.process.believed(self.handle, as_called)
        self.process.ask("look", {})
        self.process.ask("download", {"handle": self.handle})
        self.publish()
        return {"ns": ns, "throttled": throttled}


def turned(tensor):
    """Other inputs from the same range: the same values in other places."""
    if not tensor.is_floating_point() or tensor.numel() < 2:
        return tensor
    return tensor.flatten().roll(tensor.numel() // 3 + 1).view(tensor.shape)


def is_one_value(tensor):
    """Of several elements, NaN or not: wrong, or right for a constant, but kept by nobody."""
    flat = tensor.flatten()
    return flat.numel() > 1 and same_bytes(flat[1:], flat[:-1])


def same_bytes(one, other):
    """NaN is the same as NaN."""
    view = lambda tensor: tensor.contiguous().flatten().view(torch.uint8) if tensor.numel() else tensor.flatten()  # noqa: E731
    return torch.equal(view(one), view(other))
