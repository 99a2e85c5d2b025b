"""`optimize`: captures a model's graphs, has a runner search plans for their regions, and keeps those that make whole graphs faster.

Searching and judging plans is warpwright-search's, a process of its own; deciding from times is the core's. Here graphs are compiled,
called with the example inputs and timed, since that needs the user's model. The store is written as results come: whatever ends a search
early loses nothing that was found.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from .environment import place_of  # first: it says which torch is needed
from . import calls, core, dynamo, jobs

import torch
from torch.utils._pytree import tree_leaves

PAIRS, SAMPLE_NS, MOST_CALLS = 30, 2_000_000, 200
MOST_SINGLE = 6  # regions tried alone where all together are not faster
UNITS = {"s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600}


class Captured:
    """One graph of the model."""

    def __init__(self, gm, compiled, found, mode):
        """@param compiled (graph) -> the function that Inductor makes of it; it may change the graph"""
        self.gm, self.compiled, self.mode, self.device = gm, compiled, mode, dynamo.device_of(gm)
        self.key, self.regions, self.ordered = found["key"], found["regions"], found["ordered"]
        self.operators, self.covered, self.outside = found["operators"], found["covered"], found["outside"]
        self.found, self.place = found, place_of(self.device)
        self.changed = {node.args[0].name for node in gm.graph.nodes if node.target is torch.ops.aten.copy_.default}
        if found["is_backward"]:  # its inputs may be written over: PyTorch calls that donated buffers
            self.changed.update(node.name for node in gm.graph.nodes if node.op == "placeholder")
        self.ratio, self.chosen, self.why, self.waiting = None, [], "it was not measured", []

    def compile(self, regions=()):
        gm = dynamo.graphs.copied(self.gm)
        return self.compiled(dynamo.with_plans(gm, regions, self.ordered) if regions else gm)

    def folder(self):
        return core.ask("folder", **self.place)["folder"]

    def usable(self):
        return [one for one in self.regions if one["has_plan"]]


class FirstCall(dynamo.Session):
    """Compiles each graph as usual; what its first call is given decides by which function it is answered from then on."""

    def __init__(self):
        self.graphs = {}

    def usual(self, graph):
        return graph.compile()

    def choose(self, graph, usual, values):
        """@param values the graph's inputs, by name"""
        raise NotImplementedError

    def compile(self, gm, inputs, compiled, found, mode):
        graph = self.graphs[found["key"]] = Captured(gm, compiled, found, mode)
        names = [node.name for node in gm.graph.nodes if node.op == "placeholder"]
        function, left = [self.usual(graph)], [graph]

        def call(values):
            if left and not (graph.device.type == "cuda" and torch.cuda.is_current_stream_capturing()):
                left.clear()
                function[0] = self.choose(graph, function[0], dict(zip(names, values)))
                graph.gm = graph.compiled = None
            return function[0](values)

        call._boxed_call = True
        return call


class Recording(FirstCall):
    """Queues a job for each region, with what the first call's inputs are like."""

    def choose(self, graph, usual, values):
        graph.waiting = jobs.queue(graph.regions, graph.place, values)
        return usual


class Confirming(FirstCall):
    """Binds the plans that make a graph faster at its first call."""

    def choose(self, graph, usual, values):
        if graph.usable():
            return confirmed(graph, usual, values)
        graph.why = "no plan of its regions was faster"
        return usual


def confirmed(graph, plain, values):
    """Times the graph with and without its plans, in pairs, and binds what was faster. The program's random numbers stay as they were.

    @param plain Inductor's code for the graph
    @return the function to use until the graph is compiled again. What reads its outputs was compiled for the strides of `plain`
    """
    usable = graph.usable()
    keys = tried = sorted({one["key"] for one in usable})
    trial = Trial(plain, graph, values)

    def attempt(keys):
        function = graph.compile([one for one in usable if one["key"] in keys])
        return function, trial.against(function)

    with trial.random():
        function, decision = attempt(keys)
        if not decision["faster"] and 1 < len(keys) <= MOST_SINGLE:
            keys = [key for key in keys if attempt([key])[1]["faster"]]
            if keys:
                function, decision = attempt(keys)
    graph.ratio, graph.why = decision["ratio"], decision.get("why", "")
    graph.chosen = keys if decision["faster"] else []
    record = {"regions": graph.chosen, "tried": tried, "mode": graph.mode, **decision}
    core.ask("write", kind="binding", key=graph.key, record=record, **graph.place)
    return function if graph.chosen and trial.lie_alike else plain


class Trial:
    """Times of one graph's two forms, taken in pairs in random order, as a program calls them."""

    def __init__(self, plain, graph, values):
        self.plain, self.device = plain, graph.device
        self.values, self.changed = list(values.values()), [name in graph.changed for name in values]
        self.scratch = self.fresh()

    def fresh(self):
        return [value.clone() if changed and isinstance(value, torch.Tensor) else value for value, changed in zip(self.values, self.changed)]

    def random(self):
        """Random numbers begin where they stand, and stand there afterwards."""
        return torch.random.fork_rng([self.device] if self.device.type == "cuda" else [])

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
        """A call for its time. Numbers that were written over do no harm there, indices would."""
        return form([value.clone() if changed and is_index(value) else scratch
                     for value, changed, scratch in zip(self.values, self.changed, self.scratch)])

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

    def results(self, form):
        with self.random():
            return form(self.fresh())

    def difference(self, function):
        """How the outputs differ by more than rounding; empty: they do not."""
        wanted, got = self.results(self.plain), None
        strides = strides_of(wanted)
        wanted = [one.clone() if isinstance(one, torch.Tensor) else one for one in wanted]
        for _ in range(3):
            got = self.results(function)
        self.lie_alike = strides == strides_of(got)
        for index, (one, other) in enumerate(zip(wanted, got)):
            if isinstance(one, torch.Tensor) and one.numel() and not calls.alike(one, other):
                return f"output {index} differs with plans"
        return ""


