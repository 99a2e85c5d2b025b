"""A task's module under torch.compile, and calls of it.

Compiling takes longer than all measuring of a task and needs no GPU, so where several workers share one, another may use it meanwhile
(GpuTurn). Only the compiler itself is let go so: what torch traces before, what it runs after, and what it times while it compiles
happen with the GPU to itself, as everywhere. Thread: the main thread.
"""

import contextlib
import importlib

import torch

import user_module
from module_host import ModuleCall, compile_module
from tensors import as_tensor


class GpuTurn:
    """The worker's turn on a GPU that it may share. @param give, take functions of the runner's library"""

    def __init__(self, give, take, synchronize=torch.cuda.synchronize):
        self.give, self.take, self.synchronize = give, take, synchronize
        self.is_given = False
        self.is_ready = None  # whether torch lets the compiler be told apart; None: not tried

    @contextlib.contextmanager
    def given(self):
        self.synchronize()
        self.give()
        self.is_given = True
        try:
            yield
        finally:
            self.is_given = False
            self.take()

    @contextlib.contextmanager
    def taken_back(self):
        """For what uses the GPU while the turn is given."""
        if not self.is_given:
            yield
            return
        self.is_given = False
        self.take()
        try:
            yield
        finally:
            self.synchronize()
            self.give()
            self.is_given = True

    def prepare_compiler(self):
        """Has torch.compile give the turn while Inductor compiles, where this torch can be told to."""
        if self.is_ready is not None:
            return
        self.is_ready = False
        with self.given():  # importing takes seconds
            try:
                compiler = torch._TorchCompileInductorWrapper
                importlib.import_module("torch._inductor.compile_fx")
                benchmarker = importlib.import_module("torch._inductor.runtime.benchmarking").benchmarker
                compile_graph, benchmark = compiler.__call__, benchmarker.benchmark_gpu
            except (ImportError, AttributeError):
                return

        def compile_apart(one, graph, inputs):
            with self.given():
                return compile_graph(one, graph, inputs)

        def benchmark_alone(*arguments, **options):
            with self.taken_back():
                return benchmark(*arguments, **options)

        compiler.__call__, benchmarker.benchmark_gpu = compile_apart, benchmark_alone
        self.is_ready = True


class CompiledModule:
    """The one copy of a module that torch.compile sees: its parameters' memory changes from call to call, the objects do not."""

    def __init__(self, module, turn=None):
        self.model = user_module.on_memory(module.model(), {})
        self.rnns = [one for one in self.model.modules() if isinstance(one, torch.nn.RNNBase)]
        for rnn in self.rnns:
            rnn.flatten_parameters()
        if turn is not None:
            turn.prepare_compiler()
        self.function = compile_module(self.model)
        self.bound = None  # the call whose memory is under it


class CompiledCall(ModuleCall):
    """A call of that copy on this call's memory."""

    def __init__(self, compiled, module, arguments, outputs, device):
        self.module, self.compiled = module, compiled
        tensors = [as_tensor(one, device) for one in arguments]
        template = module.inputs_template()
        count = len(user_module.tensors_in(template))
        self.inputs = user_module.with_tensors(template, tensors[:count])
        self.state = dict(zip((one["name"] for one in arguments[count:]), tensors[count:]))
        self.model, self.function, self.rnns = compiled.model, compiled.function, compiled.rnns
        self.outputs = [as_tensor(one, device) for one in outputs]
        self.value, self.results = None, []

    def run(self):
        self.bind()
        super().run()

    def bind(self):
        """Whether another's memory was under the module."""
        if self.compiled.bound is self:
            return False
        self.refresh()
        return True

    def refresh(self):
        self.compiled.bound = self
        for name, memory in self.state.items():
            current = user_module.state(self.model, name)
            if self._is_flattened(current):
                current.copy_(memory)
            elif current.data_ptr() != memory.data_ptr() and memory.numel() > 0:
                current.data = memory
