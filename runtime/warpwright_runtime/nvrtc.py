"""Compilation of kernels with NVRTC, as in the runner, with a cache. Thread: any.
"""

import ctypes
import glob
import hashlib
import os
import tempfile

from .extension import cache_folder, torch_folder


def toolkit_folders():
    """Folders of the CUDA toolkit, and of the NVIDIA packages that torch installs."""
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda"]
    return [root for root in roots if root] + sorted(glob.glob(os.path.join(os.path.dirname(torch_folder()), "nvidia", "*")))


def open_nvrtc():
    import torch

    major = (torch.version.cuda or "13").partition(".")[0]
    names = [f"libnvrtc.so.{version}" for version in dict.fromkeys((major, "13", "12"))]
    for name in names:
        found = [os.path.join(root, folder, name) for root in toolkit_folders() for folder in ("lib64", "lib")]
        for path in [path for path in found if os.path.exists(path)] + [name]:
            for builtins in glob.glob(os.path.join(os.path.dirname(path), "libnvrtc-builtins.so.*")):
                try:
                    ctypes.CDLL(builtins)  # NVRTC opens this library by name and finds it if it is open
                except OSError:
                    pass
            try:
                return ctypes.CDLL(path)
            except OSError:
                pass
    raise OSError("no NVRTC: " + " nor ".join(names) + " is in CUDA_HOME, torch's packages or the library path")


def compile_kernels(source, kernels, options, target):
    """(cubin, {kernel: its symbol}), from the cache if possible.
    @param target NVRTC's name of the GPU architecture
    @raise OSError with NVRTC's first error"""
    if not kernels:
        return b"", {}
    nvrtc = open_nvrtc()
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    flags = [f"--gpu-architecture={target}"] + ([] if any("-std=" in one for one in options) else ["-std=c++17"])
    text = repr((source, kernels, flags, options, major.value, minor.value))
    path = os.path.join(cache_folder(), "warpwright_" + hashlib.sha256(text.encode()).hexdigest()[:32] + ".cubin")
    try:
        with open(path, "rb") as file:
            symbols, _, cubin = file.read().partition(b"\n\n")
        return cubin, dict(zip(kernels, symbols.decode().split("\n")))
    except OSError:
        pass
    headers = [os.path.join(root, "include") for root in toolkit_folders()]
    flags += ["-I" + path for path in headers if os.path.exists(os.path.join(path, "cuda_fp16.h"))][:1] + list(options)
    cubin, symbols = run_nvrtc(nvrtc, source, kernels, flags)
    try:
        os.makedirs(cache_folder(), exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cache_folder(), delete=False) as file:
            file.write("\n".join(symbols).encode() + b"\n\n" + cubin)
        os.replace(file.name, path)
    except OSError:
        pass
    return cubin, dict(zip(kernels, symbols))


def run_nvrtc(nvrtc, source, kernels, flags):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
    try:
        for kernel in kernels:
            nvrtc.nvrtcAddNameExpression(program, kernel.encode())
        status = nvrtc.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*[flag.encode() for flag in flags]))
        if status:
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            errors = [line for line in log.value.decode(errors="replace").splitlines() if "error" in line]
            raise OSError(f"NVRTC refuses the kernels: {(errors or [str(status)])[0][:500]}")
        symbols = []
        for kernel in kernels:
            symbol = ctypes.c_char_p()
            if nvrtc.nvrtcGetLoweredName(program, kernel.encode(), ctypes.byref(symbol)):
                raise OSError(f"the source has no kernel {kernel}")
            symbols.append(symbol.value.decode())
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        cubin = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetCUBIN(program, cubin)
        return cubin.raw, symbols
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
