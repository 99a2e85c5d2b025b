"""Candidates for the throughput benchmarks: one device kernel a task, in variants, for both evaluators.

The device text is the same on both sides. For Warpwright it stands in a plan; for KernelBench in a
ModelNew that compiles it with torch.utils.cpp_extension.load_inline. A variant is a number of
threads a block (BLOCK) and of elements a thread (ITEMS). REAL is float; double in the fp64 twin,
which only Warpwright checks against. Standard library only.
"""
import dataclasses
import itertools

BLOCKS = (64, 96, 128, 192, 256, 320, 384, 512, 768, 1024)
ITEMS = (1, 2, 3, 4, 6, 8)

HEAD = """
#ifndef REAL
#define REAL float
#endif
constexpr int kItems = ITEMS;  // nvcc expands no macro in a pragma
"""
LINE = """
__global__ void NAME(const REAL *x, REAL *y, int n) {
  int start = blockIdx.x * (BLOCK * kItems) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    int i = start + k * BLOCK;
    if (i < n) { REAL v = x[i]; y[i] = FORMULA; }
  }
}
"""
ROW_REDUCTION = """
template <class Operation>
__device__ REAL over_block(REAL value, Operation operation) {
  __shared__ REAL part[32];
  for (int step = 16; step > 0; step /= 2) value = operation(value, __shfl_xor_sync(0xffffffffu, value, step));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  value = part[0];
  for (int warp = 1; warp < BLOCK / 32; ++warp) value = operation(value, part[warp]);
  __syncthreads();
  return value;
}
"""
SOFTMAX = ROW_REDUCTION + """
__global__ void NAME(const REAL *x, REAL *y, int rows, int cols) {
  const REAL *row = x + (size_t)blockIdx.x * cols;
  REAL *out = y + (size_t)blockIdx.x * cols;
  REAL top = -1e30f, sum = 0;
#pragma unroll kItems
  for (int c = threadIdx.x; c < cols; c += BLOCK) top = top > row[c] ? top : row[c];
  top = over_block(top, [](REAL a, REAL b) { return a > b ? a : b; });
#pragma unroll kItems
  for (int c = threadIdx.x; c < cols; c += BLOCK) sum += exp(row[c] - top);
  sum = over_block(sum, [](REAL a, REAL b) { return a + b; });
#pragma unroll kItems
  for (int c = threadIdx.x; c < cols; c += BLOCK) out[c] = exp(row[c] - top) / sum;
}
"""
RMS_NORM = ROW_REDUCTION + """
__global__ void NAME(const REAL *x, REAL *y, int rows, int cols) {
  const REAL *row = x + (size_t)blockIdx.x * cols;
  REAL *out = y + (size_t)blockIdx.x * cols;
  REAL sum = 0;
#pragma unroll kItems
  for (int c = threadIdx.x; c < cols; c += BLOCK) sum += row[c] * row[c];
  sum = over_block(sum, [](REAL a, REAL b) { return a + b; });
  REAL scale = sqrt(sum / cols + REAL(1e-5f));
#pragma unroll kItems
  for (int c = threadIdx.x; c < cols; c += BLOCK) out[c] = row[c] / scale;
}
"""
MATMUL = """
__global__ void NAME(const REAL *a, const REAL *b, REAL *c, int n) {
  int column = blockIdx.x * BLOCK + threadIdx.x, first = blockIdx.y * kItems;
  if (column >= n) return;
  REAL sum[kItems] = {};
  for (int k = 0; k < n; ++k) {
    REAL right = b[(size_t)k * n + column];
#pragma unroll
    for (int j = 0; j < kItems; ++j)
      if (first + j < n) sum[j] += a[(size_t)(first + j) * n + k] * right;
  }
#pragma unroll
  for (int j = 0; j < kItems; ++j)
    if (first + j < n) c[(size_t)(first + j) * n + column] = sum[j];
}
"""


@dataclasses.dataclass(frozen=True)
class Family:
    device: str
    buffers: tuple      # (name, extent); the last one is the output
    sizes: dict         # in the order of the kernel's last parameters
    check_sizes: tuple
    grid: tuple         # over the sizes, with {block} and {items}
    bytes: str
    torch: str          # the body of Model.forward over the inputs
    shape: str          # of each torch input
    host_sizes: str     # the kernel's last arguments in C++, over the first input


LINE_SHAPE = {"buffers": (("x", "n"), ("y", "n")), "sizes": {"n": 1 << 24}, "check_sizes": ({"n": 1000}, {"n": 4099}),
              "grid": ("ceil_div(n, {block} * {items})",), "bytes": "8 * n", "shape": "(4096, 4096)",
              "host_sizes": "(int)x.numel()"}
ROW_SHAPE = {"buffers": (("x", "rows * cols"), ("y", "rows * cols")), "sizes": {"rows": 4096, "cols": 4096},
             "check_sizes": ({"rows": 7, "cols": 1000}, {"rows": 33, "cols": 257}), "grid": ("rows",),
             "bytes": "8 * rows * cols", "shape": "(4096, 4096)", "host_sizes": "(int)x.size(0), (int)x.size(1)"}
