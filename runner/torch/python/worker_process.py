"""Start-up of the runner's Python processes: the runner's library, isolation layers, folders that
torch may write. Thread: the main thread."""

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
EXTENSION_TIMEOUT_S = 45  # a worker must start within a minute


def require_torch():
    """Ends the process with status 2 if torch is not installed."""
    if importlib.util.find_spec("torch") is None:
        print(f"{sys.executable} (Python {sys.version.split()[0]}) has no torch", file=sys.stderr, flush=True)
        os._exit(2)


def layers():
    """Isolation layers of this process, as reported by its supervisor: {name: whether it is
    active}"""
    told = json.loads(os.environ.get("WARPWRIGHT_ENCLOSED", "[]"))
    return {layer["name"]: layer["active"] for layer in told}


def prepare_environment():
    """Directs files of torch and its compilers to the process's private directory."""
    private = os.environ.get("WARPWRIGHT_WORKER_DIRECTORY")
    if private:
        os.environ["HOME"] = private
        os.environ["TMPDIR"] = private
        for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TORCH_EXTENSIONS_DIR", "CUDA_CACHE_PATH"):
            os.environ[name] = os.path.join(private, name.lower())
    # Inductor compiles in this process: a process pool takes seconds to start and hides error
    # causes.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's, which multiplies nothing here: a thread a core meets the limit of processes


def is_gpu_shared():
    """Whether other workers use the same GPU; see kSharedVariable in runner/worker/worker.h."""
    return bool(os.environ.get("WARPWRIGHT_SHARED_DEVICE"))


def preload():
    """Imports torch.compile's parts, which torch would otherwise import during the first job that
    needs them, for seconds. The objects live as long as the process, so the garbage collector
    ignores them afterwards."""
    try:
        importlib.import_module("torch._inductor.compile_fx")
        import torch

        torch.compile(torch.neg, backend="aot_eager")(torch.zeros(1))
        torch._dynamo.reset()
    except Exception as error:  # jobs that need torch.compile report the error again
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
    """Lock on a folder, so that workers that start together compile a shared extension only
    once."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def build_direct_call(folder):
    """Compiles warpwright_runtime's extension in a separate process, unless it exists. Errors go to
    stderr. Call in a process without tasks, because workers cannot write to the folder."""
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
    """(file name, bytes) of warpwright_runtime's extension; None, with a line on stderr, if it does
    not exist."""
    try:
        folder = os.environ.get("WARPWRIGHT_DIRECT_CALL") or extension.cache_folder()
        path = extension.library_path(extension.read_source(), folder)
        with open(path, "rb") as file:
            return os.path.basename(path), file.read()
    except (OSError, AttributeError) as error:
        print(f"candidates are called from Python, which takes longer: {error}", file=sys.stderr, flush=True)
        return None


def load_direct_call(library):
    """Loads the extension's module; torch must be imported already.
    @param library the result of direct_call_library()
    @return the module; None, with a line on stderr, if it cannot be loaded"""
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
