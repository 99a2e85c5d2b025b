"""Main program of a Python worker: `python3 host.py LIBRARY cuda:N`.

The program starts in its enclosure (docs/operate/isolation.md). It loads the runner's worker as a
library, imports torch, and serves the worker's requests until its stdin ends. Requests are method
names and JSON; see runner/cuda/cuda_torch.cpp. Thread: the main thread; the worker's own thread
reads and writes the protocol.
"""

import ctypes
import json
import os
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import worker_process


REQUEST = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_char_p)


class Callbacks(ctypes.Structure):
    _fields_ = [("request", REQUEST)]


def make_answer(host, method, parameters):
    """(status, JSON text): status 0 with the result of a method of `host`, or 1 with a fault."""
    import host_errors

    try:
        return 0, json.dumps(getattr(host, method)(**json.loads(parameters)))
    except host_errors.HostError as error:
        lost = {"device_lost": error.device_lost} if hasattr(error, "device_lost") else {}
        return 1, json.dumps({"kind": error.kind, "message": error.message, **lost})
    except BaseException as error:  # the worker reports every error and continues
        import traceback

        traceback.print_exc()
        kind = "out_of_memory" if host_errors.is_out_of_memory(error) else \
            "crash" if host_errors.is_device_lost(error) else "internal"
        return 1, json.dumps({"kind": kind, "message": f"{method}: {type(error).__name__}: {error}"})


def main():
    library_path, device = sys.argv[1:3]
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    worker_process.require_torch()
    library = worker_process.load_library(library_path)
    extension = worker_process.direct_call_library()
    worker_process.prepare_environment()
    if library.warpwright_enter() != 0:
        return 2
    from compiled_module import GpuTurn
    from gpu_host import GpuHost

    worker_process.preload()
    # PyDLL keeps the GIL during the call, as a function of an extension module does.
    start = ctypes.PyDLL(library_path).warpwright_start_group
    start.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_uint64)]
    start.restype = ctypes.c_int32
    turn = GpuTurn(library.warpwright_give_turn, library.warpwright_take_turn) if worker_process.is_gpu_shared() else None
    host = GpuHost(device, start, worker_process.load_direct_call(extension), turn, extension)

    def request(method, parameters):
        status, text = make_answer(host, method.decode(), parameters)
        encoded = text.encode()
        library.warpwright_answer(encoded, len(encoded))
        return status

    callbacks = Callbacks(REQUEST(request))
    library.warpwright_run.argtypes = [ctypes.c_char_p, ctypes.POINTER(Callbacks)]
    return library.warpwright_run(device.encode(), ctypes.byref(callbacks))


if __name__ == "__main__":
    sys.stderr.flush()
    os._exit(main())  # skips torch's teardown, which is not needed and may hang
