#!/usr/bin/env python3
"""Real modules under torch.compile(backend=warpwright.backend) in many states, each compared with eager PyTorch on the same device.

usage: python3 states.py BIN [--device cuda] [--only bert,resnet] [--states eval,train] [--shard 0/2] [--jobs 8] [--out ROWS.jsonl]
           [--store FOLDER] [--plant] [--seconds 540] [--list]

BIN is the build's bin folder. By default each legal region goes through the operator, whose ATen program runs (option warpwright.force); with
--store, plans of that folder are used instead. A module is compiled once and its states follow one another: modes, layouts of inputs,
changes of the compiled module, precision, sizes, training.

A value is right where its error against float64 is at most 4 times eager's own, or 4 times plain
Inductor's: Inductor's deviations are not ours, and are counted apart ("as inductor"). Plain
Inductor is only compiled where eager alone does not settle it. Strides, data types and which
outputs share memory are compared as well. --plant makes the operator's results slightly wrong,
which has to be found. Exit code 1: something was wrong.
"""

import argparse
import collections
import contextlib
import copy
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
FACTOR = 4
TINY = {"torch.float64": 1e-9, "torch.float32": 4e-6, "torch.bfloat16": 8e-3, "torch.float16": 1e-3}
GRADIENT_SCALE = 1e-2  # of the largest gradient: a smaller one is compared with this share, as rounding may be all it holds
OPTIONS = {"fallback_random": True, "reorder_for_peak_memory": False}  # masks of dropout as eager draws them
GOOD = ("right", "as inductor", "inductor fails", "n/a")


def prepare(options):
    """What must be set before torch is imported."""
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.mkdtemp(prefix="inductor-"))
    os.environ["WARPWRIGHT_STORE"] = options.store or tempfile.mkdtemp(prefix="warpwright-store-")
    os.environ["WARPWRIGHT_RAISE"] = "1"  # a fault of ours is an error here, not Inductor's graph
    sys.path.insert(0, os.path.join(options.bin, "torch"))


def leaves(value):
    import torch
    return [one for one in torch.utils._pytree.tree_leaves(value) if isinstance(one, torch.Tensor)]


def mapped(value, change):
    import torch
    return torch.utils._pytree.tree_map(lambda one: change(one) if isinstance(one, torch.Tensor) else one, value)


class Result:
    """All that one call leaves behind: outputs, gradients, buffers, and how the outputs lie in memory."""

    def __init__(self, form, model, inputs, train):
        import torch
        before = {name: value.clone() for name, value in model.named_buffers()}
        given = mapped(inputs, lambda one: one.detach().requires_grad_(one.is_floating_point() and not one.is_inference()) if train else one)
        torch.manual_seed(7)
        outputs = leaves(form(**given))
        everything = outputs + leaves(given)
        places = [one.untyped_storage().data_ptr() for one in everything]
        self.shared = {(i, j) for i in range(len(outputs)) for j in range(i) if places[i] == places[j] and places[i]}
        self.shared |= {(i, j) for i in range(len(outputs)) for j in range(len(outputs), len(places)) if places[i] == places[j] and places[i]}
        self.layout = [(str(one.dtype), tuple(one.shape), one.requires_grad) for one in outputs]
        self.strides = [one.stride() for one in outputs]
        self.values = {f"output {i}": one.detach().clone() for i, one in enumerate(outputs)}
        if train:
            wanted = {name: one for name, one in model.named_parameters() if one.requires_grad}
            wanted.update({f"input {i}": one for i, one in enumerate(leaves(given)) if one.requires_grad})
            loss = sum((one * weights_of(one)).sum() for one in outputs if one.requires_grad)
            found = torch.autograd.grad(loss, list(wanted.values()), allow_unused=True)
            for (name, one), gradient in zip(wanted.items(), found):
                self.values["gradient of " + name] = torch.zeros_like(one) if gradient is None else gradient.detach().clone()
        for name, value in model.named_buffers():
            self.values["buffer " + name] = value.clone()
            with torch.inference_mode(value.is_inference()):
                value.copy_(before[name])


