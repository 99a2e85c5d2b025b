"""The forms in which a module is measured: PyTorch's, which are baselines, and ours; as called, and as CUDA graphs.

All forms share the module's weights and are called with the same inputs. Each is compared with
float64 before it is timed: a baseline whose error exceeds 4 times eager's is shown as wrong and is
no denominator. Where ours exceeds that but is as near as plain Inductor, both count as right
("as_inductor"). Times are taken in rounds: each round times every form once, in random order, so
that a ratio is one of pairs.
"""
import collections
import copy
import dataclasses
import random
import statistics
import time
import typing

import torch
from torch.autograd import DeviceType

import cases
import states
from warpwright import calls, core, dynamo, search

ROUNDS, SAMPLE_NS, MOST_CALLS, PROFILED_CALLS, KEPT_KERNELS = 60, 3_000_000, 300, 5, 16
FEWEST_ROUNDS, MOST_SECONDS = 20, 20  # slow forms have fewer rounds
OURS, OURS_GRAPHS, EAGER, PLAIN, GRAPHS = "ours", "ours reduce-overhead", "eager", "compile", "compile reduce-overhead"
AUTOTUNED = "max-autotune-no-cudagraphs"


@dataclasses.dataclass
class Form:
    call: typing.Callable           # without arguments
    has_benchmark: bool = False     # cudnn.benchmark while it runs
    is_product: bool = False        # makes its own CUDA graph, and is not captured again
    is_trained: bool = False        # gives gradients
    facts: dict = dataclasses.field(default_factory=dict)

    def run(self):
        torch.backends.cudnn.benchmark = self.has_benchmark
        return self.call()


def synchronize():
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def forms_of(model, inputs, options):
    """{name: form}; nothing is compiled yet. One that changes the layout of inputs comes last, since Dynamo would take sizes for dynamic."""
    def form(changed, given=inputs, **more):
        call = cases.step(changed, options.train)
        return Form(lambda: call(**given), is_trained=options.train, **more)

    def graphs_form(changed):
        call = cases.step(changed, options.train)

        def marked():
            torch.compiler.cudagraph_mark_step_begin()
            return call(**inputs)

        return Form(marked, is_product=True, is_trained=options.train)

    mode, on_gpu = options.mode, options.device != "cpu"
    found = {EAGER: form(model), PLAIN: form(torch.compile(model, mode=mode))}
    if mode != AUTOTUNED and options.baselines != "plain":
        found["compile max-autotune"] = form(torch.compile(model, mode=AUTOTUNED))
    found[OURS] = form(torch.compile(model, backend=dynamo.backend, mode=mode))
    if options.baselines != "all":
        return found
    if on_gpu:
        found[GRAPHS] = graphs_form(torch.compile(model, mode="reduce-overhead"))
        found[OURS_GRAPHS] = graphs_form(torch.compile(model, backend=dynamo.backend, mode="reduce-overhead"))
    kinds = [type(one) for one in model.modules() if isinstance(one, torch.nn.modules.conv._ConvNd)]
    if kinds and on_gpu:
        found["eager cudnn.benchmark"] = form(model, has_benchmark=True)
    if torch.nn.Conv2d in kinds and any(one.dim() == 4 for one in states.leaves(inputs)):
        turned = copy.deepcopy(model).to(memory_format=torch.channels_last)
        given = states.mapped(inputs, lambda one: one.contiguous(memory_format=torch.channels_last) if one.dim() == 4 else one)
        found["eager channels-last"] = form(turned, given)
        found["compile channels-last"] = form(torch.compile(turned, mode=mode, dynamic=False), given)
    return found


