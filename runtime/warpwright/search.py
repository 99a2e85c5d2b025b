"""`optimize`: captures a model's graphs, starts a search for plans of their regions, and keeps the
plans that make whole graphs faster.

The program warpwright-search searches and verifies plans in a separate process. The core decides
from times. This file compiles graphs, calls them with the example inputs and times them, because
that needs the user's model. Results are written to the store immediately, so that a search that
ends early loses no results.
"""

import datetime
import hashlib
import inspect
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings

from .environment import environment, store  # first, because it checks torch's version
from . import calls, core, dynamo

import torch
from torch.utils._pytree import tree_leaves

PAIRS, SAMPLE_NS, MOST_CALLS = 30, 2_000_000, 200
MOST_SINGLE = 6  # most regions that are tried one by one if all together are not faster
UNITS = {"s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600}


class Captured:
    """A captured graph of the model."""

    def __init__(self, found, device, mode):
        self.key, self.regions, self.device, self.mode = found["key"], found["regions"], device, mode
        self.operators, self.covered, self.outside = found["operators"], found["covered"], found["outside"]
        self.ordered = found["ordered"]
        self.ratio, self.chosen, self.why = None, [], "it was not measured"

    def place(self):
        return {"store": store(), "environment": environment(self.device)}


class Recording(dynamo.Session):
    """Session that queues a job for each region, with profiles of the first call's inputs."""

    def __init__(self):
        self.graphs = {}

    def compile(self, gm, inputs, compiled, found, mode):
        graph = self.graphs[found["key"]] = Captured(found, dynamo.device_of(gm), mode)
        names = [node.name for node in gm.graph.nodes if node.op == "placeholder"]
        function = compiled(gm)
        seen = []

        def call(values):
            if not seen:
                seen.append(True)
                self.queue(graph, dict(zip(names, values)))
            return function(values)

        return boxed(call)

    @staticmethod
    def queue(graph, values):
        place = graph.place()
        for region in graph.regions:
            job = core.ask("read", kind="job", key=region["key"], **place)["record"] or {"program": region["program"]}
            job.setdefault("profile", [profile_of(values.get(border["name"])) for border in region["inputs"]])
            core.ask("write", kind="job", key=region["key"], record=job, **place)


def boxed(call):
    call._boxed_call = True
    return call


def profile_of(value):
    """Profile for drawing similar inputs: {"low", "high"} of integers, {"mean", "std", "low"} of
    floating-point numbers; None if nothing is known."""
    if not isinstance(value, torch.Tensor) or value.dtype == torch.bool or value.is_complex() or not value.numel():
        return None
    if not value.dtype.is_floating_point:
        return {"low": int(value.min()), "high": int(value.max())}
    wide = value.detach().float()
    found = {"mean": float(wide.mean()), "std": float(wide.std(correction=0)), "low": float(wide.min())}
    return found if all(map(math.isfinite, found.values())) else None


class Confirming(dynamo.Session):
    """Session that compiles each graph with and without its plans, times both in pairs at the first
    call, and binds the plans if they are faster."""

    def __init__(self):
        self.graphs = {}

    def compile(self, gm, inputs, compiled, found, mode):
        graph = self.graphs[found["key"]] = Captured(found, dynamo.device_of(gm), mode)
        usable = [one for one in graph.regions if one["has_plan"]]
        if not usable:
            graph.why = "no plan of its regions was faster"
            return compiled(gm)
        mutated = {node.args[0].name for node in gm.graph.nodes if node.target is torch.ops.aten.copy_.default}
        names = [node.name for node in gm.graph.nodes if node.op == "placeholder"]
        plain, chosen = compiled(dynamo.graphs.copied(gm)), []

        def call(values):
            if not chosen:
                copied = [value.clone() if isinstance(value, torch.Tensor) and (name in mutated or found.get("is_backward")) else value
                          for name, value in zip(names, values)]
                chosen.append(self.choose(gm, graph, usable, plain, compiled, copied))
            return chosen[0](values)

        return boxed(call)

    def choose(self, gm, graph, usable, plain, compiled, values):
        trial = Trial(plain, values, graph.device)

        def attempt(regions):
            function = compiled(dynamo.with_plans(dynamo.graphs.copied(gm), regions, graph.ordered))
            return function, trial.against(function)

        function, decision = attempt(usable)
        keys = sorted({one["key"] for one in usable})
        if not decision["faster"] and 1 < len(keys) <= MOST_SINGLE:
            alone = {key: attempt([one for one in usable if one["key"] == key])[1] for key in keys}
            keys = [key for key in keys if alone[key]["faster"]]
            if keys:
                function, decision = attempt([one for one in usable if one["key"] in keys])
        graph.ratio, graph.why = decision["ratio"], decision.get("why", "")
        if not decision["faster"]:
            core.ask("write", kind="binding", key=graph.key, record={"regions": [], **decision}, **graph.place())
            return plain
        graph.chosen = keys
        core.ask("write", kind="binding", key=graph.key, record={"regions": keys, "mode": graph.mode, **decision}, **graph.place())
        return function


class Trial:
    """Comparison of a graph's two forms by times as called, taken in pairs in random order."""

    def __init__(self, plain, values, device):
        self.plain, self.values, self.device = plain, values, device

    def against(self, function):
        why = self.difference(function)
        if why:
            return {"faster": False, "ratio": None, "why": why}
        if self.device.type != "cuda":
            return {"faster": True, "ratio": None, "why": "no GPU measured it"}
        forms = (self.plain, function)
        calls_each = self.calls_each()
        times = ([], [])
        for _ in range(PAIRS):
            for which in random.sample((0, 1), 2):
                times[which].append(self.sample(forms[which], calls_each))
        decision = core.ask("decide", reference=times[0], candidate=times[1])
        if not decision["faster"]:
            decision["why"] = "the whole graph is not faster with plans"
        return decision

    def run(self, form):
        return form(list(self.values))

    def sample(self, form, times):
        torch.cuda.synchronize(self.device)
        start = time.perf_counter_ns()
        for _ in range(times):
            self.run(form)
        torch.cuda.synchronize(self.device)
        return (time.perf_counter_ns() - start) / times

    def calls_each(self):
        for _ in range(3):
            self.run(self.plain)
        return int(min(max(SAMPLE_NS / self.sample(self.plain, 3), 1), MOST_CALLS))

    def difference(self, function):
        """The output that differs by more than rounding, as a sentence; "" if there is none."""
        wanted, got = self.run(self.plain), None
        wanted = [one.clone() if isinstance(one, torch.Tensor) else one for one in wanted]
        for _ in range(3):
            got = self.run(function)
        for index, (one, other) in enumerate(zip(wanted, got)):
            if isinstance(one, torch.Tensor) and one.numel() and not calls.alike(one, other):
                return f"output {index} differs with plans"
        return ""


def run_model(model, inputs, kwargs, train, session, mode):
    """One call of the model with the backend and a session. @return the model's outputs"""
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()  # so that they count this call alone
    compiled = torch.compile(model, backend=dynamo.backend, mode=mode)
    dynamo.Session.current = session
    try:
        # Donated buffers would let a backward graph overwrite its inputs, but trials reuse the
        # inputs.
        with torch._functorch.config.patch(donated_buffer=False), torch.set_grad_enabled(bool(train)):
            outputs = compiled(*inputs, **kwargs)
            if train:
                loss = sum(one.float().sum() for one in tree_leaves(outputs)
                           if isinstance(one, torch.Tensor) and one.is_floating_point() and one.requires_grad)
                parameters = [one for one in model.parameters() if one.requires_grad]
                torch.autograd.grad(loss, parameters, allow_unused=True)
        return outputs
    finally:
        dynamo.Session.current = None
        torch._dynamo.reset()


def program():
    """The path of the search program. @raise core.CoreError"""
    beside = os.path.dirname(core.library_path())
    for path in (os.environ.get("WARPWRIGHT_SEARCH", ""), os.path.join(beside, "bin", "warpwright-search"),
                 os.path.join(os.path.dirname(beside), "warpwright-search"), shutil.which("warpwright-search") or ""):
        if path and os.path.exists(path):
            return path
    raise core.CoreError("warpwright-search is not installed beside the package: install warpwright anew, or set WARPWRIGHT_SEARCH")


class Progress:
    """Progress output: one changing line on a terminal, else one line per region."""

    def __init__(self, stream=None):
        self.stream, self.start, self.best = stream or sys.stderr, time.monotonic(), None
        self.changes = self.stream.isatty()

    def show(self, text, end=False):
        if self.changes:
            self.stream.write("\r\033[K" + text + ("\n" if end else ""))
        elif end:
            self.stream.write(text + "\n")
        self.stream.flush()

    def take(self, line, left):
        if line["event"] == "stage":
            self.show(f"warpwright: {line['stage']}, {left:.0f} s left")
        elif line["event"] == "region":
            ratio = f", {line['ratio']:.2f}x of torch.compile" if line["ratio"] else ""
            why = f" ({line['reason'][:400]})" if line["reason"] else ""
            self.show(f"warpwright: region {line['done']}/{line['all']}: {line['outcome']}{ratio}{why}", end=True)


def search(graphs, seconds, progress, runner=None):
    """Runs the search program for regions that have not been searched yet. Ctrl-C ends the search
    and keeps its results."""
    folders = {}
    for graph in graphs:
        place = graph.place()
        for region in graph.regions:
            job = core.ask("read", kind="job", key=region["key"], **place)["record"]
            if not region["has_plan"] and job and "searched" not in job:
                folders.setdefault(core.ask("folder", **place)["folder"], {})[region["key"]] = graph.device
    end = time.monotonic() + seconds
    for folder, keys in folders.items():
        device = next(iter(keys.values()))
        command = [program(), "--store", folder, "--keys", ",".join(keys), "--budget-seconds", str(max(int(end - time.monotonic()), 1)),
                   "--device", str(device) if device.index is not None or device.type == "cpu" else f"cuda:{torch.cuda.current_device()}"]
        command += ["--runner", runner] if runner else []
        watch(command, end, progress)


def watch(command, end, progress):
    place = dict(os.environ)
    place.setdefault("WARPWRIGHT_PYTHON", sys.executable)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=place, start_new_session=True) as process:
        try:
            for text in process.stdout:
                line = json.loads(text)
                if line["event"] == "error":
                    raise core.CoreError(line["message"])
                progress.take(line, max(end - time.monotonic(), 0))
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.wait()
            progress.show("warpwright: stopped; what was found is kept", end=True)


