"""Files that accompany packages, and the progress of a build.

Commit and date in programs and archives, bills of materials, release notes, files for package
managers. Works in temporary folders, without packages.
"""
import hashlib
import importlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
components, release, sbom, build_progress = (importlib.import_module(name) for name in ("components", "release", "sbom", "build_progress"))


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="warpwright-release-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.folder, "-c", "user.name=Tester", "-c", "user.email=tester@localhost", *arguments],
                              capture_output=True, text=True, check=True).stdout.strip()

    def repository(self, *paths):
        """A repository with these files of the tree, committed."""
        for path in paths:
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, self.folder / path)
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "All")


class Commit(Folder):
    def commit_of(self, source):
        """The commit and the date that a build of `source` has in its programs."""
        output = self.folder / "build/commit.cpp"
        subprocess.run(["cmake", "-D", f"SOURCE={source}", "-D", f"OUTPUT={output}", "-P", ROOT / "cmake/commit.cmake"], check=True)
        self.stamp = output.stat().st_mtime_ns
        return re.search(r'kCommit\[\] = "(.*)", kCommitDate\[\] = "(.*)";', output.read_text()).groups()

    def test_of_a_checkout_it_is_that_of_git_and_changes_are_named(self):
        self.repository("support/build/commit.txt", ".gitattributes")
        expected = self.git("rev-parse", "--short=12", "HEAD"), self.git("log", "-1", "--format=%cs")
        self.assertEqual(self.commit_of(self.folder), expected)
        first = self.stamp
        self.assertEqual(self.commit_of(self.folder), expected)
        self.assertEqual(self.stamp, first)  # the file is as it was, so nothing is compiled anew
        (self.folder / ".gitattributes").write_text("")
        self.assertEqual(self.commit_of(self.folder), (expected[0] + "-dirty", expected[1]))

    def test_an_archive_of_the_sources_knows_its_commit(self):
        self.repository("support/build/commit.txt", ".gitattributes")
        unpacked = self.folder / "unpacked"
        unpacked.mkdir()
        archive = subprocess.run(["git", "-C", self.folder, "archive", "HEAD"], capture_output=True, check=True).stdout
        subprocess.run(["tar", "-C", unpacked, "-x"], input=archive, check=True)
        self.assertEqual(self.commit_of(unpacked), (self.git("rev-parse", "HEAD")[:12], self.git("log", "-1", "--format=%cs")))

    def test_sources_without_either_have_no_commit(self):
        plain = self.folder / "plain"
        (plain / "support/build").mkdir(parents=True)
        shutil.copyfile(ROOT / "support/build/commit.txt", plain / "support/build/commit.txt")
        self.assertEqual(self.commit_of(plain), ("unknown commit", ""))


