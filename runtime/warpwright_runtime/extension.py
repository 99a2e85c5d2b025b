"""Build of the C++ in call/ as an extension module of this interpreter. It is compiled once per
torch and Python version, and kept in a folder.

    python3 extension.py FOLDER        # compiles if needed, and prints the library's path

The file imports neither torch nor this package unless needed, because that takes seconds. Thread:
one.
"""

import hashlib
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

# The files in order of dependency.
SOURCES = ("objects.h", "arguments.h", "operation.h", "known.h", "guards.h", "plan.h", "executor.h", "region_operator.h", "module.cpp")
COMPILE_TIMEOUT_S = 180
STANDARDS = ("c++17", "c++20")  # the first that torch's headers accept is used


def read_source():
    """The C++ source as one text."""
    text = ""
    for name in SOURCES:
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "call", name), encoding="utf-8") as file:
            text += file.read()
    return text


def torch_folder():
    """The folder of torch, found without importing torch, which takes seconds."""
    return os.path.dirname(importlib.util.find_spec("torch").origin)


def module_name(source):
    """The name of the library for this source, torch and Python."""
    with open(os.path.join(torch_folder(), "version.py"), "rb") as file:
        version = file.read()
    text = source.encode() + version + sys.version.encode() + torch_folder().encode()
    return "warpwright_" + hashlib.sha256(text).hexdigest()[:16]


def library_path(source, folder):
    return os.path.join(folder, module_name(source) + ".so")


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("TORCH_EXTENSIONS_DIR") or os.path.join(base, "warpwright-torch")


def compiler_command(source_path, target, standard):
    import torch

    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")
    if compiler is None:
        raise OSError("no C++ compiler: install g++, or set CXX")
    root = torch_folder()
    headers = [os.path.join(root, "include"), os.path.join(root, "include", "torch", "csrc", "api", "include"),
               sysconfig.get_paths()["include"]]
    libraries = [os.path.join(root, "lib"), sysconfig.get_config_var("LIBDIR") or "."]
    abi = int(getattr(torch._C, "_GLIBCXX_USE_CXX11_ABI", True))
    return ([compiler, "-shared", "-fPIC", "-fvisibility=hidden", "-O2", "-w", "-std=" + standard, f"-D_GLIBCXX_USE_CXX11_ABI={abi}"]
            + ["-DTORCH_EXTENSION_NAME=" + os.path.basename(target).partition(".")[0]]
            + [flag for path in headers if os.path.isdir(path) for flag in ("-isystem", path)]
            + [source_path, "-o", target + ".new"] + ["-L" + path for path in libraries if os.path.isdir(path)]
            + ["-ltorch_python", "-ltorch_cpu", "-ltorch", "-lc10"])


def build(source, folder):
    """Compiles the library unless it exists. @return its path @raise OSError with the compiler's
    error"""
    target = library_path(source, folder)
    if os.path.exists(target):
        return target
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        source_path, library = os.path.join(place, "direct_call.cpp"), os.path.join(place, os.path.basename(target))
        with open(source_path, "w", encoding="utf-8") as file:
            file.write(re.sub(r'^#(include "|pragma once).*\n', "", source, flags=re.MULTILINE))
        for standard in STANDARDS:
            run = subprocess.run(compiler_command(source_path, library, standard), stdin=subprocess.DEVNULL, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=COMPILE_TIMEOUT_S)
            if run.returncode == 0:
                os.replace(library + ".new", target)
                return target
    said = [line for line in run.stdout.splitlines() if "error" in line] or run.stdout.splitlines()[-3:]
    raise OSError("compiling the call's extension: " + " ".join(said[:2])[:600])


def load(path):
    name = os.path.basename(path).partition(".")[0]
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(name, path, loader=loader))
    loader.exec_module(module)
    return module


_loaded = {}  # path -> the extension


def load_once(source):
    """The extension module, built and loaded once. @raise OSError with the compiler's error"""
    try:
        path = build(source, cache_folder())
    except PermissionError:
        path = build(source, tempfile.mkdtemp(prefix="warpwright-"))
    if path not in _loaded:
        _loaded[path] = load(path)
    return _loaded[path]


def main():
    print(build(read_source(), sys.argv[1]))


if __name__ == "__main__":
    main()