def seconds_of(budget):
    if isinstance(budget, (int, float)):
        return float(budget)
    number = budget.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = budget[len(number):].strip()
    try:
        return float(number) * UNITS[unit or "s"]
    except (ValueError, KeyError):
        raise ValueError(f"budget={budget!r} is no time: give seconds, or a text such as '10min' or '90s'") from None


def optimize(model, example_inputs=(), *, kwargs=None, mode=None, train=False, budget="10min", apply=True, runner=None):
    """Searches plans for the model's graphs at these inputs, then compiles the model in place with
    the plans that are faster.

    @param example_inputs a tuple: positional arguments of a real call, on the model's device
    @param kwargs keyword arguments of that call
    @param mode as for torch.compile; plans are confirmed for the mode in which they are used
    @param train whether to include the backward graphs
    @param budget time for the search; compilation of the graphs takes additional time
    @param apply False: search and report only
    @param runner the runner for the search program; None: its default
    @return the model; report(model) describes the results
    @raise TypeError for example inputs that are no tuple; also any error of the model
    """
    if not isinstance(example_inputs, (tuple, list)):
        raise TypeError("example_inputs is a tuple of forward's arguments: optimize(model, (x,))")
    kwargs, progress, seconds = kwargs or {}, Progress(), seconds_of(budget)
    recording = Recording()
    run_model(model, example_inputs, kwargs, train, recording, mode)
    if any(graph.device.type == "cuda" for graph in recording.graphs.values()):
        torch.cuda.empty_cache()
    search(recording.graphs.values(), seconds, progress, runner)
    confirming = Confirming()
    run_model(model, example_inputs, kwargs, train, confirming, mode)
    found = Report(confirming.graphs.values(), mode)
    progress.show(str(found).splitlines()[0], end=True)
    found.keep(model)
    if apply:
        dynamo.compile_in_place(model, mode)
    model.__dict__["_warpwright_report"] = found
    return model


