"""The programs of the arm64 archive under qemu-user, with Debian 11's C library.

usage: arm64_test.py PACKAGES_DIR CACHE_DIR [unittest's arguments]

The library is Debian's arm64 package libc6, fetched by apt from the mirror that this machine uses,
into CACHE_DIR. For programs that start other programs, the test registers qemu with the kernel. It
does so in a user namespace, so the machine stays as it is; this needs Linux 6.7. Skipped, with the
reason, if the archive was not made, qemu-user is missing, or the package cannot be fetched.
"""
import json
import pathlib
import re
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
PROGRAMS = ("warpwright", "warpwright-runner", "warpwright-kernelbench", "warpwright-collect", "warpwright-worker-cpu")
# Tells the kernel of a namespace that a script ($0) starts programs with the head of an arm64 ELF file, and starts the rest of the words.
MAGIC = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
ENTER = (f"mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && "
         f"printf '%s' ':arm64:M::{MAGIC}:{MASK}:'\"$0:F\" >/proc/sys/fs/binfmt_misc/register && exec \"$@\"")


def older_libc():
    """A folder with the unpacked package libc6 of the older release, for arm64."""
    try:
        return fetch_root(["libc6"], "arm64", CACHE / f"{RELEASE}-arm64", lambda: of_release(RELEASE))
    except Unavailable as why:
        raise unittest.SkipTest(str(why)) from None


class Arm64(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        archives = sorted(PACKAGES.glob("warpwright-*-linux-arm64.tar.xz"))
        if not archives:
            raise unittest.SkipTest(f"there is no arm64 archive in {PACKAGES}: make package ARCH=arm64")
        qemu = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
        if not qemu:
            raise unittest.SkipTest("there is no qemu-aarch64: scripts/install-deps.sh arm64")
        cls.libc = older_libc()
        folder = tempfile.TemporaryDirectory(prefix="warpwright-arm64-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.folder.chmod(0o755)  # the runner's workers give up root
        subprocess.run(["tar", "-C", cls.folder, "-xf", archives[-1]], check=True)
        cls.programs = next(cls.folder.glob("warpwright-*")) / "lib/warpwright"
        text = (ROOT / "examples/saxpy.cu").read_text()
        (cls.folder / "saxpy.cu").write_text(text.replace("1 << 24", "1 << 12"))
        script = cls.folder / "start-arm64"  # workers do not inherit QEMU_LD_PREFIX
        script.write_text(f'#!/bin/sh\nexec {qemu} -L {cls.libc} "$@"\n')
        script.chmod(0o755)
        cls.enter = ["unshare", "--user", "--map-root-user", "--mount", "--fork", "--kill-child", "sh", "-c", ENTER, script]
        probe = subprocess.run([*cls.enter, "true"], capture_output=True, text=True)
        cls.why_alone = probe.stderr.strip() if probe.returncode else ""
        if probe.returncode:
            cls.enter = [script]

    def start(self, program, *arguments, **options):
        home = {f"XDG_{kind}_HOME": str(self.folder / kind.lower()) for kind in ("STATE", "DATA", "CACHE", "CONFIG")}
        environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(self.folder), "LC_ALL": "C"}
        return subprocess.Popen([*self.enter, self.programs / program, *arguments], cwd=self.folder, env=environment | home,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def run_there(self, program, *arguments, code=0, timeout=300):
        with self.start(program, *arguments, stdin=subprocess.DEVNULL, text=True) as process:
            try:
                out, errors = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        self.assertEqual(process.returncode, code, out + errors)
        return out + errors

    def test_the_c_library_is_the_older_one(self):
        self.assertTrue(list(self.libc.glob(f"lib/aarch64-linux-gnu/libc-{GLIBC}.so")))

    def test_each_program_starts_and_tells_its_system(self):
        for program in PROGRAMS:
            self.assertRegex(self.run_there(program, "--version"), rf"^{program} \d.*, linux-arm64, glibc 2\.28, ")

    def test_exceptions_are_caught(self):
        text = self.run_there("warpwright", "analyze", "--no-such-option", "saxpy.cu", code=2)
        self.assertIn("no-such-option", text)

    def test_examples_are_analyzed(self):
        for name, kernel in (("saxpy", "saxpy"), ("softmax", "softmax")):
            self.assertIn(kernel, self.run_there("warpwright", "analyze", ROOT / f"examples/{name}.cu"))

    def test_an_editor_gets_diagnostics(self):
        with self.start("warpwright", "lsp", stdin=subprocess.PIPE) as server:
            self.addCleanup(server.kill)
            capabilities = self.ask(server, "initialize", {"processId": None, "rootUri": self.folder.as_uri(), "capabilities": {}})
            self.assertTrue(capabilities["capabilities"]["hoverProvider"])
            self.send(server, {"method": "initialized", "params": {}})
            path = ROOT / "examples/transpose.cu"
            document = {"uri": path.as_uri(), "languageId": "cuda", "version": 1, "text": path.read_text()}
            self.send(server, {"method": "textDocument/didOpen", "params": {"textDocument": document}})
            self.assertTrue(self.ask(server, "textDocument/codeLens", {"textDocument": {"uri": document["uri"]}}))
            self.ask(server, "shutdown", None)
            self.send(server, {"method": "exit"})
            server.stdin.close()
            self.assertEqual(server.wait(timeout=60), 0, server.stderr.read().decode())

    def send(self, server, message):
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        server.stdin.flush()

    def ask(self, server, method, parameters):
        """The answer to a request; notifications and requests of the server before it are passed over."""
        self.send(server, {"id": method, "method": method, "params": parameters})
        while True:
            header = server.stdout.readline()
            self.assertTrue(header, server.stderr.read().decode() if server.poll() is not None else "the server closed its output")
            length = int(re.fullmatch(rb"Content-Length: (\d+)\r\n", header)[1])
            server.stdout.readline()
            message = json.loads(server.stdout.read(length))
            if message.get("id") == method and "method" not in message:
                self.assertNotIn("error", message)
                return message["result"]

    def test_a_kernel_is_optimized_on_the_cpu(self):
        if self.why_alone:
            self.skipTest(f"this kernel starts no arm64 programs: {self.why_alone}")
        text = self.run_there("warpwright", "optimize", "saxpy.cu", "--device", "cpu", "--max-variants", "2", "--policy", "search", "--json",
                              timeout=1500)
        self.assertRegex(text, r'"outcome": ?"verified"')


if __name__ == "__main__":
    unittest.main(verbosity=2)
