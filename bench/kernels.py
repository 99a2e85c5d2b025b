"""Plain float32 kernels as tasks and plans, at any size: what the honesty benchmarks measure.

A family is one device source whose kernel is called NAME and whose block has BLOCK threads, both
set by -D, so that the same text can stand on both sides under two names. Sizes are given by the
number of elements of the main buffer, a power of four where the family is two-dimensional. No check
sizes: these benchmarks are about time. Standard library only.
"""
import dataclasses
import math

SCALE = """
extern "C" __global__ void NAME(const float *x, float *y, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}"""
SAXPY = """
extern "C" __global__ void NAME(const float *x, float *y, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = 2.5f * x[i] + y[i];
}"""
GELU = """
extern "C" __global__ void NAME(const float *x, float *y, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}"""
STENCIL = """
extern "C" __global__ void NAME(const float *x, float *y, int rows, int cols) {
  int c = blockIdx.x * BLOCK + threadIdx.x, r = blockIdx.y;
  if (c >= cols) return;
  int up = r > 0 ? r - 1 : r, down = r < rows - 1 ? r + 1 : r;
  int left = c > 0 ? c - 1 : c, right = c < cols - 1 ? c + 1 : c;
  y[(size_t)r * cols + c] = 0.5f * x[(size_t)r * cols + c] +
      0.125f * (x[(size_t)up * cols + c] + x[(size_t)down * cols + c] +
                x[(size_t)r * cols + left] + x[(size_t)r * cols + right]);
}"""
ROW_SUM = """
extern "C" __global__ void NAME(const float *x, float *y, int rows, int cols) {
  __shared__ float part[BLOCK];
  const float *row = x + (size_t)blockIdx.x * cols;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += BLOCK) sum += row[c];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}"""
SOFTMAX = """
extern "C" __global__ void NAME(const float *x, float *y, int rows, int cols) {
  __shared__ float part[BLOCK];
  const float *row = x + (size_t)blockIdx.x * cols;
  float *out = y + (size_t)blockIdx.x * cols;
  float top = -3.4e38f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) top = fmaxf(top, row[c]);
  part[threadIdx.x] = top;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += BLOCK) sum += expf(row[c] - top);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  sum = part[0];
  for (int c = threadIdx.x; c < cols; c += BLOCK) out[c] = expf(row[c] - top) / sum;
}"""
TRANSPOSE = """
extern "C" __global__ void NAME(const float *x, float *y, int rows, int cols) {
  __shared__ float tile[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += BLOCK / 32)
    if (c < cols && r + k < rows) tile[threadIdx.y + k][threadIdx.x] = x[(size_t)(r + k) * cols + c];
  __syncthreads();
  int oc = blockIdx.y * 32 + threadIdx.x, orow = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += BLOCK / 32)
    if (oc < rows && orow + k < cols) y[(size_t)(orow + k) * rows + oc] = tile[threadIdx.x][threadIdx.y + k];
}"""
MATMUL = """
extern "C" __global__ void NAME(const float *a, const float *b, float *c, int n) {
  __shared__ float ta[16][16], tb[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    ta[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + col];
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += ta[threadIdx.y][j] * tb[j][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}"""


@dataclasses.dataclass(frozen=True)
class Family:
    source: str
    buffers: tuple  # (name, extent, direction), in the order of the kernel's parameters
    sizes: tuple    # parameters after the buffers, in order
    grid: tuple
    block: tuple
    bytes: str      # that any correct plan must move
    block_sizes: tuple
    most: int = 1 << 26   # elements
    shape: str = "line"   # "line": n; "rows": 1024 columns; "square": rows = cols; "side": n by n