class Report:
    def __init__(self, graphs, mode):
        self.graphs, self.mode = list(graphs), mode or "default"

    def __str__(self):
        bound = [graph for graph in self.graphs if graph.chosen]
        lines = [f"warpwright: {len(bound)} of {len(self.graphs)} graphs use plans (mode {self.mode})"]
        for number, graph in enumerate(self.graphs, 1):
            covered = f"{graph.covered} of {graph.operators} operators in {len(graph.regions)} regions"
            ratio = f", {graph.ratio:.3f}x of torch.compile as called" if graph.ratio else ""
            used = f"{len(graph.chosen)} plans used{ratio}" if graph.chosen else f"Inductor alone: {graph.why}{ratio}"
            lines.append(f"  graph {number}: {covered}; {used}")
            lines += [f"    {count} x {reason}" for reason, count in sorted(graph.outside.items())]
        return "\n".join(lines)

    def keep(self, model):
        """Writes a record about the model's class, which editors show (regions/report.h). A class
        without a file has none."""
        try:
            file = os.path.realpath(inspect.getsourcefile(type(model)) or "")
            with open(file, "rb") as source:
                text = source.read()
        except (TypeError, OSError):
            return
        if not self.graphs:
            return
        place, chosen = self.graphs[0].place(), [graph for graph in self.graphs if graph.chosen]
        bindings = [core.ask("read", kind="binding", key=graph.key, **graph.place())["record"] or {} for graph in chosen]
        record = {"class": type(model).__qualname__, "module": type(model).__module__, "file": file,
                  "file_hash": hashlib.sha256(text).hexdigest(), "mode": self.mode, "device": place["environment"]["device"],
                  "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "graphs": len(self.graphs),
                  "breaks": sum(torch._dynamo.utils.counters["graph_break"].values()),
                  "operators": sum(graph.operators for graph in self.graphs), "covered": sum(graph.covered for graph in self.graphs),
                  "plans": sum(len(graph.chosen) for graph in chosen),
                  "gains": [{name: one[name] for name in ("ratio", "low", "high")} for one in bindings if one.get("ratio")]}
        try:
            core.ask("write", kind="report", record=record, **place)
        except core.CoreError as error:
            warnings.warn(f"warpwright: editors will not show this search: {error}", RuntimeWarning, stacklevel=3)


