"""Main program of torch as a child process of the CPU worker: `python3 child_host.py LIBRARY
BYTES`, with the worker's memory as descriptor 3.

The program serves JSON-RPC on stdin and stdout until stdin ends. The methods are those of
ModuleHost. Addresses in requests are offsets into the shared memory. The worker's supervisor starts
the program in its enclosure (docs/operate/isolation.md) at the first torch task. The first request
is `start`, which imports torch. Thread: the main thread.
"""

import ctypes
import mmap
import os
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import process_messages

MEMORY = 3  # descriptor of the shared memory


class Child:
    def __init__(self, size):
        self.memory = mmap.mmap(MEMORY, size)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.host = None

    def start(self):
        import importlib.util
        import worker_process

        if importlib.util.find_spec("torch") is None:
            return {"missing": f"{sys.executable} (Python {sys.version.split()[0]}) has no torch"}
        worker_process.prepare_environment()
        import torch
        from module_host import ModuleHost

        self.host = ModuleHost("cpu")
        return {"version": f"torch {torch.__version__}, Python {sys.version.split()[0]}"}

    def placed(self, arguments):
        for one in arguments:
            one["address"] += self.base
        return arguments

    def answer(self, method, parameters):
        if method == "start":
            return self.start()
        for name in ("arguments", "tensors", "outputs"):
            if name in parameters:
                parameters[name] = self.placed(parameters[name])
        return getattr(self.host, method)(**parameters)


def served(child, request):
    import host_errors

    try:
        return {"result": child.answer(request["method"], request["params"])}
    except host_errors.HostError as error:
        kind, message = error.kind, error.message
    except BaseException as error:  # the child reports every error and continues
        import traceback

        traceback.print_exc()
        kind, message = "internal", f"{request['method']}: {type(error).__name__}: {error}"
    return {"error": {"code": -32000, "message": message, "data": {"kind": kind}}}


def serve(child, source, sink):
    for request in iter(lambda: process_messages.read_message(source), None):
        if request["method"] == "start":
            answer = {"result": child.start()}
        elif child.host is None:
            answer = {"error": {"code": -32000, "message": "torch was not started", "data": {"kind": "internal"}}}
        else:
            answer = served(child, request)
        process_messages.write_message(sink, {"jsonrpc": "2.0", "id": request["id"], **answer})


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(Child(int(sys.argv[2])), *process_messages.take_streams())
    os._exit(0)


if __name__ == "__main__":
    main()