def weights_of(value):
    """Fixed weights, so that the loss has no symmetry that hides a wrong gradient."""
    import torch
    count = torch.arange(value.numel(), device=value.device, dtype=torch.float64)
    return (torch.sin(count * 0.7) + 0.3).reshape(value.shape).to(value.dtype)


def errors_of(result, exact):
    """{what: the error over the largest value}; infinite where it is not finite at the same places, or an integer differs."""
    import torch
    largest = max([float(one.abs().max()) for name, one in exact.values.items() if name.startswith("gradient") and one.numel()], default=0.0)
    found = {}
    for name, one in result.values.items():
        other = exact.values.get(name)
        if other is None or other.shape != one.shape:
            found[name] = float("inf")
        elif not one.numel():
            found[name] = 0.0
        elif not one.is_floating_point():
            found[name] = 0.0 if torch.equal(one, other.to(one.dtype)) else float("inf")
        else:
            one, other = one.double(), other.double()
            finite = other.isfinite()
            if not torch.equal(one.isfinite(), finite):
                found[name] = float("inf")
            elif bool(finite.any()):
                least = GRADIENT_SCALE * largest if name.startswith("gradient") else 0.0
                found[name] = float((one - other)[finite].abs().max() / other[finite].abs().max().clamp_min(max(least, 1e-30)))
            else:
                found[name] = 0.0
    return found


def too_far(result, exact, judge):
    """What is further from `exact` than the judge allows; empty: nothing."""
    allowed, worst = errors_of(judge, exact), []
    for name, error in errors_of(result, exact).items():
        known = allowed.get(name, 0.0)
        if known >= 1 and error != float("inf"):
            continue  # no digit of the judge's is right either, as in the gradients of a deep network in training mode with a tiny batch
        most = FACTOR * known + TINY.get(str(result.values[name].dtype), 0.0)
        if not error <= most:
            worst.append(f"{name}: error {error:.2g}, allowed {most:.2g}")
    return worst


def differences(result, exact, judge):
    """In words; empty: as right as the judge, an eager or an Inductor's result."""
    if result.layout != judge.layout:
        return [f"outputs {result.layout}, wanted {judge.layout}"]
    found = too_far(result, exact, judge)
    if result.strides != judge.strides:
        found.append(f"strides {result.strides}, wanted {judge.strides}")
    if result.shared != judge.shared:
        found.append(f"outputs that share memory: {sorted(result.shared)}, wanted {sorted(judge.shared)}")
    return found


class Trial:
    """One module: compiled once by us, and by plain Inductor where that is asked."""

    def __init__(self, name, options):
        import torch
        import modules
        from warpwright import backend
        self.torch, self.device, self.entry = torch, options.device, modules.entry_of(name)
        self.model, drawn = modules.made(name)
        self.model.to(self.device)
        self.draw = lambda batch, seed=1: mapped(drawn(batch, seed), lambda one: one.to(self.device))
        ours = {} if options.store else {"warpwright.force": True}
        self.ours = torch.compile(self.model, backend=backend, options={**OPTIONS, **ours})
        self.plain = torch.compile(self.model, options=OPTIONS)

    def check(self, state):
        """@return (verdict, what)"""
        if not self.entry.trains and state.train:
            return "n/a", "its training is not compared"
        with contextlib.ExitStack() as stack:
            if not state.train:
                stack.enter_context(self.torch.inference_mode() if state.inference else self.torch.no_grad())
            inputs = state.inputs(self)
            if inputs is None:
                return "n/a", "no such input"
            with state.context(self):
                return self.judge(inputs, state.train)

    def judge(self, inputs, train):
        try:
            eager = Result(self.model, self.model, inputs, train)
        except Exception as error:
            return "n/a", f"eager: {first_line(error)}"
        exact = self.exact(inputs, train) or eager
        try:
            ours = self.ours_result(inputs, train)
        except Exception as error:
            try:
                Result(self.plain, self.model, inputs, train)
            except Exception as theirs:
                return "inductor fails", first_line(theirs)
            return "wrong", first_line(error)
        found = differences(ours, exact, eager)
        if not found:
            return "right", ""
        try:
            plain = Result(self.plain, self.model, inputs, train)
        except Exception as theirs:
            return "wrong", f"plain Inductor fails, ours differs: {found[0]}; {first_line(theirs)}"
        more = differences(ours, exact, plain)
        return ("wrong", "; ".join(more[:3])) if more else ("as inductor", "; ".join(found[:2]))

    def ours_result(self, inputs, train):
        try:
            return Result(self.ours, self.model, inputs, train)
        except Exception as error:
            # Dynamo may fail before it calls any backend, and succeed when it is called again (SpeculationLog, PyTorch 2.6).
            if type(error).__name__ not in ("InternalTorchDynamoError", "AssertionError") or passed_through(error, "warpwright"):
                raise
            return Result(self.ours, self.model, inputs, train)

    def exact(self, inputs, train):
        """In float64. None: the module has an operator that knows no float64."""
        def wide(one):
            return one.double() if one.is_floating_point() else one

        try:
            model = copy.deepcopy(self.model).double()
            with self.torch.autocast(self.device, enabled=False), matmul_precision("highest"):
                return Result(model, model, mapped(inputs, wide), train)
        except Exception:
            return None


