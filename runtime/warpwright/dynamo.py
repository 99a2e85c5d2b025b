"""The backend of torch.compile: Inductor, with regions replaced by plans that made the whole graph
faster.

The backend gets a graph after PyTorch has captured, differentiated and decomposed it. The core cuts
the graph into regions. If the store has a binding for the graph, its regions become calls of the
operator, and Inductor compiles the rest. After an error, Inductor compiles the whole graph, and the
error is reported once. This file contains all uses of PyTorch's private interfaces by the backend.
"""

import functools
import os
import time
import warnings

from .environment import environment, store  # first, because it checks torch's version
from . import calls, core, graphs

import torch
from torch._inductor import compile_fx as inductor

OURS = "warpwright."
OPTIONS = {"search": "queue", "store": None, "force": False, "check": 0}


class Session:
    """Hook of a search into the compilation of graphs (search.py). Without a current session,
    compilation uses the store's bindings, and may queue jobs."""

    current = None

    def compile(self, gm, inputs, compiled, found, mode):
        """The function for a graph. @param compiled (graph) -> Inductor's function for the graph"""
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
        ours = {**OPTIONS, **ours}
        calls.checks = int(ours["check"])
        inner = functools.partial(compile_inner, ours, mode or "default")
        with torch.compiler.config.patch(cache_key_tag=cache_tag(ours, inputs)):
            return inductor.compile_fx(gm, inputs, inner_compile=inner, config_patches=patches or None)

    def reset(self):
        calls.reset()


backend = Backend()
_said = set()


def say(error):
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
            found = core.ask("digest", store=store(), environment=environment(device))["digest"]
    except core.CoreError:
        found = "none"
    return f"{before} warpwright {found} {ours['force']}"


def device_of(gm):
    for node in gm.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value.device.type == "cuda":
            return value.device
    return torch.device("cpu")


def look(gm, mode):
    """The core's answer for a graph: its regions and its binding (regions/core.cpp)."""
    return core.ask("regions", store=store(), environment=environment(device_of(gm)), mode=mode, graph=graphs.describe(gm))


def wanted_regions(found, force):
    """The regions to replace: all with `force` (tests), else those confirmed for the graph."""
    if force:
        return found["regions"]
    confirmed = set((found["binding"] or {}).get("regions", ()))
    return [one for one in found["regions"] if one["key"] in confirmed and one["has_plan"]]


def with_plans(gm, regions, ordered):
    device = device_of(gm)
    regions = [dict(one, plan=calls.named(one["key"], one["program"])) for one in regions]
    for region in regions:
        calls.bound(region["plan"], device).bind(tuple(one["hint"] for one in region["sizes"].values()))
    return graphs.exchanged(gm, regions, calls.CALL, ordered)


def compile_inner(ours, mode, gm, inputs, **keywords):
    def compiled(graph):
        return inductor.compile_fx_inner(graph, inputs, **keywords)

    if ours["search"] == "off" and not ours["force"]:
        return compiled(gm)
    try:
        with override_store(ours["store"]):
            found = look(gm, mode)
            if Session.current is not None:
                return Session.current.compile(gm, inputs, compiled, dict(found, is_backward=keywords.get("is_backward")), mode)
            regions = wanted_regions(found, ours["force"])
            if regions:
                return compiled(with_plans(gm, regions, found["ordered"]))
            if ours["search"] == "queue":
                queue(gm, found)
    except Exception as error:  # errors here must not break the user's program
        if os.environ.get("WARPWRIGHT_RAISE"):
            raise
        say(error)
    return compiled(gm)


def queue(gm, found):
    """Writes a job for each region that has neither a plan nor a job."""
    place = {"store": store(), "environment": environment(device_of(gm))}
    for region in found["regions"]:
        if not region["has_plan"] and not core.ask("read", kind="job", key=region["key"], **place)["record"]:
            core.ask("write", kind="job", key=region["key"], record={"program": region["program"], "profile": None}, **place)


def compile_in_place(model, mode):
    """Compiles a model in place like model.compile(), but also if Dynamo skips the file of
    `forward`, as it does for torch.nn's own classes. model.compile() alone would compile nothing
    then."""
    if not torch._dynamo.trace_rules.check(type(model).forward):
        model.compile(backend=backend, mode=mode)
        return

    def call(*inputs, **kwargs):
        return model._call_impl(*inputs, **kwargs)

    model._compiled_call_impl = torch.compile(call, backend=backend, mode=mode)


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