def checked(form, exact, judge):
    """Calls a form for the first time and compares it. @return its values; None where it failed"""
    start = time.monotonic()
    try:
        outputs = form.run()
        synchronize()
    except Exception as error:
        form.facts["failed"] = states.first_line(error)
        return None
    form.facts["first_call_seconds"] = round(time.monotonic() - start, 2)
    values = cases.values_of(outputs, form.is_trained)
    exact = exact or judge or values
    form.facts["error"] = max(states.errors_of(values, exact).values(), default=0.0)
    if wrong := states.too_far(values, exact, judge or values):
        form.facts["wrong"] = "; ".join(wrong[:3])
    return values


def checked_all(forms, exact):
    """@return the judge of all: eager's values, or Inductor's where ours is only as right as those"""
    judge = checked(forms[EAGER], exact, None)
    if judge is None:
        raise RuntimeError("eager: " + forms[EAGER].facts["failed"])
    values = {key: checked(form, exact, judge) for key, form in forms.items() if key != EAGER}
    ours = [key for key in (OURS, OURS_GRAPHS) if key in forms]
    if values[PLAIN] and any("wrong" in forms[key].facts for key in ours):
        for key in values:
            if "wrong" in forms[key].facts and not states.too_far(values[key], exact or judge, values[PLAIN]):
                forms[key].facts["as_inductor"] = forms[key].facts.pop("wrong")
        judge = values[PLAIN]
    return judge


def captured(form):
    """A form as a CUDA graph of its own, once what it chooses at its first calls is settled."""
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            form.run()
    torch.cuda.current_stream().wait_stream(stream)
    with torch.cuda.graph(graph):
        outputs = form.run()

    def replay():
        graph.replay()
        return outputs

    return Form(replay, is_trained=form.is_trained)


def sample(form, times):
    torch.backends.cudnn.benchmark = form.has_benchmark
    synchronize()
    start = time.perf_counter_ns()
    for _ in range(times):
        form.call()
    synchronize()
    return (time.perf_counter_ns() - start) / times


def compared(forms, ours):
    """Ours beside the others of one regime. Wrong ones are timed, and are never the best."""
    calls_each, times = {}, {name: [] for name in forms}
    for name, form in forms.items():
        for _ in range(3):
            form.run()
        calls_each[name] = int(min(max(SAMPLE_NS / sample(form, 3), 1), MOST_CALLS))
    start = time.monotonic()
    for count in range(ROUNDS):
        if count >= FEWEST_ROUNDS and time.monotonic() > start + MOST_SECONDS:
            break
        for name in random.sample(list(forms), len(forms)):
            times[name].append(sample(forms[name], calls_each[name]))
    found = {"ours_us": statistics.median(times[ours]) / 1e3, "baselines": {}}
    for name in forms:
        if name != ours:
            decision = core.ask("decide", reference=times[name], candidate=times[ours])
            found["baselines"][name] = {"us": statistics.median(times[name]) / 1e3, **{key: decision[key] for key in ("ratio", "low", "high")}}
    right = [name for name in found["baselines"] if "wrong" not in forms[name].facts]
    found["best"] = min(right, key=lambda name: found["baselines"][name]["us"], default=None)
    return found


def kernels_of(form):
    """(kernels of a call, microseconds of the device for a call, those inside our plans, the slowest: [name, launches, microseconds] of a call)"""
    ours = set()
    for one in calls._bound.values():
        for exported in one.exported():
            ours.update(exported.binary[1].values())
    form.run()
    synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(PROFILED_CALLS):
            form.run()
        synchronize()
    events = profile.events()
    kernels = [one for one in events if one.device_type == DeviceType.CUDA and not getattr(one, "is_user_annotation", False)]
    spent = sum(one.time_range.elapsed_us() for one in kernels)
    named = sum(one.time_range.elapsed_us() for one in kernels if one.name.partition("(")[0] in ours)
    under = sum(one.device_time_total for one in events if one.device_type == DeviceType.CPU and one.name == "warpwright::call")
    by_name = collections.defaultdict(lambda: [0, 0.0])
    for one in kernels:
        by_name[one.name][0] += 1
        by_name[one.name][1] += one.time_range.elapsed_us()
    slowest = sorted(([name[:120], launches / PROFILED_CALLS, round(us / PROFILED_CALLS, 2)] for name, (launches, us) in by_name.items()),
                     key=lambda one: -one[2])[:KEPT_KERNELS]
    return len(kernels) / PROFILED_CALLS, spent / PROFILED_CALLS, max(named, under) / PROFILED_CALLS, slowest


