"""The machines of the three new users, as they are before the first command, made on this machine.

A place is a folder with a home. It runs the commands of the page in a shell. `hidden` has the
folders that a recording replaces, because they are of this machine alone.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests/editors"), str(ROOT / "tests/torch/wheel")]
import documented  # noqa: E402
import fresh_python  # noqa: E402
import sshd  # noqa: E402

ON_CPU = (".cuda()", ""), (', device="cuda"', "")  # edits of the page's Python files for a machine without a GPU


class Place:
    def __init__(self, has_gpu):
        self.has_gpu, self.ends = has_gpu, []
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="warpwright-first-"))
        self.home.chmod(0o755)  # the runner's workers give up root
        self.ends.append(lambda: shutil.rmtree(self.home, ignore_errors=True))
        self.folder = self.home / "warpwright"
        self.folder.mkdir()
        self.environment, self.hidden = {}, [(str(self.home), "/home/you")]

    def run(self, command, needs_gpu, timeout_s=400):
        """{"command", "exit_code", "seconds", "output"}; stderr is in the output, as on a terminal"""
        begun = time.monotonic()
        run = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, stdin=subprocess.DEVNULL, timeout=timeout_s)
        seconds, output = time.monotonic() - begun, run.stdout
        for hidden, shown in self.hidden:
            output = output.replace(hidden, shown)
        output = re.sub(r"/tmp/[\w-][\w.-]*", "/tmp/...", re.sub(r"GPU-[0-9a-f]{8}-[0-9a-f-]+", "GPU-...", output))
        return {"command": command, "exit_code": run.returncode, "seconds": round(seconds, 2), "output": output}

    def close(self):
        for end in reversed(self.ends):
            end()


class Laptop(Place):
    """A checkout in which the programs were built.

    With `small`, the example's matrix has few elements. Its kernel then runs on a loaded CPU in time.
    """

    def __init__(self, binaries, small, has_gpu=False):
        super().__init__(has_gpu)
        shutil.copytree(ROOT / "examples", self.folder / "examples")
        if small:
            example = self.folder / "examples/transpose.cu"
            text, edits = re.subn(r"= (?:4096|8192)\b", "= 64", example.read_text())
            assert edits, "examples/transpose.cu has other sizes"
            example.write_text(text)
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
            subprocess.run(["git", "-c", "user.name=You", "-c", "user.email=you@example.org", "-c", "commit.gpgsign=false", *command],
                           cwd=self.folder, check=True)
        self.environment = documented.environment(self.home, binaries)
        if not has_gpu:
            self.environment["CUDA_VISIBLE_DEVICES"] = ""
        tree = binaries.parents[2]  # of build/release/bin: where the programs find weights
        self.hidden += [(str(tree if (tree / "VERSION").exists() else binaries.parent), "/home/you/warpwright")]


class Ssh(Laptop):
    """The same, and a machine gpu-box behind a real sshd."""

    def __init__(self, binaries, has_gpu):
        super().__init__(binaries, not has_gpu, has_gpu)
        there = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "CUDA_HOME") if name in os.environ and has_gpu}
        box = self.home / "gpu-box"
        box.mkdir()
        server = sshd.Sshd(box, there)
        self.ends.append(server.stop)
        self.environment["PATH"] = f"{box}/programs:{self.environment['PATH']}"


class Pip(Place):
    """A Python with PyTorch and pip, and a wheel in build/packages. The page's files are there."""

    def __init__(self, binaries, wheels, files, has_gpu):
        super().__init__(has_gpu)
        self.python = fresh_python.FreshPython(self)
        (self.folder / "build").mkdir()
        (self.folder / "build/packages").symlink_to(wheels)
        for name, text in files.items():
            for old, new in () if has_gpu else ON_CPU:
                text = text.replace(old, new)
            (self.folder / name).write_text(text)
        self.environment = self.python.environment()
        if has_gpu:  # for a driver and NVRTC in folders that are not the system's
            self.environment |= {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "CUDA_HOME") if name in os.environ}
            self.environment["PATH"] += ":" + os.environ["PATH"]
        self.worker = binaries / "warpwright-worker-cpu"
        self.hidden.append((str(self.python.folder), "/home/you"))

    def addClassCleanup(self, function, *arguments, **options):  # noqa: N802, as unittest names it
        self.ends.append(lambda: function(*arguments, **options))

    def run(self, command, needs_gpu, timeout_s=400):
        """Without a GPU, a command that needs one gets the CPU worker, once the wheel is installed. Others do not find it."""
        programs = self.python.packages / "warpwright/bin"
        worker = programs / self.worker.name  # there, so that the Python files that it starts are the wheel's
        stands_in = needs_gpu and not self.has_gpu and programs.exists()
        if stands_in:
            shutil.copy2(self.worker, worker)
            self.environment["WARPWRIGHT_CPU_WORKER"] = str(worker)
        else:
            worker.unlink(missing_ok=True)
            self.environment.pop("WARPWRIGHT_CPU_WORKER", None)
        return super().run(command, needs_gpu, timeout_s)
