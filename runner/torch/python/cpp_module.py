"""A function over tensors, or a torch::nn::Module, of a C++ file as a torch module. The user's
compiler compiles the file against the LibTorch of this Python.

The file's text is unchanged, between headers and one binding of the requested function or class.
The file's own bindings and operator registrations are compiled but do not run, so that one process
can load several functions of a file. Build products lie in the process's temporary directory. nvcc
compiles files that contain kernels. cpp_object.py wraps C++ objects. Thread: one.
"""

import glob
import hashlib
import importlib.machinery
import importlib.util
import math
import os
import posixpath
import re
import shutil
import subprocess
import sysconfig
import tempfile
import types
import typing

import torch

from cpp_object import CppModule

FILE_NAME = "module.cpp"  # name of the user's text in compilers' messages
COMPILE_TIMEOUT_S = 300

# The macros disable registrations: a second function of the same file would repeat them, which
# torch refuses.
PRELUDE = """#include <torch/csrc/utils/pybind.h>
#include <pybind11/stl.h>
#include <torch/library.h>
#undef TORCH_LIBRARY
#undef TORCH_LIBRARY_FRAGMENT
#undef TORCH_LIBRARY_IMPL
#define WARPWRIGHT_JOIN2(a, b) a##b
#define WARPWRIGHT_JOIN(a, b) WARPWRIGHT_JOIN2(a, b)
#define TORCH_LIBRARY(name, m) [[maybe_unused]] static void WARPWRIGHT_JOIN(warpwright_unused_, __COUNTER__)(torch::Library &m)
#define TORCH_LIBRARY_FRAGMENT(name, m) TORCH_LIBRARY(name, m)
#define TORCH_LIBRARY_IMPL(name, key, m) TORCH_LIBRARY(name, m)
#line 1 "%s"
""" % FILE_NAME

BINDING = """
#line 1 "the bindings"
PYBIND11_MODULE(%s, warpwright_module) {%s }
"""

# The constructor's arguments are literals, so the types of its parameters need not be known.
OBJECT_BINDING = """
  {
    using Class = %(type)s;
    const auto pairs = [](const auto &named) {
      std::vector<std::pair<std::string, at::Tensor>> list;
      for (const auto &item : named)
        list.emplace_back(item.key(), item.value());
      return list;
    };
    pybind11::class_<Class, std::shared_ptr<Class>>(warpwright_module, "Object_%(index)d", pybind11::module_local())
        .def("forward", &Class::forward)
        .def("train", [](Class &self, bool on) { self.train(on); })
        .def("named_parameters", [pairs](const Class &self) { return pairs(self.named_parameters()); })
        .def("named_buffers", [pairs](const Class &self) { return pairs(self.named_buffers()); });
    warpwright_module.def("make_%(index)d", [] { return std::shared_ptr<Class>(new Class(%(arguments)s)); });
  }
"""

CPP_NAME = r"(::)?[A-Za-z_]\w*(::[A-Za-z_]\w*)*"

_loaded = {}  # (file, function) -> the Python function; (file, type, arguments) -> an object's factory


class CppFile(typing.NamedTuple):
    """A C++ file of the user.
    @var source its text
    @var headers the user's headers that it includes, as pairs of path and text
    @var path its own path relative to the same root"""
    source: str
    headers: tuple = ()
    path: str = ""


class CppError(Exception):
    """One sentence for the user: the compiler's error, or the reason why no compiler ran."""


