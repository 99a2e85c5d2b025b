"""The ways to trace a module, from the one that needs no memory to the one that needs most."""
import contextlib
import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from .errors import NeedsValues, Refusal
from .refusals import ValueGuard
from .result import Trace
from .source import first_line, load, make_inputs, make_module, on_the_cpu


def fake_tensor_mode():
    try:
        return FakeTensorMode(allow_non_fake_inputs=True)
    except TypeError:
        return FakeTensorMode()


@contextlib.contextmanager
def without_values(fake_mode):
    with fake_mode, ValueGuard():
        yield


def attempt(text, model, inputs, init_inputs, training, fake_module, fake_inputs):
    """One trace; errors of making the module and of running it come out as they are."""
    fake_mode = fake_tensor_mode()
    namespace = load(text)
    with without_values(fake_mode) if fake_module else contextlib.nullcontext():
        module = make_module(namespace, model, init_inputs, training)
    with without_values(fake_mode) if fake_inputs else contextlib.nullcontext():
        arguments = make_inputs(namespace, inputs)
    with fake_mode:
        return Trace(module, arguments, fake_mode).run()


def check_constants(result, again):
    """Tensors that the module holds in lists and the like become constants, and must not depend on the seed."""
    torch.manual_seed(2)
    if again() != result:
        raise Refusal("forward uses a tensor that the constructor draws at random and keeps in no attribute of its own")


def traced(text, model, inputs, init_inputs, training):
    failures = []
    with on_the_cpu(), warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
        warnings.simplefilter("ignore")
        for fake_module, fake_inputs in ((True, True), (False, True), (False, False)):
            try:
                torch.manual_seed(1)
                result = attempt(text, model, inputs, init_inputs, training, fake_module, fake_inputs)
                if not fake_module and failures:
                    check_constants(result, lambda: attempt(text, model, inputs, init_inputs, training, fake_module, fake_inputs))
                return result
            except Refusal:
                raise
            except NeedsValues:
                failures.append("it reads values of tensors that have none yet")
            except AssertionError:
                raise
            except Exception as error:  # whatever the user's code raises
                failures.append(first_line(error))
    raise Refusal("torch %s cannot trace it: %s" % (torch.__version__, failures[-1]))
