"""The process that holds another system's module: `python3 candidate_host.py LIBRARY DESCRIPTOR BYTES`.

Serves one worker (candidate_process.py): JSON on stdin, a line of JSON on stdout for each request, tensors in the memory behind the
descriptor. It is started in its enclosure (docs/isolation.md). torch comes first ("start", which uses no GPU); then device and timer are made
ready, and the rest of the filter of system calls is in force ("open"); only then does any of the module's code run. What is checked in here
(candidate_checks.py) is checked beside that code and could be undone by it; what matters is decided in the worker. Thread: the main thread.
"""

import ctypes
import json
import mmap
import os
import resource
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import process_messages

LARGEST_FILE = 1 << 30


class Starting:
    """The process before any of a candidate's code is there."""

    def __init__(self, library_path, memory):
        self.library, self.memory = ctypes.CDLL(library_path), memory
        self.server = None

    def start(self, opens_gpu, architectures):
        """torch, whose version it returns. architectures: what extensions are compiled for, as torch would choose itself
        where it sees the GPU; empty: none"""
        import worker_process

        worker_process.prepare_environment()
        if architectures:
            os.environ.setdefault("TORCH_CUDA_ARCH_LIST", architectures)
        layers = worker_process.layers()
        if not opens_gpu and not (layers.get("files") or layers.get("view")):
            raise RuntimeError("nothing here keeps a process from the GPU")
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
        if not opens_gpu:
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        import candidate_module
        import torch

        candidate_module.prepare()
        return torch.__version__

    def open(self, device, timed):
        import candidate_module

        server = candidate_module.CandidateServer(self.library if timed else None, device, self.memory)
        if self.library.warpwright_seal_candidate() != 0:  # a driver does not start behind the filter of system calls
            raise RuntimeError("the candidate's process could not be sealed; its stderr says why")
        self.server = server

    def answer(self, method, parameters):
        if self.server is not None:
            return self.server.answer(method, parameters)
        try:
            return {"result": {"start": self.start, "open": self.open}[method](**parameters)}
        except Exception as error:  # its worker says why nothing was judged
            return {"error": {"kind": "unsupported", "message": f"the candidate's process: {type(error).__name__}: {error}"}}


def main():
    library, descriptor, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    source, sink = process_messages.take_streams()
    memory = mmap.mmap(descriptor, size)
    os.close(descriptor)
    process = Starting(library, memory)
    for request in iter(lambda: process_messages.read_message(source), None):
        document = process.answer(request["method"], request["params"])
        sink.write(json.dumps(dict(document, id=request["id"])).encode() + b"\n")
        sink.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
