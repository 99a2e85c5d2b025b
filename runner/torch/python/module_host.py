"""A task's module, made from its source text, and calls of the module and of ATen operators on
memory that the runner owns.

Both hosts use this file: host.py in the interpreter of a GPU worker, and child_host.py in the child
process of the CPU worker. The hosts only translate requests. Memory is given by address and used
without a copy (tensors.py). Errors are HostErrors with one of the runner's kinds of fault. The file
makes no decisions about correctness and starts no threads. It works with torch 1.13 to 2.11.
Thread: one.
"""

import gc
import itertools

import torch

import call_guards
import cpp_module
import framework_flags
import user_module
from host_errors import HostError, told_by
from tensors import as_tensor, copy_flat, same_layout


class ModuleHost:
    """Holder of one loaded module and of the bound calls."""

    turn = None  # a GpuTurn if the GPU may be shared
    extension_file = None  # (name, bytes) of warpwright_runtime's extension, for exports

    def __init__(self, device="cpu"):
        self.device = torch.device(device)
        self.loaded = None
        self.calls = {}
        self.drawn_parameters = (user_module.LOADED_SEED, False)  # last drawing: seed, constants vary
        self.candidates = None  # a Candidates once another system's module was bound
        self._handles = itertools.count(1)

    def load(self, spec):
        """Loads a module and forgets the previous one. @param spec {language, source, model,
        inputs, init_inputs, mode}, and `files` and `path` of the project if any"""
        if self.candidates is not None:  # every job loads its module; this ends the last job's candidate
            self.candidates.forget()
        if self.loaded is not None and self.loaded.spec == spec:
            framework_flags.restore(self.loaded.flags)
            return
        self.loaded = None
        self.calls.clear()
        gc.collect()
        framework_flags.restore_defaults()
        self.loaded = user_module.UserModule(spec, self.device)

    def draw(self, seeds, scale, arguments):
        """Fills the task's In and InOut buffers.
        @param seeds (inputs, parameters, whether constant parameters vary, whether the constructor
            runs on the CPU)
        @param scale factor for floating-point inputs
        @param arguments [{address, dtype, shape, strides, name}]"""
        module = self._module()
        tensors = [as_tensor(one, self.device) for one in arguments]
        inputs = user_module.tensors_in(module.make_inputs(seeds[0]))
        names = [one["name"] for one in arguments]
        check_inputs(inputs, tensors, names)
        with torch.no_grad():
            for source, target in zip(inputs, tensors):
                target.copy_(source)
                if scale != 1 and target.is_floating_point():
                    target.mul_(scale)
            self.drawn_parameters = (seeds[1], seeds[2])
            model = module.initialised(*seeds[1:])
            for name, target in zip(names[len(inputs):], tensors[len(inputs):]):
                source = user_module.state(model, name)
                if tuple(source.shape) != tuple(target.shape) or source.dtype != target.dtype:
                    raise HostError("unsupported", f"'{name}' is {described(source)} in the module and "
                                    f"{described(target)} in the task")
                target.copy_(source)

    def bind_module(self, compiled, arguments, outputs, exact):
        """Binds a call of the module; see runner/device/torch_host.h. @return a handle
        @param compiled torch.compile's mode; "": not compiled"""
        kind = ExactCall if exact else ModuleCall
        return self._keep(kind(self._module(), compiled, arguments, outputs, self.device))

    def bind_operator(self, step, tensors):
        """Binds a call of an ATen operator. @return a handle
        @param step an ATen step of a plan
        @param tensors memory of the step's views, then of its results"""
        return self._keep(OperatorCall(step, tensors, self.device))

    def input_count(self):
        return len(user_module.tensors_in(self._module().inputs_template()))

    def bind_candidate(self, source, model, arguments, outputs, exported=False, files=None):
        """Binds a call of another system's module or of an export, which gets its own process
        (candidate_calls.py). @return a handle
        @param exported whether the file is an export, whose calls are counted
        @param files {name: text} of files beside it"""
        from candidate_calls import CandidateFile, Candidates

        if self.candidates is None:
            self.candidates = Candidates()
        self._module()
        return self._keep(self.candidates.bind(self, CandidateFile(source, model, exported, files or {}), arguments, outputs))

    def kernel_calls(self):
        return self.candidates.kernel_calls()

    def record_candidate(self, handle):
        return self.calls[handle].record()

    def time_candidate(self, handle, as_called):
        return self.calls[handle].time(as_called)

    def forget(self, handle):
        call = self.calls.pop(handle, None)
        if hasattr(call, "close"):
            call.close()

    def refresh(self, handle):
        with torch.no_grad():
            self.calls[handle].refresh()

    def call(self, handle):
        self.calls[handle].run()

    def results(self, handle):
        return [0 if one is None else one.data_ptr() for one in self.calls[handle].results]

    def publish(self, handle):
        with torch.no_grad():
            self.calls[handle].publish()

    def _module(self):
        if self.loaded is None:
            raise HostError("internal", "there is no loaded module")
        return self.loaded

    def _keep(self, call):
        handle = next(self._handles)
        self.calls[handle] = call
        return handle


