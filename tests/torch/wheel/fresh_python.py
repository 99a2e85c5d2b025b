"""A Python of its own for a test: a virtual environment that sees the system's PyTorch and pip. Needs no network."""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile


class FreshPython:
    def __init__(self, test, sees_torch=True):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="warpwright-wheel-"))
        test.addClassCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        options = ["--system-site-packages"] if sees_torch else []
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", *options, self.folder / "venv"], check=True)
        self.python = self.folder / "venv/bin/python"
        self.packages = next((self.folder / "venv/lib").glob("python3*/site-packages"))
        if sees_torch and sys.prefix != sys.base_prefix:  # PyTorch is in the environment of this Python, which the new one does not see
            (self.packages / "outer.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def pip(self, *arguments, **environment):
        """The system's pip works on this Python."""
        return self.run(sys.executable, "-m", "pip", "--python", self.python, *arguments, **environment)

    def environment(self, **more):
        """As of a user who knows nothing of the build; caches go with the test. Debian's torch asks for another sympy than Debian has, so
        pip installs no dependencies."""
        return {"PATH": f"{self.python.parent}:/usr/bin:/bin", "HOME": str(self.folder), "LANG": "C.UTF-8", "PIP_NO_INDEX": "1",
                "PIP_NO_DEPS": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "TORCHINDUCTOR_CACHE_DIR": str(self.folder / "inductor"), **more}

    def run(self, *command, timeout_s=600, **environment):
        """@return the finished process; stdout and stderr are texts"""
        return subprocess.run(command, cwd=self.folder, env=self.environment(**environment), capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=timeout_s)

    def code(self, text, **environment):
        return self.run(self.python, "-c", text, **environment)

    def files(self):
        return sorted(os.path.relpath(path, self.packages) for path in self.packages.rglob("*"))
