"""Torch tasks and plans for tests: modules, what a runner's trace says of them, and candidates, right and wrong. Thread: any."""

import json
import subprocess

HEADER = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"

LINEAR = HEADER + """
class Model(nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.linear = nn.Linear(wide, narrow)

    def forward(self, x):
        return torch.relu(self.linear(x))

def get_inputs():
    return [torch.randn(SIZE, 256)]

def get_init_inputs():
    return [256, 128]
"""

CONVOLUTION = HEADER + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(16, 32, 3, padding=1)
        self.bias = nn.Parameter(torch.randn(32, 1, 1))

    def forward(self, x):
        return torch.tanh(self.conv(x) + self.bias)

def get_inputs():
    return [torch.randn(SIZE, 16, 24, 24)]

def get_init_inputs():
    return []
"""

NORM = HEADER + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(64)

    def forward(self, x):
        return self.norm(x)

def get_inputs():
    return [torch.randn(SIZE, 64)]

def get_init_inputs():
    return []
"""

WAITS = HEADER + """
class Model(nn.Module):
    def forward(self, x):
        if x.device.type != "meta" and not torch.jit.is_tracing():
            x.detach().sum().item()
        return torch.relu(x)

def get_inputs():
    return [torch.randn(SIZE, 256)]

def get_init_inputs():
    return []
"""

RELU = r"""
extern "C" __global__ void ww_relu_rows(const float *x, const float *bias, float *y, int n, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i] + bias[i % columns], 0.0f);
}
extern "C" __global__ void ww_relu(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" __global__ void ww_tanh_bias(const float *x, const float *bias, float *y, int n, int plane, int channels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tanhf(x[i] + bias[i / plane % channels]);
}
extern "C" __global__ void ww_linear(const float *x, const float *w, const float *b, float *y, int rows, int inner, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  float sum = b[i % columns];
  for (int k = 0; k < inner; ++k) sum += x[i / columns * inner + k] * w[i % columns * inner + k];
  y[i] = fmaxf(sum, 0.0f);
}
extern "C" __global__ void ww_linear_tf32(const float *x, const float *w, const float *b, float *y, int rows, int inner, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  float sum = b[i % columns];
  for (int k = 0; k < inner; ++k) {
    const float p = __int_as_float(__float_as_int(x[i / columns * inner + k]) & 0xffffe000);
    const float q = __int_as_float(__float_as_int(w[i % columns * inner + k]) & 0xffffe000);
    sum += p * q;
  }
  y[i] = fmaxf(sum, 0.0f);
}
extern "C" __global__ void ww_norm(const float *x, const float *w, const float *b, float *mean, float *var, long long *count, float *y,
                                int rows, int columns) {
  const int c = threadIdx.x;
  float sum = 0, squares = 0;
  for (int r = 0; r < rows; ++r) sum += x[r * columns + c];
  const float m = sum / rows;
  for (int r = 0; r < rows; ++r) squares += (x[r * columns + c] - m) * (x[r * columns + c] - m);
  const float v = squares / rows, scale = rsqrtf(v + 1e-5f);
  for (int r = 0; r < rows; ++r) y[r * columns + c] = (x[r * columns + c] - m) * scale * w[c] + b[c];
  mean[c] = 0.9f * mean[c] + 0.1f * m;
  var[c] = 0.9f * var[c] + 0.1f * v * rows / (rows - 1);
  if (c == 0) *count += 1;
}
"""


def trace(runner, source, *options):
    """{graph, buffers}; raises with what the runner said."""
    run = subprocess.run([runner, "trace", "/dev/stdin", "--json", "-", *options], input=source, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr)
    return json.loads(run.stdout)


def elements(shape):
    size = 1
    for extent in shape:
        size *= extent
    return size


def make_task(source, buffers, name="module"):
    described = [dict(buffer, extent=elements(buffer["shape"]), distribution={"kind": "module"}) for buffer in buffers]
    return {"name": name, "file": "", "sizes": {}, "buffers": described, "module": {"source": source},
            "reference": {"source": "", "steps": [{"module": {}}]}}


def by_torch_name(buffers):
    return {buffer["torch_name"]: buffer for buffer in buffers}


def launch(kernel, threads, *arguments):
    packed = [{"buffer": one} if isinstance(one, str) else {"size": one} for one in arguments]
    return {"launch": {"kernel": kernel, "grid": [(threads + 255) // 256], "block": [256], "arguments": packed}}


def view(buffer, shape=None, strides=None):
    made = {"buffer": buffer["name"], "shape": shape or buffer["shape"]}
    if strides:
        made["strides"] = strides
    return made


def linear_plan(buffers, kernel="ww_linear"):
    at = by_torch_name(buffers)
    x, w, b, y = at["x"], at["linear.weight"], at["linear.bias"], buffers[-1]
    rows, inner, columns = x["shape"][0], x["shape"][1], w["shape"][0]
    return {"source": RELU, "steps": [launch(kernel, rows * columns, x["name"], w["name"], b["name"], y["name"], rows, inner, columns)]}


def linear_aten_plan(buffers):
    """The product by ATen, bias and activation by a kernel of ours."""
    at = by_torch_name(buffers)
    x, w, b, y = at["x"], at["linear.weight"], at["linear.bias"], buffers[-1]
    rows, inner, columns = x["shape"][0], x["shape"][1], w["shape"][0]
    product = {"aten": {"op": "aten::mm", "arguments": [{"tensor": view(x)}, {"tensor": view(w, [inner, columns], [1, inner])}],
                        "results": [{"buffer": "product", "shape": [rows, columns]}]}}
    return {"source": RELU, "temporaries": [{"name": "product", "dtype": "float32", "extent": rows * columns}],
            "steps": [product, launch("ww_relu_rows", rows * columns, "product", b["name"], y["name"], rows * columns, columns)]}


def convolution_plan(buffers):
    at = by_torch_name(buffers)
    x, w, b, bias, y = at["x"], at["conv.weight"], at["conv.bias"], at["bias"], buffers[-1]
    count, channels, plane = elements(y["shape"]), y["shape"][1], y["shape"][2] * y["shape"][3]
    step = {"aten": {"op": "aten::convolution",
                     "arguments": [{"tensor": view(x)}, {"tensor": view(w)}, {"tensor": view(b)}, [1, 1], [1, 1], [1, 1], False, [0, 0], 1],
                     "results": [{"buffer": "made", "shape": y["shape"]}]}}
    return {"source": RELU, "temporaries": [{"name": "made", "dtype": "float32", "extent": count}],
            "steps": [step, launch("ww_tanh_bias", count, "made", bias["name"], y["name"], count, plane, channels)]}


def norm_plan(buffers):
    at = by_torch_name(buffers)
    names = [at[name]["name"] for name in ("x", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var",
                                           "norm.num_batches_tracked")]
    rows, columns = at["x"]["shape"]
    step = launch("ww_norm", columns, *names, buffers[-1]["name"], rows, columns)
    step["launch"]["grid"], step["launch"]["block"] = [1], [columns]
    return {"source": RELU, "steps": [step]}


def relu_plan(buffers):
    x, y = buffers[0], buffers[-1]
    count = elements(x["shape"])
    return {"source": RELU, "steps": [launch("ww_relu", count, x["name"], y["name"], count)]}