def described(tensor):
    return f"{str(tensor.dtype).replace('torch.', '')}{list(tensor.shape)}"


def check_inputs(inputs, tensors, names):
    """Checks that dtypes and shapes of the drawn inputs are those of the task, which was made from
    the same file."""
    if len(inputs) > len(tensors):
        raise HostError("unsupported", f"the module has {len(inputs)} input tensors, the task only {len(tensors)}")
    for source, target, name in zip(inputs, tensors, names):
        if tuple(source.shape) != tuple(target.shape) or source.dtype != target.dtype:
            raise HostError("unsupported", f"the input '{name}' is drawn as {described(source)}, and the task says "
                            f"{described(target)}")


class BoundCall:
    """Base of all calls, for graph capture and replay: results of the last run, and the outputs
    that they are published to."""

    results, outputs = (), ()

    def given(self):
        """Results of the last run, for publish(). Replays of a graph write the results of its
        capture, even if other runs made new results meanwhile."""
        return list(self.results)

    def publish(self, given=None):
        for result, output in zip(self.results if given is None else given, self.outputs):
            output.copy_(result)


class ModuleCall(BoundCall):
    """A call of the module, as in the user's program, with parameters in the runner's memory."""

    def __init__(self, module, compiled, arguments, outputs, device):
        self.module = module
        tensors = [as_tensor(one, device) for one in arguments]
        template = module.inputs_template()
        count = len(user_module.tensors_in(template))
        self.inputs = user_module.with_tensors(template, tensors[:count])
        self.state = dict(zip((one["name"] for one in arguments[count:]), tensors[count:]))
        with torch.no_grad():
            self.model = user_module.on_memory(module.model(), self.state)
        self.rnns = [one for one in self.model.modules() if isinstance(one, torch.nn.RNNBase)]
        if device.type == "cuda":
            for rnn in self.rnns:
                rnn.flatten_parameters()
        self.function = compile_module(self.model, compiled) if compiled else self.model
        self.outputs = [as_tensor(one, device) for one in outputs]
        self.value = None
        self.results = []

    def run(self):
        self.put_back()  # a capture must read this call's memory, not memory of an earlier run
        if self.module.guards is None and self.function is self.model:
            return self.watch()
        with told_by("the module's forward"):
            self.take(self.module.call(self.function, self.inputs))

    def watch(self):
        """A run that also records the guards that a candidate's call checks, as an export does."""
        reads = call_guards.Reads(self.model, call_guards.owner_of(self.module.namespace))
        with told_by("the module's forward"), reads:
            self.take(self.module.call(self.function, self.inputs))
        self.module.guards = call_guards.of_model(self.model, reads, call_guards.owner_of(self.module.namespace))

    def take(self, value):
        """Sets the value of the call, whoever computed it."""
        self.value = value
        self.results = user_module.tensors_in(value)
        check_outputs(self.results, self.outputs)

    def bind(self):
        """Puts the module back on this call's memory. @return whether the device got work"""
        self.put_back()
        flattened = [(current, memory) for _, current, memory in self._elsewhere() if self._is_flattened(current)]
        for current, memory in flattened:
            current.copy_(memory)
        return bool(flattened)

    def put_back(self):
        """Puts this call's memory in place of state that a run replaced, without device work."""
        for name, current, memory in self._elsewhere():
            if not self._is_flattened(current):
                user_module.set_state(self.model, name, memory)

    def _elsewhere(self):
        """[(name, the module's tensor, this call's memory)] of state that lies in other memory."""
        found = [(name, user_module.state(self.model, name), memory) for name, memory in self.state.items()]
        return [(name, current, memory) for name, current, memory in found
                if current.data_ptr() != memory.data_ptr() and memory.numel() > 0]

    def refresh(self):
        self.bind()

    def given(self):
        """(results, {name: state that the module replaced}) of the last run."""
        replaced = {name: current for name, current, _ in self._elsewhere() if not self._is_flattened(current)}
        return list(self.results), replaced

    def publish(self, given=None):
        results, replaced = self.given() if given is None else given
        for result, output in zip(results, self.outputs):
            output.copy_(result)
        for name, current in replaced.items():
            self.state[name].copy_(current)

    def _is_flattened(self, tensor):
        return any(tensor is weight for rnn in self.rnns for weight in rnn._parameters.values())


