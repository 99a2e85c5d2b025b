"""The torch host of a GPU worker: a ModuleHost that times both sides of a task in the same way.

All work runs on the worker's stream, which is torch's current stream on this thread. torch captures
the graphs, so that its allocator keeps a capture's memory in place. The worker adds its time stamps
to the capture. runner/cuda/cuda_torch.h documents the methods. Thread: the main thread.
"""

import contextlib
import gc
import sys
import time

import torch

import framework_flags
import user_module
from compiled_module import CompiledCall, CompiledModule
from host_errors import HostError, told_by
from module_call_program import Program, candidate_call
from module_host import ModuleHost, OperatorCall, described
from tensors import as_tensor, span


WARM_CALLS = 4  # calls right before a timed call


class GpuHost(ModuleHost):
    """@param start the executor's C function: (executor, group, addresses) -> CUresult
    @param extension the module compiled from warpwright_runtime/call; None if it could not be
        compiled
    @param turn a GpuTurn if the GPU may be shared, else None
    @param extension_file (name, bytes) of that module's library, which exports get; None if there is
        none"""

    def __init__(self, device, start, extension=None, turn=None, extension_file=None):
        super().__init__(device)
        self.extension_file = extension_file
        self.start, self.extension, self.turn = start, extension, turn
        self.models = {}  # for candidates: addresses of the arguments -> a copy of the module on them
        self.stream = None
        self.live = None  # in unpublished runs: [(first address, end, result)]
        self.ran = None  # calls of the current capture, which keep their results
        self.graphs = {}
        self.timed = {}
        self.warming = None  # the call that runs before the next timed call
        self.anchor = None
        self.compiled = None  # ((module, mode), its CompiledModule)
        torch.set_grad_enabled(False)

    # ---- The device

    def facts(self):
        facts = {
            "version": f"torch {torch.__version__}, Python {sys.version.split()[0]}",
            "torch": torch.__version__,
            "python": sys.version.split()[0],
            "interpreter": sys.executable,
            "candidate_calls": "python" if self.extension is None else "compiled",
        }
        if self.device.type == "cuda":
            facts["cuda"] = str(torch.version.cuda)
            facts["cudnn"] = str(torch.backends.cudnn.version())
        for name, value in framework_flags.current().items():
            facts[name] = str(value)
        return facts

    def use_stream(self, ordinal, stream):
        if not torch.cuda.is_available():
            raise HostError("unsupported", f"torch {torch.__version__} (CUDA {torch.version.cuda}) of {sys.executable} sees no GPU")
        torch.cuda.set_device(ordinal)
        self.stream = torch.cuda.ExternalStream(stream, device=torch.device("cuda", ordinal))
        torch.cuda.set_stream(self.stream)

    def start_job(self):
        self.live = self.ran = None
        self.models.clear()
        if not self.graphs:
            self.anchor = None
        self.release_memory()

    def release_memory(self):
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def load(self, spec):
        changed = self.loaded is None or self.loaded.spec != spec
        if changed:
            self.compiled = None
            self.models.clear()
            if "torch._dynamo" in sys.modules:  # naming torch._dynamo imports it, which takes seconds
                torch._dynamo.reset()
        super().load(spec)
        if changed:
            self.release_memory()

    # ---- Calls

    def bind_module(self, compiled, arguments, outputs, exact):
        if not compiled or exact:
            return super().bind_module("", arguments, outputs, exact)
        module = self._module()
        if self.compiled is None or self.compiled[0] != (module, compiled):
            if self.compiled is not None:
                torch._dynamo.reset()  # nothing of the other mode is kept
            self.compiled = ((module, compiled), CompiledModule(module, compiled, self.turn))
        return self._keep(CompiledCall(self.compiled[1], module, arguments, outputs, self.device))

    def call(self, handle):
        call = self.calls[handle]
        if self.live is not None and isinstance(call, OperatorCall):
            call.run(*self.substituted(call))
            self.live += regions(call)
        else:
            call.run()
        if self.ran is not None:
            self.ran.append(call)

    def begin_unpublished(self):
        self.live = []

    def end_unpublished(self):
        self.live = None

    def substituted(self, call):
        """(arguments, keywords) of the call. Results of earlier calls of this run replace the
        memory that they will be published to."""
        return (user_module.mapped(call.arguments, self.substitute),
                user_module.mapped(call.keywords, self.substitute))

    def substitute(self, tensor):
        address = tensor.data_ptr()
        for first, end, result in reversed(self.live):
            if first <= address < end:
                offset = (address - first) // result.element_size()
                return result.as_strided(tensor.shape, tensor.stride(), result.storage_offset() + offset)
        return tensor

    # ---- Graphs

    def pool(self):
        """The memory pool shared by all captures of a job, which never replay at the same time. A
        trivial graph keeps the pool alive between captures."""
        if self.anchor is None:
            handle = torch.cuda.graph_pool_handle()
            graph = torch.cuda.CUDAGraph()
            begin_capture(graph, handle)
            tensor = torch.zeros(1, device=self.device)
            graph.capture_end()
            self.anchor = (handle, graph, tensor)
        return self.anchor[0]

    def begin_capture(self):
        with told_by("starting a graph capture"):
            pool = self.pool()
            graph = torch.cuda.CUDAGraph()
            gc.disable()
            try:
                begin_capture(graph, pool)
            except BaseException:
                gc.enable()
                raise
        self.ran = []
        handle = next(self._handles)
        self.graphs[handle] = Graph(graph)
        return handle

    def end_capture(self, graph, keep):
        held, ran, self.ran = self.graphs[graph], self.ran, None
        gc.enable()
        if not keep:
            with contextlib.suppress(Exception):
                held.graph.capture_end()
            self.recover()
            return
        try:
            with told_by("this cannot be captured as a CUDA graph"):
                held.graph.capture_end()
        except HostError:
            self.recover()
            raise
        held.calls = [(call, call.given()) for call in ran]

    def recover(self):
        """Restores torch after a failed capture. torch then leaves its allocator in the capture's
        pool and its generator in capture mode, because CUDAGraph::capture_end resets both only if
        the driver ended the capture. Both are reset and tested."""
        pool, self.anchor = self.anchor[0], None
        index = torch.cuda.current_device()
        for name in ("_cuda_endAllocateToPool", "_cuda_endAllocateCurrentStreamToPool"):
            with contextlib.suppress(Exception):
                getattr(torch._C, name)(index, pool)
        generator = torch.cuda.default_generators[index]
        if hasattr(generator, "graphsafe_set_state"):
            with contextlib.suppress(Exception):
                generator.graphsafe_set_state(torch.Generator(device=self.device).graphsafe_get_state())
        with contextlib.suppress(Exception):  # clears CUDA's last error
            torch.cuda.synchronize()
        try:
            torch.rand(1, device=self.device)
            torch.cuda.synchronize()
        except Exception as error:
            raise HostError("crash", f"torch {torch.__version__} does not recover from a capture that failed: {error}") from error

    def replay(self, graph):
        self.graphs[graph].graph.replay()

    def publish_graph(self, graph):
        for call, given in self.graphs[graph].calls:
            call.publish(given)

    def forget_graph(self, graph):
        self.graphs.pop(graph, None)

    # ---- Calls from Python, timed

    def make_call(self, module, steps, executor, arguments, outputs, temporaries):
        handle = next(self._handles)
        if module:
            self.timed[handle] = TimedModule(self.calls[module])
        else:
            program = Program(self, steps, executor, arguments, outputs, temporaries)
            self.timed[handle] = TimedCandidate(*candidate_call(self, program), program, outputs)
        return handle

    def forget_call(self, call):
        self.timed.pop(call, None)

    def time_call(self, call, limit_ns):
        timed, other = self.timed[call], self.timed.get(self.warming)
        self.warming = None
        if other is not None:
            self.warm(other, limit_ns)
        self.make_ready(timed)
        with timed.context(), told_by(timed.what):
            return self.clocked(timed, limit_ns)

    def warm_call(self, call):
        self.warming = call

    def warm(self, timed, limit_ns):
        self.make_ready(timed)
        with timed.context(), told_by(timed.what):
            for _ in range(WARM_CALLS):
                self.clocked(timed, limit_ns)
                timed.value = None

    def make_ready(self, timed):
        if timed.prepare():
            torch.cuda.synchronize()

    def clocked(self, timed, limit_ns):
        """Host time in ns of one call. The interval is the same for both sides: one call of a torch
        module, and waiting for the stream."""
        function, inputs, is_idle, clock = timed.function, timed.inputs, self.is_idle(), time.perf_counter_ns
        gc.disable()
        try:
            begin = clock()
            value = function(*inputs)
            while not is_idle():
                if clock() - begin > limit_ns:
                    raise HostError("timeout", f"{timed.what} did not end before the job's deadline")
            end = clock()
        finally:
            gc.enable()
        timed.value = value
        return end - begin

    def is_idle(self):
        return self.stream.query if self.stream is not None else lambda: True

    def publish_call(self, call):
        self.timed[call].publish()


