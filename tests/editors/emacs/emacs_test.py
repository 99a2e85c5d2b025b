"""A real Emacs in batch mode with Eglot and the configuration of docs/use/editors.md, against the real
server on the CPU backend.

Skipped, with the reason, without an Emacs that has Eglot: Emacs 29, or Debian's elpa-eglot
(scripts/install-editors.sh).
usage: emacs_test.py BIN_DIR [unittest's arguments]
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import documented  # noqa: E402

BIN = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else documented.ROOT / "build/release/bin"
EMACS = shutil.which("emacs")


def why_not():
    if not EMACS:
        return "there is no emacs"
    run = subprocess.run([EMACS, "--batch", "--eval", "(progn (require 'package) (package-initialize) (require 'eglot))"],
                         capture_output=True, text=True)
    return "" if run.returncode == 0 else "this emacs has no Eglot: install Emacs 29 or elpa-eglot"


class Emacs(unittest.TestCase):
    def test_a_cuda_file_from_opening_to_an_applied_variant(self):
        reason = why_not()
        if reason:
            self.skipTest(reason)
        with tempfile.TemporaryDirectory(dir=pathlib.Path.home()) as folder:  # a folder that can be trusted
            folder = pathlib.Path(folder)
            (folder / "project").mkdir()
            file = folder / "project/saxpy.cu"
            file.write_text(documented.saxpy())
            (folder / "init.el").write_text("(require 'package)\n(package-initialize)\n" + documented.block("Emacs", "elisp"))
            environment = documented.environment(folder, BIN) | {"WARPWRIGHT_FILE": str(file)}
            run = subprocess.run([EMACS, "--batch", "-l", str(folder / "init.el"), "--eval", "(require 'eglot)", "-l", str(HERE / "session.el")],
                                 env=environment, cwd=folder, capture_output=True, text=True, timeout=280, stdin=subprocess.DEVNULL)
            said = run.stdout + run.stderr
            self.assertEqual(run.returncode, 0, said)
            self.assertIn("mode: cuda-mode", said)
            self.assertIn("done: yes", said)
            self.assertNotEqual(pathlib.Path(f"{file}.applied").read_text(), documented.saxpy())


if __name__ == "__main__":
    unittest.main(verbosity=2)