LINE = (("x", "n", "in"), ("y", "n", "out"))
GRID = (("x", "rows * cols", "in"), ("y", "rows * cols", "out"))
LINES = {"grid": ("ceil_div(n, {block})",), "block": ("{block}",), "sizes": ("n",)}
ROWS = {"grid": ("rows",), "block": ("{block}",), "sizes": ("rows", "cols"), "shape": "rows"}
BLOCKS = (128, 256, 512)
FAMILIES = {
    "scale": Family(SCALE, LINE, bytes="8 * n", block_sizes=BLOCKS, **LINES),
    "saxpy": Family(SAXPY, (("x", "n", "in"), ("y", "n", "inout")), bytes="12 * n", block_sizes=BLOCKS, **LINES),
    "gelu": Family(GELU, LINE, bytes="8 * n", block_sizes=BLOCKS, **LINES),
    "stencil": Family(STENCIL, GRID, ("rows", "cols"), ("ceil_div(cols, {block})", "rows"), ("{block}",),
                      "8 * rows * cols", BLOCKS, shape="square"),
    "row_sum": Family(ROW_SUM, (("x", "rows * cols", "in"), ("y", "rows", "out")), bytes="4 * rows * (cols + 1)",
                      block_sizes=BLOCKS, **ROWS),
    "softmax": Family(SOFTMAX, GRID, bytes="8 * rows * cols", block_sizes=BLOCKS, **ROWS),
    "transpose": Family(TRANSPOSE, GRID, ("rows", "cols"), ("ceil_div(cols, 32)", "ceil_div(rows, 32)"),
                        ("32", "{block} / 32"), "8 * rows * cols", (128, 256, 512), shape="square"),
    "matmul": Family(MATMUL, (("a", "n * n", "in"), ("b", "n * n", "in"), ("c", "n * n", "out")), ("n",),
                     ("n / 16", "n / 16"), ("16", "16"), "12 * n * n", (256,), most=1 << 20, shape="side"),
}

TRANSPOSE_NAIVE = """
extern "C" __global__ void NAME(const float *x, float *y, int rows, int cols) {
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * (BLOCK / 32) + threadIdx.y;
  if (c < cols && r < rows) y[(size_t)c * rows + r] = x[(size_t)r * cols + c];
}"""
MATMUL_NAIVE = """
extern "C" __global__ void NAME(const float *a, const float *b, float *c, int n) {
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}"""
# The same functions done worse: references whose candidates are truly faster.
NAIVE = {
    "transpose": dataclasses.replace(FAMILIES["transpose"], source=TRANSPOSE_NAIVE,
                                     grid=("ceil_div(cols, 32)", "ceil_div(rows, {block} / 32)")),
    "matmul": dataclasses.replace(FAMILIES["matmul"], source=MATMUL_NAIVE),
}


def sizes_of(family, elements):
    shape = FAMILIES[family].shape
    if shape == "line":
        return {"n": elements}
    if shape == "rows":
        cols = min(1024, elements)
        return {"rows": elements // cols, "cols": cols}
    side = math.isqrt(elements)
    if side * side != elements:
        raise ValueError(f"{family} is square: {elements} elements are no square")
    return {"n": side} if shape == "side" else {"rows": side, "cols": side}


def plan_of(family, block, name=None, naive=False):
    """The family's kernel under this name."""
    kind = (NAIVE if naive else FAMILIES)[family]
    name = name or family
    with_block = [text.replace("{block}", str(block)) for text in (*kind.grid, *kind.block)]
    arguments = [{"buffer": buffer} for buffer, _, _ in kind.buffers]
    arguments += [{"size": size, "dtype": "int32"} for size in kind.sizes]
    return {"source": kind.source, "options": [f"-DNAME={name}", f"-DBLOCK={block}"],
            "steps": [{"launch": {"kernel": name, "grid": with_block[:len(kind.grid)],
                                  "block": with_block[len(kind.grid):], "arguments": arguments}}]}


def task_of(family, elements, block=256, name=None, naive=False):
    kind = FAMILIES[family]
    buffers = [{"name": buffer, "dtype": "float32", "extent": extent, "direction": direction}
               for buffer, extent, direction in kind.buffers]
    return {"name": name or family, "sizes": sizes_of(family, elements), "check_sizes": [], "buffers": buffers,
            "reference": plan_of(family, block, name, naive), "work": {"bytes": kind.bytes}}
