"""Runs the plans that matmul_emit printed: errors against fp64 next to cuBLAS FP32's, and times with a cold cache next to torch.

    python3 family_run.py plans.jsonl [SECONDS]

One line a product: cuBLAS FP32 under torch, then the configurations from quick to slow.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import torch
import gpu

DTYPES = {"uint8": torch.uint8, "int32": torch.int32, "float32": torch.float32, "float16": torch.float16,
          "bfloat16": torch.bfloat16}


def compiled(plan, folder, number):
    source = folder / f"{number}.cu"
    source.write_text("#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n" + plan["source"])
    cubin = source.with_suffix(".cubin")
    run = subprocess.run(["nvcc", "-std=c++17", "-cubin", "-gencode=arch=compute_90a,code=sm_90a", "-Xptxas", "-v",
                          str(source), "-o", str(cubin)], capture_output=True, text=True)
    return cubin if run.returncode == 0 else None, run.stderr


class Case:
    """One product, its operands and what torch makes of it."""

    def __init__(self, entry, kind="randn"):
        m, n, k, batch, layout = (entry[key] for key in ("m", "n", "k", "batch", "layout"))
        make = {"randn": torch.randn, "rand": torch.rand,
                "scaled": lambda *s, **o: torch.randn(*s, **o) * 10 ** (3 * torch.randn(*s[:-1], 1, **o))}[kind]
        lead = (batch,) if batch > 1 else ()
        self.buffers = {"a": make(*lead, *((k, m) if layout[0] == "t" else (m, k)), device="cuda"),
                        "b": make(*lead, *((n, k) if layout[1] == "t" else (k, n)), device="cuda"),
                        "b2": make(*lead, *((n, k) if layout[1] == "t" else (k, n)), device="cuda"),
                        "bias": torch.randn(n, device="cuda")}
        self.dtype = DTYPES[entry["dtype"]]
        self.buffers = {name: value.to(self.dtype) for name, value in self.buffers.items()}
        self.entry, self.out = entry, torch.empty(*lead, m, n, device="cuda", dtype=self.dtype)

    def operands(self):
        a, b, layout = self.buffers["a"], self.buffers["b"], self.entry["layout"]
        return a.mT if layout[0] == "t" else a, b.mT if layout[1] == "t" else b

    def reference(self, out=None, dtype=None):
        dtype = dtype or self.dtype
        a, b = (x.to(dtype) for x in self.operands())
        if self.entry["epilogue"] == "prologue":
            a = torch.relu(a)
        if self.entry["epilogue"] == "triangle":
            a, b = torch.tril(a), torch.tril(b)
        c = torch.matmul(a, b, out=out) if out is not None else torch.matmul(a, b)
        if self.entry["epilogue"] == "gated":
            b2 = self.buffers["b2"].to(dtype)
            c = torch.sigmoid(c) * torch.matmul(a, b2.mT if self.entry["layout"][1] == "t" else b2)
        if self.entry["epilogue"] == "bias_relu":
            c = torch.relu(c + self.buffers["bias"].to(dtype))
        if self.entry["epilogue"] == "triangle":
            c = torch.tril(c)
        return c

    def candidate(self, entry, module):
        plan = entry["plan"]
        buffers = dict(self.buffers)
        for temporary in plan["temporaries"]:
            buffers[temporary["name"]] = torch.empty(int(temporary["extent"]), dtype=DTYPES[temporary["dtype"]], device="cuda")
        buffers[entry["result"]] = self.out
        steps = [step["launch"] for step in plan["steps"]]

        def given(argument):
            buffer = buffers[argument["buffer"]]
            return gpu.TensorMap(buffer, int(argument["offset"]), argument["map"]) if "map" in argument else buffer

        launches = [(step["kernel"], [int(x) for x in step["grid"]], [int(x) for x in step["block"]], int(step["shared_bytes"]),
                     [given(argument) for argument in step["arguments"]]) for step in steps]

        def work():
            for launch in launches:
                module.launch(*launch)
        return work, steps


def error(c, exact):
    return ((c.double() - exact).abs().max() / exact.abs().max()).item()


def check_kinds(members):
    """Errors of each algorithm's first configuration on positive operands and on rows of very different sizes."""
    entry = members[0][0]
    if entry["m"] * entry["n"] * entry["k"] * entry["batch"] > 2e10 or entry["dtype"] != "float32":
        return
    for kind in ("rand", "scaled"):
        case = Case(entry, kind)
        exact = case.reference(dtype=torch.float64)
        scale = exact.abs().amax(-1, keepdim=True) if kind == "scaled" else exact.abs().max()
        relative = lambda c: ((c.double() - exact) / scale).abs().max().item()
        fp32, seen = relative(case.reference()), set()
        for member, cubin in members:
            if (algorithm := member["configuration"]["algorithm"]) not in seen:
                seen.add(algorithm)
                case.out.fill_(float("nan"))
                case.candidate(member, gpu.Module(cubin))[0]()
                wrong = relative(case.out)
                if not wrong <= 2 * fp32 + 3e-7:
                    print(f"{entry['m']}x{entry['n']}x{entry['k']} {entry['layout']} {kind}: {words(member['configuration'])} errs {wrong:.1e}, fp32 {fp32:.1e}",
                          flush=True)


