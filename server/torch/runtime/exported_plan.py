"""A verified plan in a file of its own: kernels compiled by NVRTC as the runner compiles them, and the function that calls them.

In an exported file this text follows direct_call.py's and guard_values.py's, in one module, whose EXTENSION is the C++ of direct_call/. A
plan is a dict of literals: name (the class), guards (call_guards.py, one for each way in which it was verified), inputs and outputs
(patterns, `...` for a tensor), state (names of the module's own tensors), arguments, results and temporaries (name, dtype, shape),
capability, target (NVRTC's architecture), multiprocessors, source, options, steps. A call that it does not fit is the user's own forward's: counted by reason, and
said once. Thread: any.
"""

import ctypes
import glob
import math
import struct
import warnings

PACKED = {"bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
          "uint64": "Q", "float16": "e", "float32": "f", "float64": "d"}
ALIGNMENT = 256  # of temporaries, bytes
DEFAULT_SHARED_BYTES = 48 * 1024
OWN_SHARED = 1  # CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
MULTIPROCESSORS, COOPERATIVE_LAUNCH, MAX_SHARED = 16, 95, 97  # CUdevice_attribute


class DoesNotFit(Exception):
    """The device does not hold a launch: the reason."""


class ExportedPlan:
    """`call(module, *inputs)`: the outputs, or NotImplemented where something is not as it was verified.
    @param owner the `__name__` of the file that it is in"""

    device = "cuda"

    def __init__(self, plan, owner="__main__"):
        import torch

        self.plan, self.torch, self.owner = plan, torch, owner
        self.functions = []  # of the extension: the same plan with other patterns of inputs
        self.forwards = []  # that call it
        self.refused = {}  # calls that never came to the extension, by reason
        self.why = "there is no CUDA GPU"
        self.call = self.refuse
        plans.append(self)
        if not self.is_available():
            return
        try:
            self.extension = load_once(EXTENSION)
            self.binary = self.compile()
        except (OSError, subprocess.TimeoutExpired) as error:
            self.why = str(error)
            return
        self.describe()

    # ---- Counts

    def refuse(self, *_):
        return self.refuse_for(self.why)

    def refuse_for(self, why):
        self.refused[why] = self.refused.get(why, 0) + 1
        if self.refused[why] == 1:
            warnings.warn(f"{self.plan['name']}: the verified kernels are not used, its own forward runs: {why} (said once; "
                          "warpwright_fallbacks() counts)", RuntimeWarning, stacklevel=3)
        return NotImplemented

    def runs(self):
        """How many calls the kernels answered."""
        return sum(self.extension.counts(one)[0] for one in self.functions)

    def fallbacks(self):
        """{why: how many calls the user's own forward answered}"""
        total = dict(self.refused)
        for function in self.functions:
            for why, count in self.extension.counts(function)[1].items():
                total[why] = total.get(why, 0) + count
        return total

    def is_available(self):
        return self.torch.cuda.is_available()

    def compile(self):
        kernels = sorted({step[1] for step in self.plan["steps"] if step[0] == "launch"})
        return compile_kernels(self.plan["source"], kernels, self.plan["options"], self.target())

    def stream(self):
        """The function that gives the current stream of a device."""
        return self.torch._C._cuda_getCurrentRawStream

    # ---- As a function

    def forward_of(self, original):
        """A forward with the original's signature that calls the kernels, and the original for what they were not verified for."""
        code = getattr(original, "__code__", None)
        if code is None or code.co_flags & 0x0C or code.co_kwonlyargcount:  # *args, **keywords
            def forward(self, *inputs, **keywords):
                if not keywords:
                    outputs = call(self, *inputs)
                else:
                    values = by_position(original, inputs, keywords)
                    outputs = refuse_for("its keyword arguments are other than verified") if values is None else whole(self, *values)
                return original(self, *inputs, **keywords) if outputs is NotImplemented else outputs
            call, refuse_for = self.call, self.refuse_for
            whole = call if code is None else self.whole_call(original)
        else:
            names = ", ".join(code.co_varnames[:code.co_argcount])
            space = {"_warpwright_call": self.whole_call(original), "_warpwright_original": original}
            exec(f"def forward({names}):\n"
                 f"    _warpwright_outputs = _warpwright_call({names})\n"
                 f"    return _warpwright_original({names}) if _warpwright_outputs is NotImplemented else _warpwright_outputs\n", space)
            forward = space["forward"]
            forward.__defaults__ = original.__defaults__
        forward.__doc__, forward.__annotations__ = original.__doc__, getattr(original, "__annotations__", {})
        self.forwards.append(forward)
        return forward

    def is_root(self, kind):
        """Whether a class is the one whose forward this is: what derives from it may compute something else."""
        return any(vars(kind).get("forward") is forward for forward in self.forwards)

    def whole_call(self, original):
        """The call with all of forward's arguments: those that the plan knows nothing of must have their defaults."""
        inputs = self.plan["inputs"]
        missing = original.__code__.co_argcount - 1 - len(inputs)
        defaults = original.__defaults__ or ()
        if not self.functions or not 0 < missing <= len(defaults):
            return self.call
        return self.made(inputs + list(defaults[len(defaults) - missing:]))

    def outputs_of(self, module, inputs):
        """forward's outputs; None where it is for the user's own forward."""
        outputs = self.call(module, *inputs)
        return None if outputs is NotImplemented else outputs

    # ---- Descriptions

    def target(self):
        return self.plan["target"] or "sm_%d%d" % self.torch.cuda.get_device_capability()

    def describe(self):
        torch, plan = self.torch, self.plan
        named = plan["arguments"] + plan["results"] + plan["temporaries"]
        place = {name: index for index, (name, _, _) in enumerate(named)}
        tensors = {name: (getattr(torch, dtype), list(shape)) for name, dtype, shape in named}
        arguments = [name for name, _, _ in plan["arguments"]]
        operators = [step for step in plan["steps"] if step[0] == "aten"]
        adopted = {result[0] for step in operators for result in step[4] if result is not None}
        read = {view[1] for step in operators for view in views_in([step[2], step[3]])}
        made = [name for name, _, _ in plan["results"] if name not in adopted]
        scratch = [name for name, _, _ in plan["temporaries"] if name not in adopted]
        flats = [name for name in scratch if name in read]
        offsets, size = {}, 0
        for name in scratch:
            if name not in read:
                offsets[place[name]] = size
                size += -(-size_of(torch, *tensors[name]) // ALIGNMENT) * ALIGNMENT
        self.place, self.tensors, self.groups, steps = place, tensors, [], []
        for step in plan["steps"]:
            if step[0] == "aten":
                steps.append(self.operator(step, set(arguments)))
            elif steps and isinstance(steps[-1], int):
                self.groups[-1].append(step)
            else:
                steps.append(len(self.groups))
                self.groups.append([step])
        self.description = {
            "name": plan["name"],
            "names": arguments,
            "guards": [for_call(guards, self.owner, self.is_root) for guards in plan["guards"]],
            "inputs": plan["inputs"],
            "state": [name.split(".") for name in plan["state"]],
            "arguments": [tensors[name] for name in arguments],
            "outputs": [tensors[name] for name in made],
            "made": [place[name] for name in made],
            "returned": [place[name] for name, _, _ in plan["results"]],
            "results": [tensors[name] for name, _, _ in plan["results"]],
            "flats": [tensors[name] for name in flats],
            "flat_places": [place[name] for name in flats],
            "workspace_bytes": size,
            "workspace_places": list(offsets),
            "workspace_offsets": list(offsets.values()),
            "places": len(named),
            "steps": steps,
            "device": torch.device(self.device),
            "prepare": self.prepare,
            "stream": self.stream(),
            "start": self.extension.start,
        }
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
        torch, (_, name, values, keywords, results) = self.torch, step
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
            keywords.setdefault("device", torch.device(self.device))  # a factory's
        places = [-1 if one is None or one[0] in arguments else self.place[one[0]] for one in results]
        copies = [self.place[one[0]] if one is not None and one[0] in arguments else -1 for one in results]
        layouts = [(torch.uint8, [], []) if one is None else (self.tensors[one[0]][0], one[1], one[2]) for one in results]
        return operation(function, values, keywords, places, copies, layouts)

    # ---- On a device

    def prepare(self, index):
        """The kernels on a GPU, as the extension's executor; where they do not run, why."""
        torch, plan = self.torch, self.plan
        found = torch.cuda.get_device_properties(index)
        if plan["capability"] and 10 * found.major + found.minor != plan["capability"]:
            return "the GPU is of another kind than the one it was verified on"
        if found.multi_processor_count < (plan["multiprocessors"] or 0):
            return "the GPU has fewer multiprocessors than the one it was verified on"
        cubin, lowered = self.binary
        try:
            with torch.cuda.device(index):
                torch.empty(1, device="cuda")  # the device's context becomes this thread's
                driver = Driver()
                return self.fitting_executor(driver, driver.load(cubin, lowered))
        except (OSError, RuntimeError) as error:
            return str(error)

    def fitting_executor(self, driver, functions):
        try:
            return self.executor(driver, functions)
        except DoesNotFit as reason:
            return str(reason)

    def executor(self, driver, functions):
        groups = [[self.launch(driver, functions, step) for step in group] for group in self.groups]
        addresses = [driver.address(name) for name in ("cuLaunchKernel", "cuLaunchCooperativeKernel", "cuMemsetD8Async", "cuCtxSetCurrent")]
        return self.extension.executor((groups, len(self.place), *addresses, driver.context()))

    def launch(self, driver, functions, step):
        if step[0] == "fill":
            _, name, byte = step
            return ("fill", self.place[name], byte, size_of(self.torch, *self.tensors[name]))
        _, kernel, grid, block, shared_bytes, arguments, *cooperative = step
        function, together = functions[kernel], cooperative == [True]
        if shared_bytes > DEFAULT_SHARED_BYTES:
            wanted, most = shared_bytes + driver.own_shared(function), driver.most_shared()
            if wanted > most:
                raise DoesNotFit(f"{kernel} needs {wanted} bytes of shared memory a block, this device has {most}")
            driver.allow_shared(function, shared_bytes)
        if together:  # its blocks wait for each other
            wanted, held = math.prod(grid), driver.resident_blocks(function, math.prod(block), shared_bytes)
            if wanted > held:
                raise DoesNotFit(f"{kernel} needs {wanted} resident blocks, this device holds {held}")
        packed = [self.argument(*argument) for argument in arguments]
        return ("launch", function, grid, block, shared_bytes, packed, together)

    def argument(self, kind, value, offset=0):
        if kind == "buffer":
            return (self.place[value], offset * size_of(self.torch, self.tensors[value][0], []))
        if kind == "bfloat16":
            return struct.pack("f", value)[2:]
        return struct.pack(PACKED[kind], value)


def by_position(function, inputs, keywords):
    """All positional arguments of a call; None where keywords are left that are none of them, or one has no value."""
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


plans = []  # of this process


def fallbacks_of(owner):
    """A function that gives {why: how many calls the user's own forward answered} of the plans of one file."""
    def warpwright_fallbacks():
        total = {}
        for plan in plans:
            for why, count in plan.fallbacks().items() if plan.owner == owner else ():
                total[why] = total.get(why, 0) + count
        return total

    return warpwright_fallbacks


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


def size_of(torch, dtype, shape):
    size = torch.empty(0, dtype=dtype).element_size()
    for extent in shape:
        size *= extent
    return size


_loaded = {}  # path -> the extension


def load_once(source):
    """@raise OSError with what the compiler said"""
    try:
        path = build(source, cache_folder())
    except PermissionError:
        path = build(source, tempfile.mkdtemp(prefix="warpwright-"))
    if path not in _loaded:
        _loaded[path] = load(path)
    return _loaded[path]


# ---- The driver and the compiler

class Driver:
    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")

    def address(self, name):
        return ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value

    def check(self, status):
        if status:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(status, ctypes.byref(text))
            raise RuntimeError(f"loading the verified kernels: {text.value.decode() if text.value else status}")

    def context(self):
        context = ctypes.c_void_p()
        self.check(self.library.cuCtxGetCurrent(ctypes.byref(context)))
        return context.value

    def load(self, cubin, lowered):
        """{kernel's name: CUfunction}; the module lives as long as the process."""
        module, functions = ctypes.c_void_p(), {}
        self.check(self.library.cuModuleLoadData(ctypes.byref(module), cubin))
        for name, symbol in lowered.items():
            function = ctypes.c_void_p()
            self.check(self.library.cuModuleGetFunction(ctypes.byref(function), module, symbol.encode()))
            functions[name] = function.value
        return functions

    def allow_shared(self, function, size_bytes):
        self.check(self.library.cuFuncSetAttribute(ctypes.c_void_p(function), MAX_DYNAMIC_SHARED, size_bytes))

    def own_shared(self, function):
        """Bytes of the kernel's own arrays."""
        value = ctypes.c_int()
        self.check(self.library.cuFuncGetAttribute(ctypes.byref(value), OWN_SHARED, ctypes.c_void_p(function)))
        return value.value

    def most_shared(self):
        """Bytes that a block may have."""
        return self.attribute(MAX_SHARED)

    def resident_blocks(self, function, threads, shared_bytes):
        """Blocks that the device of the current context holds at once, whatever else runs there."""
        blocks = ctypes.c_int()
        self.check(self.library.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            ctypes.byref(blocks), ctypes.c_void_p(function), threads, ctypes.c_size_t(shared_bytes)))
        return blocks.value * self.attribute(MULTIPROCESSORS) if self.attribute(COOPERATIVE_LAUNCH) else 0

    def attribute(self, which):
        device, value = ctypes.c_int(), ctypes.c_int()
        self.check(self.library.cuCtxGetDevice(ctypes.byref(device)))
        self.check(self.library.cuDeviceGetAttribute(ctypes.byref(value), which, device))
        return value.value


