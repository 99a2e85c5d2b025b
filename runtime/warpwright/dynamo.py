"""The backend of torch.compile: Inductor, with regions replaced by plans that made the whole graph
faster.

The backend gets a graph after PyTorch has captured, differentiated and decomposed it. The core cuts
the graph into regions. If the store has a binding for the graph, its regions become calls of the
operator, and Inductor compiles the rest. After an error, Inductor compiles the whole graph, and the
error is reported once. This file contains all uses of PyTorch's private interfaces by the backend.
"""

import contextlib
import functools
import os
import time
import warnings
from unittest import mock

from .environment import place_of  # first, because it checks torch's version
from . import calls, complex_graphs, constants, core, dynamic, graphs, jobs

import torch
from torch._inductor import compile_fx as inductor

OURS = "warpwright."
OPTIONS = {"search": "queue", "budget": "60s", "store": None, "force": False, "check": 0}
ONLINE = ("background", "now")
SEARCHES = ("off", "queue", *ONLINE)


class Session:
    """Hook of a search into the compilation of graphs (search.py, online.py). Without a current session,
    compilation uses the store's bindings, and may queue jobs."""

    current = None

    def compile(self, gm, inputs, compiled, found, mode):
        """The function for a graph. @param compiled (graph) -> Inductor's function for the graph, without one for the program's"""
        raise NotImplementedError


class Backend:
    __name__ = "warpwright"

    def __call__(self, gm, inputs, *, mode=None, options=None, **_):
        ours = {key[len(OURS):]: value for key, value in (options or {}).items() if key.startswith(OURS)}
        unknown = set(ours) - set(OPTIONS)
        if unknown:
            raise ValueError(f"torch.compile(backend='warpwright') has no option {OURS}{min(unknown)}; its own are "
                             + ", ".join(OURS + one for one in OPTIONS))
        theirs = {key: value for key, value in (options or {}).items() if not key.startswith(OURS)}
        patches = {**(torch._inductor.list_mode_options(mode) if mode and mode != "default" else {}), **theirs}
        ours = checked({**OPTIONS, **ours})
        calls.checks = ours["check"]
        inner = functools.partial(compile_inner, ours, mode or "default", patches)
        with torch.compiler.config.patch(cache_key_tag=cache_tag(ours, inputs)):
            return inductor.compile_fx(gm, inputs, inner_compile=inner, config_patches=patches or None)

    def reset(self):
        calls.reset()


backend = Backend()
_said = set()


def checked(ours):
    """@raise ValueError for a value that an option does not take"""
    if ours["search"] not in SEARCHES:
        raise ValueError(f"{OURS}search is {ours['search']!r}, and takes " + ", ".join(map(repr, SEARCHES)))
    if type(ours["check"]) is not int or ours["check"] < 0:
        raise ValueError(f"{OURS}check is {ours['check']!r}, and takes a number of calls: 0 or more")
    jobs.seconds_of(ours["budget"])
    return ours


def say(error):
    if os.environ.get("WARPWRIGHT_RAISE"):
        raise error
    text = f"warpwright: this graph is Inductor's alone: {type(error).__name__}: {error}"
    if text not in _said:
        _said.add(text)
        warnings.warn(text, RuntimeWarning, stacklevel=2)


def cache_tag(ours, inputs):
    """Tag for the keys of PyTorch's own caches, which skip `inner_compile`. It changes with the
    store, so that cached code is used only as long as no other binding is confirmed for a graph."""
    before = torch.compiler.config.cache_key_tag
    if Session.current is not None:
        return f"{before} warpwright session {id(Session.current)} {time.time_ns()}"
    if ours["search"] == "off" and not ours["force"]:
        return before
    try:
        with override_store(ours["store"]):
            device = next((one.device for one in inputs if isinstance(one, torch.Tensor) and one.device.type == "cuda"), torch.device("cpu"))
            found = core.ask("digest", plans=ours["search"] in ONLINE, **place_of(device))["digest"]
    except core.CoreError:
        found = "none"
    return f"{before} warpwright {calls.SCHEMA} {found} {ours['force']} {ours['search'] in ONLINE}"


def device_of(gm):
    for node in gm.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value.device.type == "cuda":
            return value.device
    return torch.device("cpu")


def look(gm, mode):
    """The core's answer for a graph: its regions and its binding (regions/core.cpp)."""
    return core.ask("regions", mode=mode, graph=graphs.describe(gm), **place_of(device_of(gm)))


def wanted_regions(found, force):
    """(the regions to replace in calls, those while a CUDA graph is captured): all with `force` (tests), else those
    confirmed for the graph."""
    if force:
        return found["regions"], found["regions"]
    binding = found["binding"] or {"regions": ()}
    return tuple([one for one in found["regions"] if one["key"] in keys and one["has_plan"]]
                 for keys in (binding["regions"], binding.get("captured", binding["regions"])))


