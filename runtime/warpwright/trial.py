"""Whether a graph's code with plans is right and faster than Inductor's code for it, by calls of both."""

import operator
import random
import statistics
import time

from . import calls, core

import torch

PAIRS, SAMPLE_NS, MOST_CALLS = 30, 2_000_000, 200
QUEUED_NS, MOST_QUEUED = 500_000, 20  # of a sample whose kernels are all launched before the first one runs
CYCLES_PER_NS = 2.1  # of a GPU at its highest clock, so that it waits long enough
HOST_MARGIN = 1.02  # of host times, which vary
GPU_MARGIN = 1.01  # of GPU times, which differ by so much between a queue and a CUDA graph


class Trial:
    """Comparison of a graph's two forms by times as called, and by those of the GPU alone, taken in
    pairs in random order."""

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
        """{"faster", "captured", "ratio", "why"...}: whether a graph's function with plans is the
        better one as called, and in a CUDA graph"""
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
        alone = core.ask("decide", reference=plain, candidate=ours)
        decision["captured"] = alone["faster"] and alone["low"] > GPU_MARGIN
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
        """Times of the GPU alone, in nanoseconds of a call. They are as in a CUDA graph, but nothing
        is captured: a capture that fails can leave a program's random numbers unusable.

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
