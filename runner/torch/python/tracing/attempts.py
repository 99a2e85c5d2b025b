"""Attempts to trace a module, in order of increasing memory use."""
import contextlib
import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import call_guards

from .errors import Mistake, NeedsValues, Refusal
from .refusals import MakingMode
from .result import Trace
from .source import first_line, line_of, load, load_cpp, make_inputs, make_module, eager_on_the_cpu


def fake_tensor_mode():
    try:
        return FakeTensorMode(allow_non_fake_inputs=True)
    except TypeError:
        return FakeTensorMode()


@contextlib.contextmanager
def made(fake_mode):
    """Context in which the module and the inputs are made. @param fake_mode None for real
    tensors"""
    with fake_mode or contextlib.nullcontext(), MakingMode(fake_mode is not None):
        yield


class Failed(Exception):
    """An error of the user's code, with the stage: making the "module" or the "inputs", or
    "forward"."""

    def __init__(self, stage, error):
        super().__init__(first_line(error) + line_of(error))
        self.stage, self.error = stage, error


@contextlib.contextmanager
def stage(name):
    try:
        yield
    except (Refusal, Mistake):
        raise
    except Exception as error:  # any error of the user's code
        raise Failed(name, error)


class Attempts:
    """@var fake whether the module's and the inputs' tensors are fake; real tensors stay real"""

    def __init__(self, language, text, model, inputs, init_inputs, mode, files, path):
        self.language, self.files, self.path = language, files, path
        self.text, self.model, self.inputs, self.init_inputs, self.mode = text, model, inputs, init_inputs, mode
        self.fake = {"module": True, "inputs": True}

    def once(self):
        fake_mode = fake_tensor_mode()
        namespace = load(self.text, self.files, self.path) if self.language == "python" else load_cpp(
            self.text, self.model, self.init_inputs, self.files, self.path)
        with stage("module"), self.place("module", fake_mode):
            module = make_module(namespace, self.model, self.init_inputs, self.mode)
        with stage("inputs"), self.place("inputs", fake_mode):
            arguments = make_inputs(namespace, self.inputs)
        with stage("forward"), fake_mode:
            return Trace(module, arguments, fake_mode, call_guards.owner_of(namespace)).run()

    def place(self, what, fake_mode):
        return made(fake_mode if self.fake[what] else None)

    def until_it_works(self):
        """Traces the module, and repeats the trace with a real module or real inputs if values are
        needed. Real inputs come last, because they may exceed the memory."""
        torch.manual_seed(1)
        try:
            return self.once()
        except Failed as failure:
            what = "module" if self.fake["module"] and failure.stage != "inputs" else "inputs"
            asks = failure.stage != "forward" or isinstance(failure.error, NeedsValues) or what == "module"
            if not self.fake[what] or not asks:
                raise
            self.fake[what] = False
            return self.until_it_works()

    def check_constants(self, result):
        """Checks that tensors in the module's lists and similar containers, which become constants,
        do not depend on the seed."""
        if self.fake["module"]:
            return
        torch.manual_seed(2)
        if self.once() != result:
            raise Refusal("forward uses a tensor that the constructor draws at random and does not keep in a separate attribute")


def traced(language, text, model, inputs, init_inputs, mode, files=None, path=""):
    attempts = Attempts(language, text, model, inputs, init_inputs, mode, files, path)
    with eager_on_the_cpu(), warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
        warnings.simplefilter("ignore")
        try:
            result = attempts.until_it_works()
            attempts.check_constants(result)
            return result
        except Failed as failure:
            if isinstance(failure.error, NeedsValues):
                raise Refusal("forward uses tensors that are neither its inputs nor the module's own")
            what = {"module": "the constructor fails", "inputs": "making the inputs fails"}.get(failure.stage)
            raise Refusal("%s: %s" % (what or "torch %s cannot trace forward" % torch.__version__, failure))
