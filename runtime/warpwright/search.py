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
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings

from .environment import place_of  # first, because it checks torch's version
from . import calls, core, dynamo, jobs
from .dynamic import Dimensions
from .jobs import seconds_of
from .trial import Trial

import torch
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError
from torch.utils._pytree import tree_leaves

MOST_SINGLE = 6  # most regions that are tried one by one if all together are not faster


class Captured:
    """A captured graph of the model."""

    def __init__(self, gm, compiled, found, mode):
        """@param compiled (graph) -> the function that Inductor makes of it, which may change the graph; without one of the
        program's"""
        self.gm, self.compiled, self.mode, self.device = gm, compiled, mode, dynamo.device_of(gm)
        self.key, self.regions, self.ordered = found["key"], found["regions"], found["ordered"]
        self.operators, self.covered, self.outside = found["operators"], found["covered"], found["outside"]
        self.found, self.place = found, place_of(self.device)
        self.changed = {node.args[0].name for node in gm.graph.nodes if node.target is torch.ops.aten.copy_.default}
        if found["is_backward"]:  # its inputs may be written over: PyTorch calls that donated buffers
            self.changed.update(node.name for node in gm.graph.nodes if node.op == "placeholder")
        self.ratio, self.why, self.waiting = None, "it was not measured", []
        self.chosen, self.captured = [], []  # plans used in calls, and while a CUDA graph is captured

    def compile(self, regions=()):
        return self.compiled(dynamo.with_plans(dynamo.graphs.copied(self.gm), regions, self.ordered) if regions else None)

    def folder(self):
        return core.ask("folder", **self.place)["folder"]

    def usable(self):
        return [one for one in self.regions if one["has_plan"]]

    def profiles(self, values):
        """Profiles of what the regions read in a call of the graph, by name. Values inside the graph come from a run of
        its operators one by one. For those that it does not reach, regions draw standard normal numbers.

        @param values the graph's inputs, by name"""
        borders = {border["name"] for one in self.regions for border in one["inputs"]}
        found = {name: jobs.profile_of(value) for name, value in values.items() if name in borders}
        if not borders <= set(values):
            devices = [self.device] if self.device.type == "cuda" else []
            run = jobs.Profiled(self.gm, borders, found)
            with torch.no_grad(), torch.random.fork_rng(devices):
                run.run(*values.values())
            if run.why and not borders <= set(found):
                warnings.warn(f"warpwright: {len(borders - set(found))} values inside a graph are not known: {run.why}", RuntimeWarning, stacklevel=2)
        return found


class FirstCall(dynamo.Session):
    """Session that compiles each graph as usual; the inputs of its first call decide which function answers it from then
    on."""

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
                with torch.utils._python_dispatch._disable_current_modes():  # PyTorch's first call looks at each operator, in 50 us
                    function[0] = self.choose(graph, function[0], dict(zip(names, values)))
                graph.gm = graph.compiled = None
            return function[0](values)

        call._boxed_call = True
        return call


class Recording(FirstCall):
    """Queues a job for each region, with what the first call's inputs are like. Operators run one by one: Inductor's code
    would take longer to make than the call."""

    def usual(self, graph):
        gm, compiled, found = dynamo.graphs.copied(graph.gm), graph.compiled, []

        def call(values):
            if not found:
                try:
                    return gm(*values)
                except Exception as error:  # an operator that only Inductor has, or too little memory for intermediate values
                    warnings.warn(f"warpwright: a graph is compiled for its capture, because its operators do not run one by one: {error}",
                                  RuntimeWarning, stacklevel=2)
                    found.append(compiled())
            return found[0](values)

        call._boxed_call = True
        return call

    def choose(self, graph, usual, values):
        graph.waiting = jobs.queue(graph.regions, graph.place, lambda: graph.profiles(values))
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
            fewer = [key for key in keys if attempt([key])[1]["faster"]]
            if fewer:
                keys = fewer
                function, decision = attempt(keys)
    graph.ratio, graph.why = decision["ratio"], decision.get("why", "")
    graph.chosen, graph.captured = ([*keys] if decision[use] else [] for use in ("faster", "captured"))
    record = {"regions": graph.chosen, "tried": tried, "mode": graph.mode, **decision, "captured": graph.captured}
    core.ask("write", kind="binding", key=graph.key, record=record, **graph.place)
    if not trial.lie_alike or not (graph.chosen or graph.captured):
        return plain
    with_plans = dynamo.served(graph.gm, [one for one in usable if one["key"] in keys], function, plain)
    if graph.chosen == graph.captured:
        return with_plans
    return dynamo.by_capture(*(with_plans if use else plain for use in (graph.chosen, graph.captured)), ready=True)


def run_model(model, inputs, kwargs, train, session, mode, dimensions=None):
    """One call of the model with the backend and a session.
    @param dimensions dynamic.Dimensions; those that the model fixes are given up
    @return the model's outputs"""
    while dimensions and dimensions.limits:
        try:
            dimensions.mark(inputs, kwargs)
            return run_model(model, inputs, kwargs, train, session, mode)
        except (torch._dynamo.exc.UserError, ConstraintViolationError) as error:
            if not dimensions.give_up(error):
                raise
            dimensions.unmark(inputs, kwargs)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()  # so that they count this call alone
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
    """The path of the search program. @raise core.CoreError"""
    beside = os.path.dirname(core.library_path())
    for path in (os.environ.get("WARPWRIGHT_SEARCH", ""), os.path.join(beside, "bin", "warpwright-search"),
                 os.path.join(os.path.dirname(beside), "warpwright-search"), shutil.which("warpwright-search") or ""):
        if path and os.path.exists(path):
            return path
    raise core.CoreError("warpwright-search is not installed with the package: install warpwright again, or set WARPWRIGHT_SEARCH")


