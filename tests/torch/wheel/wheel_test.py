"""The wheel, installed by pip into a fresh Python with PyTorch 2.6 and used there on the CPU (scripts/torch2-root.sh).

Nothing of the build is within reach but the wheel itself. argv[1]: the folder with the wheel.
"""

import base64
import csv
import hashlib
import pathlib
import re
import subprocess
import sys
import textwrap
import unittest

from fresh_python import FreshPython

FOLDER = pathlib.Path(sys.argv.pop(1)).resolve()

# Dynamo finds the backend by its name before anything imports the package; from then on graphs that come to the backend are counted.
FORMS = """
    import sys, torch, torch.nn as nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.norm = nn.Linear(8, 16), nn.LayerNorm(16)

        def forward(self, x):
            return nn.functional.gelu(self.norm(self.linear(x)))

    def check(make):
        torch._dynamo.reset()
        torch.manual_seed(0)
        model, x = Model().eval(), torch.randn(4, 8)
        with torch.no_grad():
            wanted = model(x)
            torch.testing.assert_close(wanted, make(model)(x), atol=1e-4, rtol=1e-4)

    def compile_in_place(model):
        model.compile(backend="warpwright")
        return model

    assert "warpwright" in torch._dynamo.list_backends(), torch._dynamo.list_backends()
    assert "warpwright" not in sys.modules
    check(lambda model: torch.compile(model, backend="warpwright"))

    import warpwright
    from warpwright import dynamo
    look, graphs = dynamo.look, []
    dynamo.look = lambda *given: graphs.append(given) or look(*given)
    forced = {"warpwright.force": True}
    for number, make in enumerate([lambda model: torch.compile(model, backend="warpwright", mode="default"), compile_in_place,
                                   lambda model: torch.compile(model, backend=warpwright.backend),
                                   lambda model: torch.compile(model, backend="warpwright", options=forced)], 1):
        assert not warpwright.fallbacks(), warpwright.fallbacks()
        check(make)
        assert len(graphs) == number, (number, len(graphs))
    assert sum(warpwright.fallbacks().values()) == 1, warpwright.fallbacks()  # without a GPU the region's ATen program answers
"""