def strides_of(values):
    return [one.stride() if isinstance(one, torch.Tensor) else None for one in values]


def is_index(value):
    return isinstance(value, torch.Tensor) and not value.is_floating_point() and not value.is_complex() and value.dtype != torch.bool


def run_model(model, inputs, kwargs, train, session, mode):
    """One call with the backend in a session. @return the model's outputs"""
    torch._dynamo.reset()
    compiled = torch.compile(model, backend=dynamo.backend, mode=mode)
    dynamo.Session.current = session
    try:
        with torch.set_grad_enabled(bool(train)):
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
    """The search program. @raise core.CoreError"""
    beside = os.path.dirname(core.library_path())
    for path in (os.environ.get("WARPWRIGHT_SEARCH", ""), os.path.join(beside, "bin", "warpwright-search"),
                 os.path.join(os.path.dirname(beside), "warpwright-search"), shutil.which("warpwright-search") or ""):
        if path and os.path.exists(path):
            return path
    raise core.CoreError("warpwright-search is not installed beside the package: install warpwright anew, or set WARPWRIGHT_SEARCH")


class Progress:
    """One line that changes on a terminal; a line a region elsewhere."""

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
    """Runs the search program for the regions of graphs that nobody searched yet. Ctrl-C ends it and keeps what it found."""
    folders = {}
    for graph in graphs:
        if graph.waiting:
            folders.setdefault(graph.folder(), (graph, {}))[1].update(dict.fromkeys(graph.waiting))
    if any(graph.device.type == "cuda" for graph, _ in folders.values()):
        torch.cuda.empty_cache()
    end = time.monotonic() + seconds
    for graph, keys in folders.values():
        budget = ["--keys", ",".join(keys), "--budget-seconds", str(max(int(end - time.monotonic()), 1))]
        watch(command(graph) + budget + (["--runner", runner] if runner else []), end, progress)


def command(graph):
    """The search program for a graph's folder of the store and its device."""
    device = graph.device
    if device.type == "cuda" and device.index is None:
        device = f"cuda:{torch.cuda.current_device()}"
    return [program(), "--store", graph.folder(), "--device", str(device)]


def surroundings():
    """The environment of the search program."""
    return {"WARPWRIGHT_PYTHON": sys.executable, **os.environ}


def watch(command, end, progress):
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=surroundings(), start_new_session=True) as process:
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
    """Searches plans for the model's graphs at these inputs; afterwards the model is compiled in place with what was faster.

    @param example_inputs a tuple: positional arguments of a real call, on the device that the model runs on
    @param mode as torch.compile's; plans are confirmed in the mode that they are used in
    @param train also the backward graphs
    @param budget for the search; compiling the graphs comes on top
    @param apply False: search and report only
    @return the model. report(model) says what was found.
    @raise TypeError for example inputs that are no tuple; whatever the model raises for them
    """
    if not isinstance(example_inputs, (tuple, list)):
        raise TypeError("example_inputs is a tuple of forward's arguments: optimize(model, (x,))")
    kwargs, progress, seconds = kwargs or {}, Progress(), seconds_of(budget)
    recording = Recording()
    run_model(model, example_inputs, kwargs, train, recording, mode)
    search(recording.graphs.values(), seconds, progress, runner)
    confirming = Confirming()
    run_model(model, example_inputs, kwargs, train, confirming, mode)
    found = Report(confirming.graphs.values(), mode)
    progress.show(str(found).splitlines()[0], end=True)
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


def report(model):
    """What optimize() found. @raise ValueError for a model that was not optimised in this process"""
    found = model.__dict__.get("_warpwright_report")
    if found is None:
        raise ValueError("this model was not optimised in this process: call warpwright.optimize(model, inputs)")
    return found


def explain(model, example_inputs=(), *, kwargs=None, mode=None, train=False):
    """Graphs, breaks and regions of a model, and which of them have plans. Searches nothing."""
    counters = torch._dynamo.utils.counters
    counters.clear()
    looking = Looking()
    run_model(model, example_inputs, kwargs or {}, train, looking, mode)
    found = Report(looking.graphs.values(), mode)
    breaks = dict(counters.get("graph_break", {}))
    text = [str(found)] + [f"  break: {why} ({count})" for why, count in breaks.items()]
    return "\n".join(text + [f"  {why}: {count} calls answered by ATen" for why, count in calls.fallbacks().items()])


class Looking(dynamo.Session):
    def __init__(self):
        self.graphs = {}

    def compile(self, gm, inputs, compiled, found, mode):
        graph = self.graphs[found["key"]] = Captured(gm, compiled, found, mode)
        binding = found["binding"] or {}
        graph.chosen, graph.ratio = binding.get("regions", []), binding.get("ratio")
        graph.why = binding.get("why") or "it was not searched: call warpwright.optimize(model, inputs)"
        return compiled(gm)
