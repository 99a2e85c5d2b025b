"""Another system's module or an export, constructed like the task's module and called on inputs from
the worker.

The module's constructor makes its parameters under the seed of the task's drawing, as benchmarks of
this form do. The module may therefore keep weights in another form than the task's module. Thread:
the main thread.
"""

import base64
import importlib
import io
import itertools
import os
import warnings

import torch

import host_errors
import module_modes
import user_module
from candidate_checks import Watch, check_plain
from candidate_timer import Nothing, Timer, TimingHost
from host_errors import HostError
from module_host import BoundCall, described
from tensors import dtype_of
from warpwright_runtime import extension

MODELS_KEPT = 2  # cached models, by parameter seed


class CandidateModule:
    """The candidate's module, with the interface of a UserModule that calls need."""

    def __init__(self, request, device, watch):
        self.device, self.watch = device, watch
        self.in_device_context = False
        self.mode = request["mode"]
        self.given, self.template = unpickled(request["init_inputs"]), unpickled(request["template"])
        self.models = {}
        host_errors.user_file = user_module.write_source(request["source"])
        write_files(request)
        with blamed("compile_failed", "importing the candidate's file"), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", RuntimeWarning)
            self.namespace = user_module.import_source(request["source"], host_errors.user_file)
            self.make = getattr(self.namespace, request["model"], None)
        self.spec = {"inputs": request["inputs"]}
        self.warnings = [str(one.message) for one in said if one.category is RuntimeWarning]
        self.called_itself = False
        if self.make is None:
            raise HostError("compile_failed", f"the candidate's file has no '{request['model']}'")
        watch.look("when its file is imported")

    def loaded(self, seed, names, places):
        """A new model and its tensors of these names, which get their values from the worker.
        @return (model, tensors)"""
        model, tensors = self.construct(seed), []
        for name, place in zip(names, places):
            try:
                tensor = user_module.state(model, name)
            except HostError:
                tensor = None
            if tensor is None or list(tensor.shape) != place["shape"] or tensor.dtype != dtype_of(place["dtype"]):
                raise HostError("unsupported", f"it has no '{name}' as the task's module has it")
            tensors.append(tensor)
        return model, tensors

    def model(self, seed):
        if seed not in self.models:
            while len(self.models) >= MODELS_KEPT:
                self.models.pop(next(iter(self.models)))
            self.models[seed] = self.construct(seed)
        return self.models[seed]

    def construct(self, seed):
        given = user_module.mapped(self.given, lambda tensor: tensor.to(self.device))
        user_module.seed_everything(seed)
        with torch.no_grad(), blamed("compile_failed", "the candidate's constructor"):
            model = self.make(**given) if isinstance(given, dict) else self.make(*given)
            if not isinstance(model, torch.nn.Module):
                raise HostError("compile_failed", "the candidate is not a torch.nn.Module")
            model = module_modes.in_mode(model.to(self.device), self.mode)
        self.watch.look("in its constructor")
        return model

    call = user_module.UserModule.call
    evaluate = user_module.UserModule.evaluate
    make_inputs = user_module.UserModule.make_inputs

    def kernel_calls(self):
        """Counts of an export's calls. The first count includes a call on inputs as the file makes
        them, whose layout may differ from the worker's."""
        plan = getattr(self.make, "warpwright_plan", None)
        if plan is None:  # the decorator did not find the package or the plan file
            return {"runs": 0, "fallbacks": {(self.warnings or ["the class has no plan"])[-1]: 0}}
        if not self.called_itself:
            self.called_itself = True
            try:
                with blamed("crash", "the export on its file's inputs"):
                    self.call(self.model(user_module.LOADED_SEED), self.make_inputs(user_module.LOADED_SEED))
            except HostError as error:
                if error.kind != "out_of_memory":  # beside the worker's buffers
                    raise
        return {"runs": plan.runs(), "fallbacks": plan.fallbacks()}


def write_files(request):
    """Writes the files beside the candidate's file, and the extension that an export would
    otherwise compile."""
    folder = os.path.dirname(host_errors.user_file)
    for name, text in request["files"].items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    if request["library"] is not None:
        os.makedirs(extension.cache_folder(), exist_ok=True)
        with open(os.path.join(extension.cache_folder(), request["library"]["name"]), "wb") as file:
            file.write(base64.b64decode(request["library"]["content"]))


class Call(BoundCall):
    """A call of the candidate on its own copies of the inputs. upload() reads the shared memory,
    and download() writes it."""

    def __init__(self, module, model, inputs, outputs, memory, state=((), ())):
        self.module, self.model, self.function = module, model, model
        self.shared_inputs = [shared(place, memory) for place in inputs]
        self.shared_outputs = [shared(place, memory) for place in outputs]
        self.state = [shared(place, memory) for place in state[0]], state[1]
        self.tensors = [torch.empty_like(one, device=module.device) for one in self.shared_inputs]
        self.outputs = [torch.empty_like(one, device=module.device) for one in self.shared_outputs]
        self.inputs = user_module.with_tensors(module.template, self.tensors)
        self.results, self.value = [], None
        self.recording = None

    def upload(self):
        copy_all(self.shared_inputs, self.tensors)
        copy_all(self.shared_outputs, self.outputs)
        copy_all(*self.state)

    def download(self):
        copy_all(self.tensors, self.shared_inputs)
        copy_all(self.outputs, self.shared_outputs)

    def run(self):
        # A call that cannot be captured is no crash: it is then timed only as called.
        with blamed("unsupported" if is_capturing(self.module.device) else "crash", "the candidate's forward"):
            self.take(self.module.call(self.function, self.inputs))

    def take(self, value):
        self.value = value
        self.results = tensors_of(value)
        check_results(self.results, self.outputs)

    def refresh(self):
        """Does nothing, because the candidate has its own parameters."""

    def publish(self, given=None):
        copy_all(self.results if given is None else given, self.outputs)