class BillOfMaterials(Folder):
    PARTS = [components.Component("libseccomp", "2.5", "LGPL-2.1-only", "pkg:deb/debian/libseccomp-dev@2.5", {}, "warpwright-runner"),
             components.Component("zlib", "1:1.2+dfsg", "Zlib", "pkg:deb/debian/zlib1g-dev@1:1.2%2Bdfsg", {}, "warpwright")]

    def check_document(self, document):
        """The rules of SPDX 2.3 that a reader depends on: required fields, unique identifiers, no loose ends."""
        self.assertEqual((document["spdxVersion"], document["dataLicense"], document["SPDXID"]), ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"))
        self.assertRegex(document["creationInfo"]["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        for creator in document["creationInfo"]["creators"]:
            self.assertRegex(creator, r"^(Organization|Tool): \S")
        self.assertRegex(document["documentNamespace"], r"^[a-z]+:[^#]+$")
        names = [package["SPDXID"] for package in document["packages"]]
        self.assertEqual(len(names), len(set(names)))
        for package in document["packages"]:
            self.assertRegex(package["SPDXID"], r"^SPDXRef-[A-Za-z0-9.-]+$")
            for field in ("name", "versionInfo", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"):
                self.assertTrue(package[field], field)
            self.assertIs(package["filesAnalyzed"], False)
        for relation in document["relationships"]:
            self.assertIn(relation["relationshipType"], ("DESCRIBES", "CONTAINS"))
            self.assertLessEqual({relation["spdxElementId"], relation["relatedSpdxElement"]}, {"SPDXRef-DOCUMENT", *names})

    def test_a_release_names_each_file_with_its_sum_and_what_is_inside(self):
        sbom.write_contents(self.PARTS, self.folder / "sbom.spdx.json")
        self.check_document(json.loads((self.folder / "sbom.spdx.json").read_text()))
        for name, inside in {"warpwright-1.whl": ["x/sbom.spdx.json"], "warpwright.vsix": ["a/sbom.spdx.json", "b/sbom.spdx.json"]}.items():
            with zipfile.ZipFile(self.folder / name, "w") as archive:
                for path in inside:
                    archive.write(self.folder / "sbom.spdx.json", path)
        sbom.write_release(self.folder, self.folder / "all.spdx.json")
        document = json.loads((self.folder / "all.spdx.json").read_text())
        self.check_document(document)
        by_name = {package["name"]: package for package in document["packages"]}
        self.assertEqual(set(by_name), {"warpwright-1.whl", "warpwright.vsix", "libseccomp", "zlib"})
        self.assertEqual(by_name["warpwright.vsix"]["checksums"][0]["checksumValue"],
                         hashlib.sha256((self.folder / "warpwright.vsix").read_bytes()).hexdigest())
        self.assertEqual(by_name["libseccomp"]["licenseDeclared"], "LGPL-2.1-only")
        inside = {(relation["spdxElementId"], relation["relatedSpdxElement"]) for relation in document["relationships"]}
        self.assertIn((by_name["warpwright-1.whl"]["SPDXID"], by_name["zlib"]["SPDXID"]), inside)

    def test_equal_contents_have_equal_names(self):
        names = []
        for parts in (self.PARTS, self.PARTS, self.PARTS[:1]):
            sbom.write_contents(parts, self.folder / "one.json")
            names.append(json.loads((self.folder / "one.json").read_text())["documentNamespace"])
        self.assertEqual(names[0], names[1])
        self.assertNotEqual(names[0], names[2])


class Release(Folder):
    def at(self, root, call, *arguments):
        old, release.ROOT = release.ROOT, root
        try:
            return call(*arguments)
        finally:
            release.ROOT = old

    def test_it_is_refused_with_changes_that_are_not_committed(self):
        self.repository("VERSION", "CHANGELOG.md")
        url = "https://github.com/someone/warpwright"
        self.at(self.folder, release.check, url)
        (self.folder / "new.txt").write_text("new")
        with self.assertRaisesRegex(SystemExit, "new.txt"):
            self.at(self.folder, release.check, url)

    def test_it_is_refused_without_a_place_or_a_description(self):
        for place in ("", "https://example.invalid/a/b", "https://github.com/someone"):
            with self.assertRaisesRegex(SystemExit, "URL of the repository"):
                release.owner_of(place)
        self.repository("VERSION", "CHANGELOG.md")
        (self.folder / "VERSION").write_text("99.0.0\n")
        self.git("commit", "--quiet", "--all", "--message", "Version")
        with self.assertRaisesRegex(SystemExit, 'no section "## 99.0.0"'):
            self.at(self.folder, release.check, "https://github.com/someone/warpwright")

    def test_it_is_refused_with_programs_of_another_commit(self):
        archive = self.folder / "warpwright-1.2.0-linux-arm64.tar.xz"
        program = self.folder / archive.name.removesuffix(".tar.xz") / "lib/warpwright/warpwright"
        program.parent.mkdir(parents=True)
        for commit, refused in (("0123456789ab", False), ("ba9876543210", True), ("0123456789ab-dirty", True)):
            program.write_bytes(b"\x7fELF " + commit.encode() + b"\0 text")
            subprocess.run(["tar", "-C", self.folder, "-cJf", archive, program.parents[2].name], check=True)
            if refused:
                with self.assertRaisesRegex(SystemExit, "is not of the commit 0123456789ab"):
                    release.check_commit(archive, "0123456789ab")
            else:
                release.check_commit(archive, "0123456789ab")

    def test_notes_are_the_section_of_the_version(self):
        text = "# Changes\n\n## 1.2.0\n\nNew.\n\n## 1.1.0\n\nOld.\n\n## 1.0.0\n"
        self.assertEqual(release.changes(text, "1.2.0"), "New.")
        self.assertEqual(release.changes(text, "1.1.0"), "Old.")
        self.assertIsNone(release.changes(text, "1.0.0"))
        self.assertIsNone(release.changes(text, "1.2"))
        self.assertIsNone(release.changes(text, "1.20.0"))

    def test_files_for_package_managers_are_whole(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("there is no python3-yaml")
        (self.folder / "VERSION").write_text("1.2.0\n")
        values = {"VERSION": "1.2.0", "REPOSITORY": "https://github.com/someone/warpwright", "OWNER": "someone/warpwright", "SUMMARY": "Faster",
                  "LICENSE": "Apache-2.0 WITH LLVM-exception", "GLIBC": "2.28"}
        values |= self.at(self.folder, release.archive_values, {f"warpwright-1.2.0-linux-{system}.tar.xz": digit * 64
                                                                for system, digit in (("x86_64", "0"), ("arm64", "1"))})
        texts = {name: release.filled((ROOT / "packaging/templates" / name).read_text(), values) for name in release.TEMPLATES}
        mason, conda = yaml.safe_load(texts["mason.yaml"]), yaml.safe_load(texts["conda.yaml"])
        self.assertEqual(mason["source"]["id"], "pkg:github/someone/warpwright@v1.2.0")
        assets = {asset["target"]: asset["bin"] for asset in mason["source"]["asset"]}
        self.assertEqual(assets, {"linux_x64_gnu": "warpwright-1.2.0-linux-x86_64/bin/warpwright",
                                  "linux_arm64_gnu": "warpwright-1.2.0-linux-arm64/bin/warpwright"})
        self.assertEqual([conda["source"][0][branch]["sha256"] for branch in ("then", "else")], ["1" * 64, "0" * 64])
        self.assertEqual(conda["requirements"]["run"], ["__glibc >=2.28"])
        self.assertIn("cmd = { 'warpwright', 'lsp' }", texts["lspconfig.lua"])


class Progress(Folder):
    def test_the_line_has_steps_time_and_rest(self):
        self.assertEqual(build_progress.progress("building", 5, 575, 3), "building: 5 of 575, 3 s")
        self.assertEqual(build_progress.progress("building", 311, 575, 240), "building: 311 of 575, 4 min, about 3 min left")
        self.assertEqual(build_progress.progress("building", 575, 575, 500), "building: 575 of 575, 8 min")

    def run_with(self, script):
        tool = self.folder / "tool.sh"
        tool.write_text(script)
        return subprocess.run([sys.executable, ROOT / "scripts/build_progress.py", "building", "--", "bash", tool], capture_output=True, text=True)

    def test_warnings_and_failures_are_passed_on_and_steps_are_not(self):
        step = 'echo "${NINJA_STATUS//%[ft]/7}compiling a.cpp"\n'
        good = self.run_with(step + "echo 'a.cpp:1: warning: odd'\n")
        self.assertEqual(good.returncode, 0)
        self.assertIn("a.cpp:1: warning: odd\n", good.stdout)
        self.assertNotIn("compiling", good.stdout)
        self.assertIn("building: 7 of 7", good.stdout)
        bad = self.run_with(step + "echo 'FAILED: a.o'\nexit 3\n")
        self.assertEqual(bad.returncode, 3)
        self.assertIn("FAILED: a.o\nbuilding: failed", bad.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
