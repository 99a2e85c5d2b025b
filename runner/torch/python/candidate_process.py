"""The worker's interface to the process of another system's module: requests, and checks of
answers.

The module's code is arbitrary Python and C++, so it runs in a separate process (candidate_host.py)
that contains only its inputs: no reference, no expected result, no verdict. Inputs and outputs go
through shared memory. All other messages are JSON; the worker unpickles and executes nothing from
them. A time that the process reports is checked against this process's clock. Thread: the main
thread.
"""

import base64
import contextlib
import io
import json
import math
import mmap
import os
import resource
import select
import signal
import sys
import time

import torch

import candidate_starter
from host_errors import HostError
from tensors import contiguous_strides, dtype_of, span

ALIGNMENT = 256
START_LIMIT_S = 60
LOAD_LIMIT_S = 200  # includes the run time of compilers
CALL_LIMIT_S = float(os.environ.get("WARPWRIGHT_CANDIDATE_CALL_SECONDS", "30"))
LARGEST_ANSWER = 1 << 20
CALIBRATIONS = 8
SLACK_NS = 500_000  # allowed difference to this clock beyond the overhead of empty calls
FEWEST_REPORTS = 5
KINDS = {"compile_failed", "bad_launch", "crash", "timeout", "unsupported", "out_of_memory", "suspected"}


def pickled(value):
    """A value for the candidate's process, which may unpickle data from this process. This process
    never unpickles data from the candidate."""
    stream = io.BytesIO()
    torch.save(value, stream)
    return base64.b64encode(stream.getvalue()).decode()