class ExactCall(BoundCall):
    """The module in float64, on copies that each call makes. The results are the outputs, then the
    new state."""

    def __init__(self, module, _compiled, arguments, outputs, device):
        self.module = module
        self.tensors = [as_tensor(one, device) for one in arguments]
        self.names = [one["name"] for one in arguments]
        self.outputs = [as_tensor(one, device) for one in outputs]
        self.output_names = [one["name"] for one in outputs]
        self.results = []

    def refresh(self):
        """Does nothing, because each call makes new copies."""

    def run(self):
        try:
            self.run_once()
        except HostError as error:
            if error.kind != "unsupported":
                raise
            with DoubleForFloat():  # the module may request float32 explicitly
                self.run_once()

    def run_once(self):
        template = self.module.inputs_template()
        count = len(user_module.tensors_in(template))
        default = torch.get_default_dtype()
        with torch.no_grad(), told_by("the module in float64"):
            state = dict(zip(self.names[count:], map(doubled, self.tensors[count:])))
            model = user_module.on_memory(self.module.model(), state, convert=doubled)
            inputs = user_module.with_tensors(template, [doubled(one) for one in self.tensors[:count]])
            torch.set_default_dtype(torch.float64)
            try:
                value = self.module.call(model, inputs)
            finally:
                torch.set_default_dtype(default)
            self.results = user_module.tensors_in(value)
            known = set(self.names[count:])
            self.results += [user_module.state(model, name) for name in self.output_names[len(self.results):]
                             if name in known]
        check_outputs(self.results, self.outputs)

    def publish(self, given=None):
        super().publish(given)
        self.results = []


class DoubleForFloat(torch.overrides.TorchFunctionMode):
    """Mode in which explicit requests for float32 give float64."""

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        if function is torch.Tensor.float:
            function = torch.Tensor.double
        named = {name: self.widened(value) for name, value in (keywords or {}).items()}
        return function(*map(self.widened, arguments), **named)

    @staticmethod
    def widened(value):
        return torch.float64 if value is torch.float32 else value


def doubled(tensor):
    return tensor.to(torch.float64) if tensor.is_floating_point() else tensor.clone()


def check_outputs(results, outputs):
    if len(results) != len(outputs):
        raise HostError("unsupported", f"the module gives {len(results)} tensors, the task has {len(outputs)} outputs")
    for result, output in zip(results, outputs):
        if tuple(result.shape) != tuple(output.shape) or result.dtype != output.dtype:
            raise HostError("unsupported", f"the module gives {described(result)} where the task says {described(output)}")


def compile_module(model, mode="default", **options):
    """The module under torch.compile. @param options further arguments of torch.compile"""
    if isinstance(model, (cpp_module.CppFunction, cpp_module.CppModule)):
        raise HostError("unsupported", "torch.compile does not compile C++ functions")
    if not hasattr(torch, "compile"):
        raise HostError("unsupported", f"torch {torch.__version__} has no torch.compile")
    return torch.compile(model, mode=mode, **options)


