"""How a Python process of the runner starts: the runner's library, what must stay readable, where torch may write. Thread: the first."""

import ctypes
import importlib.util
import os
import sys
import sysconfig

LIBRARY = "libwarpwright-worker.so"


def readable_paths():
    """What must stay readable to another user: the interpreter, its packages, torch, and these files. Ends a process without torch."""
    paths = {os.path.dirname(os.path.abspath(__file__)), sys.prefix, sys.base_prefix, sysconfig.get_paths()["purelib"]}
    torch = importlib.util.find_spec("torch")
    if torch is None:
        print(f"{sys.executable} (Python {sys.version.split()[0]}) has no torch", file=sys.stderr, flush=True)
        os._exit(2)
    paths.add(os.path.dirname(torch.origin))
    return ":".join(sorted(paths)).encode()


def prepare_environment():
    """What torch and its compilers write goes to the process's private directory."""
    private = os.environ.get("WARPWRIGHT_WORKER_DIRECTORY")
    if private:
        os.environ["HOME"] = private
        os.environ["TMPDIR"] = private
        for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TORCH_EXTENSIONS_DIR", "CUDA_CACHE_PATH"):
            os.environ[name] = os.path.join(private, name.lower())
    # Compiling in this process: a pool of others costs seconds to start, and hides why it fails.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")


def load_library(path):
    library = ctypes.CDLL(path)
    library.warpwright_enter.argtypes = [ctypes.c_char_p]
    library.warpwright_isolate.argtypes = [ctypes.c_char_p]
    library.warpwright_answer.argtypes = [ctypes.c_char_p, ctypes.c_int64]
    return library
