"""Real, headless Neovims with the plugin of editors/neovim against the real server, on the CPU backend.

Each test runs one of the *_session.lua files next to this one and reads its steps. The Neovims are those of
$WARPWRIGHT_NEOVIMS (paths, separated by colons), else the one on the PATH; skipped without one.
usage: neovim_test.py BIN_DIR [unittest's arguments]
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import sshd  # noqa: E402
ROOT = HERE.parents[2]
BIN = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else ROOT / "build/release/bin"
NEOVIMS = [one for one in os.environ.get("WARPWRIGHT_NEOVIMS", shutil.which("nvim") or "").split(":") if one]
PLUGIN = pathlib.Path(os.environ.get("WARPWRIGHT_PLUGIN", ROOT / "editors/neovim"))

MODULE = """import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1.5


def get_inputs():
    return [torch.randn(24, 40)]
"""


def saxpy():
    """The example with fewer elements: the CPU backend takes seconds then, not minutes."""
    text = (ROOT / "examples/saxpy.cu").read_text()
    assert "1 << 24" in text
    return text.replace("1 << 24", "1 << 14")


def can_try_modules():
    if os.environ.get("WARPWRIGHT_READS_PYTHON") == "0":
        return False
    python = os.environ.get("WARPWRIGHT_PYTHON", "python3")
    return subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0


@unittest.skipUnless(NEOVIMS, "there is no nvim")
class Neovim(unittest.TestCase):
    def session(self, name, file, text, seconds=280, more=None):
        """Runs a session in every Neovim; returns the file as it was written at the end, or None."""
        for neovim in NEOVIMS:
            with self.subTest(neovim=neovim), tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                (folder / file).write_text(text)
                plugin = folder / "plugin"
                shutil.copytree(PLUGIN, plugin)
                home = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("STATE", "DATA", "CACHE", "CONFIG")}
                environment = os.environ | home | {
                    "WARPWRIGHT": str(BIN / "warpwright"), "WARPWRIGHT_PLUGIN": str(plugin), "WARPWRIGHT_TESTS": str(HERE),
                    "WARPWRIGHT_FILE": str(folder / file), "NEOVIM": neovim, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8",
                    "WARPWRIGHT_CLANGD": shutil.which("clangd-22") or shutil.which("clangd") or ""}
                environment |= more or {}
                environment.pop("WARPWRIGHT_RUNNER_TOKEN", None)
                run = subprocess.run([neovim, "--headless", "-n", "-u", str(HERE / name)], env=environment, cwd=folder,
                                     capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL)
                said = run.stdout + run.stderr
                self.assertEqual(run.returncode, 0, said)
                self.assertIn("done: yes", said)
                self.assertNotIn("Error executing", said)
                written = folder / (file + ".applied")
                yield said, written.read_text() if written.exists() else None

    def test_a_cuda_file_from_opening_to_an_applied_variant_beside_clangd(self):
        for said, applied in self.session("cuda_session.lua", "saxpy.cu", saxpy()):
            self.assertNotEqual(applied, saxpy())
            self.assertIn("__global__", applied)
            if shutil.which("clangd-22") or shutil.which("clangd"):
                self.assertIn("hover of clangd too", said)

    def test_the_language_server_alone_as_vim_lsp_enable_starts_it(self):
        for said, _ in self.session("enable_session.lua", "saxpy.cu", saxpy()):
            self.assertIn("lenses: true", said)

    @unittest.skipUnless(can_try_modules(), "python3 has no torch, or this build reads no Python")
    def test_a_python_module_from_opening_to_an_applied_variant(self):
        for _, applied in self.session("python_session.lua", "model.py", MODULE):
            self.assertIn('@warpwright.plans("Model.', applied)

    def test_a_killed_server_is_told_and_started_again(self):
        for _ in self.session("restart_session.lua", "saxpy.cu", saxpy()):
            pass

    def test_a_user_sees_lens_progress_hover_and_diff_on_the_screen(self):
        for _ in self.session("screen_session.lua", "saxpy.cu", saxpy()):
            pass

    def test_a_project_that_is_not_trusted_is_asked_about_before_anything_runs(self):
        for _ in self.session("trust_session.lua", "saxpy.cu", saxpy()):
            pass

    @unittest.skipUnless(sshd.is_installed(), "there is no OpenSSH server")
    def test_a_runner_behind_ssh_is_added_and_used(self):
        with tempfile.TemporaryDirectory() as folder:
            server = sshd.Sshd(folder)
            try:
                for _ in self.session("ssh_session.lua", "saxpy.cu", saxpy(), more=server.environment):
                    pass
            finally:
                server.stop()
            self.assertTrue(list(pathlib.Path(folder).glob("cache/warpwright/runner/*/warpwright-runner")))

    def test_options_runners_doctor_health_and_help(self):
        for _ in self.session("parts_session.lua", "saxpy.cu", saxpy()):
            pass


if __name__ == "__main__":
    unittest.main(verbosity=2)
