"""Each package of `make package`, installed as its user would and used: doctor, an optimization, a session in Neovim.

The archive is unpacked into a prefix; the .deb is installed by dpkg into a folder of its own; the plugin directory goes where
Neovim looks for packages. What is found there, and nothing of the build, is what runs. The VSIX is installed and used in VS Code by
tests/editors/vscode; here only its contents are looked at. Skipped where a package or a program was not made or is not there.
usage: packages_test.py PACKAGES_DIR [unittest's arguments]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGES = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / "build/packages").resolve()
VERSION = (ROOT / "VERSION").read_text().strip()
PLUGIN = "share/nvim/site/pack/warpwright/start/warpwright.nvim"


def package(pattern):
    found = sorted(PACKAGES.glob(pattern))
    if not found:
        raise unittest.SkipTest(f"there is no {pattern} in {PACKAGES}: make package")
    return found[-1]


class Packages(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="warpwright-package-"))
        self.folder.chmod(0o755)  # the runner's workers give up root
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        text = (ROOT / "examples/saxpy.cu").read_text()
        self.assertIn("1 << 24", text)
        (self.folder / "saxpy.cu").write_text(text.replace("1 << 24", "1 << 14"))

    def environment(self, prefix, **more):
        """As of a user who knows nothing of the build: only the prefix is on the PATH before the system's."""
        home = {f"XDG_{kind}_HOME": str(self.folder / kind.lower()) for kind in ("STATE", "DATA", "CACHE", "CONFIG")}
        return {"PATH": f"{prefix}/bin:/usr/local/bin:/usr/bin:/bin", "HOME": str(self.folder)} | home | more

    def run_there(self, prefix, *command):
        run = subprocess.run(command, env=self.environment(prefix), cwd=self.folder, capture_output=True, text=True, timeout=250)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def check_programs(self, prefix):
        for program in sorted((prefix / "lib/warpwright").iterdir()):
            if program.is_file() and os.access(program, os.X_OK):
                version = subprocess.run([program, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
                self.assertRegex(version.stdout, rf"^{program.name} {VERSION} \(.*\), linux-", program)
        report = json.loads(self.run_there(prefix, "warpwright", "doctor", "--json"))
        self.assertTrue(report["ready"]["cpu"], report)
        result = json.loads(self.run_there(prefix, "warpwright", "optimize", "saxpy.cu", "--device", "cpu", "--max-variants", "2",
                                           "--policy", "builtin", "--json"))
        outcomes = [variant["outcome"] for kernel in result["kernels"] for variant in kernel["variants"]]
        self.assertIn("verified", outcomes)
        shipped = (prefix / "share/warpwright/policy.safetensors").exists()
        for kernel in result["kernels"]:
            self.assertIn(kernel["policy"].split(",")[0], ["builtin"] if shipped else ["search"])
        tasks = self.run_there(prefix, prefix / "lib/warpwright/warpwright-collect", "tasks")
        self.assertIn("softmax/", tasks)
        self.assertTrue((prefix / "share/warpwright/tasks/softmax/family.toml").exists())
        self.assertTrue((prefix / "share/warpwright/docs/use/rules.md").exists())
        self.assertTrue((prefix / "share/warpwright/skills/warpwright/SKILL.md").exists())
        self.check_licenses(prefix / "share/warpwright")

    def check_licenses(self, shared):
        """Our license in full, and each thing that is linked in by name, version, license and text."""
        own = (shared / "LICENSE").read_text()
        self.assertEqual(own, (ROOT / "LICENSE").read_text())
        self.assertEqual((shared / "NOTICE").read_text(), (ROOT / "NOTICE").read_text())
        parts = (shared / "THIRD_PARTY.txt").read_text()
        for name in ("Clang", "LLVM", "Polly", "Boost", "OpenSSL", "SQLite", "SQLiteCpp", "JSON for Modern C++", "CLI11", "toml++", "Valijson",
                     "libseccomp", "rabbitmq-c", "tree-sitter", "tree-sitter-python", "Zstandard", "zlib", "GCC's C++ library",
                     "GCC's runtime library"):
            self.assertRegex(parts, rf"(?m)^{re.escape(name)}[ ,]")
        texts = {text for line in re.findall(r"(?m)^  text: (.*)$", parts) for text in line.split(", ")}
        self.assertGreater(len(texts), 15)
        for text in texts:
            self.assertGreater((shared / text).stat().st_size, 300, text)
        # What the LGPL asks of a program that has the library inside: its text, the sources, a word that it may be changed.
        self.assertIn("GNU LESSER GENERAL PUBLIC LICENSE", (shared / "licenses/LGPL-2.1").read_text())
        self.assertRegex(parts, r"source package libseccomp [0-9]")
        self.assertIn("GCC Runtime Library Exception", (shared / "licenses/libstdc++-12-dev.txt").read_text())

    def check_neovim(self, **environment):
        """A whole session with a plugin that Neovim finds by itself, and a program that the plugin finds by itself."""
        if not shutil.which("nvim"):
            self.skipTest("there is no nvim")
        environment |= {"WARPWRIGHT_TESTS": str(HERE / "neovim"), "WARPWRIGHT_FILE": str(self.folder / "saxpy.cu")}
        run = subprocess.run(["nvim", "--headless", "-n", "-u", str(HERE / "neovim/cuda_session.lua")], env=environment, cwd=self.folder,
                             capture_output=True, text=True, timeout=250, stdin=subprocess.DEVNULL)
        said = run.stdout + run.stderr
        self.assertEqual(run.returncode, 0, said)
        self.assertIn("explanation: ## double-arithmetic", said)
        self.assertIn("done: yes", said)

    def test_the_archive_unpacked_is_an_installation(self):
        prefix = self.folder / "opt"
        prefix.mkdir()
        subprocess.run(["tar", "-C", prefix, "--strip-components=1", "-xJf", package("warpwright-*-linux-x86_64.tar.xz")], check=True)
        self.check_programs(prefix)
        # The plugin finds the program that it was unpacked with; nothing is on the PATH.
        environment = self.environment("/nonexistent", WARPWRIGHT_PLUGIN=str(prefix / PLUGIN))
        self.check_neovim(**environment)
        tags = (prefix / PLUGIN / "doc/tags").read_text().splitlines()
        self.assertIn("warpwright.txt\twarpwright.txt\t/*warpwright.txt*", tags)
        self.assertEqual(tags, sorted(tags))

    def test_the_deb_installed_by_dpkg_works(self):
        root = self.folder / "root"
        (root / "var/lib/dpkg/info").mkdir(parents=True)
        (root / "var/lib/dpkg/updates").mkdir()
        (root / "var/lib/dpkg/status").touch()
        install = subprocess.run(["dpkg", f"--root={root}", "--force-depends", "--force-not-root", "--force-script-chrootless",
                                  f"--log={root}/dpkg.log", "--install", package("warpwright_*_amd64.deb")], capture_output=True, text=True,
                                 env=os.environ | {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
        self.assertEqual(install.returncode, 0, install.stderr)
        self.assertIn("install ok installed", (root / "var/lib/dpkg/status").read_text())
        self.check_programs(root / "usr")
        self.assertIn("License: Apache-2.0 WITH LLVM-exception", (root / "usr/share/doc/warpwright/copyright").read_text())
        # As in an installed system: the plugin lies where Neovim looks, the program on the PATH.
        environment = self.environment(root / "usr", XDG_DATA_DIRS=f"{root}/usr/share:/usr/share")
        self.check_neovim(**environment)

    def test_the_plugin_directory_is_what_plugin_managers_take(self):
        source = PACKAGES / "warpwright.nvim"
        if not source.is_dir():
            self.skipTest("there is no warpwright.nvim: make package")
        installed = self.folder / "data/nvim/site/pack/plugins/start/warpwright.nvim"
        shutil.copytree(source, installed)
        self.assertEqual((installed / "LICENSE").read_text(), (ROOT / "LICENSE").read_text())
        prefix = self.folder / "opt"
        prefix.mkdir()
        subprocess.run(["tar", "-C", prefix, "--strip-components=1", "-xJf", package("warpwright-*-linux-x86_64.tar.xz")], check=True)
        self.check_neovim(**self.environment(prefix))

    def test_the_extension_has_what_vs_code_asks_for(self):
        with zipfile.ZipFile(package("warpwright.vsix")) as archive:
            names = set(archive.namelist())
            manifest = json.loads(archive.read("extension/package.json"))
            self.assertIn("extension.vsixmanifest", names)
            self.assertIn("extension/" + manifest["main"].removeprefix("./"), names)
            self.assertEqual(manifest["license"], "Apache-2.0 WITH LLVM-exception")
            self.assertEqual(archive.read("extension/LICENSE.txt").decode(), (ROOT / "LICENSE").read_text())
            parts = archive.read("extension/THIRD_PARTY.txt").decode()
            for name in ("vscode-languageclient", "vscode-jsonrpc", "semver", "minimatch"):
                self.assertRegex(parts, rf"(?m)^{name} [0-9]")
            for text in re.findall(r"(?m)^  text: (.*)$", parts):
                self.assertIn("extension/" + text, names)
            self.assertNotIn("extension/.npmrc", names)
        with zipfile.ZipFile(package("warpwright-linux-x64.vsix")) as archive:
            self.assertIn("extension/server/bin/warpwright", archive.namelist())
            for name in archive.namelist():
                if name.startswith("extension/server/share/warpwright/"):
                    archive.extract(name, self.folder)
            self.check_licenses(self.folder / "extension/server/share/warpwright")

    def test_the_sums_are_those_of_all_packages(self):
        package("SHA256SUMS")
        packed = {path.name for pattern in ("*.tar.xz", "*.deb", "*.whl", "*.vsix") for path in PACKAGES.glob(pattern)}
        listed = {line.split(maxsplit=1)[1].lstrip("*") for line in (PACKAGES / "SHA256SUMS").read_text().splitlines()}
        self.assertEqual(listed, packed)
        check = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=PACKAGES, capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_the_sources_come_with_the_programs(self):
        names = subprocess.run(["tar", "-tJf", package("warpwright-*-source.tar.xz")], capture_output=True, text=True, check=True).stdout
        for name in ("LICENSE", "CMakeLists.txt", "scripts/install-deps.sh", "runner/CMakeLists.txt"):
            self.assertRegex(names, rf"(?m)^warpwright-[0-9.]+/{name}$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