FORK = """
    import os, warpwright

    def use():
        import torch
        compiled = torch.compile(lambda x: torch.nn.functional.gelu(x) * 2, backend="warpwright", options={"warpwright.force": True})
        x = torch.linspace(-1, 1, 32)
        torch.testing.assert_close(compiled(x), torch.nn.functional.gelu(x) * 2)
        assert warpwright.fallbacks(), "no region was called"

    child = os.fork()
    use()
    if child == 0:
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def wheel():
    found = list(FOLDER.glob("warpwright-*.whl"))
    if len(found) != 1:
        sys.exit(f"{FOLDER} has {len(found)} wheels of warpwright, not one: make package")
    return found[0]


def works(run):
    if run.returncode:
        raise AssertionError(f"{run.args[0]} ended with {run.returncode}:\n{run.stdout}{run.stderr}")
    return run.stdout.strip()


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.python = FreshPython(cls)
        cls.before = cls.python.files()
        works(cls.python.pip("install", wheel()))

    def code(self, text, **environment):
        return works(self.python.code(textwrap.dedent(text), **environment))

    def test_importing_it_imports_no_torch(self):
        said = self.code("import sys, warpwright; print(warpwright.__version__, 'torch' in sys.modules, warpwright.__file__)")
        version = wheel().name.split("-")[1]
        self.assertEqual(said, f"{version} False {self.python.packages}/warpwright/__init__.py")

    def test_every_form_of_compiling_is_right(self):
        self.code(FORMS, WARPWRIGHT_RAISE="1", TORCHINDUCTOR_FORCE_DISABLE_CACHES="1")  # a hit would not reach the backend

    def test_a_program_may_fork_after_the_import(self):
        self.code(FORK, WARPWRIGHT_RAISE="1")

    def test_an_older_torch_is_refused_in_one_sentence(self):
        fake = self.python.folder / "older/torch"
        fake.mkdir(parents=True)
        (fake / "__init__.py").write_text("__version__ = '2.5.1+cpu'\n")
        for text in ("import warpwright; warpwright.backend", "import warpwright; warpwright.optimize", "import warpwright; warpwright.fallbacks",
                     "from importlib.metadata import entry_points as e; [one.load() for one in e(group='torch_dynamo_backends')]"):
            run = self.python.code(text, PYTHONPATH=str(fake.parent))
            self.assertEqual(run.stderr.splitlines()[-1], "ImportError: warpwright needs PyTorch 2.6 or later, and this Python has 2.5.1+cpu: "
                             "upgrade torch, or name another backend in torch.compile", text)

    def test_a_model_without_a_gpu_is_refused_in_one_sentence(self):
        run = self.python.code("import torch, warpwright; warpwright.optimize(torch.nn.Linear(8, 8), (torch.randn(4, 8),))")
        self.assertEqual(run.stderr.splitlines()[-1], "warpwright.core.CoreError: the model and its inputs are on the CPU, and plans are "
                         "for GPUs: PyTorch finds no GPU on this machine")

    def test_a_damaged_installation_is_named(self):
        core = self.python.packages / "warpwright/libwarpwright-core.so"
        core.rename(core.with_suffix(".away"))
        self.addCleanup(core.with_suffix(".away").rename, core)
        run = self.python.code("import warpwright.core; warpwright.core.library()")
        self.assertIn("install the package warpwright again", run.stderr.splitlines()[-1])

    def test_programs_start_and_every_file_is_recorded(self):
        for name in ("warpwright-search", "warpwright-runner"):
            self.assertIn("usage", works(self.python.run(self.python.packages / "warpwright/bin" / name, "--help")).lower())
        record = next(self.python.packages.glob("warpwright-*.dist-info/RECORD"))
        rows = list(csv.reader(record.read_text().splitlines()))
        hashed = {name: digest.partition("=")[2] for name, digest, _ in rows if digest}
        for name, digest in hashed.items():
            data = (self.python.packages / name).read_bytes()
            self.assertEqual(base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), digest, name)
        for name in ("warpwright/libwarpwright-core.so", "warpwright/bin/torch/worker_process.py", "warpwright_runtime/call/module.cpp"):
            self.assertIn(name, hashed)
        information = record.parent.name
        for name in ("LICENSE", "NOTICE", "THIRD_PARTY.txt", "licenses/LGPL-2.1"):
            self.assertIn(f"{information}/{name}", hashed)

    def test_the_tag_names_the_glibc_that_is_needed(self):
        newest, binaries = (0, 0), 0
        for path in self.python.packages.rglob("*"):
            if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
                text = subprocess.run(["readelf", "--wide", "--dyn-syms", path], check=True, capture_output=True, text=True).stdout
                newest = max([newest, *((int(a), int(b)) for a, b in re.findall(r"@GLIBC_(\d+)\.(\d+)", text))])
                binaries += 1
        self.assertGreaterEqual(binaries, 4)
        tag = re.search(r"-py3-none-manylinux_(\d+)_(\d+)_[a-z0-9_]+\.whl$", wheel().name)
        self.assertLessEqual(newest, (int(tag[1]), int(tag[2])))

    @classmethod
    def tearDownClass(cls):
        """Uninstalling leaves nothing, after all of the above was used."""
        works(cls.python.pip("uninstall", "--yes", "warpwright"))
        left = sorted(set(cls.python.files()) - set(cls.before))
        if left:
            raise AssertionError(f"uninstalling leaves {left}")


class WithoutTorch(unittest.TestCase):
    def test_it_installs_imports_and_says_that_torch_is_missing(self):
        python = FreshPython(type(self), sees_torch=False)
        works(python.pip("install", wheel()))
        self.assertEqual(works(python.code("import warpwright; print(warpwright.__name__)")), "warpwright")
        run = python.code("import warpwright; warpwright.backend")
        self.assertEqual(run.stderr.splitlines()[-1],
                         "ImportError: warpwright needs PyTorch 2.6 or later, and this Python has none: install torch")
        refused = python.pip("install", "--force-reinstall", wheel(), PIP_NO_DEPS="0")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("torch>=2.6", refused.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
