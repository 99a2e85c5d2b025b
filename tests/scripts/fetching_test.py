"""What scripts fetch is taken by npm alone and checked whole; what they pack is listed with its sums.

install-deps.sh runs in a folder of its own, with an npm that hands out an archive of the test's
making and a dpkg-query to which everything is installed. Needs no network.
"""
import hashlib
import importlib.util
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def executable(path, text):
    path.write_text("#!/usr/bin/env bash\n" + text)
    path.chmod(0o755)


class Fetching(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="warpwright-scripts-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for name in ("scripts", "tools", "package/src/tree_sitter"):
            (self.folder / name).mkdir(parents=True)
        executable(self.folder / "tools/dpkg-query", "echo 'install ok installed'\n")

    def install(self, script, archive):
        """@return whether the grammar was taken from this archive"""
        executable(self.folder / "tools/npm", f"cp '{archive}' .\n")
        (self.folder / "scripts/install-deps.sh").write_text(script)
        environment = os.environ | {"PATH": f"{self.folder}/tools:{os.environ['PATH']}"}
        run = subprocess.run(["bash", self.folder / "scripts/install-deps.sh"], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.said = run.stderr
        return bool(list(self.folder.glob("build/dependencies/*/*")))

    def archive_with(self, changed):
        """The real grammar where it is installed, but for one file, as an archive for npm to hand out."""
        real = next(iter((ROOT / "build/dependencies").glob("tree-sitter-python-*")), None)
        inside = self.folder / "package"
        for name in ("LICENSE", "src/parser.c", "src/scanner.c", "src/tree_sitter/parser.h"):
            source = real / name.removeprefix("src/") if real else None
            (inside / name).write_bytes(source.read_bytes() if source and source.exists() else b"/* a file */\n")
        with open(inside / changed, "ab") as file:
            file.write(b"\n/* and something else */\n")
        archive = self.folder / "tree-sitter-python.tgz"
        subprocess.run(["tar", "-C", self.folder, "-czf", archive, "package"], check=True)
        return archive

    def test_an_archive_with_any_other_file_is_refused(self):
        script = (ROOT / "scripts/install-deps.sh").read_text()
        for changed in ("src/tree_sitter/parser.h", "src/scanner.c", "LICENSE"):
            self.assertFalse(self.install(script, self.archive_with(changed)), changed)
            self.assertIn("is not the archive that was reviewed", self.said)

    def test_the_archive_whose_sum_the_script_names_is_taken(self):
        archive = self.archive_with("LICENSE")
        script, count = re.subn(r"sha512=[0-9a-f]{128}\b", "sha512=" + hashlib.sha512(archive.read_bytes()).hexdigest(),
                                (ROOT / "scripts/install-deps.sh").read_text())
        self.assertEqual(count, 1)
        self.assertTrue(self.install(script, archive), self.said)

    def test_no_script_names_a_place_to_fetch_from(self):
        scripts = [path for path in (ROOT / "scripts").rglob("*") if path.is_file()]
        self.assertGreater(len(scripts), 10)
        for path in scripts:
            for line in path.read_text().splitlines():
                self.assertNotRegex(line, r"npmjs|urlretrieve|https?://[a-z0-9-]+\.[a-z]", path)

    def test_npm_takes_what_lockfiles_name_and_runs_no_script_of_it(self):
        for path in (ROOT / "scripts").glob("*.sh"):
            for line in path.read_text().splitlines():
                if re.search(r"\bnpm (i|install|ci|add)\b", line) and not line.lstrip().startswith("#"):
                    self.assertIn("npm ci", line, path)
                    self.assertIn("--ignore-scripts", line, path)
        locks = [path for path in ROOT.glob("**/package-lock.json") if not {"node_modules", "build"} & set(path.relative_to(ROOT).parts)]
        self.assertEqual(len(locks), 7)
        for lock in locks:
            text = lock.read_text()
            self.assertNotIn('"resolved"', text, lock)
            self.assertGreater(text.count('"integrity"'), 0, lock)
            self.assertIn("omit-lockfile-registry-resolved=true", (lock.parent / ".npmrc").read_text())

    def test_a_wheel_claims_no_older_system_than_its_programs_need(self):
        spec = importlib.util.spec_from_file_location("wheel_script", ROOT / "scripts/wheel.py")
        wheel = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(wheel)
        true, objdump = (pathlib.Path(shutil.which(name)) for name in ("true", "objdump"))
        self.assertEqual(wheel.platform_tag([]), f"manylinux_2_17_{platform.machine()}")
        self.assertGreater(int(wheel.platform_tag([true]).split("_")[2]), 17)
        self.assertEqual(wheel.platform_tag([true], (2, 99)), f"manylinux_2_99_{platform.machine()}")
        with self.assertRaisesRegex(SystemExit, "objdump needs lib.*the user's machine may lack"):
            wheel.platform_tag([true, objdump])

    def test_sums_of_packages_tell_a_changed_one(self):
        for name in ("one.deb", "two.tar.xz", "three.vsix", "four.whl"):
            (self.folder / name).write_text(name)
        subprocess.run([ROOT / "scripts/checksums.sh", self.folder], check=True)
        check = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
        self.assertEqual(subprocess.run(check, cwd=self.folder, capture_output=True).returncode, 0)
        self.assertEqual(len((self.folder / "SHA256SUMS").read_text().splitlines()), 4)
        (self.folder / "two.tar.xz").write_text("another")
        self.assertNotEqual(subprocess.run(check, cwd=self.folder, capture_output=True).returncode, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