def report(model):
    """The Report of optimize(). @raise ValueError for a model that was not optimized in this
    process"""
    found = model.__dict__.get("_warpwright_report")
    if found is None:
        raise ValueError("this model was not optimised in this process: call warpwright.optimize(model, inputs)")
    return found


def explain(model, example_inputs=(), *, kwargs=None, mode=None, train=False):
    """Text about a model's graphs, graph breaks and regions, and the plans in use. Does not
    search."""
    looking = Looking()
    run_model(model, example_inputs, kwargs or {}, train, looking, mode)
    found = Report(looking.graphs.values(), mode)
    breaks = dict(torch._dynamo.utils.counters.get("graph_break", {}))
    text = [str(found)] + [f"  break: {why} ({count})" for why, count in breaks.items()]
    return "\n".join(text + [f"  {why}: {count} calls answered by ATen" for why, count in calls.fallbacks().items()])


class Looking(dynamo.Session):
    def __init__(self):
        self.graphs = {}

    def compile(self, gm, inputs, compiled, found, mode):
        graph = self.graphs[found["key"]] = Captured(found, dynamo.device_of(gm), mode)
        binding = found["binding"] or {}
        graph.chosen, graph.ratio = binding.get("regions", []), binding.get("ratio")
        graph.why = binding.get("why") or "it was not searched: call warpwright.optimize(model, inputs)"
        return compiled(gm)
