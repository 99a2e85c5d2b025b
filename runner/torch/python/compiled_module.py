"""A task's module under torch.compile, and calls of it.

Compilation takes longer than all measurements of a task and needs no GPU. If several workers share
a GPU, another worker may use the GPU meanwhile (GpuTurn). Calls of the compiled module, and timings
by the compiler itself, have the GPU to themselves. If a module is a single graph, none of it runs
before compilation ends. Modules are therefore first compiled as a single graph. If that fails, only
Inductor's part of the compilation gives up the GPU, graph by graph. Thread: the main thread.
"""

import contextlib
import importlib

import torch

import user_module
from module_host import ModuleCall, compile_module
from tensors import as_tensor


class GpuTurn:
    """The worker's turn on a GPU that may be shared.
    @param give, take functions of the runner's library"""

    def __init__(self, give, take, synchronize=torch.cuda.synchronize):
        self.give, self.take, self.synchronize = give, take, synchronize
        self.is_given = False
        self.is_ready = None  # result of watch_compiler(); None: not tried yet

    def let_go(self):
        if not self.is_given:
            self.synchronize()
            self.give()
            self.is_given = True

    def take_back(self):
        if self.is_given:
            self.is_given = False
            self.take()

    @contextlib.contextmanager
    def given_away(self):
        self.let_go()
        try:
            yield
        finally:
            self.take_back()

    def prepare_compiler(self):
        """Makes Inductor give up the GPU while it compiles.
        @return whether this torch supports that"""
        if self.is_ready is None:
            self.is_ready = self.watch_compiler()
        return self.is_ready

    def watch_compiler(self):
        try:
            compiler = torch._TorchCompileInductorWrapper
            importlib.import_module("torch._inductor.compile_fx")
            benchmarker = importlib.import_module("torch._inductor.runtime.benchmarking").benchmarker
            compile_graph, benchmark = compiler.__call__, benchmarker.benchmark_gpu
        except (ImportError, AttributeError):
            return False

        def compile_apart(one, graph, inputs):
            with self.given_away():
                return compile_graph(one, graph, inputs)

        def benchmark_alone(*arguments, **options):
            was_given = self.is_given
            self.take_back()
            try:
                return benchmark(*arguments, **options)
            finally:
                if was_given:
                    self.let_go()

        compiler.__call__, benchmarker.benchmark_gpu = compile_apart, benchmark_alone
        return True


class CompiledModule:
    """The copy of a module that torch.compile sees. The memory of its parameters changes from call
    to call; the parameter objects stay the same. @param mode torch.compile's mode"""

    def __init__(self, module, mode="default", turn=None):
        self.mode = mode
        self.model = user_module.on_memory(module.model(), {})
        self.rnns = [one for one in self.model.modules() if isinstance(one, torch.nn.RNNBase)]
        for rnn in self.rnns:
            rnn.flatten_parameters()
        self.function = compile_module(self.model, mode)
        self.turn = turn if turn is not None and turn.prepare_compiler() else None
        self.bound = None  # the call whose memory the parameters use
        self.own = {}  # by name: the state tensors that the module was compiled with

    def compile_as_one_graph(self, module, inputs):
        """Compiles a module that is a single graph, before its first call and without the GPU."""
        turn, self.turn = self.turn, None
        if turn is None:
            return
        function = compile_module(self.model, self.mode, fullgraph=True)
        turn.let_go()
        try:
            module.call(function, inputs)
            self.function = function
        except Exception:  # more than one graph, or another error, which the next call reports
            torch._dynamo.reset()
        finally:
            turn.take_back()


class CompiledCall(ModuleCall):
    """A call of a CompiledModule on this call's memory."""

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
        self.compiled.compile_as_one_graph(self.module, self.inputs)
        self.function = self.compiled.function
        super().run()

    def bind(self):
        if self.compiled.bound is self:
            self.put_back()
            return False
        self.refresh()
        return True

    def put_back(self):
        """Restores state tensors that a call replaced: the module gets the tensors back that it was
        compiled with, on this call's memory."""
        for name, memory in self.state.items():
            current = user_module.state(self.model, name)
            own = self.compiled.own.setdefault(name, current)
            if current is not own:
                user_module.set_state(self.model, name, own)
                own.data = memory

    def refresh(self):
        self.compiled.bound = self
        self.put_back()
        for name, memory in self.state.items():
            current = user_module.state(self.model, name)
            if self._is_flattened(current):
                current.copy_(memory)
            elif current.data_ptr() != memory.data_ptr() and memory.numel() > 0:
                current.data = memory