class Layout:
    """Placement of tensors in the shared memory. @param tensors [{dtype, shape}]"""

    def __init__(self, tensors):
        self.places, end = [], 0
        for one in tensors:
            elements = span(one["shape"], contiguous_strides(one["shape"]))
            size = elements * torch.empty(0, dtype=dtype_of(one["dtype"])).element_size()
            self.places.append({"offset": end, "size": size, "dtype": one["dtype"], "shape": list(one["shape"])})
            end += (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        self.size = max(end, mmap.PAGESIZE)


class CandidateProcess:
    """An isolated process with torch imported, and without a device until open().

    @param layout the tensors that calls use
    @param architectures for which extensions are compiled; "": torch's choice
    @param opens_gpu whether the process may open the GPU
    @param again whether to reuse the folder of the last process, with its compiled extensions"""

    def __init__(self, layout, architectures="", opens_gpu=True, again=False):
        self.layout = layout
        descriptor = os.memfd_create("warpwright-candidate", 0)
        with files_of(layout.size):
            os.ftruncate(descriptor, layout.size)
        self.memory = mmap.mmap(descriptor, layout.size)
        self.views = [self.view(place) for place in layout.places]
        try:
            self.process = candidate_starter.Started(descriptor, layout.size, opens_gpu, again)
        except OSError as error:
            raise refused("unsupported", f"the candidate's process cannot be started: {error}") from error
        finally:
            os.close(descriptor)
        self.ids = 0
        self.is_frozen, self.not_frozen = False, set()
        self.runs = 0  # number of judged runs
        self.buffered = b""
        self.overhead_ns = {}  # by as_called: largest difference of wall time and report of empty calls
        self.slack_ns = {}
        try:
            self.version = self.ask("start", {"opens_gpu": opens_gpu, "architectures": architectures}, START_LIMIT_S)
        except HostError:
            self.close()
            raise

    def open(self, device, timed):
        """Prepares the device, and with `timed` also the timer, before any of the candidate's code
        is loaded."""
        self.ask("open", {"device": str(device), "timed": timed}, START_LIMIT_S)
        if timed:
            for as_called in (False, True):
                taken = [self.timed(0, as_called) for _ in range(CALIBRATIONS)]
                self.overhead_ns[as_called] = max(wall - ns for ns, wall, _ in taken[1:])

    def view(self, place):
        if place["size"] == 0:
            return torch.empty(place["shape"], dtype=dtype_of(place["dtype"]))
        flat = torch.frombuffer(memoryview(self.memory)[place["offset"]:place["offset"] + place["size"]],
                                dtype=dtype_of(place["dtype"]))
        return flat.view(place["shape"])

    # ---- Messages

    def ask(self, method, parameters, limit_s=None):
        """The process's answer. The process runs from the request to the answer and is frozen
        otherwise (docs/use/candidates.md).
        @raise HostError if the process reports an error, ends, or does not answer in time; in the
            last two cases it is ended"""
        self.go_on(method)
        answer = self.answered(method, parameters, limit_s)
        self.stand_still(method)
        if "error" in answer:
            error = answer["error"] if isinstance(answer["error"], dict) else {}
            kind = error.get("kind") if error.get("kind") in KINDS else "crash"
            raise refused(kind, str(error.get("message", "it gave no reason"))[:1000])
        return answer.get("result")

    def stand_still(self, method):
        how, _ = self.process.freeze(True)
        self.is_frozen = bool(how)
        if not how and method not in self.not_frozen:
            self.not_frozen.add(method)
            print(f"the candidate's process cannot be frozen after '{method}'", file=sys.stderr, flush=True)

    def go_on(self, method):
        if not self.is_frozen:
            return
        self.is_frozen = False
        _, woke = self.process.freeze(False)
        if woke:
            self.close()
            raise refused("suspected", f"the candidate's process went on by itself before '{method}', when it was to stand still")

    def answered(self, method, parameters, limit_s):
        self.ids += 1
        body = json.dumps({"id": self.ids, "method": method, "params": parameters}).encode()
        deadline = time.monotonic() + (CALL_LIMIT_S if limit_s is None else limit_s)
        self.send(b"Content-Length: %d\r\n\r\n" % len(body) + body, method, deadline)
        return self.read_answer(method, deadline)

    def send(self, message, method, deadline):
        descriptor = self.process.stdin.fileno()
        os.set_blocking(descriptor, False)
        while message:
            self.await_ready([], [descriptor], method, deadline)
            try:
                message = message[os.write(descriptor, message):]
            except BlockingIOError:
                continue
            except OSError:
                raise self.lost(method)

    def read_answer(self, method, deadline):
        descriptor = self.process.stdout.fileno()
        while b"\n" not in self.buffered:
            self.await_ready([descriptor], [], method, deadline)
            piece = os.read(descriptor, 65536)
            self.buffered += piece
            if not piece or len(self.buffered) > LARGEST_ANSWER:
                raise self.lost(method)
        line, _, self.buffered = self.buffered.partition(b"\n")
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or answer.get("id") != self.ids:
            self.close()
            raise refused("suspected", f"the candidate's process answered '{method}' with an invalid message")
        return answer

    def await_ready(self, readable, writable, method, deadline):
        left = deadline - time.monotonic()
        if left <= 0 or not any(select.select(readable, writable, [], left)):
            self.close()
            raise refused("timeout", f"the candidate did not end in time ({method})")

    def lost(self, method):
        self.close()
        status = self.process.returncode
        how = f"signal {signal.Signals(-status).name}" if status is not None and status < 0 else f"exit code {status}"
        return refused("crash", f"the candidate's process ended ({method}, {how})")

    def close(self, keeps_folder=False):
        self.process.end(keeps_folder)
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()

    # ---- Times

    def timed(self, handle, as_called):
        """(ns that the process reports, ns by this clock, whether the GPU was throttled)"""
        begin = time.perf_counter_ns()
        said = self.ask("time", {"handle": handle, "as_called": as_called})
        wall = time.perf_counter_ns() - begin
        ns = said.get("ns") if isinstance(said, dict) else None
        if not isinstance(ns, (int, float)) or not math.isfinite(ns) or not 0 < ns:
            raise refused("suspected", "the candidate's process reports a time that is none")
        return float(ns), wall, said.get("throttled") is True

    def believed(self, handle, as_called):
        """(ns, throttled) of a run whose time agrees with this process's clock. @raise HostError
        "suspected" if the reported times are too short"""
        ns, wall, throttled = self.timed(handle, as_called)
        reports, least = self.slack_ns.get(as_called, (0, math.inf))
        reports, least = reports + 1, min(least, wall - 2 * ns)
        self.slack_ns[as_called] = (reports, least)
        if reports >= FEWEST_REPORTS and least > 2 * self.overhead_ns[as_called] + SLACK_NS:
            raise refused("suspected", f"the candidate's process reports {ns / 1000:.1f} us for runs that take {wall / 1000:.1f} us "
                          "by another process's clock")
        return ns, throttled


@contextlib.contextmanager
def files_of(size):
    """Raises the limit on file sizes to `size` temporarily; isolation sets a lower limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if soft != resource.RLIM_INFINITY and soft < size:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    try:
        yield
    except OSError as error:
        raise refused("unsupported", f"no {size >> 20} MB of memory to share with the candidate's process: {error}") from error
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def refused(kind, message):
    error = HostError(kind, message)
    error.device_lost = False  # this process and its device are not affected
    return error
