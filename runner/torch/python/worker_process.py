"""How a Python process of the runner starts: the runner's library, what holds it in, where torch may write. Thread: the first."""

import contextlib
import ctypes
import fcntl
import gc
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

from warpwright_runtime import extension

LIBRARY = "libwarpwright-worker.so"
EXTENSION_TIMEOUT_S = 45  # a worker that does not start in a minute is given up


def require_torch():
    """Ends a process without torch."""
    if importlib.util.find_spec("torch") is None:
        print(f"{sys.executable} (Python {sys.version.split()[0]}) has no torch", file=sys.stderr, flush=True)
        os._exit(2)


def layers():
    """What holds this process in, as its supervisor entered it: {name: whether it is active}"""
    told = json.loads(os.environ.get("WARPWRIGHT_ENCLOSED", "[]"))
    return {layer["name"]: layer["active"] for layer in told}


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


def is_gpu_shared():
    """Whether other workers have the GPU, too: runner/worker/worker.h's kSharedVariable."""
    return bool(os.environ.get("WARPWRIGHT_SHARED_DEVICE"))


def preload():
    """Imports what torch would import when a job first needs it, for seconds, with the GPU waiting. What is there by then lives as long
    as the process, so the collector need not look at it again."""
    try:
        importlib.import_module("torch._inductor.compile_fx")
        import torch

        torch.compile(torch.neg, backend="aot_eager")(torch.zeros(1))
        torch._dynamo.reset()
    except Exception as error:  # whatever it is, a job that needs torch.compile says so
        print(f"torch.compile is not there: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    gc.collect()
    gc.freeze()


def load_library(path):
    library = ctypes.CDLL(path)
    library.warpwright_answer.argtypes = [ctypes.c_char_p, ctypes.c_int64]
    library.warpwright_give_turn.restype = library.warpwright_take_turn.restype = None
    return library


@contextlib.contextmanager
def one_at_a_time(folder):
    """Workers that start together compile what they share once."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def build_direct_call(folder):
    """warpwright_runtime's extension, compiled by a process of its own where no worker before has; else a line on stderr. In a process without
    tasks: what is kept lies where no worker can write."""
    command = [sys.executable, "-B", extension.__file__, folder]
    try:
        path = extension.library_path(extension.read_source(), folder)
        with one_at_a_time(folder):
            if not os.path.exists(path):
                built = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                       timeout=EXTENSION_TIMEOUT_S)
                if built.returncode:
                    raise OSError((built.stderr.strip().splitlines() or ["no reason given"])[-1])
    except (OSError, AttributeError, subprocess.TimeoutExpired) as error:
        print(f"the extension that calls candidates is not there: {error}", file=sys.stderr, flush=True)


def direct_call_library():
    """(file name, bytes) of warpwright_runtime's extension; None and a line on stderr where it is not."""
    try:
        folder = os.environ.get("WARPWRIGHT_DIRECT_CALL") or extension.cache_folder()
        path = extension.library_path(extension.read_source(), folder)
        with open(path, "rb") as file:
            return os.path.basename(path), file.read()
    except (OSError, AttributeError) as error:
        print(f"candidates are called from Python, which takes longer: {error}", file=sys.stderr, flush=True)
        return None


def load_direct_call(library):
    """The extension's module, after torch was imported. @param library direct_call_library()'s"""
    if library is None:
        return None
    name, content = library
    try:
        with tempfile.TemporaryDirectory(prefix="warpwright-call-") as folder:
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(content)
            return extension.load(path)
    except (OSError, ImportError) as error:
        print(f"candidates are called from Python, which takes longer: {error}", file=sys.stderr, flush=True)
        return None