def has_cpu_worker():
    """Whether plans can be searched on the CPU, as tests do."""
    return "WARPWRIGHT_CPU_WORKER" in os.environ or os.path.exists(os.path.join(os.path.dirname(program()), "warpwright-worker-cpu"))


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
            ratio = f", {line['ratio']:.2f}x of torch.compile in a CUDA graph" if line["ratio"] else ""
            why = f" ({line['reason'][:400]})" if line["reason"] else ""
            self.show(f"warpwright: region {line['done']}/{line['all']}: {line['outcome']}{ratio}{why}", end=True)


def search(graphs, seconds, progress, runner=None):
    """Runs the search program for regions that have not been searched yet. Ctrl-C ends the search
    and keeps its results."""
    folders = {}
    for graph in graphs:
        if graph.waiting:
            folders.setdefault(graph.folder(), (graph, {}))[1].update(dict.fromkeys(graph.waiting))
    if any(graph.device.type == "cuda" for graph, _ in folders.values()):
        torch.cuda.empty_cache()
    elif folders and not runner and not has_cpu_worker():
        where = "move both to the GPU" if torch.cuda.is_available() else "PyTorch finds no GPU on this machine"
        raise core.CoreError(f"the model and its inputs are on the CPU, and plans are for GPUs: {where}")
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
            return
    if process.returncode < 0:
        raise core.CoreError(f"{command[0]} was ended by signal {-process.returncode}; what was found before is kept")


def optimize(model, example_inputs=(), *, kwargs=None, mode=None, dynamic=None, train=False, budget="10min", apply=True, runner=None):
    """Searches plans for the model's graphs at these inputs, then compiles the model in place with
    the plans that are faster.

    @param example_inputs a tuple: positional arguments of a real call, on the model's device
    @param kwargs keyword arguments of that call
    @param mode as for torch.compile; plans are confirmed for the mode in which they are used
    @param dynamic sizes that later calls may change: {"x": {0: (2, 64)}} for the dimension 0 of forward's parameter x,
        which then has from 2 to 64. Plans are verified for these ranges, or for as much of them as one plan can serve
    @param train whether to include the backward graphs
    @param budget time for the search; compilation of the graphs takes additional time
    @param apply False: search and report only
    @param runner the runner for the search program; None: its default
    @return the model; report(model) describes the results
    @raise TypeError for example inputs that are no tuple; core.CoreError for a model on the CPU; also any error of the model
    """
    if not isinstance(example_inputs, (tuple, list)):
        raise TypeError("example_inputs is a tuple of forward's arguments: optimize(model, (x,))")
    kwargs, progress, seconds = kwargs or {}, Progress(), seconds_of(budget)
    dimensions, recording = Dimensions(model, dynamic), Recording()
    run_model(model, example_inputs, kwargs, train, recording, mode, dimensions)
    search(recording.graphs.values(), seconds, progress, runner)
    confirming = Confirming()
    run_model(model, example_inputs, kwargs, train, confirming, mode, dimensions)
    found = Report(confirming.graphs.values(), mode, str(dimensions))
    progress.show(str(found).splitlines()[0], end=True)
    found.keep(model)
    if apply:
        dynamo.compile_in_place(model, mode, dimensions)
    model.__dict__["_warpwright_report"] = found
    return model


class Report:
    def __init__(self, graphs, mode, more=""):
        self.graphs, self.mode, self.more = list(graphs), mode or "default", more

    def __str__(self):
        bound = [graph for graph in self.graphs if graph.chosen]
        lines = [f"warpwright: {len(bound)} of {len(self.graphs)} graphs use plans (mode {self.mode})"]
        for number, graph in enumerate(self.graphs, 1):
            covered = f"{graph.covered} of {graph.operators} operators in {len(graph.regions)} regions"
            ratio = f", {graph.ratio:.3f}x of torch.compile as called" if graph.ratio else ""
            used = f"{len(graph.chosen)} plans used{ratio}" if graph.chosen else f"Inductor alone: {graph.why}{ratio}"
            if graph.captured != graph.chosen:
                used += f"; in CUDA graphs {f'{len(graph.captured)} plans' if graph.captured else 'Inductor alone'}, with faster kernels"
            lines.append(f"  graph {number}: {covered}; {used}")
            lines += [f"    {count} x {reason}" for reason, count in sorted(graph.outside.items())]
        return "\n".join(lines) + self.more

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
        place, chosen = self.graphs[0].place, [graph for graph in self.graphs if graph.chosen]
        bindings = [core.ask("read", kind="binding", key=graph.key, **graph.place)["record"] or {} for graph in chosen]
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
        raise ValueError("this model was not optimized in this process: call warpwright.optimize(model, inputs)")
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
        graph = self.graphs[found["key"]] = Captured(gm, compiled, found, mode)
        binding = found["binding"] or {}
        graph.chosen, graph.ratio = binding.get("regions", []), binding.get("ratio")
        graph.captured = binding.get("captured", graph.chosen)
        graph.why = binding.get("why") or "it was not searched: call warpwright.optimize(model, inputs)"
        return compiled()
