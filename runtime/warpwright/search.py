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
import operator
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
import warnings

from .environment import place_of  # first, because it checks torch's version
from . import calls, core, dynamo, jobs
from .dynamic import Dimensions
from .jobs import seconds_of

import torch
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError
from torch.utils._pytree import tree_leaves

PAIRS, SAMPLE_NS, MOST_CALLS = 30, 2_000_000, 200
QUEUED_NS, MOST_QUEUED = 500_000, 20  # of a sample whose kernels are all launched before the first one runs
CYCLES_PER_NS = 2.1  # of a GPU at its highest clock, so that it waits long enough
HOST_MARGIN = 1.02  # of host times, which vary
MOST_SINGLE = 6  # most regions that are tried one by one if all together are not faster


class Captured:
    """A captured graph of the model."""

    def __init__(self, gm, compiled, found, mode):
        """@param compiled (graph) -> the function that Inductor makes of it; it may change the graph"""
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
        gm = dynamo.graphs.copied(self.gm)
        return self.compiled(dynamo.with_plans(gm, regions, self.ordered) if regions else gm)

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
    """Queues a job for each region, with what the first call's inputs are like."""

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


class Trial:
    """Comparison of a graph's two forms by times as called, and by those of the GPU alone, taken in pairs in random order."""

    def __init__(self, plain, graph, values):
        self.plain, self.device = plain, graph.device
        self.values, self.changed = list(values.values()), [name in graph.changed for name in values]
        self.scratch, self.unread = self.fresh(), random_states(graph.gm)

    def fresh(self):
        return [copied(value) if changed and isinstance(value, torch.Tensor) else value for value, changed in zip(self.values, self.changed)]

    def random(self):
        """Random numbers begin where they stand, and stand there afterwards."""
        return torch.random.fork_rng([self.device] if self.device.type == "cuda" else [])

    def against(self, function):
        """{"faster", "captured", "ratio", "why"...}: whether a graph's function with plans is the better one as called, and in a CUDA graph"""
        why = self.difference(function)
        if why:
            return {"faster": False, "captured": False, "ratio": None, "why": why}
        if self.device.type != "cuda":
            return {"faster": True, "captured": True, "ratio": None, "why": "no GPU measured it"}
        forms = (self.plain, function)
        calls_each = self.calls_each()
        times, hosts = ([], []), ([], [])
        for _ in range(PAIRS):
            for which in random.sample((0, 1), 2):
                spent, host = self.sample(forms[which], calls_each)
                times[which].append(spent)
                hosts[which].append(host)
        decision = core.ask("decide", reference=times[0], candidate=times[1])
        host_us = [statistics.median(one) / 1e3 for one in hosts]
        decision["host_us"] = host_us
        if not decision["faster"]:
            decision["why"] = "the whole graph is not faster with plans"
        elif waits_for_host(statistics.median(times[0]) / 1e3, *host_us):
            decision.update(faster=False, why="with plans the host takes longer, and the GPU would wait for it")
        plain, ours = self.on_gpu(forms, min(map(statistics.median, times)), 1e3 * max(host_us))
        decision["gpu_us"] = [statistics.median(one) / 1e3 for one in (plain, ours)]
        if decision["faster"]:
            decision["captured"] = not core.ask("decide", reference=ours, candidate=plain)["faster"]
        else:
            decision["captured"] = core.ask("decide", reference=plain, candidate=ours)["faster"]
        return decision

    def run(self, form):
        """A call for its time. Numbers that were written over do no harm there, indices would."""
        return form([copied(value) if changed and is_index(value) else scratch
                     for value, changed, scratch in zip(self.values, self.changed, self.scratch)])

    def sample(self, form, times):
        """@return (nanoseconds of a call, those of the host alone)"""
        torch.cuda.synchronize(self.device)
        start = time.perf_counter_ns()
        for _ in range(times):
            self.run(form)
        host = time.perf_counter_ns()
        torch.cuda.synchronize(self.device)
        return (time.perf_counter_ns() - start) / times, (host - start) / times

    def on_gpu(self, forms, call_ns, host_ns):
        """Times of the GPU alone, in nanoseconds of a call. They are as in a CUDA graph, but nothing is captured: a capture that fails can leave a
        program's random numbers unusable.

        @param call_ns, host_ns about the time of a call, and what the host needs for it at most"""
        calls_each, times = int(min(max(QUEUED_NS / call_ns, 1), MOST_QUEUED)), ([], [])
        for _ in range(PAIRS):
            for which in random.sample((0, 1), 2):
                times[which].append(self.queued(forms[which], calls_each, int(CYCLES_PER_NS * 1.5 * host_ns * calls_each)))
        return times

    def queued(self, form, times, cycles):
        """Nanoseconds of a call on a GPU that waits until all is launched, as the kernels of a CUDA graph are."""
        with torch.cuda.device(self.device):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(cycles)
            begin.record()
            for _ in range(times):
                self.run(form)
            end.record()
            end.synchronize()
            return begin.elapsed_time(end) * 1e6 / times

    def calls_each(self):
        for _ in range(3):
            self.run(self.plain)
        return int(min(max(SAMPLE_NS / self.sample(self.plain, 3)[0], 1), MOST_CALLS))

    def results(self, form, moved=False):
        """@param moved the inputs differ by a rounding"""
        with self.random():
            return form([rounded(one) for one in self.fresh()] if moved else self.fresh())

    def difference(self, function):
        """The output that differs by more than rounding, as a sentence; "" if there is none. Where a rounding of the inputs
        changes an output more, as a gradient that would be 0 without roundings, it may differ by four times as much."""
        wanted, got = self.results(self.plain), None
        strides = strides_of(wanted)
        wanted = [one.clone() if isinstance(one, torch.Tensor) else one for one in wanted]
        for _ in range(3):
            got = self.results(function)
        self.lie_alike = strides == strides_of(got)
        doubtful = {index: other.clone() for index, (one, other) in enumerate(zip(wanted, got))
                    if isinstance(one, torch.Tensor) and one.numel() and index not in self.unread and not calls.alike(one, other)}
        moved = self.results(self.plain, moved=True) if doubtful else ()
        for index, other in doubtful.items():
            if not calls.within(wanted[index], other, moved[index]):
                return f"output {index} differs with plans"
        return ""


