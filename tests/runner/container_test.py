"""docker:// with a real container program, podman: a new container, a copied runner, its CPU worker.

usage: container_test.py BIN_DIR [unittest's arguments]

The image has a shell, the programs that receive the runner, and glibc, all copied from this
machine, so no image is fetched. Images, containers and settings are in a folder of the test.
Skipped, with the reason, if podman is not installed or may not start a container here.
"""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/editors"))
import documented  # noqa: E402

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
PATIENCE_S = 180
PROGRAMS = ("sh", "cat", "find", "getconf", "gzip", "head", "mkdir", "mv", "rm", "sha256sum", "sleep", "tar", "touch", "uname")
# Libraries of glibc. Current ones are empty, but programs built for an older glibc still ask for them.
LIBRARIES = ("libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1", "libresolv.so.2")
IMAGE = "warpwright-test"
RUNNER = f"docker://{IMAGE}?program=podman&gpus=none&cpu=yes"


def libraries_of(program):
    return re.findall(r"(/\S+)", subprocess.run(["ldd", program], capture_output=True, text=True).stdout)


def make_tree(root):
    """Files of this machine that make a small system."""
    names = {"/bin/" + name: shutil.which(name) for name in PROGRAMS}
    for library in {one for path in names.values() for one in libraries_of(path)}:
        names[library] = library
        if os.path.basename(library) == "libc.so.6":
            names |= {str(path): str(path) for path in (pathlib.Path(library).parent / name for name in LIBRARIES) if path.exists()}
    for place, source in names.items():
        target = root / place.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    for name in ("tmp", "proc", "sys", "dev", "etc"):
        (root / name).mkdir()
    (root / "tmp").chmod(0o1777)


class Container(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("podman"):
            raise unittest.SkipTest("podman is not installed (scripts/install-deps.sh)")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="warpwright-container-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        (cls.folder / "run").mkdir(mode=0o700)
        # crun refuses machines with both generations of control groups, which runc takes.
        runtime = "runc" if shutil.which("runc", path=os.environ["PATH"] + ":/usr/sbin") else "crun"
        files, processes = (min(4096, resource.getrlimit(which)[1] % (1 << 62)) for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC))
        (cls.folder / "containers.conf").write_text(
            f'[containers]\nnetns = "none"\nlog_driver = "none"\ndefault_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]\n'
            f'[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\nruntime = "{runtime}"\n')
        (cls.folder / "storage.conf").write_text(f'[storage]\ndriver = "vfs"\ngraphroot = "{cls.folder}/images"\nrunroot = "{cls.folder}/run/storage"\n')
        cls.environment = documented.environment(cls.folder, BIN) | {
            "CONTAINERS_CONF": str(cls.folder / "containers.conf"), "CONTAINERS_STORAGE_CONF": str(cls.folder / "storage.conf"),
            "XDG_RUNTIME_DIR": str(cls.folder / "run"), "CUDA_VISIBLE_DEVICES": ""}
        make_tree(cls.folder / "tree")
        subprocess.run(["tar", "-C", cls.folder / "tree", "-cf", cls.folder / "tree.tar", "."], check=True)
        for command in (["import", cls.folder / "tree.tar", IMAGE], ["run", "--rm", "--entrypoint=sh", IMAGE, "-c", "exit 0"]):
            tried = subprocess.run(["podman", *command], env=cls.environment, capture_output=True, text=True)
            if tried.returncode:
                raise unittest.SkipTest(f"podman cannot start a container here: {tried.stderr.strip().splitlines()[-1]}")
        (cls.folder / "saxpy.cu").write_text(documented.saxpy())

    def start(self, *command):
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_there(self, *command):
        """(exit code, output with stderr)"""
        process = self.start(*command)
        output, _ = process.communicate(timeout=PATIENCE_S)
        return process.returncode, output

    def containers(self):
        """Of this test's folder, also those that have ended."""
        return subprocess.run(["podman", "ps", "--all", "--quiet"], env=self.environment, capture_output=True, text=True, check=True).stdout.split()

    def eventually(self, condition):
        deadline = time.monotonic() + PATIENCE_S
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertTrue(condition())

    def test_variants_are_verified_in_a_container_that_is_removed(self):
        code, output = self.run_there("warpwright", "optimize", "saxpy.cu", "--policy", "search", "--max-variants", "2", "--runner", RUNNER)
        self.assertEqual(code, 0, output)
        self.assertRegex(output, rf"copying the runner to the container of {IMAGE} \(\d+ MB\)")
        self.assertRegex(output, r"(?m)^  .* verified ")
        self.eventually(lambda: not self.containers())

    def test_a_client_that_is_killed_leaves_no_container(self):
        search = self.start("warpwright", "optimize", "saxpy.cu", "--policy", "search", "--runner", RUNNER)
        self.eventually(lambda: self.containers() or search.poll() is not None)
        self.assertIsNone(search.poll(), "the search ended before its container was seen")
        search.kill()
        self.eventually(lambda: not self.containers())

    def test_an_image_that_is_not_there_is_reported(self):
        code, output = self.run_there("warpwright", "doctor", "--runner", "docker://localhost/nothing?program=podman&gpus=none")
        self.assertEqual(code, 1, output)
        self.assertRegex(output, r"!!  runner +podman ended with exit code 125 before the runner at the container of localhost/nothing answered: ")


if __name__ == "__main__":
    unittest.main(verbosity=2)