def passed_through(error, folder):
    """Whether a file of that folder took part in raising the error or what caused it."""
    while error is not None:
        place = error.__traceback__
        while place is not None:
            if os.path.basename(os.path.dirname(place.tb_frame.f_code.co_filename)) == folder:
                return True
            place = place.tb_next
        error = error.__cause__ or error.__context__
    return False


def first_line(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


@contextlib.contextmanager
def matmul_precision(name):
    import torch
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(name)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def compiled_graphs(counts, plant):
    """Counts graphs, operators and calls; with plant, makes results wrong."""
    from warpwright import calls, dynamo
    look, otherwise = dynamo.look, calls.Bound.otherwise

    def looked(*given):
        found = look(*given)
        counts.update(graphs=1, operators=found["operators"], covered=found["covered"], regions=len(found["regions"]))
        return found

    def called(bound, inputs, sizes):
        counts["calls"] += 1
        results = otherwise(bound, inputs, sizes)
        return [one * 1.001 if one.is_floating_point() else one for one in results] if plant else results

    dynamo.look, calls.Bound.otherwise = looked, called


def module_row(name, options):
    import torch
    import changes
    from warpwright import calls
    row, counts = {"module": name, "torch": torch.__version__, "device": device_name(options.device), "states": {}}, collections.Counter()
    start = time.monotonic()
    try:
        trial = Trial(name, options)
    except ImportError as error:
        return {**row, "skipped": first_line(error)}
    compiled_graphs(counts, options.plant)
    for key in ("recompile_limit", "accumulated_recompile_limit", "cache_size_limit", "accumulated_cache_size_limit"):
        if hasattr(torch._dynamo.config, key):
            setattr(torch._dynamo.config, key, 10000)  # past it code runs eagerly, and would be compared with itself
    if hasattr(torch._dynamo.config, "allow_rnn"):
        torch._dynamo.config.allow_rnn = True  # else Dynamo leaves modules that hold an LSTM to eager mode
    torch._dynamo.config.skip_nnmodule_hook_guards = False  # else a hook that is added later is PyTorch's known deviation
    for state in changes.STATES:
        if options.states and state.name not in options.states:
            continue
        before, begun = counts["calls"], time.monotonic()
        verdict, what = trial.check(state)
        row["states"][state.name] = {"verdict": verdict, "what": what, "calls": counts["calls"] - before,
                                     "seconds": round(time.monotonic() - begun, 1)}
    row.update(counts, kernel_calls=calls.runs(), seconds=round(time.monotonic() - start, 1))
    return row


def device_name(device):
    import torch
    return torch.cuda.get_device_name() if device.startswith("cuda") else device


def verdict_of(row):
    if "skipped" in row or "failed" in row:
        return "skipped" if "skipped" in row else "failed"
    found = [one["verdict"] for one in row["states"].values()]
    if "wrong" in found:
        return "wrong"
    return "right" if row.get("calls") or row["kernel_calls"] else "not compiled"  # no region ran: eager was compared with itself


def line_of(row):
    verdict = verdict_of(row)
    if verdict in ("skipped", "failed"):
        return f"{row['module']:28} {verdict}: {row[verdict]}"
    found = collections.Counter(one["verdict"] for one in row["states"].values())
    text = ", ".join(f"{count} {name}" for name, count in sorted(found.items()))
    text = (f"{row['module']:28} {verdict}: {text}; {row.get('graphs', 0)} graphs, {row.get('covered', 0)}/{row.get('operators', 0)} operators in "
            f"{row.get('regions', 0)} regions, {row.get('calls', 0) + row['kernel_calls']} calls, {row['seconds']} s")
    for name, one in row["states"].items():
        if one["verdict"] in ("wrong", "as inductor", "inductor fails"):
            text += f"\n    {name}: {one['verdict']}: {one['what']}"
    return text


def worker(name, options):
    """One module in a process of its own, so that a crash or an endless compile costs that module alone."""
    command = [sys.executable, "-B", os.path.abspath(__file__), options.bin, "--worker", name, "--device", options.device]
    command += (["--states", ",".join(options.states)] if options.states else []) + (["--store", options.store] if options.store else [])
    command += ["--plant"] if options.plant else []
    place = {**os.environ, "OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    out = tempfile.TemporaryFile(mode="w+")
    return name, time.monotonic(), out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=place, text=True)


def finished(name, out, code):
    out.seek(0)
    text = out.read()
    lines = [one for one in text.splitlines() if one.startswith('{"module"')]
    if code == 0 and lines:
        return json.loads(lines[-1])
    return {"module": name, "failed": f"exit code {code}: " + " | ".join(text.splitlines()[-4:])[-600:]}


def run_all(names, options):
    rows, running, waiting, end = [], [], list(names), time.monotonic() + options.seconds
    while waiting or running:
        while waiting and len(running) < options.jobs and time.monotonic() < end:
            running.append(worker(waiting.pop(0), options))
        if waiting and not running:
            rows += [{"module": name, "failed": "no time was left"} for name in waiting]
            print(f"no time was left for {', '.join(waiting)}", flush=True)
            break
        time.sleep(0.2)
        for one in list(running):
            name, start, out, process = one
            code = process.poll()
            if code is None and (time.monotonic() - start > options.module_seconds or time.monotonic() > end + 30):
                process.kill()
                process.wait()
                code = f"none, stopped after {time.monotonic() - start:.0f} s"
            if code is None:
                continue
            running.remove(one)
            rows.append(finished(name, out, code))
            print(line_of(rows[-1]), flush=True)
            if options.out:
                with open(options.out, "a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--device", default="cpu")
    for name in ("--only", "--states", "--store", "--out", "--worker"):
        parser.add_argument(name, default="")
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1e9, help="no module is begun later, and none runs 30 seconds longer")
    parser.add_argument("--module-seconds", type=float, default=900)
    parser.add_argument("--plant", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    options.states = [one for one in options.states.split(",") if one]
    if options.worker:
        prepare(options)
        print(json.dumps(module_row(options.worker, options)), flush=True)
        return 0
    import modules
    shard, shards = map(int, options.shard.split("/"))
    wanted = [one for one in options.only.split(",") if one]
    names = [name for number, name in enumerate(modules.MODULES) if number % shards == shard]
    if wanted:  # in the order asked for
        names += modules.SAMPLE
        names = list(dict.fromkeys(name for one in wanted for name in names if name.startswith(one)))
    if options.list:
        print("\n".join(names))
        return 0
    rows = run_all(names, options)
    found = collections.Counter(map(verdict_of, rows))
    print(f"{len(rows)} modules: " + ", ".join(f"{count} {name}" for name, count in sorted(found.items())))
    return 1 if found["wrong"] or found["failed"] or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
