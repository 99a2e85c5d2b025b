"""Each program and library of each package starts with the C library that the packages promise.

It also needs no other library, and names no folder to search for libraries.
It is for the machine that the package names.
usage: symbols_test.py PACKAGES_DIR STUBS_DIR COMPILER [unittest's arguments]

STUBS_DIR has the stub libraries that the build links against (scripts/glibc_stubs.py); its name
ends with the version.
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from elf import GLIBC_LIBRARIES, Elf, is_elf  # noqa: E402

PACKAGES, STUBS, COMPILER = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1)
OLDEST = tuple(map(int, STUBS.name.rsplit("-", 1)[1].split(".")))


def faults(path):
    """Why the file may not start on a machine with the oldest glibc; empty if it does."""
    elf, found = Elf(path), []
    if elf.glibc > OLDEST:
        found.append(f"it asks for glibc {'.'.join(map(str, elf.glibc))}")
    if elf.needed - GLIBC_LIBRARIES:
        found.append(f"it needs {', '.join(sorted(elf.needed - GLIBC_LIBRARIES))}")
    if elf.runpath:
        found.append(f"it looks for libraries in {elf.runpath}")
    return found


class Packages:
    """The packages of one system: `system` as in names of archives, `debian`, `python` and `vscode` in those of other packages."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="warpwright-symbols-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def package(self, pattern):
        found = sorted(PACKAGES.glob(pattern))
        if not found:
            self.skipTest(f"there is no {pattern} in {PACKAGES}: make package ARCH={self.system}")
        return found[-1]

    def unpacked(self, package):
        if package.suffix in (".whl", ".vsix"):
            zipfile.ZipFile(package).extractall(self.folder)
        elif package.suffix == ".deb":
            subprocess.run(["dpkg-deb", "-x", package, self.folder], check=True)
        else:
            subprocess.run(["tar", "-C", self.folder, "-xf", package], check=True)
        return [path for path in sorted(self.folder.rglob("*")) if is_elf(path)]

    def check_package(self, pattern, *names):
        package = self.package(pattern)
        files = self.unpacked(package)
        self.assertLessEqual(set(names), {path.name for path in files})
        for path in files:
            self.assertEqual(faults(path), [], path.relative_to(self.folder))
            self.assertEqual(Elf(path).machine, self.system, path.relative_to(self.folder))
        return package

    def test_the_archive(self):
        self.check_package(f"warpwright-*-linux-{self.system}.tar.xz", "warpwright", "warpwright-runner", "warpwright-worker-cpu",
                           "warpwright-collect", "warpwright-kernelbench", "libwarpwright-capture.so", "libwarpwright-worker.so")

    def test_the_deb(self):
        deb = self.check_package(f"warpwright_*_{self.debian}.deb", "warpwright", "warpwright-runner")
        for field, value in (("Depends", f"libc6 (>= {'.'.join(map(str, OLDEST))})"), ("Architecture", self.debian)):
            told = subprocess.run(["dpkg-deb", "-f", deb, field], capture_output=True, text=True)
            self.assertEqual(told.stdout.strip(), value)

    def test_the_wheel(self):
        self.check_package(f"warpwright-*-manylinux_{'_'.join(map(str, OLDEST))}_{self.python}.whl", "warpwright-runner", "warpwright-search",
                           "libwarpwright-core.so")

    def test_the_extension(self):
        self.check_package(f"warpwright-linux-{self.vscode}.vsix", "warpwright", "warpwright-runner", "libwarpwright-worker.so")


class X86(Packages, unittest.TestCase):
    system, debian, python, vscode = "x86_64", "amd64", "x86_64", "x64"


class Arm64(Packages, unittest.TestCase):
    system, debian, python, vscode = "arm64", "arm64", "aarch64", "arm64"


class Linking(unittest.TestCase):
    """The check finds a program that was linked as usual, and the stubs refuse a function that the older glibc lacks."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="warpwright-symbols-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def link(self, source, *options):
        (self.folder / "program.c").write_text("#define _GNU_SOURCE\n#include <pthread.h>\n#include <string.h>\n#include <sys/stat.h>\n" + source)
        program = self.folder / "program"
        portable = sorted((ROOT / "support/portable").glob("*.c"))
        return program, subprocess.run([COMPILER, "-fuse-ld=lld", "-o", program, self.folder / "program.c", *(portable if options else []), *options,
                                        "-Wno-deprecated-declarations"], capture_output=True, text=True)

    USES = "int main(int n, char **v) { struct stat s; pthread_t t; return stat(v[0], &s) + (n > 9 ? pthread_join((t = 0, t), 0) : 0); }\n"
    OLD = ("-static-libgcc", f"-L{STUBS}", "-Wl,--wrap=__libc_start_main")

    def test_a_program_that_is_linked_as_usual_is_found(self):
        program, run = self.link(self.USES)
        self.assertEqual(run.returncode, 0, run.stderr)
        if Elf(program).glibc <= OLDEST:
            self.skipTest("the installed glibc is no newer than the oldest")
        self.assertRegex("".join(faults(program)), "it asks for glibc 2")

    def test_the_same_program_with_the_stubs_passes_and_runs(self):
        program, run = self.link(self.USES, *self.OLD)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(faults(program), [])
        self.assertEqual(subprocess.run([program]).returncode, 0)

    def test_a_function_that_the_older_glibc_lacks_fails_the_link_by_its_name(self):
        _, run = self.link("int main(int n, char **v) { (void)v; return *strerrorname_np(n); }\n", *self.OLD)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("undefined symbol: strerrorname_np", run.stderr)

    def test_a_folder_to_look_for_libraries_is_found(self):
        program, run = self.link("int main(void) { return 0; }\n", *self.OLD, "-Wl,-rpath,/nonexistent")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(faults(program), ["it looks for libraries in /nonexistent"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
