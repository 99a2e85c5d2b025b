"""Checks and times what emit_lowerings made, against torch, on the GPU of this machine.

    emit_lowerings < cases.json > plans.json;  measure.py plans.json --out results.json

Every configuration is compiled with NVRTC, compared with the torch function in float64 (its error
next to torch's own), captured in a CUDA graph and timed with a cold L2: medians of samples, each
one replay between two events after 256 MiB were overwritten. Torch runs the same way: eager
captured, and torch.compile captured where --compile names the case. Needs torch and NumPy, nothing
else.
"""

import argparse
import concurrent.futures
import ctypes
import functools
import glob
import importlib
import json
import os
import re
import sys
import time

import torch
import torch.nn.functional as F  # noqa: F401  (cases name it)
from torch.nn.attention import SDPBackend, sdpa_kernel

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "matmul")]
from gpu import TensorMap  # noqa: E402  (bench/matmul)

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16,
          "float64": torch.float64, "int64": torch.int64, "int32": torch.int32, "uint8": torch.uint8, "bool": torch.bool}


def library(patterns):
    for pattern in patterns:
        for path in sorted(glob.glob(pattern)):
            return ctypes.CDLL(path)
    raise SystemExit(f"none of {patterns} is here")


site = os.path.dirname(os.path.dirname(torch.__file__))
nvrtc = library([f"{site}/nvidia/*/lib/libnvrtc.so.*", "/usr/local/cuda*/lib64/libnvrtc.so*"])
driver = ctypes.CDLL("libcuda.so.1")


def include_folders():
    found = glob.glob(f"{site}/nvidia/*/include") + glob.glob("/usr/local/cuda*/include")
    return [folder for folder in found if os.path.exists(os.path.join(folder, "cuda_fp16.h"))]


def compile_source(source):
    """(cubin, log); cubin is None where it does not compile."""
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"k.cu", 0, None, None)
    major, minor = torch.cuda.get_device_capability()
    options = [f"-arch=sm_{major}{minor}{'a' if major == 9 else ''}".encode(), b"-std=c++17", b"--ptxas-options=-v"]
    options += [f"-I{folder}".encode() for folder in include_folders()]
    status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if status:
        return None, log.value.decode()
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    return cubin.raw, log.value.decode()


def check(status, what):
    if status:
        raise RuntimeError(f"{what}: CUDA error {status}")


def argument_of(tensor, argument):
    """An address, or a tensor map of the memory from there on."""
    offset = int(argument.get("offset", 0))
    if "map" in argument:
        return TensorMap(tensor, offset, argument["map"])
    return ctypes.c_uint64(tensor.data_ptr() + offset * tensor.element_size())


class Kernels:
    """The launches of one lowering, bound to tensors."""

    def __init__(self, cubin, plan, tensors):
        module = ctypes.c_void_p()
        check(driver.cuModuleLoadData(ctypes.byref(module), cubin), "load")
        self.temporaries = {entry["name"]: torch.empty(entry["extent"], dtype=DTYPES[entry["dtype"]], device="cuda")
                            for entry in plan["temporaries"]}
        buffers = {**tensors, **self.temporaries}
        self.launches = []
        for launch in plan["launches"]:
            if "fill" in launch:
                self.launches.append(functools.partial(buffers[launch["fill"]].view(torch.uint8).fill_, launch["byte"]))
                continue
            function = ctypes.c_void_p()
            check(driver.cuModuleGetFunction(ctypes.byref(function), module, launch["kernel"].encode()), "function")
            if launch["shared"] > 48 * 1024:
                check(driver.cuFuncSetAttribute(function, 8, launch["shared"]), "shared memory")
            addresses = [argument_of(buffers[argument["buffer"]], argument) for argument in launch["arguments"]]
            pointers = (ctypes.c_void_p * len(addresses))(
                *[address.address if isinstance(address, TensorMap) else ctypes.addressof(address) for address in addresses])
            start, rest = (driver.cuLaunchCooperativeKernel, ()) if launch["cooperative"] else (driver.cuLaunchKernel, (None,))
            self.launches.append((start, rest, function, launch["grid"], launch["block"], launch["shared"], addresses, pointers))

    def __call__(self):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        for entry in self.launches:
            if callable(entry):
                entry()
                continue
            start, rest, function, grid, block, shared, _, pointers = entry
            check(start(function, *grid, *block, shared, stream, pointers, *rest), "launch")


flush = torch.empty(64 * 1024 * 1024, dtype=torch.int32, device="cuda")


def graph_of(function):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(2):
            function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return graph


