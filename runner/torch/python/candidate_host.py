"""The process that holds another system's module: `python3 candidate_host.py LIBRARY DEVICE DESCRIPTOR BYTES`.

Serves one worker (candidate_process.py): JSON on stdin, a line of JSON on stdout for each request, tensors in the memory behind the
descriptor. First it isolates itself; then the timer is made ready; only then does any of the module's code run. What is checked in here
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

PR_SET_PDEATHSIG = 1
LARGEST_FILE = 1 << 30


def read_message(stream):
    """The next message's JSON; None at the end."""
    size = None
    while True:
        line = stream.readline()
        if not line:
            return None
        if line == b"\r\n":
            return json.loads(stream.read(size))
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            size = int(value)


def start(library_path, device, memory, timed):
    """Isolation, torch, the timer."""
    import worker_process

    worker_process.prepare_environment()
    library = ctypes.CDLL(library_path)
    if library.warpwright_isolate_candidate(worker_process.readable_paths()) != 0:
        raise RuntimeError("the candidate's process could not be isolated; its stderr says why")
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    import torch
    from candidate_module import CandidateServer

    server = CandidateServer(library if timed else None, device, memory)
    if library.warpwright_seal_candidate() != 0:  # a driver does not start behind the filter of system calls
        raise RuntimeError("the candidate's process could not be sealed; its stderr says why")
    return server, torch.__version__


def main():
    library, device, descriptor, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a module prints is no protocol
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    memory = mmap.mmap(descriptor, size)
    os.close(descriptor)
    server = None
    for request in iter(lambda: read_message(source), None):
        if server is None:
            try:
                server, version = start(library, device, memory, request["params"]["timed"])
                document = {"result": version}
            except Exception as error:  # its worker says why nothing was judged
                document = {"error": {"kind": "unsupported", "message": f"the candidate's process: {type(error).__name__}: {error}"}}
        else:
            document = server.answer(request["method"], request["params"])
        sink.write(json.dumps(dict(document, id=request["id"])).encode() + b"\n")
        sink.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
