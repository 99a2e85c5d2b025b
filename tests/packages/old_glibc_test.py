"""The programs of the archive on an older system: Debian 11's C library.

usage: old_glibc_test.py PACKAGES_DIR CACHE_DIR [unittest's arguments]

The root folder holds no other part of a system and is entered by chroot in a user namespace. The
library is Debian's package libc6, fetched by apt from the mirror that this machine uses, into
CACHE_DIR. Skipped, with the reason, if the archive was not made, the package cannot be fetched or
the machine gives no namespace.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from debian_packages import Unavailable, fetch_root, of_release  # noqa: E402

PACKAGES, CACHE = pathlib.Path(sys.argv.pop(1)).resolve(), pathlib.Path(sys.argv.pop(1)).resolve()
RELEASE, GLIBC = "bullseye", "2.31"
# Runs a program in the root folder $0, with /proc and /dev as programs expect them.
ENTER = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && cd "$0" && exec chroot "$0" "$@"'


def older_libc():
    """A folder with the unpacked package libc6 of the older release."""
    try:
        return fetch_root(["libc6"], "amd64", CACHE / RELEASE, lambda: of_release(RELEASE))
    except Unavailable as why:
        raise unittest.SkipTest(str(why)) from None


class OldGlibc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        archives = sorted(PACKAGES.glob("warpwright-*-linux-x86_64.tar.xz"))
        if not archives:
            raise unittest.SkipTest(f"there is no archive in {PACKAGES}: make package")
        folder = tempfile.TemporaryDirectory(prefix="warpwright-old-glibc-")
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        cls.root.chmod(0o755)  # the runner's workers give up root
        shutil.copytree(older_libc(), cls.root, symlinks=True, dirs_exist_ok=True)
        for part in ("proc", "dev", "tmp", "opt", "project"):
            (cls.root / part).mkdir(exist_ok=True)
        subprocess.run(["tar", "-C", cls.root / "opt", "--strip-components=1", "-xf", archives[-1]], check=True)
        text = (ROOT / "examples/saxpy.cu").read_text()
        (cls.root / "project/saxpy.cu").write_text(text.replace("1 << 24", "1 << 14"))
        probe = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "true"], capture_output=True, text=True)
        if probe.returncode:
            raise unittest.SkipTest(f"no user namespace: {probe.stderr.strip()}")

    def run_there(self, *command, code=0):
        run = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "sh", "-c", ENTER, self.root, *command],
                             capture_output=True, text=True, timeout=500,
                             env={"PATH": "/opt/bin:/usr/sbin:/sbin:/usr/bin:/bin", "HOME": "/project", "LC_ALL": "C"})
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def test_the_c_library_is_the_older_one(self):
        self.assertTrue(list(self.root.glob(f"lib/x86_64-linux-gnu/libc-{GLIBC}.so")))
        self.assertFalse((self.root / "usr/bin/ls").exists())

    def test_each_program_starts(self):
        for program in ("warpwright", "warpwright-runner", "warpwright-kernelbench", "warpwright-collect", "warpwright-worker-cpu"):
            self.assertRegex(self.run_there(f"/opt/lib/warpwright/{program}", "--version"), rf"^{program} \d")

    def test_exceptions_are_caught(self):
        text = self.run_there("/opt/bin/warpwright", "analyze", "--no-such-option", "/project/saxpy.cu", code=2)
        self.assertIn("no-such-option", text)

    def test_a_file_is_analyzed(self):
        self.assertIn("saxpy", self.run_there("/opt/bin/warpwright", "analyze", "/project/saxpy.cu"))

    def test_a_kernel_is_optimized_on_the_cpu(self):
        text = self.run_there("/opt/bin/warpwright", "optimize", "/project/saxpy.cu", "--device", "cpu", "--max-variants", "2", "--policy", "search",
                              "--json")
        self.assertRegex(text, r'"outcome": ?"verified"')


if __name__ == "__main__":
    unittest.main(verbosity=2)