def microseconds(function, samples):
    graph = graph_of(function)
    times = []
    for _ in range(samples):
        flush.zero_()
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        stop.record()
        times.append((start, stop))
    torch.cuda.synchronize()
    return sorted(start.elapsed_time(stop) * 1000 for start, stop in times)[samples // 2]


def tensors_of(entry):
    tensors = {}
    torch.manual_seed(1)
    for leaf in entry["graph"]["nodes"]:
        if leaf["op"] in ("input", "parameter"):
            kind = leaf["types"][0]
            tensor = torch.randn(kind["shape"], device="cuda")
            if leaf["op"] == "parameter":
                tensor /= max(1, tensor[0].numel()) ** 0.5
            if "cumprod" in entry["name"]:
                tensor = 1 + tensor / 1000
            tensors[leaf["name"]] = tensor.to(DTYPES[kind["dtype"]])
    return tensors


def attend(backend, *operands, **options):
    """scaled_dot_product_attention by one of its backends; for cases to name."""
    with sdpa_kernel(getattr(SDPBackend, backend)):
        return F.scaled_dot_product_attention(*operands, **options)


def measure_others(entry, tensors, samples):
    """Median microseconds of the case's other expressions, by name; None where torch refuses one."""
    times = {}
    for name, expression in entry.get("others", {}).items():
        call = eval("lambda " + ", ".join(tensors) + ": " + expression)  # noqa: S307  (our own case file)
        try:
            times[name] = microseconds(lambda: call(**tensors), samples)
        except RuntimeError:
            times[name] = None
    return times


def measure(entry, plan, compiled, arguments, deadline):
    tensors = tensors_of(entry)
    call = eval("lambda " + ", ".join(tensors) + ": " + entry["torch"])  # noqa: S307  (our own case file)
    reference = lambda: call(**tensors)
    eager = reference()
    exact_on = {name: tensor.double() for name, tensor in tensors.items()}
    chunk = 1 if sum(tensor.numel() for tensor in tensors.values()) + eager.numel() > 3e8 else None
    exact = None if chunk else call(**exact_on)
    del exact_on
    error = lambda result: (float((result.double() - exact).abs().max() / exact.abs().max()) if exact is not None
                            else float((result - eager).abs().max() / eager.abs().max()))
    record = {"name": entry["name"], "eager_error": error(eager) if exact is not None else None}
    record["eager_us"] = microseconds(reference, arguments.samples)
    record["others_us"] = measure_others(entry, tensors, arguments.samples)
    if any(text in entry["name"] for text in arguments.compile):
        try:
            function = torch.compile(call)
            record["compile_us"] = microseconds(lambda: function(**tensors), arguments.samples)
        except Exception as failure:  # a case that torch.compile cannot take is reported, not fatal
            record["compile_failed"] = str(failure)[:200]
    output = entry["graph"]["outputs"][0]
    record["configurations"] = []
    for configuration, (cubin, log) in zip(plan["configurations"], compiled):
        row = {"configuration": configuration["configuration"]}
        row["registers"] = [int(n) for n in re.findall(r"Used (\d+) registers", log)]
        row["spilled"] = sum(int(n) for n in re.findall(r"(\d+) bytes spill stores", log))
        record["configurations"].append(row)
        if cubin is None:
            row["failed"] = log[:500]
            continue
        if time.time() > deadline:
            row["failed"] = "no time left"
            continue
        unwritten = float("nan") if eager.is_floating_point() else -1
        result = torch.full_like(eager, unwritten, memory_format=torch.contiguous_format)
        try:
            kernels = Kernels(cubin, configuration, {**tensors, output: result})
            kernels()
            torch.cuda.synchronize()
            row["error"] = error(result)
            row["us"] = microseconds(kernels, arguments.samples)
        except RuntimeError as failure:
            row["failed"] = str(failure)[:200]
            if "illegal" in str(failure) or "CUDA error 7" in str(failure):
                raise
    return record


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plans")
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--skip", nargs="*", default=[], help="leave out cases whose name holds one of these")
    parser.add_argument("--most", type=int, default=1000, help="configurations a case, the best guesses first")
    parser.add_argument("--compile", nargs="*", default=[], help="cases to time under torch.compile as well")
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=80, help="start nothing after this long")
    parser.add_argument("--cases", default="cases", help="module of this folder that holds CASES")
    arguments = parser.parse_args()
    deadline = time.time() + arguments.seconds
    with open(arguments.plans) as file:
        plans = {plan["name"]: plan for plan in json.load(file)}
    chosen = [entry for entry in importlib.import_module(arguments.cases).CASES if arguments.only in entry["name"] and entry["name"] in plans]
    torch.zeros(1, device="cuda")
    torch.backends.cudnn.benchmark = True
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 4)
    compiling = {entry["name"]: [pool.submit(compile_source, configuration["source"])
                                 for configuration in plans[entry["name"]]["configurations"]] for entry in chosen}
    records = []
    for entry in chosen:
        if time.time() > deadline:
            print(entry["name"], "skipped: no time left", flush=True)
            continue
        compiled = [future.result() for future in compiling[entry["name"]]]
        record = measure(entry, plans[entry["name"]], compiled, arguments, deadline)
        records.append(record)
        timed = sorted((row for row in record["configurations"] if "us" in row), key=lambda row: row["us"])
        print(f"{record['name']}: eager {record['eager_us']:.1f} us"
              + (f", compile {record['compile_us']:.1f}" if "compile_us" in record else "")
              + "".join(f", {name} {us:.1f}" for name, us in record["others_us"].items() if us)
              + f", error {record['eager_error']}", flush=True)
        shown = timed[:3] + [next(row for row in timed if row["configuration"].get("math") == math) for math in
                             sorted({row["configuration"].get("math") for row in timed} - {None})]
        for row in shown + [row for row in record["configurations"] if "us" not in row]:
            print(f"    {row.get('us', 0):8.1f} us  error {row.get('error', 0):.1e}  registers {row['registers']} spilled "
                  f"{row['spilled']}  #{record['configurations'].index(row)} {row['configuration']} {row.get('failed', '')}", flush=True)
        with open(arguments.out, "w") as file:
            json.dump({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "records": records}, file, indent=1)


if __name__ == "__main__":
    main()