def toolkit_folders():
    """Of the CUDA toolkit, and of the packages that torch brings with it."""
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda"]
    return [root for root in roots if root] + sorted(glob.glob(os.path.join(os.path.dirname(torch_folder()), "nvidia", "*")))


def open_nvrtc():
    import torch

    major = (torch.version.cuda or "13").partition(".")[0]
    names = [f"libnvrtc.so.{version}" for version in dict.fromkeys((major, "13", "12"))]
    for name in names:
        found = [os.path.join(root, folder, name) for root in toolkit_folders() for folder in ("lib64", "lib")]
        for path in [path for path in found if os.path.exists(path)] + [name]:
            for builtins in glob.glob(os.path.join(os.path.dirname(path), "libnvrtc-builtins.so.*")):
                try:
                    ctypes.CDLL(builtins)  # which NVRTC opens by name
                except OSError:
                    pass
            try:
                return ctypes.CDLL(path)
            except OSError:
                pass
    raise OSError("no NVRTC: " + " nor ".join(names) + " is in CUDA_HOME, torch's packages or the library path")


def compile_kernels(source, kernels, options, target):
    """For a GPU of NVRTC's architecture `target`: (cubin, {kernel: its symbol}), kept in the cache. @raise OSError with NVRTC's first error"""
    if not kernels:
        return b"", {}
    nvrtc = open_nvrtc()
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    flags = [f"--gpu-architecture={target}"] + ([] if any("-std=" in one for one in options) else ["-std=c++17"])
    text = repr((source, kernels, flags, options, major.value, minor.value))
    path = os.path.join(cache_folder(), "warpwright_" + hashlib.sha256(text.encode()).hexdigest()[:32] + ".cubin")
    try:
        with open(path, "rb") as file:
            symbols, _, cubin = file.read().partition(b"\n\n")
        return cubin, dict(zip(kernels, symbols.decode().split("\n")))
    except OSError:
        pass
    headers = [os.path.join(root, "include") for root in toolkit_folders()]
    flags += ["-I" + path for path in headers if os.path.exists(os.path.join(path, "cuda_fp16.h"))][:1] + list(options)
    cubin, symbols = run_nvrtc(nvrtc, source, kernels, flags)
    try:
        os.makedirs(cache_folder(), exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cache_folder(), delete=False) as file:
            file.write("\n".join(symbols).encode() + b"\n\n" + cubin)
        os.replace(file.name, path)
    except OSError:
        pass
    return cubin, dict(zip(kernels, symbols))


def run_nvrtc(nvrtc, source, kernels, flags):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
    try:
        for kernel in kernels:
            nvrtc.nvrtcAddNameExpression(program, kernel.encode())
        status = nvrtc.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*[flag.encode() for flag in flags]))
        if status:
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            errors = [line for line in log.value.decode(errors="replace").splitlines() if "error" in line]
            raise OSError(f"NVRTC refuses the kernels: {(errors or [str(status)])[0][:500]}")
        symbols = []
        for kernel in kernels:
            symbol = ctypes.c_char_p()
            if nvrtc.nvrtcGetLoweredName(program, kernel.encode(), ctypes.byref(symbol)):
                raise OSError(f"the source has no kernel {kernel}")
            symbols.append(symbol.value.decode())
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        cubin = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetCUBIN(program, cubin)
        return cubin.raw, symbols
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