def waits_for_host(plain_us, plain_host_us, host_us):
    """Whether a program around the graph, whose own host code is taken to be as long as the graph's, would be slower with
    plans although the graph alone is faster: the host is slower, and the GPU has not so much work that this would not show."""
    return host_us > HOST_MARGIN * plain_host_us and plain_us < plain_host_us + host_us


def random_states(gm):
    """Places of outputs that are the random state of an attention: memory that without dropout nobody writes or reads."""
    outputs = next(node for node in gm.graph.nodes if node.op == "output").args[0]
    return {index for index, one in enumerate(outputs)
            if isinstance(one, torch.fx.Node) and one.target is operator.getitem and str(one.args[0].target).startswith("aten._scaled_dot_product")
            and isinstance(one.meta.get("val"), torch.Tensor) and not one.meta["val"].is_floating_point()}


def rounded(value):
    """A copy of floating-point numbers, each moved by a rounding; other values as they are."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or 0 in value.stride():
        return value
    sign = torch.randint(0, 2, value.shape, device=value.device).mul_(2).sub_(1)
    return copied(value).mul_((1 + torch.finfo(value.dtype).eps * sign.double()))


def copied(value):
    """A copy with the same strides, also where they leave gaps, which clone() closes."""
    span = 1 + sum((size - 1) * stride for size, stride in zip(value.shape, value.stride())) if value.numel() else 0
    return value.as_strided((span,), (1,)).clone().as_strided(value.shape, value.stride(), 0)


def strides_of(values):
    return [one.stride() if isinstance(one, torch.Tensor) else None for one in values]


def is_index(value):
    return isinstance(value, torch.Tensor) and not value.is_floating_point() and not value.is_complex() and value.dtype != torch.bool


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
        return compiled(gm)