def begin_capture(graph, pool):
    """Begins a capture, in relaxed mode if torch has that option. Nothing else in this process uses
    the device meanwhile."""
    try:
        graph.capture_begin(pool=pool, capture_error_mode="relaxed")
    except TypeError:
        graph.capture_begin(pool=pool)


def regions(call):
    """[(first address, end, result)] of the buffers that a call's results will be published to."""
    found = []
    for result, output in zip(call.results, call.outputs):
        if output is not None and output.numel() > 0:
            size = span(output.shape, output.stride()) * output.element_size()
            found.append((output.data_ptr(), output.data_ptr() + size, result))
    return found


class Graph:
    def __init__(self, graph):
        self.graph = graph
        self.calls = []  # captured calls, each with the results that replays write


class TimedModule:
    """A timed call of the task's module, as in the user's program."""

    what = "the module's forward"

    def __init__(self, call):
        self.call = call
        self.function = call.function
        template = call.inputs
        if isinstance(template, dict):
            self.function = lambda function=call.function: function(**template)
            template = ()
        self.inputs = tuple(template)
        self.value = None

    def prepare(self):
        """Puts the module back on its call's memory, which an earlier call may have replaced.
        @return whether work was started on the device"""
        return self.call.bind()

    def context(self):
        module = self.call.module
        return user_module.on_device(module.device) if module.in_device_context else contextlib.nullcontext()

    def publish(self):
        self.call.take(self.value)
        self.call.publish()
        self.value = self.call.value = None
        self.call.results = []
        spoil(self.call.outputs)


class TimedCandidate:
    what = "the candidate's call"

    def __init__(self, module, inputs, program, outputs):
        self.function, self.inputs = module, inputs
        self.outputs = [as_tensor(one, program.device) for one in outputs]
        self.value = None

    def prepare(self):
        return False

    def context(self):
        return contextlib.nullcontext()

    def publish(self):
        values = [self.value] if torch.is_tensor(self.value) else list(self.value)
        for value, output in zip(values, self.outputs):
            if tuple(value.shape) != tuple(output.shape):
                raise HostError("internal", f"the candidate's call gave {described(value)} for {described(output)}")
            output.copy_(value)
        self.value = value = values = None
        spoil(self.outputs)


def spoil(outputs):
    """Overwrites the memory that torch's allocator gives to the next outputs of these shapes, so
    that a call that computes nothing does not return earlier results."""
    made = [torch.empty(tuple(one.shape), dtype=one.dtype, device=one.device) for one in outputs]
    for tensor in made:
        tensor.fill_(float("nan") if tensor.is_floating_point() else 1)