def prepare():
    """Slow imports that need no device."""
    if hasattr(torch, "compile"):  # torch._dynamo replaces functions of torch, so it is imported first
        importlib.import_module("torch._dynamo")


class CandidateServer:
    """Server of the worker's requests.
    @param library the library with the timer; None: nothing is timed"""

    def __init__(self, library, device, memory):
        self.host = TimingHost(device, None)
        self.memory = memory
        self.module = self.watch = None
        self.calls = self.host.calls
        self.handles = itertools.count(1)
        self.timer = None
        if library is not None:
            self.timer = Timer(library, self.host, device)
            self.calls[0] = Nothing(self.host.device)
            self.record(0)

    def answer(self, method, parameters):
        try:
            return {"result": getattr(self, "on_" + method)(**parameters)}
        except HostError as error:
            return {"error": {"kind": error.kind, "message": error.message}}
        except BaseException as error:  # every error goes to the worker
            import traceback

            traceback.print_exc()
            kind = "out_of_memory" if host_errors.is_out_of_memory(error) else "crash"
            return {"error": {"kind": kind, "message": f"{method}: {type(error).__name__}: {' '.join(str(error).split())[:500]}"}}

    def on_compile(self, source):
        """Imports the candidate's file, which leaves compiled extensions in the process's
        folder."""
        user_module.import_source(source, user_module.write_source(source))

    def on_load(self, **request):
        self.watch = Watch(unpickled(request["flags"]))
        self.host.waits_for_all = not request["exported"]
        self.module = CandidateModule(request, self.host.device, self.watch)

    def on_bind(self, inputs, outputs, seed, state):
        handle = next(self.handles)
        places = list(state.values())
        model, tensors = self.module.loaded(seed, state, places) if state else (self.module.model(seed), [])
        self.calls[handle] = Call(self.module, model, inputs, outputs, self.memory, (places, tensors))
        return handle

    def on_forget(self, handle):
        call = self.calls.pop(handle)
        if call.recording is not None:
            self.timer.ask("forget", recording=call.recording)

    def on_call(self, handle):
        call = self.calls[handle]
        call.upload()
        call.run()
        self.look()
        call.publish()
        call.download()

    def on_upload(self, handle):
        self.calls[handle].upload()
        synchronize(self.host.device)

    def on_download(self, handle):
        self.calls[handle].download()

    def on_record(self, handle):
        why = self.record(handle)
        self.look()
        return why

    def on_time(self, handle, as_called):
        sample = self.timer.ask("time", recording=self.calls[handle].recording, as_called=as_called)
        return sample

    def on_kernel_calls(self):
        calls = self.module.kernel_calls()
        self.look()
        return calls

    def on_look(self):
        self.look()

    def look(self):
        synchronize(self.host.device)
        self.watch.look("in its forward")

    def record(self, handle):
        made = self.timer.ask("record", call=handle)
        self.calls[handle].recording = made["recording"]
        return made["why"]


def unpickled(text):
    stream = io.BytesIO(base64.b64decode(text))
    try:
        return torch.load(stream, weights_only=False)
    except TypeError:  # torch 1.12 and earlier have no such argument
        stream.seek(0)
        return torch.load(stream)


def shared(place, memory):
    if place["size"] == 0:
        return torch.empty(place["shape"], dtype=dtype_of(place["dtype"]))
    flat = torch.frombuffer(memoryview(memory)[place["offset"]:place["offset"] + place["size"]], dtype=dtype_of(place["dtype"]))
    return flat.view(place["shape"])


def copy_all(sources, targets):
    with torch.no_grad():
        for source, target in zip(sources, targets):
            target.copy_(source)


def tensors_of(value):
    """All tensors of the result, in order. @raise HostError for tensors that are not plain"""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
    found = []
    for part in parts:
        if torch.is_tensor(part):
            check_plain(part)
            found.append(part)
        elif isinstance(part, (dict, list, tuple)):
            found += tensors_of(part)
    return found


def check_results(results, outputs):
    if len(results) != len(outputs):
        raise HostError("bad_launch", f"the candidate gives {len(results)} tensors, the task has {len(outputs)} outputs")
    for result, output in zip(results, outputs):
        if tuple(result.shape) != tuple(output.shape) or result.dtype != output.dtype:
            raise HostError("bad_launch", f"the candidate gives {described(result)} where the task says {described(output)}")


def is_capturing(device):
    return device.type == "cuda" and torch.cuda.is_current_stream_capturing()


def synchronize(device):
    if device.type == "cuda":
        torch.cuda.synchronize()


class blamed:
    """Context manager that attributes errors to the candidate: they become HostErrors of this kind,
    with the operation and the line of the candidate's file."""

    def __init__(self, kind, what):
        self.kind, self.what = kind, what

    def __enter__(self):
        return self

    def __exit__(self, _type, error, _traceback):
        if error is None or isinstance(error, (HostError, KeyboardInterrupt)):
            return False
        kind = "out_of_memory" if host_errors.is_out_of_memory(error) else self.kind
        line = host_errors.place_in(error, host_errors.user_file)
        where = f" (line {line} of its file)" if line else ""
        raise HostError(kind, f"{self.what}: {type(error).__name__}: {' '.join(str(error).split())[:500]}{where}") from error
