"""A real Helix in tmux with the configuration of docs/use/editors.md, against the real server: its
hover and its menu of code actions.

Skipped, with the reason, without hx (Debian 13's package, or $WARPWRIGHT_HELIX) or tmux.
usage: helix_test.py BIN_DIR [unittest's arguments]
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import documented  # noqa: E402

BIN = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else documented.ROOT / "build/release/bin"
HELIX = os.environ.get("WARPWRIGHT_HELIX") or shutil.which("hx") or shutil.which("helix")
PATIENCE_S = 60


class Screen:
    """A terminal of its own tmux server."""

    def __init__(self, folder, environment, command):
        self.tmux = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null"]
        self.environment = environment
        subprocess.run([*self.tmux, "new-session", "-d", "-x", "140", "-y", "45", *command], env=environment, cwd=folder, check=True)

    def text(self):
        return subprocess.run([*self.tmux, "capture-pane", "-p"], env=self.environment, capture_output=True, text=True).stdout

    def press(self, *keys):
        subprocess.run([*self.tmux, "send-keys", *keys], env=self.environment, check=True)

    def wait(self, wanted, again=()):
        """Waits until the text is drawn; presses keys again meanwhile, as a user does whose server was not ready."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if wanted in self.text():
                return
            time.sleep(1)
            if again:
                self.press(*again)
                time.sleep(1)
        raise AssertionError(f"'{wanted}' is not on the screen:\n{self.text()}")

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], env=self.environment, capture_output=True)


class Helix(unittest.TestCase):
    def test_hover_and_code_actions_of_a_cuda_file(self):
        if not HELIX:
            self.skipTest("there is no hx; Debian 12 has no package of it")
        if not shutil.which("tmux"):
            self.skipTest("there is no tmux")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "saxpy.cu").write_text(documented.saxpy())
            (folder / "config/helix").mkdir(parents=True)
            (folder / "config/helix/languages.toml").write_text(documented.block("Helix", "toml"))
            screen = Screen(folder, documented.environment(folder, BIN), [HELIX, "saxpy.cu"])
            try:
                screen.wait("__global__")
                screen.press("/", "v", "o", "i", "d", "Space", "s", "a", "x", "p", "y", "Enter")
                screen.wait("Not measured", again=("Escape", "Space", "k"))
                screen.press("Escape")
                screen.wait("Optimize saxpy", again=("Escape", "Space", "a"))
            finally:
                screen.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