class OperatorCall(BoundCall):
    """One ATen operator on bound memory. Callers may pass run() arguments on other memory."""

    def __init__(self, step, tensors, device):
        self.name = step["op"]
        self.function = find_operator(step["op"])
        memory = iter(tensors)
        values = [bound(one, memory, device) for one in step.get("arguments", [])]
        named = step.get("keywords", {})
        keywords = {name: bound(named[name], memory, device) for name in sorted(named)}
        self.arguments, self.keywords = converted(self.function._schema, values, keywords, device)
        self.wanted = step["results"]
        self.outputs = [as_tensor(one, device) if view is not None else None
                        for view, one in zip(self.wanted, memory)]
        self.results = []

    def run(self, arguments=None, keywords=None):
        with torch.no_grad(), told_by(self.name):
            value = self.function(*(self.arguments if arguments is None else arguments),
                                  **(self.keywords if keywords is None else keywords))
        given = [one for one in (value if isinstance(value, (tuple, list)) else [value]) if torch.is_tensor(one)]
        if len(given) < len(self.outputs):
            raise HostError("bad_launch", f"{self.name} gives {len(given)} tensors, the plan wants {len(self.outputs)}")
        self.results = [None if output is None else self._checked(result, output)
                        for result, output in zip(given, self.outputs)]

    def _checked(self, result, output):
        """The result in the plan's layout. Some operators choose a layout by their kernel; their
        results are copied."""
        if result.dtype != output.dtype or result.shape != output.shape:
            raise HostError("bad_launch", f"{self.name} gives {described(result)}, the plan says {described(output)}")
        if same_layout(result, output):
            return result
        return torch.empty_strided(output.shape, output.stride(), dtype=output.dtype, device=output.device).copy_(result)

    def refresh(self):
        """Does nothing, because operators hold no state."""

    def publish(self, given=None):
        for result, output in zip(self.results if given is None else given, self.outputs):
            if output is not None and result.data_ptr() != output.data_ptr():
                copy_flat(result, output)


def find_operator(full_name):
    """The overload in torch.ops. @param full_name such as "aten::add.Tensor"
    @raise HostError for unknown operators and for those that write to arguments"""
    name, _, overload = full_name.partition("::")[2].partition(".")
    packet = getattr(torch.ops.aten, name, None)
    function = None if packet is None else getattr(packet, overload or "default", None)
    if function is None:
        raise HostError("unsupported", f"torch {torch.__version__} has no operator {full_name}")
    if any(argument.alias_info is not None and argument.alias_info.is_write for argument in function._schema.arguments):
        raise HostError("bad_launch", f"{full_name} changes its arguments")
    return function


def bound(value, memory, device):
    """An argument of a step, with tensors in place of its views. @param memory iterator of the
    tensors"""
    if isinstance(value, dict):
        if "tensor" in value:
            return as_tensor(next(memory), device)
        if "tensors" in value:
            return [as_tensor(one, device) if view is not None else None for view, one in zip(value["tensors"], memory)]
        return float(value["number"])
    return value


def converted(schema, values, keywords, device):
    """Converts names of dtypes, layouts and memory formats to torch's objects, and adds the device
    to factories."""
    kinds = {argument.name: str(argument.type) for argument in schema.arguments}
    names = [argument.name for argument in schema.arguments]
    values = [enumerated(value, kinds[name]) for name, value in zip(names, values)] + values[len(names):]
    keywords = {name: enumerated(value, kinds.get(name, "")) for name, value in keywords.items()}
    if "device" in kinds and "device" not in keywords and names.index("device") >= len(values):
        takes_tensor = any("Tensor" in kind for kind in kinds.values())
        if not takes_tensor:
            keywords["device"] = device
    return values, keywords


def enumerated(value, kind):
    if not isinstance(value, str) or "str" in kind:
        return value
    found = getattr(torch, value.replace("torch.", ""), None)
    return found if isinstance(found, (torch.dtype, torch.memory_format, torch.layout)) else value