def confirmed(model, inputs, options, mode):
    """Binds what makes each graph faster with the GPU to ourselves. What was bound while others ran on it is forgotten."""
    session = search.Confirming()
    search.run_model(model, (), inputs, options.train, session, mode)
    return search.Report(session.graphs.values(), mode)


def measured(name, options):
    """The row of one module. @raise what building it or its eager form raises"""
    model, inputs = cases.made(name, options)
    exact = cases.exact(model, inputs, options.train)
    runs, fallbacks = calls.runs(), calls.fallbacks()
    forms = forms_of(model, inputs, options)
    checked(forms[PLAIN], None, None)  # before Inductor's cache knows its kernels
    fresh = forms[PLAIN].facts.get("first_call_seconds")
    start = time.monotonic()
    report = confirmed(model, inputs, options, options.mode)
    row = {"confirm_seconds": round(time.monotonic() - start, 1), "report": str(report), "graphs": len(report.graphs),
           "bound": sum(bool(one.chosen) for one in report.graphs), "operators": sum(one.operators for one in report.graphs),
           "covered": sum(one.covered for one in report.graphs)}
    if OURS_GRAPHS in forms:
        row["report_reduce_overhead"] = str(confirmed(model, inputs, options, "reduce-overhead"))
    judge = checked_all(forms, exact)
    if "first_call_seconds" in forms[PLAIN].facts:
        forms[PLAIN].facts["first_call_seconds"] = fresh
    row["forms"] = {key: form.facts for key, form in forms.items()}
    row["right"] = not any(forms[key].facts.keys() & {"wrong", "failed"} for key in (OURS, OURS_GRAPHS) if key in forms)
    usable = {key: form for key, form in forms.items() if "failed" not in form.facts}
    if OURS in usable:
        row["called"] = compared({key: form for key, form in usable.items() if not form.is_product}, OURS)
    if options.device != "cpu":
        if OURS_GRAPHS in usable and GRAPHS in usable:
            row["reduce-overhead"] = compared({key: usable[key] for key in (GRAPHS, OURS_GRAPHS)}, OURS_GRAPHS)
        if OURS in usable:
            count, spent, inside, slowest = kernels_of(usable[OURS])
            row.update(kernels_ours=count, device_us_ours=spent, share_of_device_time=inside / spent if spent else None, slowest_ours=slowest)
        if PLAIN in usable:
            row["kernels_inductor"], row["device_us_inductor"], _, row["slowest_inductor"] = kernels_of(usable[PLAIN])
        row.update(as_graphs(usable, exact, judge))
    after = calls.fallbacks()
    new = {why: count - fallbacks.get(why, 0) for why, count in after.items()}
    return {**row, "kernel_calls": calls.runs() - runs, "fallbacks": {why: count for why, count in new.items() if count}}


def as_graphs(forms, exact, judge):
    """{"graph": times of CUDA graphs, "captured": facts of each}. A capture that fails may disturb what follows, and eager fails most."""
    found, facts = {}, {}
    for key, form in sorted(forms.items(), key=lambda one: one[0] == EAGER):
        if form.is_product:
            continue
        try:
            found[key] = captured(form)
            checked(found[key], exact, judge)
            facts[key] = found[key].facts
        except Exception as error:
            facts[key] = {"failed": states.first_line(error)}
        if "failed" in facts[key]:
            found.pop(key, None)
    right = not any(key in facts.get(OURS, {}) for key in ("wrong", "failed"))
    return {"captured": facts, **({"graph": compared(found, OURS)} if right and OURS in found and len(found) > 1 else {})}
