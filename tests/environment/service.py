"""A service of `warpwright-collect serve` on the CPU backend, over two small kernels, and
answers to them."""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "clients" / "python"))
PROGRAMS = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 and pathlib.Path(sys.argv[1]).is_dir() else "build/release/bin")

KERNELS = {
    "scale": """#include <cuda_runtime.h>
__global__ void scale(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2.0f * x[i];
}
int main() {
  const int n = 3000;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  scale<<<(n + 255) / 256, 256>>>(x, y, n);
  return cudaDeviceSynchronize();
}
""",
    "shift": """#include <cuda_runtime.h>
__global__ void shift(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] + 1.0f;
}
int main() {
  const int n = 2000;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  shift<<<(n + 127) / 128, 128>>>(x, y, n);
  return cudaDeviceSynchronize();
}
""",
}
SCALE, SHIFT = "scale.cu/scale", "shift.cu/shift"


def plan(name="fast", threads=256):
    arguments = [{"buffer": "x"}, {"buffer": "y"}, {"size": "n"}]
    return {"steps": [{"launch": {"kernel": name, "grid": [f"ceil_div(n, {threads})"], "block": [threads],
                                  "arguments": arguments}}]}


def source(body, name="fast"):
    return (f"__global__ void {name}(const float *x, float *y, int n) {{\n"
            f"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {body}\n}}\n")


def answer(code, plan_of_it=None, versions=0):
    """A language model's answer in its three sections."""
    faster = "1" if versions >= 2 else "none"
    return (f"## Performance Analysis\nFaster version: {faster}\nDecisive change: none\nBound: memory\n"
            "## Algorithm Design\nThe same, again.\n"
            f"## Code Implementation\n```cuda\n{code}```\n```json\n{json.dumps(plan_of_it or plan())}\n```\n")


RIGHT, WRONG = source("y[i] = x[i] + x[i];"), source("y[i] = 3.0f * x[i];")
BROKEN = source("y[i] = 2.0f * undeclared[i];")


class Service:
    def __init__(self, *options, folder=None):
        self._made = None if folder else tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(folder or self._made.name)
        tasks = self.folder / "tasks"
        tasks.mkdir(exist_ok=True)
        for name, text in KERNELS.items():
            (tasks / f"{name}.cu").write_text(text)
        command = [PROGRAMS / "warpwright-collect", "serve", "--env", "live", "--quiet", "--out", self.folder / "out",
                   "--records", self.folder / "records.jsonl", "--listen", "127.0.0.1:0",
                   "--set", f'tasks.suites=["{tasks}"]', "--set", 'environment.device="cpu"', *options]
        log = self.folder / "stderr"
        with open(log, "w") as errors:
            self.process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=errors)
        self.url = None
        while not self.url:
            has_ended = self.process.poll() is not None
            said = [line for line in log.read_text().splitlines(True) if line.startswith("serving ") and line.endswith("\n")]
            if said:
                self.url = said[0].split()[-1]
            elif has_ended:
                raise RuntimeError(log.read_text())
            else:
                time.sleep(0.05)

    def trajectories(self):
        with open(self.folder / "out" / "trajectories.jsonl") as lines:
            return [json.loads(line) for line in lines]

    def stop(self, with_signal=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        self.process.wait(60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        if self._made:
            self._made.cleanup()


def violations(value, schema, root=None, place="$"):
    """Violations of a JSON schema, as far as the service's schemas use the language."""
    root = root or schema
    if "$ref" in schema:
        schema = root["definitions"][schema["$ref"].split("/")[-1]]
    found = []
    types = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "integer": int,
             "null": type(None)}
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    is_flag = isinstance(value, bool)
    if wanted and not any(isinstance(value, types[name]) and (name == "boolean" or not is_flag) for name in wanted):
        return [f"{place}: {value!r} is no {wanted}"]
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place}: {value!r} is not among {schema['enum']}")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        found += [f"{place}: no {name}" for name in schema.get("required", []) if name not in value]
        for name, member in value.items():
            if name in known:
                found += violations(member, known[name], root, f"{place}.{name}")
            elif schema.get("additionalProperties") is False:
                found.append(f"{place}: unknown {name}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            found.append(f"{place}: {len(value)} items")
        for index, item in enumerate(value):
            found += violations(item, schema.get("items", {}), root, f"{place}[{index}]")
    return found
