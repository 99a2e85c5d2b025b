"""Main program of the process that holds another system's module:
`python3 candidate_host.py LIBRARY DESCRIPTOR BYTES`.

The process serves one worker (candidate_process.py): JSON on stdin, one line of JSON on stdout per
request, and tensors in the memory behind the descriptor. The process starts in its enclosure
(docs/operate/isolation.md). "start" imports torch and uses no GPU. "open" prepares device and timer
and puts the rest of the system-call filter into effect. Only then does any of the module's code
run. That code could undo the checks in this process (candidate_checks.py), so the worker makes all
decisions that matter. Thread: the main thread.
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
    """State of the process; no code of a candidate is loaded before `server` is set."""

    def __init__(self, library_path, memory):
        self.library, self.memory = ctypes.CDLL(library_path), memory
        self.server = None

    def start(self, opens_gpu, architectures):
        """Imports torch. @return torch's version
        @param architectures for which extensions are compiled, as torch would choose them if it saw
            the GPU; "" for torch's default"""
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
        # The filter comes last, because a driver does not start behind the full system-call filter.
        if self.library.warpwright_seal_candidate() != 0:
            raise RuntimeError("the candidate's process could not be sealed; its stderr has the reason")
        self.server = server

    def answer(self, method, parameters):
        if self.server is not None:
            return self.server.answer(method, parameters)
        try:
            return {"result": {"start": self.start, "open": self.open}[method](**parameters)}
        except Exception as error:  # the worker reports why nothing was judged
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
