#!/usr/bin/env python3
"""Exported modules as a benchmark's harness and a user would meet them:
export_check.py [--mode made|eval|train] [--jobs N] [--seconds S] [--compile] [--json FILE [--follow
PID]] FILE_OR_FOLDER...

Each file runs in a fresh Python, where its text is executed; Model and ModelNew are made under one
seed, put into the mode, and called with several drawings of inputs. ModelNew must give what Model
gives, by its kernels (its own counts say so); and whatever it was not verified for must be as Model
has it: other shapes, layouts and dtypes, gradients, inference mode, each change of
export_states.py, the CPU. Copies, state dicts and pickles must work, and torch.compile (--compile)
must trace as many graphs of ModelNew as of Model. A file's addition has 20 lines at most, or 100
where it stands alone. Knows nothing of the project's own checks. Prints one line per file; the exit
status says whether all held. Needs a GPU (--device cpu is for its own test).
"""

import argparse
import concurrent.futures
import contextlib
import copy
import json
import os
import pickle
import subprocess
import sys
import time
import types
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

SEEDS = (42, 7, 1234567)
STATE_TOLERANCE = 1e-3
LIBRARY_TOLERANCE = 1e-2  # the reference's own library may multiply in TF32
ERRORS_OF_MODEL = 4  # where that is not enough: how many times as far from float64 as Model
LARGE_BYTES = 1 << 30  # of inputs: what needs copies is left out
CPU_ELEMENTS = 1 << 16
MOST_LINES = {"package": 20, "standalone": 100}


class Wrong(Exception):
    pass