class CppFunction(torch.nn.Module):
    """A module whose forward is the C++ function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return self.function(*arguments)


def namespace_of(source, model, init_inputs="[]", files=None, path=""):
    """A namespace like that of an imported Python file: an object that has the module's constructor
    as an attribute `model`.
    @param model the name of a function, or "struct NAME" of a torch::nn::Module
    @param init_inputs arguments of the struct's constructor: a Python list of numbers, bools,
        strings and lists of them
    @param files, path the user's headers that the file includes, by path, and the file's own
        path"""
    file = CppFile(source, tuple(sorted((files or {}).items())), path)
    namespace = types.SimpleNamespace()
    if model.startswith("struct "):
        make = loaded_class(file, model[len("struct "):], init_inputs)
        setattr(namespace, model, lambda *_: CppModule(make))
    else:
        called = loaded_function(file, model)
        setattr(namespace, model, lambda: CppFunction(called))
    return namespace


def loaded_class(file, name, init_inputs):
    """A function that makes an object of the class."""
    if (file, name, init_inputs) not in _loaded:
        load_classes(file, [(name, init_inputs)])
    return _loaded[file, name, init_inputs]


def load_classes(file, classes):
    """Compiles the file once for several of its classes.
    @param classes [(name, arguments of the constructor as the text of a Python list)]"""
    definitions = ""
    for index, (name, init_inputs) in enumerate(classes):
        if not re.fullmatch(CPP_NAME, name):
            raise CppError(f"'{name}' is not the name of a C++ class")
        arguments = ", ".join(cpp_literal(value) for value in eval(init_inputs, {}))
        definitions += OBJECT_BINDING % {"type": name, "index": index, "arguments": arguments}
    module = load_extension(file, lambda extension: BINDING % (extension, definitions))
    for index, (name, init_inputs) in enumerate(classes):
        _loaded[file, name, init_inputs] = getattr(module, f"make_{index}")


def cpp_literal(value):
    if value is None:
        return "{}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "NAN" if value != value else "INFINITY" if value > 0 else "-INFINITY"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(cpp_literal(part) for part in value) + "}"
    raise CppError(f"a constructor's argument of type {type(value).__name__} cannot be written in C++")


def loaded_function(file, function):
    """The Python function for a C++ function. @param function the name, with namespaces"""
    if (file, function) not in _loaded:
        load_functions(file, [function])
    return _loaded[file, function]


def load_functions(file, functions):
    """Compiles the file once for several of its functions."""
    for function in functions:
        if not re.fullmatch(CPP_NAME, function):
            raise CppError(f"'{function}' is not the name of a C++ function")
    definitions = "".join(f' warpwright_module.def("call_{index}", &{function});' for index, function in enumerate(functions))
    module = load_extension(file, lambda extension: BINDING % (extension, definitions))
    for index, function in enumerate(functions):
        _loaded[file, function] = getattr(module, f"call_{index}")


def load_extension(file, binding):
    """The compiled and loaded extension module.
    @param binding maps the extension's name to the text that is appended to the file"""
    extension = "warpwright_reference_" + hashlib.sha256((repr(file) + binding("_")).encode()).hexdigest()[:16]
    folder = tempfile.mkdtemp(prefix="warpwright-cpp-")
    try:
        path = compiled(file, binding(extension), extension, folder)
        loader = importlib.machinery.ExtensionFileLoader(extension, path)
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(extension, loader))
        loader.exec_module(module)
    except ImportError as error:
        raise CppError(f"what the compiler made does not load: {error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return module


def compiled(file, binding, extension, folder):
    """Compiles the extension. @return its path"""
    has_kernels = "__global__" in file.source or "<<<" in file.source
    own = posixpath.join(posixpath.dirname(file.path), "reference.cu" if has_kernels else "reference.cpp")
    for path, text in (*file.headers, (own, PRELUDE + file.source + binding)):
        os.makedirs(os.path.join(folder, posixpath.dirname(path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as out:
            out.write(text)
    text = os.path.join(folder, own)
    includes = [part for each in folders_of(file) for part in ("-I", os.path.join(folder, each))]
    path = os.path.join(folder, extension + ".so")
    command = (nvcc_command if has_kernels else compiler_command)(text, path, includes)
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=COMPILE_TIMEOUT_S)
    except OSError as error:
        raise CppError(f"the compiler {command[0]} does not start: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise CppError(f"{command[0]} did not end in {COMPILE_TIMEOUT_S} s") from error
    if done.returncode != 0:
        raise CppError("the file does not compile: " + first_error(done.stderr, command[0]))
    return path


def folders_of(file):
    """Include folders: all headers' folders and the folders above, nearest to the file first."""
    folders = {""} if file.headers else set()
    for path in [file.path] + [name for name, _ in file.headers]:
        while path:
            path = posixpath.dirname(path)
            folders.add(path)
    own = posixpath.dirname(file.path)
    return sorted(folders, key=lambda one: (not own.startswith(one), -len(one)))


def first_error(output, compiler):
    for line in output.splitlines():
        if "error" in line:
            return line.strip()[:400]
    return (output.strip() or f"{compiler} said nothing").splitlines()[0][:400]


def find_compiler():
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(name):
            return name
    raise CppError("there is no C++ compiler on PATH (CXX names another)")


def compiler_command(text, path, includes=()):
    return [find_compiler(), "-O2", "-w", "-fPIC", "-shared", *includes, *common_flags(), text, "-o", path, *libraries()]


def nvcc_command(text, path, includes=()):
    nvcc = shutil.which("nvcc") or os.path.join(cuda_home() or "", "bin", "nvcc")
    if not os.path.exists(nvcc):
        raise CppError("the file contains kernels, and nvcc was not found (set CUDA_HOME to its toolkit)")
    architecture = ["-arch=sm_%d%d" % torch.cuda.get_device_capability()] if torch.cuda.is_available() else []
    return [nvcc, "-O2", "-w", "-Xcompiler", "-fPIC", "-shared", *architecture, "--expt-relaxed-constexpr",
            "--expt-extended-lambda", *includes, *common_flags(), text, "-o", path, *libraries()]


def common_flags():
    flags = ["-std=c++20" if torch_version() >= (2, 7) else "-std=c++17", "-DTORCH_API_INCLUDE_EXTENSION_H",
             "-DTORCH_EXTENSION_NAME=warpwright_user_extension",
             "-D_GLIBCXX_USE_CXX11_ABI=%d" % torch._C._GLIBCXX_USE_CXX11_ABI]
    for name in ("COMPILER_TYPE", "STDLIB", "BUILD_ABI"):
        value = getattr(torch._C, "_PYBIND11_" + name, None)
        if value is not None:
            flags.append(f'-DPYBIND11_{name}="{value}"')
    return flags + [part for folder in include_folders() for part in ("-isystem", folder)]


def include_folders():
    """Folders of torch's headers: beside torch as in pip's packages, else those of a distribution's
    package."""
    own = os.path.join(os.path.dirname(torch.__file__), "include")
    roots = [own] if os.path.isdir(own) else [root for root in ("/usr/local/include", "/usr/include")
                                              if os.path.isdir(os.path.join(root, "ATen"))]
    if not roots:
        raise CppError(f"torch {torch.__version__} has no C++ headers here (on Debian they are in libtorch-dev)")
    if not any(os.path.isdir(os.path.join(root, "pybind11")) for root in roots + ["/usr/include"]):
        raise CppError("there are no headers of pybind11 (on Debian they are in pybind11-dev)")
    folders = [os.path.join(root, "torch/csrc/api/include") for root in roots]
    folders += [root for root in roots if root != "/usr/include"]
    python = sysconfig.get_paths()["include"]
    if not os.path.exists(os.path.join(python, "Python.h")):
        raise CppError(f"there is no {python}/Python.h (on Debian it is in python3-dev)")
    folders.append(python)
    if torch.version.cuda and cuda_home():
        folders.append(os.path.join(cuda_home(), "include"))
    return folders


def libraries():
    folder = os.path.join(os.path.dirname(torch.__file__), "lib")
    names = ["c10", "torch_cpu", "torch", "torch_python"]
    if torch.version.cuda:
        names += ["c10_cuda", "torch_cuda"]
    where = ["-L" + folder, "-Xlinker", "-rpath", "-Xlinker", folder] if os.path.isdir(folder) else []
    runtime = []
    if torch.version.cuda and cuda_home():
        found = glob.glob(os.path.join(cuda_home(), "lib64", "libcudart.so"))
        runtime = ["-L" + os.path.dirname(found[0]), "-lcudart"] if found else []
    return where + ["-l" + name for name in names] + runtime


def cuda_home():
    for place in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if place and os.path.isdir(place):
            return place
    return None


def torch_version():
    return tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
