"""Import of other files of the user's project, which the task contains, under their names in the
project.

The files are served from memory, because a worker cannot write files. Names are searched in the
module's own folder, then in the folders above, as in analysis/python/project_imports. The
interpreter resolves all other names. While the module's file runs, the project's names take
precedence, also over the runner's own modules, which are restored afterwards. The files of the next
module replace these. Thread: one.
"""

import contextlib
import importlib.abc
import importlib.machinery
import linecache
import os
import posixpath
import sys

PREFIX = "project"  # prefix of file names in tracebacks: "project/pkg/layers.py"

_installed = None  # the ProjectFiles whose modules are loaded


class ProjectFiles(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder and loader of a project's files.
    @param files {path: text}, @param path the path of the module's own file among them"""

    def __init__(self, files, path):
        self.files = {name: text for name, text in files.items()}
        self.path = path
        self.folders = [posixpath.dirname(path)]
        while self.folders[-1]:
            self.folders.append(posixpath.dirname(self.folders[-1]))
        self.directories = {folder for name in files for folder in folders_above(name)}
        self.loaded = set()

    @property
    def package(self):
        """The package from which relative imports of the module's file start."""
        return posixpath.dirname(self.path).replace("/", ".")

    def find_spec(self, name, path=None, target=None):
        last = name.rpartition(".")[2]
        folders = self.folders if path is None else [one[len(PREFIX) + 1:] for one in path if inside(one)]
        namespaces = []
        for folder in folders:
            place = posixpath.join(folder, last)
            for file, is_package in ((place + "/__init__.py", True), (place + ".py", False)):
                if file in self.files:
                    spec = importlib.machinery.ModuleSpec(name, self, origin=shown(file), is_package=is_package)
                    spec.has_location = True
                    if is_package:
                        spec.submodule_search_locations = [shown(place)]
                    return spec
            if place in self.directories:
                namespaces.append(shown(place))
        if not namespaces:
            return None
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = namespaces
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        origin = module.__spec__.origin
        text = self.files[origin[len(PREFIX) + 1:]]
        remember(origin, text)
        exec(compile(text, origin, "exec"), module.__dict__)

    def names(self):
        """Top-level names that the project's files define."""
        return {name for folder in self.folders for file in self.files
                for name in [top_level(file, folder)] if name}

    def owns(self, module):
        spec = getattr(module, "__spec__", None)
        return getattr(spec, "loader", None) is self or any(inside(one) for one in list_of(getattr(module, "__path__", [])))


def list_of(value):
    try:
        return [one for one in value if isinstance(one, str)]
    except Exception:  # attributes of lazy modules may be anything
        return []


def shown(path):
    return PREFIX + "/" + path


def inside(path):
    return path.startswith(PREFIX + "/")


def folders_above(path):
    folder = posixpath.dirname(path)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)


def top_level(file, folder):
    """The top-level name of a file in a folder: "layers" for "pkg/layers.py" or
    "pkg/layers/norm.py" in "pkg"; None if the file is not below the folder."""
    if folder and not file.startswith(folder + "/"):
        return None
    first, _, rest = (file[len(folder) + 1:] if folder else file).partition("/")
    return first if rest else first[:-len(".py")] if first.endswith(".py") else None


def remember(name, text):
    """Stores a file's lines for `inspect` and tracebacks."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)


def forget():
    """Removes the modules that the last project imported."""
    global _installed
    if _installed is None:
        return
    if _installed in sys.meta_path:
        sys.meta_path.remove(_installed)
    for name in [name for name, module in sys.modules.items() if _installed.owns(module)]:
        del sys.modules[name]
    _installed = None


@contextlib.contextmanager
def importable(spec):
    """Makes the project's files importable while the module's file runs. Yields the name of the
    module's package; None if the module has no other files.
    @param spec the module's spec, which may have `files` and `path`"""
    global _installed
    forget()
    if not spec.get("files"):
        yield None
        return
    files = ProjectFiles({**spec["files"], spec["path"]: spec["source"]}, spec["path"])
    hidden = {name: sys.modules.pop(name) for name in files.names() if is_of_the_runner(sys.modules.get(name))}
    sys.meta_path.insert(0, files)
    _installed = files
    try:
        yield files.package
    finally:
        sys.meta_path.remove(files)
        sys.meta_path.append(files)  # for imports during calls
        sys.modules.update(hidden)


def is_of_the_runner(module):
    own = os.path.dirname(os.path.abspath(__file__))
    return str(getattr(module, "__file__", None) or "").startswith(own + os.sep)