FAMILIES = {
    "relu": Family(LINE.replace("FORMULA", "v > 0 ? v : REAL(0)"), torch="torch.relu(x)", **LINE_SHAPE),
    "gelu": Family(LINE.replace("FORMULA", "REAL(0.5f) * v * (1 + erf(v * REAL(0.70710678118654752)))"),
                   torch="torch.nn.functional.gelu(x)", **LINE_SHAPE),
    "softmax": Family(SOFTMAX, torch="torch.softmax(x, dim=1)", **ROW_SHAPE),
    "rms_norm": Family(RMS_NORM, torch="x / torch.sqrt(torch.mean(x ** 2, dim=1, keepdim=True) + 1e-5)", **ROW_SHAPE),
    "matmul": Family(MATMUL, (("a", "n * n"), ("b", "n * n"), ("c", "n * n")), {"n": 1024}, ({"n": 65}, {"n": 128}),
                     ("ceil_div(n, {block})", "ceil_div(n, {items})"), "12 * n * n", "torch.matmul(a, b)", "(1024, 1024)",
                     "(int)a.size(0)"),
}


def variants(families=tuple(FAMILIES)):
    """(family, block, items) without end, neighbours of different families; after all were given, again."""
    return itertools.cycle([(family, block, items) for items in ITEMS for block in BLOCKS for family in families])


def device_text(family, block, items, note=""):
    """The same characters for both evaluators. A note makes the text another one, for every compile cache."""
    return (f"// {note}\n" if note else "") + f"#define BLOCK {block}\n#define ITEMS {items}\n#define NAME {family}_kernel\n" \
        + HEAD + FAMILIES[family].device


def plan_of(family, block, items, note="", real="float"):
    kind = FAMILIES[family]
    arguments = [{"buffer": name} for name, _ in kind.buffers] + [{"size": size, "dtype": "int32"} for size in kind.sizes]
    return {"source": device_text(family, block, items, note), "options": [f"-DREAL={real}"], "steps": [{"launch": {
        "kernel": f"{family}_kernel", "grid": [text.format(block=block, items=items) for text in kind.grid],
        "block": [block], "arguments": arguments}}]}


def task_of(family):
    """The reference is the variant of 256 threads with four elements each: no variant is three times as fast, which would
    be measured a second time in a fresh worker."""
    kind = FAMILIES[family]
    buffers = [{"name": name, "dtype": "float32", "extent": extent,
                "direction": "out" if name == kind.buffers[-1][0] else "in"} for name, extent in kind.buffers]
    work = {"bytes": kind.bytes, **({"flops": "2 * n * n * n"} if family == "matmul" else {})}
    return {"name": family, "sizes": kind.sizes, "check_sizes": list(kind.check_sizes), "buffers": buffers, "work": work,
            "reference": plan_of(family, 256, 4), "reference_fp64": plan_of(family, 256, 4, real="double")}


def torch_reference(family):
    """The task as KernelBench writes it."""
    kind = FAMILIES[family]
    inputs = [name for name, _ in kind.buffers[:-1]]
    return f"""import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, {', '.join(inputs)}):
        return {kind.torch}

def get_inputs():
    return [{', '.join(f'torch.rand{kind.shape}' for _ in inputs)}]

def get_init_inputs():
    return []
"""


def torch_candidate(family, block, items, note=""):
    """The same device text with the host code that inline CUDA needs."""
    kind = FAMILIES[family]
    inputs = [name for name, _ in kind.buffers[:-1]]
    sizes = {"n": "n", "rows": "rows", "cols": "cols"}
    ceil = "[](long p, long q) { return (unsigned)((p + q - 1) / q); }"
    grid = ", ".join(text.format(block=block, items=items, **sizes) for text in kind.grid)
    size_lines = {"relu": "long n = x.numel();", "gelu": "long n = x.numel();", "matmul": "long n = a.size(0);"}.get(
        family, "long rows = x.size(0);")
    parameters = ", ".join(f"torch::Tensor {name}" for name in inputs)
    pointers = ", ".join(f"{name}.data_ptr<float>()" for name in [*inputs, "out"])
    return f'''import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
{device_text(family, block, items, note)}
torch::Tensor run({parameters}) {{
  auto out = torch::empty_like({inputs[0]});
  [[maybe_unused]] auto ceil_div = {ceil};
  {size_lines}
  dim3 grid({grid});
  {family}_kernel<<<grid, {block}>>>({pointers}, {kind.host_sizes});
  return out;
}}
"""
module = load_inline(name="{family}_{block}_{items}", cpp_sources="torch::Tensor run({parameters});",
                     cuda_sources=cuda_source, functions=["run"], verbose=False, extra_cflags=[""], extra_ldflags=[""])

class ModelNew(nn.Module):
    def forward(self, {', '.join(inputs)}):
        return module.run({', '.join(inputs)})
'''
