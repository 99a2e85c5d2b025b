"""A verified plan of a user's class: its kernels, and the forward that calls them.

A plan is a dict of literals: name (the class), guards (guard_values.py, one per verified state of
the module), inputs and outputs (patterns, `...` for a tensor), state (names of the module's own
tensors), arguments, results and temporaries (name, dtype, shape), capability, target (NVRTC's
architecture), multiprocessors, source, options, steps. Calls that do not fit the plan run the
user's own forward; they are counted by reason, and each reason is reported once. Thread: any.
"""

import math
import struct
import subprocess
import warnings

import torch

from . import extension
from .description import describe, operation, size_of
from .driver import Driver
from .guard_values import for_call
from .nvrtc import compile_kernels

PACKED = {"bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
          "uint64": "Q", "float16": "e", "float32": "f", "float64": "d"}
DEFAULT_SHARED_BYTES = 48 * 1024
is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)


class DoesNotFit(Exception):
    """The reason why a launch does not fit on the device."""


class ExportedPlan:
    """A plan whose `call(module, *inputs)` returns the outputs, or NotImplemented if something is
    not as verified.
    @param owner the `__name__` of the file that defines the class"""

    device = "cuda"

    def __init__(self, plan, owner="__main__", constants=()):
        self.plan, self.owner, self.constants = plan, owner, constants
        self.functions = []  # the extension's functions: one plan with different input patterns
        self.forwards = []  # the forwards that call the plan
        self.refused = {}  # number of calls that never reached the extension, by reason
        self.why = "there is no CUDA GPU"
        self.call = self.refuse
        if not self.is_available():
            return
        try:
            self.extension = extension.load_once(extension.read_source())
            self.binary = self.compile()
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            self.why = str(error)
            return
        self.describe()

    # ---- Counts

    def refuse(self, *_):
        return self.refuse_for(self.why)

    def refuse_for(self, why):
        self.refused[why] = self.refused.get(why, 0) + 1
        if self.refused[why] == 1:
            warnings.warn(f"{self.plan['name']}: the verified kernels are not used, its own forward runs: {why} (said once, "
                          "later calls are counted)", RuntimeWarning, stacklevel=3)
        return NotImplemented

    def runs(self):
        """Number of calls that the kernels answered."""
        return sum(self.extension.counts(one)[0] for one in self.functions)

    def fallbacks(self):
        """{reason: number of calls that the user's own forward answered}"""
        total = dict(self.refused)
        for function in self.functions:
            for why, count in self.extension.counts(function)[1].items():
                total[why] = total.get(why, 0) + count
        return total

    def is_available(self):
        return torch.cuda.is_available()

    def compile(self):
        kernels = sorted({step[1] for step in self.plan["steps"] if step[0] == "launch"})
        return compile_kernels(self.plan["source"], kernels, self.plan["options"], self.target())

    # ---- Forward

    def forward_of(self, original):
        """A forward with the original's signature that calls the kernels. It calls the original for
        calls that do not fit the plan, and while torch.compile or torch.export traces it."""
        code = getattr(original, "__code__", None)
        if code is None or code.co_flags & 0x0C or code.co_kwonlyargcount:  # *args, **keywords
            def forward(self, *inputs, **keywords):
                if is_compiling():
                    outputs = NotImplemented
                elif not keywords:
                    outputs = call(self, *inputs)
                else:
                    values = by_position(original, inputs, keywords)
                    outputs = refuse_for("its keyword arguments are other than verified") if values is None else whole(self, *values)
                return original(self, *inputs, **keywords) if outputs is NotImplemented else outputs
            call, refuse_for = self.call, self.refuse_for
            whole = call if code is None else self.whole_call(original)
        else:
            names = ", ".join(code.co_varnames[:code.co_argcount])
            space = {"_warpwright_call": self.whole_call(original), "_warpwright_original": original, "_warpwright_is_compiling": is_compiling}
            exec(f"def forward({names}):\n"
                 f"    _warpwright_outputs = NotImplemented if _warpwright_is_compiling() else _warpwright_call({names})\n"
                 f"    return _warpwright_original({names}) if _warpwright_outputs is NotImplemented else _warpwright_outputs\n", space)
            forward = space["forward"]
            forward.__defaults__ = original.__defaults__
        forward.__doc__, forward.__annotations__ = original.__doc__, getattr(original, "__annotations__", {})
        self.forwards.append(forward)
        return forward

    def is_root(self, kind):
        """Whether a class itself has a forward of this plan. Derived classes do not count, because
        they may compute something else."""
        return any(vars(kind).get("forward") is forward for forward in self.forwards)

    def whole_call(self, original):
        """The call with all of forward's arguments. Arguments that the plan does not know must have
        their default values."""
        inputs = self.plan["inputs"]
        missing = original.__code__.co_argcount - 1 - len(inputs)
        defaults = original.__defaults__ or ()
        if not self.functions or not 0 < missing <= len(defaults):
            return self.call
        return self.made(inputs + list(defaults[len(defaults) - missing:]))

    # ---- Descriptions

    def target(self):
        return self.plan["target"] or "sm_%d%d" % torch.cuda.get_device_capability()

    def describe(self):
        plan = self.plan
        named = plan["arguments"] + plan["results"] + plan["temporaries"]
        place = {name: index for index, (name, _, _) in enumerate(named)}
        tensors = {name: (getattr(torch, dtype), list(shape)) for name, dtype, shape in named}
        arguments = [name for name, _, _ in plan["arguments"]]
        operators = [step for step in plan["steps"] if step[0] == "aten"]
        adopted = {result[0] for step in operators for result in step[4] if result is not None}
        read = {view[1] for step in operators for view in views_in([step[2], step[3]])}
        made = [name for name, _, _ in plan["results"] if name not in adopted]
        scratch = [name for name, _, _ in plan["temporaries"] if name not in adopted]
        self.place, self.tensors, self.groups, steps = place, tensors, [], []
        for step in plan["steps"]:
            if step[0] == "aten":
                steps.append(self.operator(step, set(arguments)))
            elif steps and isinstance(steps[-1], int):
                self.groups[-1].append(step)
            else:
                steps.append(len(self.groups))
                self.groups.append([step])
        self.description = describe(
            name=plan["name"],
            names=arguments,
            guards=[for_call(guards, self.owner, self.is_root) for guards in plan["guards"]],
            inputs=plan["inputs"],
            state=[name.split(".") for name in plan["state"]],
            arguments=[tensors[name] for name in arguments],
            outputs=[(place[name], *tensors[name]) for name in made],
            returned=[place[name] for name, _, _ in plan["results"]],
            results=[tensors[name] for name, _, _ in plan["results"]],
            flats=[(place[name], *tensors[name]) for name in scratch if name in read],
            scratch=[(place[name], size_of(*tensors[name])) for name in scratch if name not in read],
            places=len(named),
            steps=steps,
            device=torch.device(self.device),
            prepare=self.prepare,
            start=self.extension.start,
        )
        self.call = self.made(plan["inputs"])

    def made(self, inputs):
        call, pattern = self.extension.make(dict(self.description, inputs=inputs)), self.plan["outputs"]
        self.functions.append(call)
        if pattern is ... or isinstance(pattern, tuple) and all(one is ... for one in pattern):
            return call

        def structured(module, *inputs):
            outputs = call(module, *inputs)
            if outputs is NotImplemented:
                return outputs
            return filled(pattern, iter(outputs if isinstance(outputs, tuple) else (outputs,)))

        return structured

    def operator(self, step, arguments):
        """One ("aten", name, values, keywords, results) step; results: (name, shape, strides)."""
        _, name, values, keywords, results = step
        packet, _, overload = name.partition("::")[2].partition(".")
        function = getattr(getattr(torch.ops.aten, packet), overload or "default")

        def bound(value):
            if isinstance(value, tuple):
                _, buffer, offset, shape, strides = value
                return ("view", self.place[buffer], offset, list(shape), list(strides))
            if isinstance(value, list):
                return [bound(one) for one in value]
            found = getattr(torch, value.replace("torch.", ""), None) if isinstance(value, str) else None
            return found if isinstance(found, (torch.dtype, torch.memory_format, torch.layout)) else value

        values = [bound(value) for value in values]
        keywords = {key: bound(value) for key, value in keywords.items()}
        kinds = {argument.name: str(argument.type) for argument in function._schema.arguments}
        if "device" in kinds and not any("Tensor" in kind for kind in kinds.values()):
            keywords.setdefault("device", torch.device(self.device))  # the operator is a factory
        places = [-1 if one is None or one[0] in arguments else self.place[one[0]] for one in results]
        copies = [self.place[one[0]] if one is not None and one[0] in arguments else -1 for one in results]
        layouts = [(torch.uint8, [], []) if one is None else (self.tensors[one[0]][0], one[1], one[2]) for one in results]
        return operation(function, values, keywords, places, copies, layouts)

    # ---- On a device

    def prepare(self, index):
        """The extension's executor with the kernels on a GPU; the reason as a text if they cannot
        run there."""
        plan = self.plan
        found = torch.cuda.get_device_properties(index)
        if plan["capability"] and 10 * found.major + found.minor != plan["capability"]:
            return "the GPU is of another kind than the one it was verified on"
        if found.multi_processor_count < (plan["multiprocessors"] or 0):
            return "the GPU has fewer multiprocessors than the one it was verified on"
        cubin, lowered = self.binary
        try:
            with torch.cuda.device(index):
                torch.empty(1, device="cuda")  # makes the device's context current on this thread
                driver = Driver()
                return self.fitting_executor(driver, driver.load(cubin, lowered, self.constants))
        except (OSError, RuntimeError) as error:
            return str(error)

    def fitting_executor(self, driver, functions):
        try:
            return self.executor(driver, functions)
        except DoesNotFit as reason:
            return str(reason)

    def executor(self, driver, functions):
        groups = [[self.launch(driver, functions, step) for step in group] for group in self.groups]
        names = ("cuLaunchKernel", "cuLaunchCooperativeKernel", "cuMemsetD8Async", "cuCtxSetCurrent",
                 "cuTensorMapEncodeTiled", "cuTensorMapEncodeIm2col", "cuLaunchKernelEx")
        addresses = [driver.address(name) for name in names]
        return self.extension.executor((groups, len(self.place), *addresses, driver.context()))

    def launch(self, driver, functions, step):
        if step[0] == "fill":
            _, name, byte = step
            return ("fill", self.place[name], byte, size_of(*self.tensors[name]))
        _, kernel, grid, block, shared_bytes, arguments, *how = step
        function, together, overlapped = functions[kernel], how == [True], how == ["overlapped"]
        if shared_bytes > DEFAULT_SHARED_BYTES:
            wanted, most = shared_bytes + driver.own_shared(function), driver.most_shared()
            if wanted > most:
                raise DoesNotFit(f"{kernel} needs {wanted} bytes of shared memory a block, this device has {most}")
            driver.allow_shared(function, shared_bytes)
        if together:  # the blocks wait for each other
            wanted, held = math.prod(grid), driver.resident_blocks(function, math.prod(block), shared_bytes)
            if wanted > held:
                raise DoesNotFit(f"{kernel} needs {wanted} resident blocks, this device holds {held}")
        packed = [self.argument(*argument) for argument in arguments]
        return ("launch", function, grid, block, shared_bytes, packed, together, overlapped)

    def argument(self, kind, value, offset=0, *map):
        if kind in ("buffer", "map"):
            return (self.place[value], offset * size_of(self.tensors[value][0], []), *map)
        if kind == "bfloat16":
            return struct.pack("f", value)[2:]
        return struct.pack(PACKED[kind], value)


def by_position(function, inputs, keywords):
    """All arguments of a call by position; None if a keyword names no argument, or if an argument
    has no value."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    names, left = code.co_varnames[1:code.co_argcount], dict(keywords)
    defaults = dict(zip(reversed(names), reversed(function.__defaults__ or ())))
    values = list(inputs)
    for name in names[len(inputs):]:
        if name not in left and name not in defaults:
            return None
        values.append(left.pop(name) if name in left else defaults[name])
    return None if left else values


def views_in(value):
    if isinstance(value, tuple):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [view for part in value for view in views_in(part)] if isinstance(value, list) else []


def filled(pattern, outputs):
    if pattern is ...:
        return next(outputs)
    if isinstance(pattern, dict):
        return {key: filled(part, outputs) for key, part in pattern.items()}
    if isinstance(pattern, (list, tuple)):
        return type(pattern)(filled(part, outputs) for part in pattern)
    return pattern