def with_plans(gm, regions, ordered):
    device = device_of(gm)
    regions = [dict(one, plan=calls.named(one["key"], one["program"])) for one in regions]
    for region in regions:
        calls.bound(region["plan"], device).bind(tuple(one["hint"] for one in region["sizes"].values()))
    return graphs.exchanged(gm, regions, calls.CALL, ordered)


def afresh(compile_graph):
    """(what it returns, strides of its outputs), where a graph is compiled twice: PyTorch wants to be told of strides once"""
    context = torch._guards.TracingContext.try_get()
    if context is None or context.output_strides is None:
        return compile_graph(), None
    context.output_strides.clear()
    return compile_graph(), list(context.output_strides)


def served(gm, regions, function, plain):
    return dynamic.served(gm, regions, graphs.symbols_of(gm), function, plain)


def by_capture(called, captured, ready=False):
    """A graph's function in calls, and another while a CUDA graph is captured, whose kernels will not wait for the
    host.

    @param ready whether both have run: a function's first run may do what a capture forbids, so the first call runs
        `captured`"""

    def call(values):
        nonlocal ready
        if ready and not torch.cuda.is_current_stream_capturing():
            return called(values)
        ready = True
        return captured(values)

    call._boxed_call = True
    return call


def compiled_with(gm, called, captured, ordered, compiled):
    """The function for a graph with plans; at sizes that they do not serve it is Inductor's.

    @param called, captured the regions that calls and captures of CUDA graphs replace"""
    made = {}

    def form(regions):
        """@return (function, strides of its outputs)"""
        keys = tuple(one["key"] for one in regions)
        if keys not in made:
            made[keys] = afresh(lambda: compiled(with_plans(gm, regions, ordered) if regions else None))
        return made[keys]

    def for_all_sizes(regions):
        function, strides = form(regions)
        if not any(one["symbols"] for one in regions):
            return function, strides
        plain, others = form([])
        return (served(gm, regions, function, plain), strides) if strides == others else (plain, others)

    function, strides = for_all_sizes(called)
    if captured == called:
        return function
    other, others = for_all_sizes(captured)
    return by_capture(function, other) if strides == others else function


def compile_inner(ours, mode, patches, gm, inputs, **keywords):
    usual = gm

    def compiled(graph=None):
        """@param graph None: as Inductor has it"""
        graph, fake = graphs.copied(usual) if graph is None else graph, torch._guards.detect_fake_mode(inputs)
        # A session compiles also later, in a graph's first call. Operators without code of Inductor's read folded constants.
        with torch._inductor.config.patch(patches), mock.patch.object(fake, "allow_non_fake_inputs", True) if fake else contextlib.nullcontext():
            return inductor.compile_fx_inner(graph, inputs, **keywords)

    if ours["search"] == "off" and not ours["force"]:
        return compiled(gm)
    try:
        if torch.are_deterministic_algorithms_enabled():
            raise core.CoreError("deterministic algorithms are requested, and plans may add in any order")
        graphs.simplify_constructors(gm)
        graphs.choose_under_masks(gm)
        constants.fold(gm)
        gm = complex_graphs.without_complex(graphs.without_padding(gm), inputs)
        with override_store(ours["store"]):
            found = dict(look(gm, mode), is_backward=keywords.get("is_backward"))
            session = Session.current
            if session is None and ours["search"] in ONLINE and not ours["force"]:
                from . import online

                session = online.session_for(ours, found, place_of(device_of(gm)))
            if session is not None:
                return session.compile(gm, inputs, compiled, found, mode)
            called, captured = wanted_regions(found, ours["force"])
            if called and ours["force"]:
                return compiled(with_plans(gm, called, found["ordered"]))
            if called or captured:
                return compiled_with(gm, called, captured, found["ordered"], compiled)
            if ours["search"] == "queue":
                jobs.queue(found["regions"], place_of(device_of(gm)))
    except Exception as error:  # errors here must not break the user's program
        say(error)
    return compiled(usual)


def compile_in_place(model, mode, dimensions):
    """Compiles a model in place like model.compile(), but also if Dynamo skips the file of
    `forward`, as it does for torch.nn's own classes. model.compile() alone would compile nothing
    then.
    @param dimensions dynamic.Dimensions to mark in each call"""
    if not torch._dynamo.trace_rules.check(type(model).forward):
        model.compile(backend=backend, mode=mode)
    else:
        def call(*inputs, **kwargs):
            return model._call_impl(*inputs, **kwargs)

        model._compiled_call_impl = torch.compile(call, backend=backend, mode=mode)
    if dimensions.limits:
        compiled = model._compiled_call_impl

        model._compiled_call_impl = lambda *inputs, **kwargs: dimensions.call(compiled, inputs, kwargs)


class override_store:
    def __init__(self, folder):
        self.folder, self.before = folder, os.environ.get("WARPWRIGHT_STORE")

    def __enter__(self):
        if self.folder:
            os.environ["WARPWRIGHT_STORE"] = str(self.folder)

    def __exit__(self, *_):
        if self.folder:
            if self.before is None:
                del os.environ["WARPWRIGHT_STORE"]
            else:
                os.environ["WARPWRIGHT_STORE"] = self.before
