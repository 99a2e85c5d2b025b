"""Timed runs in the process of another system's module: the timer, and the torch host that it uses.

The library opens the same kind of device as the worker, records calls as CUDA graphs and times them
(runner/torch/library/foreign_timer.h). This file is the Python part. It is set up before any of the
candidate's code is loaded. Thread: the main thread.
"""

import contextlib
import ctypes
import gc
import json
import time

import torch

import user_module
from gpu_host import GpuHost
from host_errors import HostError, told_by
from module_host import BoundCall


class Nothing(BoundCall):
    """A call that does almost nothing, for measuring the overhead of a timed run."""

    what = "a call of nothing"
    in_device_context = False

    def __init__(self, device):
        self.module, self.device = self, device
        self.inputs, self.outputs, self.results = (), [], []
        self.function = lambda: torch.empty(1, device=device)
        self.recording = None

    def run(self):
        self.results = [self.function()]

    def take(self, value):
        self.value = value

    def upload(self):
        pass

    refresh = download = upload


WARM_BELOW_NS = 1e6  # must match runner/measure/session.cpp


class TimedCall:
    what = "the candidate's forward"

    def __init__(self, call):
        self.call, self.function = call, call.function
        self.inputs = call.inputs
        if isinstance(call.inputs, dict):
            self.function, self.inputs = (lambda function=call.function: function(**call.inputs)), ()
        self.value, self.took_ns = None, float("inf")

    def prepare(self):
        return False

    def context(self):
        module = self.call.module
        return user_module.on_device(module.device) if module.in_device_context else contextlib.nullcontext()

    def publish(self):
        self.call.take(self.value)
        self.call.publish()
        self.value = None


class TimingHost(GpuHost):
    """GpuHost whose as-called times end when all streams are idle, not only the module's stream.
    Exports start all work on the module's stream, so their times end as the reference's do."""

    waits_for_all = True

    def make_call(self, module, steps, executor, arguments, outputs, temporaries):
        handle = next(self._handles)
        self.timed[handle] = TimedCall(self.calls[module])
        return handle

    def time_call(self, call, limit_ns):
        """Times one call. As in the worker, calls on other inputs first warm the host, after the
        flush."""
        timed = self.timed[call]
        for other in self.timed.values():
            if other is not timed and type(other.call) is type(timed.call) and timed.took_ns < WARM_BELOW_NS:
                self.warm(other, limit_ns)
                break
        with timed.context(), told_by(timed.what):
            timed.took_ns = self.clocked(timed, limit_ns)
        return timed.took_ns

    def clocked(self, timed, limit_ns, clock=time.perf_counter_ns):
        function, inputs, is_idle = timed.function, timed.inputs, self.is_idle()
        wait = torch._C._cuda_synchronize if self.device.type == "cuda" and self.waits_for_all else (lambda: None)
        gc.disable()
        try:
            begin = clock()
            value = function(*inputs)
            while not is_idle():
                if clock() - begin > limit_ns:
                    raise HostError("timeout", f"{timed.what} did not end before the job's deadline")
            wait()
            end = clock()
        finally:
            gc.enable()
        timed.value = value
        return end - begin


class Timer:
    """The library's timer on a device. @param host the TimingHost whose calls are recorded"""

    def __init__(self, library, host, device):
        self.library = library
        request_type = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_char_p)

        class Callbacks(ctypes.Structure):
            _fields_ = [("request", request_type)]

        from host import make_answer

        def request(method, parameters):
            status, text = make_answer(host, method.decode(), parameters)
            encoded = text.encode()
            library.warpwright_answer(encoded, len(encoded))
            return status

        self.callbacks = Callbacks(request_type(request))
        library.warpwright_answer.argtypes = [ctypes.c_char_p, ctypes.c_int64]
        library.warpwright_timer.argtypes = [ctypes.c_char_p, ctypes.POINTER(Callbacks)]
        library.warpwright_timer.restype = ctypes.c_char_p
        self.ask("open", device=device)

    def ask(self, method, **parameters):
        text = self.library.warpwright_timer(json.dumps(dict(parameters, method=method)).encode(), ctypes.byref(self.callbacks))
        answer = json.loads(text)
        if "error" in answer:
            raise HostError(answer["error"]["kind"], answer["error"]["message"])
        return answer["result"]