def words(configuration):
    names = {0: "simt", 1: "rows", 2: "tf32", 3: "packed", 4: "half", 5: "thin half"}
    rest = [f"{key}={value}" for key, value in configuration.items() if key != "algorithm" and (key, value) not in
            (("splits", 1), ("cluster", 1))]
    return names[configuration["algorithm"]] + "(" + " ".join(rest) + ")"


def main():
    began, limit = time.time(), float(sys.argv[2]) if len(sys.argv) > 2 else 1e9
    torch.backends.cuda.matmul.allow_tf32 = False
    entries = [json.loads(line) for line in pathlib.Path(sys.argv[1]).read_text().splitlines()]
    folder = pathlib.Path(tempfile.mkdtemp())
    with ThreadPoolExecutor(16) as pool:
        built = list(pool.map(lambda pair: compiled(pair[1]["plan"], folder, pair[0]), enumerate(entries)))
    groups = collections.OrderedDict()
    for entry, (cubin, log) in zip(entries, built):
        if cubin is None or "C75" in log:
            print(words(entry["configuration"]), log[-600:])
        if cubin is not None:
            groups.setdefault(tuple(entry[key] for key in ("m", "n", "k", "batch", "layout", "epilogue", "dtype")), []).append((entry, cubin))
    one = torch.zeros(1, device="cuda")
    floor = gpu.median_ms(lambda: one.add_(1)) * 1e3
    print(f"{len(entries)} plans compiled in {time.time() - began:.0f} s on {torch.cuda.get_device_name()}; one tiny kernel takes {floor:.1f} us",
          flush=True)
    for key, members in groups.items():
        check_kinds(members)
    for key, members in groups.items():
        if time.time() - began > limit:
            print("out of time")
            break
        m, n, k, batch, layout, epilogue, dtype = key
        big = m * n * k * batch > 3e11
        case = Case(members[0][0])
        flops = 2e-6 * m * n * k * batch
        exact = None if big else case.reference(dtype=torch.float64)
        base = gpu.median_ms(lambda: case.reference(case.out), 5) * 1e3
        fp32 = error(case.reference(), exact) if exact is not None else float("nan")
        rows = []
        for entry, cubin in members:
            try:
                module = gpu.Module(cubin)
                case.out.fill_(float("nan"))
                work, steps = case.candidate(entry, module)
                work()
                wrong = error(case.out, exact) if exact is not None else float("nan")
                took = gpu.median_ms(work, 5) * 1e3
                rows.append((took, f"{words(entry['configuration'])} {took:.1f} us err {wrong:.1e}" + ("!" if wrong > 2 * fp32 + 3e-7 or wrong != wrong and not big else "")))
            except RuntimeError as failure:
                rows.append((1e9, f"{words(entry['configuration'])} FAILED {failure}"))
                if "illegal" in str(failure) or "launch failure" in str(failure):
                    print(rows[-1][1])
                    raise
        listed = [text.split(" us")[0].rsplit(" ", 1)[0] for _, text in rows]
        first = rows[0][0]
        rows.sort()
        print(f"{batch}x {m}x{n}x{k} {layout} {epilogue} {dtype}: torch {base:.1f} us ({flops / base:.1f} TFLOP/s) err {fp32:.1e}; best {rows[0][0]:.1f} "
              f"({flops / rows[0][0]:.1f}) {base / rows[0][0]:.2f}x; first guess {first:.1f} {base / first:.2f}x", flush=True)
        for _, text in rows:
            print("   ", text, flush=True)


if __name__ == "__main__":
    main()
