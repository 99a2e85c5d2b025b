"""The worker's side of calls of another system's module, or of an export, on the runner's memory.

The module lives in a CandidateProcess, which gets copies of the inputs and returns copies of the
outputs. The runner's buffers, the reference and every expected result stay in the worker. Before a
call whose result is judged, the module is called with other inputs in the same memory. A module
that returns results of earlier calls is thereby detected. Thread: the main thread.
"""

import base64
import contextlib
from typing import NamedTuple

import torch

import user_module
from candidate_process import CandidateProcess, Layout, LOAD_LIMIT_S, pickled, refused
from host_errors import HostError
from module_host import BoundCall, ModuleCall
from tensors import as_tensor


class CandidateFile(NamedTuple):
    source: str
    model: str  # the class
    exported: bool  # whether the file is an export, whose calls are counted
    files: dict  # {name: text} of files beside it


class Candidates:
    """The candidate of a job, for a ModuleHost; at most one at a time."""

    def __init__(self):
        self.key = None
        self.process = None

    def forget(self):
        if self.process is not None:
            self.process.close()
        self.key = self.process = None

    def bind(self, host, file, arguments, outputs):
        """Returns a CandidateCall. Starts a process and loads the candidate if needed.
        @param host the ModuleHost that loaded the module and last drew inputs and parameters
        @param file a CandidateFile"""
        module = host.loaded
        count = input_count(module)
        key = (file, module.spec["source"])
        if self.key != key or self.process is None or self.process.process.poll() is not None:
            self.forget()
            self.process, self.key = started(host, file, Layout(arguments[:count] + outputs + arguments[count:])), key
            try:
                self.process.open(host.device, host.device.type == "cuda")
                # An export compiles its kernels when it is loaded and uses no GPU then.
                alone = host.turn.given_away() if file.exported and host.turn is not None else contextlib.nullcontext()
                with alone:
                    self.process.ask("load", load_request(module, file, host.extension_file), LOAD_LIMIT_S)
            except HostError:
                self.forget()
                raise
        return CandidateCall(self.process, module, arguments, outputs, host.device, host.drawn_parameters)

    def kernel_calls(self):
        """{"runs": calls of the export that its kernels answered, "fallbacks": {reason: other
        calls}}"""
        if self.process is None:
            raise HostError("internal", "there is no bound export")
        said = self.process.ask("kernel_calls", {}, LOAD_LIMIT_S)
        return {"runs": int(said["runs"]), "fallbacks": {str(why)[:500]: int(count) for why, count in said["fallbacks"].items()}}


def started(host, file, layout):
    """The candidate's process, without a device yet. If the GPU is shared, others may use it
    meanwhile: a process that cannot open the GPU imports the candidate's file first, so that
    extensions are compiled already. Exports have none."""
    architectures = architectures_of(host.device)
    if host.turn is None:
        return CandidateProcess(layout, architectures)
    with host.turn.given_away():
        return CandidateProcess(layout, architectures, again=not file.exported and compile_ahead(file.source, architectures))


def compile_ahead(source, architectures):
    """Imports the candidate's file in a process without a GPU. @return whether the process's folder
    was kept for the next process. Errors are ignored, because they recur in the process with the
    GPU."""
    try:
        process = CandidateProcess(Layout([]), architectures, opens_gpu=False)
    except HostError:  # no isolation layer here can deny access to the GPU
        return False
    try:
        process.open("cpu", False)
        process.ask("compile", {"source": source}, LOAD_LIMIT_S)
    except HostError:
        pass
    process.close(keeps_folder=True)
    return True


def architectures_of(device):
    """The architectures that torch.utils.cpp_extension would choose if it saw the GPU."""
    return "%d.%d+PTX" % torch.cuda.get_device_capability(device) if device.type == "cuda" else ""


def input_count(module):
    return len(user_module.tensors_in(module.inputs_template()))


def load_request(module, file, extension_file):
    """All information that the candidate may have: how the task's module is constructed and called,
    but nothing about its results.
    @param extension_file (name, bytes) of the extension that exports call; None: it is compiled"""
    with torch.no_grad():
        arguments = module.constructor_arguments(user_module.LOADED_SEED)
    library = None if extension_file is None or not file.exported else \
        {"name": extension_file[0], "content": base64.b64encode(extension_file[1]).decode()}
    return {"source": file.source, "model": file.model, "mode": module.spec.get("mode", "made"), "flags": pickled(module.flags),
            "exported": file.exported, "files": file.files, "library": library, "inputs": module.spec["inputs"],
            "init_inputs": pickled(user_module.mapped(arguments, lambda tensor: tensor.cpu())),
            "template": pickled(module.inputs_template())}


class CandidateCall(BoundCall):
    """A call of the candidate on the worker's buffers.
    @param drawn (seed of the parameters, whether constants among them vary). If constants vary, no
        constructor can make the parameters, so they are loaded by name, like those of a trained
        module"""

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
                pass  # the next request reports the error

    def refresh(self):
        """Does nothing, because the candidate has its own parameters."""

    def run(self):
        # Two successive runs use the same drawing, and a result kept from the first is right for
        # the second. So only every other run is preceded by a call with other inputs.
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
        """Refuses a candidate that gives the same result for other inputs, if the task's module
        gives different results."""
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
            one.copy_(shared)  # copied back, so that changes by the candidate are detected

    def record(self):
        """The reason why the candidate has no device time; "" if it has one."""
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
    """Other inputs from the same range: the same values at other positions."""
    if not tensor.is_floating_point() or tensor.numel() < 2:
        return tensor
    return tensor.flatten().roll(tensor.numel() // 3 + 1).view(tensor.shape)


def is_one_value(tensor):
    """Whether a tensor of several elements has one value everywhere, NaN included. Such a result is
    no evidence that an earlier result was kept: it may be a constant or an error."""
    flat = tensor.flatten()
    return flat.numel() > 1 and same_bytes(flat[1:], flat[:-1])


def same_bytes(one, other):
    """Whether two tensors have the same bytes, so that NaN equals NaN."""
    view = lambda tensor: tensor.contiguous().flatten().view(torch.uint8) if tensor.numel() else tensor.flatten()  # noqa: E731
    return torch.equal(view(one), view(other))
