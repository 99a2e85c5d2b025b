"""Runs the commands of docs/use/pytorch.md as they are written: its bash blocks, then its Python blocks, in the order of the text.

They run in a fresh Python (fresh_python.py) in a folder that has the wheel as build/packages/, each
block in a separate process, so a block stands for a program. Python blocks get the `model` and
`inputs` that the text leaves to its reader. A block of another language, or one whose opening line
says more than the language
(```python needs a GPU), does not run; it is listed with the reason. argv[1]: the folder with the wheel; argv[2]: the build's bin folder, for the CPU worker.
"""

import pathlib
import re
import shutil
import sys
import unittest

from fresh_python import FreshPython

WHEELS, BIN = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
DOCUMENT = pathlib.Path(__file__).resolve().parents[3] / "docs/use/pytorch.md"
GIVEN = """
import torch as _torch

class _Model(_torch.nn.Module):
    def __init__(self):
        super().__init__()
        _torch.manual_seed(0)
        self.linear, self.norm = _torch.nn.Linear(8, 16), _torch.nn.LayerNorm(16)

    def forward(self, x):
        return _torch.nn.functional.gelu(self.norm(self.linear(x)))

model, inputs = _Model().eval().requires_grad_(False), _torch.randn(4, 8)
_wanted = model(inputs)
"""
CHECK = "\n_torch.testing.assert_close(fast(inputs), _wanted, atol=1e-4, rtol=1e-4)\n"
SAYS = {  # a part of each block, and what it must print
    "pip install": ["'warpwright'"],
    "warpwright.optimize": ["warpwright: 1 of 1 graphs use plans", "1 plans used"],
    "warpwright.explain": ["warpwright: 1 of 1 graphs use plans", "there is no CUDA GPU"],
}


def blocks(text):
    """(line number, what follows the opening backticks, text) of each fenced block, bash first."""
    found = re.finditer(r"(?ms)^ *```([^\n]*)\n(.*?)^ *```$", text)
    rows = [(text.count("\n", 0, one.start()) + 1, one[1].strip(), one[2]) for one in found]
    return sorted(rows, key=lambda row: row[1] != "bash")


class Document(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.python = FreshPython(cls)
        (cls.python.folder / "build").mkdir()
        (cls.python.folder / "build/packages").symlink_to(WHEELS)

    def run_block(self, language, text):
        if language == "bash":
            return self.python.run("bash", "-euc", text)
        check = CHECK if re.search(r"(?m)^fast = ", text) else ""
        return self.python.code(GIVEN + text + check, WARPWRIGHT_CPU_WORKER=str(self.worker()), WARPWRIGHT_RAISE="1")

    def worker(self):
        """The CPU worker of the build, put into the wheel's folder of programs: so the Python files it starts are the wheel's."""
        path = self.python.packages / "warpwright/bin/warpwright-worker-cpu"
        if not path.exists() and path.parent.exists():
            shutil.copy2(BIN / path.name, path)
        return path

    def test_every_block_runs_as_written(self):
        skipped, said = [], set()
        for line, heading, text in blocks(DOCUMENT.read_text()):
            with self.subTest(f"{DOCUMENT.name}:{line}"):
                if heading not in ("bash", "python"):
                    skipped.append(f"line {line}: {heading or 'no language'}")
                    continue
                run = self.run_block(heading, text)
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
                for part in (part for part in SAYS if part in text):
                    said.add(part)
                    for wanted in SAYS[part]:
                        self.assertIn(wanted, run.stdout, run.stderr)
        print(f"{DOCUMENT.name}: {len(skipped)} blocks skipped", *skipped, sep="\n  ", file=sys.stderr)
        self.assertEqual(said, set(SAYS), "the document lost a block that this test looks for")


if __name__ == "__main__":
    unittest.main(verbosity=2)