class Check:
    def __init__(self, path, compiled, mode="made", device="cuda"):
        import torch

        self.torch, self.path, self.compiled, self.mode, self.device = torch, path, compiled, mode, device
        self.notes, self.report = [], {"file": path, "mode": mode, "states": {}}
        warnings.simplefilter("ignore")
        with open(path, encoding="utf-8") as file:
            self.text = file.read()

    def run(self):
        begin = time.perf_counter()
        self.space = self.execute()
        self.report["import_s"] = round(time.perf_counter() - begin, 2)
        self.exported = self.space["ModelNew"].warpwright_plan
        self.count_lines()
        self.original, self.new = self.make("Model"), self.make("ModelNew")
        self.compare_drawings()
        self.report["runs"], self.report["fallbacks"] = self.exported.runs(), self.exported.fallbacks()
        self.compare_states()
        if sum(one.numel() * one.element_size() for one in self.tensors(self.inputs(1))) < LARGE_BYTES:
            self.compare_what_was_not_verified()
            self.compare_changed_states()
            self.check_copies()
        if self.compiled:
            self.check_compile()
        self.time_calls()
        self.report["notes"] = self.notes

    def execute(self):
        module = types.ModuleType("exported_" + str(abs(hash(self.path))))
        module.__file__ = self.path
        sys.modules[module.__name__] = module
        exec(compile(self.text, self.path, "exec"), module.__dict__)
        return module.__dict__

    def count_lines(self):
        """From the comment above what it adds to the class."""
        lines = self.text.splitlines()
        form = "package" if "    import warpwright" in lines else "standalone"
        begin = lines.index("    import warpwright") - 1 if form == "package" else next(
            index for index, line in enumerate(lines) if line.startswith("_warpwright_") and "_source = r" in line)
        while lines[begin - 1].startswith("#"):
            begin -= 1
        end = next(index for index, line in enumerate(lines) if line.startswith("class ModelNew(")) + 2
        self.report["form"], self.report["lines"] = form, end - begin
        if end - begin > MOST_LINES[form]:
            raise Wrong(f"the {form} form has {end - begin} lines, more than {MOST_LINES[form]}")

    # ---- What is made

    def seed(self, seed):
        self.torch.manual_seed(seed)
        if self.torch.cuda.is_available():
            self.torch.cuda.manual_seed_all(seed)

    def make(self, name):
        self.seed(SEEDS[0])
        given = self.space["get_init_inputs"]() if "get_init_inputs" in self.space else []
        self.seed(SEEDS[0])
        model = self.space[name](**given) if isinstance(given, dict) else self.space[name](*given)
        return (model if self.mode == "made" else model.train(self.mode == "train")).to(self.device)

    def inputs(self, seed):
        """Drawn on the device where torch has a way: gigabytes take seconds on a CPU."""
        self.seed(seed)
        with self.torch.device(self.device) if hasattr(self.torch, "set_default_device") else contextlib.nullcontext():
            given = self.space["get_inputs"]()
        return [self.mapped(value, lambda one: one.to(self.device)) for value in given]

    def mapped(self, value, function):
        if self.torch.is_tensor(value):
            return function(value)
        if isinstance(value, (list, tuple)):
            return type(value)(self.mapped(one, function) for one in value)
        return value

    def tensors(self, value):
        if self.torch.is_tensor(value):
            return [value]
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else []
        return [tensor for part in parts for tensor in self.tensors(part)]

    # ---- Comparing

    def outcome(self, model, inputs):
        """Its outputs, or the exception's type."""
        self.seed(SEEDS[1])  # of dropout
        try:
            with self.torch.no_grad():
                return model(*inputs)
        except Exception as error:  # whatever the user's module says to such inputs
            return type(error)

    def same(self, what, expected, given, tolerance=1e-4, of_largest=False):
        """Each element to the tolerance; of_largest: to as much of the tensor's largest."""
        for a, b in self.pairs(what, expected, given):
            absolute = tolerance * max(1.0, a.abs().max().item()) if of_largest and a.numel() else tolerance
            if not self.torch.allclose(a, b, rtol=tolerance, atol=absolute, equal_nan=True):
                error = (a.double() - b.double()).abs().max().item()
                raise Wrong(f"{what}: the largest difference is {error:.3g}, values reach {a.double().abs().max().item():.3g}")

    def pairs(self, what, expected, given):
        """Their tensors, which are of the same number, shapes and dtypes; none where both raised the same."""
        if isinstance(expected, type) or isinstance(given, type):
            if expected is not given:
                raise Wrong(f"{what}: ModelNew gives {given}, Model {expected}")
            return []
        one, other = self.tensors(expected), self.tensors(given)
        if type(expected) is not type(given) or len(one) != len(other):
            raise Wrong(f"{what}: ModelNew gives {type(given).__name__} of {len(other)}, Model {type(expected).__name__} of {len(one)}")
        for a, b in zip(one, other):
            if a.shape != b.shape or a.dtype != b.dtype:
                raise Wrong(f"{what}: ModelNew gives {b.dtype}{list(b.shape)}, Model {a.dtype}{list(a.shape)}")
        return list(zip(one, other))

    def used_kernels(self, model, inputs):
        before = self.exported.runs()
        with self.torch.no_grad():
            model(*inputs)
        return self.exported.runs() > before

    def compare_drawings(self):
        """To 1e-4; what needs more is noted."""
        for seed in SEEDS:
            inputs = self.inputs(seed)
            with self.torch.no_grad():
                expected = self.original(*[self.mapped(one, lambda x: x.clone()) for one in inputs])
                given = self.new(*[self.mapped(one, lambda x: x.clone()) for one in inputs])
            self.alike(f"drawing {seed}", inputs, expected, given)
        if not self.used_kernels(copy.deepcopy(self.new), self.inputs(SEEDS[0])):  # calls change state
            raise Wrong(f"the kernels are not used for the inputs that they were verified for: {self.exported.fallbacks()}")

    def alike(self, what, inputs, expected, given, change=None):
        """change: of export_states.py, in which both were called."""
        self.pairs(what, expected, given)
        try:
            self.same(what, expected, given)
        except Wrong as wrong:
            try:
                self.same(what, expected, given, LIBRARY_TOLERANCE, of_largest=change is not None)
                self.notes.append(f"{wrong}; within {LIBRARY_TOLERANCE}")
            except Wrong:
                exact = self.exact(inputs, change)
                self.notes.append(f"{wrong}; {self.as_near_to_float64(what, expected, given, exact)}")

    def exact(self, inputs, change):
        model, undo = self.make("Model"), None  # no deep copy: a lambda of a copy calls the first one's submodules
        model.load_state_dict(self.original.state_dict())
        for part, original in zip(model.modules(), self.original.modules()):
            part.training = original.training
        try:
            undo = change(model) if change else None
            with self.torch.no_grad():
                return model.double()(*self.doubled(inputs))
        finally:
            if undo is not None:
                undo()

    def doubled(self, inputs):
        return [self.mapped(one, lambda x: x.double() if x.is_floating_point() else x) for one in inputs]

    def as_near_to_float64(self, what, expected, given, exact):
        """Where Model itself is far from float64, so may ModelNew be, ERRORS_OF_MODEL times as far."""
        worst = 0, 0
        for a, b, c in zip(self.tensors(expected), self.tensors(given), self.tensors(exact)):
            if not c.numel():
                continue
            of_model, of_new = ((one.double() - c).abs().max().item() for one in (a, b))
            if not of_new <= max(ERRORS_OF_MODEL * of_model, STATE_TOLERANCE * c.abs().max().item()):
                raise Wrong(f"{what}: {of_new:.3g} from float64, Model {of_model:.3g}, values reach {c.abs().max().item():.3g}")
            worst = max(worst, (of_new, of_model))
        return f"{worst[0]:.3g} from float64, Model {worst[1]:.3g}"

    def compare_states(self):
        """Running statistics of a network that magnifies rounding are as far off as its outputs."""
        expected, given = self.original.state_dict(), self.new.state_dict()
        try:
            self.same("state after calls", expected, given, STATE_TOLERANCE)
        except Wrong as wrong:
            exact = self.make("Model").double()
            with self.torch.no_grad():
                for seed in SEEDS:
                    exact(*self.doubled(self.inputs(seed)))
            found = [self.as_near_to_float64(name, one, given[name], exact.state_dict()[name]) for name, one in expected.items()]
            self.notes.append(f"{wrong}; {len(found)} states are as near to float64 as Model's")
        self.original.load_state_dict(self.new.state_dict())
        self.new.load_state_dict(self.original.state_dict())

    def compare_what_was_not_verified(self):
        torch, inputs = self.torch, self.inputs(5)

        def check(what, values, original=self.original, new=self.new):
            twin = copy.deepcopy(original)  # calls change state
            self.same(what, self.outcome(twin, values), self.outcome(new, values), 1e-3)

        def first_dimension(x):
            return x[:max(1, x.shape[0] // 2)].contiguous() if x.dim() else x

        def one_more(x):
            return torch.cat([x, x[:1]]) if x.dim() else x

        def strided(x):
            return x.transpose(-1, -2).contiguous().transpose(-1, -2) if x.dim() > 1 else x

        def offset(x):
            flat = torch.empty(x.numel() + 1, dtype=x.dtype, device=x.device)
            return flat[1:].copy_(x.flatten()).view(x.shape)

        self.new.load_state_dict(self.original.state_dict())
        check("half of the batch", [self.mapped(one, first_dimension) for one in inputs], new=copy.deepcopy(self.new))
        check("inputs that are not contiguous", [self.mapped(one, strided) for one in inputs], new=copy.deepcopy(self.new))
        check("the batch and one more", [self.mapped(one, one_more) for one in inputs], new=copy.deepcopy(self.new))
        check("inputs that begin one element later", [self.mapped(one, offset) for one in inputs], new=copy.deepcopy(self.new))
        check("double precision", self.doubled(inputs), copy.deepcopy(self.original).double(), copy.deepcopy(self.new).double())
        check("one input too many", inputs + [1], new=copy.deepcopy(self.new))
        with torch.inference_mode():
            one, other = copy.deepcopy(self.original), copy.deepcopy(self.new)
            self.alike("inference mode", inputs, self.outcome(one, inputs), self.outcome(other, inputs))
        if self.device != "cpu" and sum(one.numel() for one in self.tensors(inputs)) < CPU_ELEMENTS:
            there = [self.mapped(one, lambda x: x.cpu()) for one in inputs]
            check("the CPU", there, copy.deepcopy(self.original).cpu(), copy.deepcopy(self.new).cpu())
        self.check_gradients(inputs)

    def compare_changed_states(self):
        """Each change of export_states.py, of Model and of ModelNew; what answered is reported."""
        import export_states

        inputs = self.inputs(6)
        for change in export_states.STATES:
            outcomes, name = [], change.__name__
            try:
                for model in (self.original, self.new):
                    twin = copy.deepcopy(model)
                    before, undo = self.exported.runs(), change(twin)
                    try:
                        outcomes.append(self.outcome(twin, inputs))
                    finally:
                        if undo is not None:
                            undo()
            except export_states.NotHere:
                self.report["states"][name] = "nothing to change"
                continue
            except Exception as error:  # a change that this module does not take
                self.report["states"][name] = f"not changed: {type(error).__name__}: {str(error)[:100]}"
                continue
            self.report["states"][name] = "kernels" if self.exported.runs() > before else "own forward"
            if self.report["states"][name] == "kernels":
                self.alike(name, inputs, *outcomes, change)
            else:
                self.same(name, *outcomes, *((LIBRARY_TOLERANCE, True) if change is export_states.autocast else (1e-3,)))

    def check_gradients(self, inputs):
        found = []
        for model in (copy.deepcopy(self.original), copy.deepcopy(self.new)):
            values = [self.mapped(one, lambda x: x.clone().requires_grad_() if x.is_floating_point() else x) for one in inputs]
            self.seed(SEEDS[1])  # of dropout
            try:
                outputs = [one for one in self.tensors(model(*values)) if one.requires_grad]
                sum(one.float().sum() for one in outputs).backward()
                found.append([one.grad for one in self.tensors(values) + list(model.parameters()) if one.grad is not None])
            except Exception as error:  # modules that have no gradient
                found.append(type(error))
        self.same("gradients", found[0], found[1], 1e-2, of_largest=True)

    def check_copies(self):
        inputs = self.inputs(9)
        twin = copy.deepcopy(self.new)
        if not self.used_kernels(twin, inputs):
            raise Wrong("a deep copy does not use the kernels")
        try:
            pickle.dumps(self.original)
        except Exception as error:  # with a lambda in it, say
            self.notes.append(f"Model cannot be pickled: {error}")
        else:
            twin = pickle.loads(pickle.dumps(self.new))
            if not self.used_kernels(twin, inputs):
                raise Wrong("a pickled copy does not use the kernels")
        if self.device == "cpu":
            return
        with self.torch.cuda.stream(self.torch.cuda.Stream()):
            value = self.outcome(copy.deepcopy(self.new), inputs)
        self.torch.cuda.synchronize()
        self.alike("another stream", inputs, self.outcome(copy.deepcopy(self.original), inputs), value)

    def check_compile(self):
        inputs = self.inputs(11)
        graphs = []

        def count(graph, _):
            graphs.append(graph)
            return graph

        with self.torch.no_grad():
            value = self.torch.compile(copy.deepcopy(self.new))(*inputs)
            for model in (self.original, self.new):
                self.torch._dynamo.reset()
                twin = self.torch.compile(copy.deepcopy(model), backend=count)
                twin(*inputs), twin(*inputs)
                graphs.append(None)
        self.same("torch.compile", self.outcome(copy.deepcopy(self.original), inputs), value, 1e-2)
        if graphs.index(None) != len(graphs) - graphs.index(None) - 2:
            raise Wrong(f"torch.compile traces {len(graphs) - 2 - graphs.index(None)} graphs of ModelNew, {graphs.index(None)} of Model")

    def time_calls(self):
        """Host time of a call without waiting, and of a call and its kernels, in a loop."""
        torch, inputs = self.torch, self.inputs(3)
        with torch.no_grad():
            for name, model in (("model", self.original), ("new", self.new)):
                for wait in (False, True):
                    wait_for_all = torch.cuda.synchronize if self.device != "cpu" else lambda: None
                    wait_for_all()
                    times = []
                    for _ in range(30):
                        begin = time.perf_counter_ns()
                        model(*inputs)
                        end = time.perf_counter_ns()
                        wait_for_all()
                        times.append((time.perf_counter_ns() if wait else end) - begin)
                    self.report[f"{name}_{'whole' if wait else 'host'}_ns"] = sorted(times)[len(times) // 2]


def check_here(path, options):
    check = Check(path, options.compile, options.mode, options.device)
    try:
        check.run()
    except Wrong as wrong:
        check.report["wrong"] = str(wrong)
    except Exception as error:
        import traceback

        traceback.print_exc()
        check.report["wrong"] = f"{type(error).__name__}: {' '.join(str(error).split())[:400]}"
    print("REPORT " + json.dumps(check.report), flush=True)
    os._exit(1 if "wrong" in check.report else 0)


def check_apart(path, options, deadline):
    left = deadline - time.monotonic()
    if left <= 0:
        return {"file": path, "skipped": "no time left"}
    command = [sys.executable, "-B", os.path.abspath(__file__), "--here", "--mode", options.mode, "--device", options.device]
    command += (["--compile"] if options.compile else []) + [path]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=min(left + 5, 240))
    except subprocess.TimeoutExpired:
        return {"file": path, "skipped": "it takes too long"}
    lines = [line for line in run.stdout.splitlines() if line.startswith("REPORT ")]
    if not lines:
        return {"file": path, "wrong": f"exit status {run.returncode}: {run.stderr.strip()[-400:]}"}
    report = json.loads(lines[-1][len("REPORT "):])
    if "out of memory" in report.get("wrong", "") or "OutOfMemoryError" in report.get("wrong", ""):
        return {"file": path, "skipped": "out of memory: run fewer at once (--jobs)"}
    if "wrong" in report:
        report["stderr"] = run.stderr.strip()[-600:]
    return report


def line_of(report):
    if "skipped" in report:
        return f"skipped  {report['file']}: {report['skipped']}"
    if "wrong" in report:
        return f"WRONG    {report['file']}: {report['wrong']}"
    ratio = report["model_whole_ns"] / report["new_whole_ns"]
    times = ", ".join(f"{name} {report[name + '_host_ns'] / 1000:.1f}/{report[name + '_whole_ns'] / 1000:.1f} us" for name in ("model", "new"))
    notes = "".join("; " + note for note in report["notes"])
    return f"right    {report['file']}: {report['form']}, {report['lines']} lines, import {report['import_s']} s, {times}, {ratio:.2f}x{notes}"


def main():
    parser = argparse.ArgumentParser(description="Checks exported modules.")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--compile", action="store_true", help="torch.compile, too")
    parser.add_argument("--mode", choices=("made", "eval", "train"), default="made", help="in which the modules are called")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--json")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--follow", type=int, metavar="PID", help="check what this process writes into the folders until it has ended")
    options = parser.parse_args()
    if options.here:
        check_here(options.files[0], options)
    deadline = time.monotonic() + options.seconds
    reports = known_reports(options.json)
    done = {report["file"] for report in reports}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = set()
        while True:
            writing = options.follow is not None and is_running(options.follow)  # asked first: nothing is missed at its end
            new = [path for path in python_files(options.files) if path not in done]
            done.update(new)
            running.update(pool.submit(check_apart, path, options, deadline) for path in new)
            if not running and not (writing and time.monotonic() < deadline):
                break
            ended, running = concurrent.futures.wait(running, timeout=1, return_when=concurrent.futures.FIRST_COMPLETED)
            if not ended and not running:
                time.sleep(1)
            for report in (future.result() for future in ended):
                reports.append(report)
                print(line_of(report), flush=True)
            if ended and options.json:
                with open(options.json + ".part", "w", encoding="utf-8") as file:
                    json.dump(sorted(reports, key=lambda report: report["file"]), file, indent=1)
                os.replace(options.json + ".part", options.json)
    wrong, skipped = (sum(key in report for report in reports) for key in ("wrong", "skipped"))
    print(f"{len(reports)} files: {len(reports) - wrong - skipped} right, {wrong} wrong, {skipped} skipped")
    return 1 if wrong else 0


def known_reports(path):
    """What an earlier call wrote into its --json, less what it skipped."""
    if not path or not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [report for report in json.load(file) if "skipped" not in report]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def python_files(paths):
    """The files, and those in the folders (exports are written under another name and renamed)."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, _, names in sorted(os.walk(path)):
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".py"))


if __name__ == "__main__":
    sys.exit(main())
