"""Launching cubins through the CUDA driver next to torch, and timing with a cold second-level cache."""
import ctypes
import statistics
import torch

driver = ctypes.CDLL("libcuda.so.1")


def check(status, what):
    if status != 0:
        text = ctypes.c_char_p()
        driver.cuGetErrorString(status, ctypes.byref(text))
        raise RuntimeError(f"{what}: {text.value.decode() if text.value else status}")


class TensorMap:
    """A model::TensorMap of a tensor's memory from `offset` elements on, as the driver encodes it."""

    DTYPES = {torch.float16: 6, torch.float32: 7, torch.bfloat16: 9}

    def __init__(self, tensor, offset, description):
        extents, strides, box = ([int(one) for one in description[key]] for key in ("extents", "strides", "box"))
        self.memory = (ctypes.c_uint8 * 192)()
        self.address = (ctypes.addressof(self.memory) + 63) // 64 * 64
        size, rank = tensor.element_size(), len(extents)
        swizzle = {0: 0, 32: 1, 64: 2, 128: 3}[description["swizzle_bytes"]]
        dtype = 11 if description.get("rounds_to_tf32") else self.DTYPES[tensor.dtype]
        array = (ctypes.c_void_p(self.address), dtype, rank, ctypes.c_void_p(tensor.data_ptr() + offset * size),
                 (ctypes.c_uint64 * 5)(*extents), (ctypes.c_uint64 * 5)(*(stride * size for stride in strides)))
        window = description.get("window")
        if window:
            check(driver.cuTensorMapEncodeIm2col(
                *array, (ctypes.c_int * 3)(*window["first"]), (ctypes.c_int * 3)(*window["last"]), *box,
                (ctypes.c_uint32 * 5)(1, *window["steps"], 1), 0, swizzle, 3, 0), "a tensor map of a window")
        else:
            check(driver.cuTensorMapEncodeTiled(
                *array, (ctypes.c_uint32 * 5)(*box), (ctypes.c_uint32 * 5)(*[1] * rank), 0, swizzle, 3, 0), "a tensor map")


class Module:
    def __init__(self, path):
        torch.cuda.current_stream().synchronize()
        self.handle = ctypes.c_void_p()
        with open(path, "rb") as file:
            self.image = file.read() + b"\0"
        check(driver.cuModuleLoadData(ctypes.byref(self.handle), self.image), f"loading {path}")

    def launch(self, name, grid, block, shared, arguments):
        function = ctypes.c_void_p()
        check(driver.cuModuleGetFunction(ctypes.byref(function), self.handle, name.encode()), name)
        if shared > 48 * 1024:
            check(driver.cuFuncSetAttribute(function, 8, shared), f"shared memory of {name}")
        values = [a if isinstance(a, TensorMap) else ctypes.c_void_p(a.data_ptr()) if isinstance(a, torch.Tensor) else
                  ctypes.c_float(a) if isinstance(a, float) else ctypes.c_int(a) for a in arguments]
        pointers = (ctypes.c_void_p * len(values))(*[v.address if isinstance(v, TensorMap) else ctypes.addressof(v) for v in values])
        grid, block = (list(grid) + [1, 1])[:3], (list(block) + [1, 1])[:3]
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        check(driver.cuLaunchKernel(function, *grid, *block, shared, stream, pointers, None), name)


def graph_of(work):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        work()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            work()
    return graph


flush = None


def median_ms(work, samples=7):
    """Median device time of `work` as a CUDA graph, its operands out of the cache."""
    global flush
    if flush is None:
        flush = torch.empty(64 << 20, dtype=torch.int32, device="cuda")
    graph = graph_of(work)
    times = []
    for _ in range(samples + 2):
        flush.zero_()
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return statistics.median(times[2:])
