"""The main program of a Python worker: `python3 host.py LIBRARY cuda:N`.

Loads the runner's worker as a library, lets it hold this process in (docs/isolation.md), imports torch, and serves the worker's requests
until its stdin ends: method names and JSON, see runner/torch/library/callback_host.cpp. Thread: the main thread; the worker's own
reads and writes the protocol.
"""

import ctypes
import importlib.util
import json
import os
import signal
import sys
import sysconfig

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def readable_paths():
    """What must stay readable to another user: the interpreter, its packages, torch, and these files."""
    paths = {os.path.dirname(os.path.abspath(__file__)), sys.prefix, sys.base_prefix, sysconfig.get_paths()["purelib"]}
    torch = importlib.util.find_spec("torch")
    if torch is None:
        print(f"{sys.executable} (Python {sys.version.split()[0]}) has no torch", file=sys.stderr, flush=True)
        sys.exit(2)
    paths.add(os.path.dirname(torch.origin))
    return ":".join(sorted(paths))


def prepare_environment():
    """What torch and its compilers write goes to the process's private directory."""
    private = os.environ.get("WARPWRIGHT_WORKER_DIRECTORY")
    if private:
        os.environ["HOME"] = private
        os.environ["TMPDIR"] = private
        for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TORCH_EXTENSIONS_DIR", "CUDA_CACHE_PATH"):
            os.environ[name] = os.path.join(private, name.lower())
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", str(min(8, os.cpu_count() or 1)))


REQUEST = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_char_p)


class Callbacks(ctypes.Structure):
    _fields_ = [("request", REQUEST)]


def make_answer(host, method, parameters):
    """(status, JSON text)"""
    import host_errors

    try:
        return 0, json.dumps(getattr(host, method)(**json.loads(parameters)))
    except host_errors.HostError as error:
        return 1, json.dumps({"kind": error.kind, "message": error.message})
    except BaseException as error:  # whatever it is, the worker goes on and says so
        import traceback

        traceback.print_exc()
        kind = "out_of_memory" if host_errors.is_out_of_memory(error) else \
            "crash" if host_errors.is_device_lost(error) else "internal"
        return 1, json.dumps({"kind": kind, "message": f"{method}: {type(error).__name__}: {error}"})


def main():
    library_path, device = sys.argv[1:3]
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    library = ctypes.CDLL(library_path)
    prepare_environment()
    library.warpwright_enter.argtypes = [ctypes.c_char_p]
    if library.warpwright_enter(readable_paths().encode()) != 0:
        return 2
    from gpu_host import GpuHost

    # Held by the interpreter's lock as an extension module's function would be.
    start = ctypes.PyDLL(library_path).warpwright_start_group
    start.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_uint64)]
    start.restype = ctypes.c_int32
    host = GpuHost(device, start)
    library.warpwright_answer.argtypes = [ctypes.c_char_p, ctypes.c_int64]

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
    os._exit(main())  # torch's own teardown has nothing to do here, and may wait for ever
