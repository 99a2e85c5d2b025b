"""The modules that bench/backend compiles: files of bench/real, the 40 kinds of tests/torch/backend/modules.py at real sizes, or random graphs."""
import copy
import glob
import importlib.util
import inspect
import os
import sys
import types

import torch

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "torch", "backend"))
sys.path.insert(0, os.environ.get("WARPWRIGHT_PACKAGE", os.path.join(ROOT, "build", "release", "bin", "torch")))
import modules  # noqa: E402
import random_graphs  # noqa: E402
import states  # noqa: E402


def add_options(parser):
    """The options that say which modules, and how they are called."""
    parser.add_argument("--modules", default=os.path.join(ROOT, "bench", "real"), help='a folder of files, "kinds", or "random"')
    parser.add_argument("--dtype", choices=("float32", "bfloat16", "float16"), help="of weights and inputs; default: the module's own")
    parser.add_argument("--train", action="store_true", help="training mode and the backward graph, without dropout")
    parser.add_argument("--only", default="", help="modules whose names begin so, by commas")
    parser.add_argument("--part", default="0/1", metavar="I/N", help="each N-th module from the I-th: for several GPUs, a command each")
    parser.add_argument("--device", default="cuda", help="cpu: to try the script")


def lift_limits():
    for name in ("recompile_limit", "accumulated_recompile_limit", "cache_size_limit", "accumulated_cache_size_limit"):
        if hasattr(torch._dynamo.config, name):
            setattr(torch._dynamo.config, name, 10000)  # a module is compiled in many forms, which count together


def paths_of(options):
    if options.modules == "random":
        return {f"random_{number:02}": None for number in range(random_graphs.COUNT)}
    if options.modules == "kinds":
        return {name: None for name, one in modules.MODULES.items() if one.trains or not options.train}
    found = sorted(glob.glob(os.path.join(options.modules, "**", "[0-9]*.py"), recursive=True))
    return {os.path.basename(path)[:-3]: path for path in found}


def names(options):
    wanted = [one for one in options.only.split(",") if one]
    part, parts = map(int, options.part.split("/"))
    return [name for name in paths_of(options) if not wanted or any(name.startswith(one) for one in wanted)][part::parts]


def loaded(path, dtype):
    spec = importlib.util.spec_from_file_location("bench_" + os.path.basename(path)[:-3], path)
    source = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # Dynamo imports a module whose functions it traces
    spec.loader.exec_module(source)
    if dtype and hasattr(source, "DTYPE"):
        source.DTYPE = dtype
    return source


def made(name, options):
    """@return (module, the keyword arguments of a call). @raise ImportError where the module's library is not installed"""
    dtype, path = getattr(torch, options.dtype or "", None), paths_of(options)[name]
    torch.manual_seed(0)
    if path:
        source = loaded(path, dtype)
        model = source.Model(*source.get_init_inputs())
        inputs = dict(zip(inspect.signature(model.forward).parameters, source.get_inputs()))
    elif options.modules == "random":
        model, inputs = random_graphs.made(int(name.split("_")[1]))
    else:
        modules.sizes("real")
        model, drawn = modules.made(name)
        inputs = drawn(modules.REAL_BATCH)
    model = model.to(options.device)
    model = (model.to(dtype) if dtype else model).train(options.train)
    if options.train:
        without_dropout(model)
    return model, states.mapped(inputs, lambda one: one.to(options.device, dtype if one.is_floating_point() else None))


def without_dropout(model):
    """Masks would differ from form to form, so that no results could be compared."""
    for module in model.modules():
        for key, value in list(vars(module).items()):
            if type(value) is float and ("drop" in key or key == "p"):
                setattr(module, key, 0.0)


def step(model, train):
    """A call as a program makes it: outputs without gradients, or the gradients of a training step."""
    if not train:
        def call(**inputs):
            with torch.no_grad():
                return model(**inputs)
        return call
    parameters, tangents = [one for one in model.parameters() if one.requires_grad], []

    def call(**inputs):
        outputs = [one for one in states.leaves(model(**inputs)) if one.requires_grad]
        if not tangents:
            tangents.extend(states.weights_of(one) for one in outputs)
        return torch.autograd.grad(outputs, parameters, tangents, allow_unused=True)

    return call


def values_of(outputs, train):
    """Copies of a call's tensors, named as states.py compares them."""
    kind = "gradient" if train else "output"
    return types.SimpleNamespace(values={f"{kind} {index}": one.detach().clone() for index, one in enumerate(states.leaves(outputs))})


def exact(model, inputs, train):
    """The values in float64. None: the module has an operator that knows no float64."""
    try:
        wide = copy.deepcopy(model).double()
        return values_of(step(wide, train)(**states.mapped(inputs, lambda one: one.double() if one.is_floating_point() else one)), train)
    except (RuntimeError, TypeError, NotImplementedError):
        return None
