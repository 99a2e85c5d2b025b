#!/usr/bin/env python3
"""Checks that a release can be made, and writes the files that accompany its packages.

usage: scripts/release.py check [REPOSITORY]
       scripts/release.py write BUILD_DIR PACKAGES_DIR [REPOSITORY]

`make release` calls both. REPOSITORY is the URL of the repository on GitHub, where the release is
published; by default that of packaging/project.toml.

check    refuses a tree with changes that are not committed, and a version that CHANGELOG.md does
         not describe.
write    refuses missing packages of either system, and programs of another commit. It writes
         release-notes.md to PACKAGES_DIR, and to release/ there the files to send:
         mason/package.yaml for Mason's registry, nvim-lspconfig/warpwright.lua and
         conda/recipe.yaml
"""
import pathlib
import re
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from components import PROJECT, ROOT, cached_value, fail, output_of  # noqa: E402

TEMPLATES = {"mason.yaml": "mason/package.yaml", "lspconfig.lua": "nvim-lspconfig/warpwright.lua", "conda.yaml": "conda/recipe.yaml"}
ARCHIVES = {"": "warpwright-{version}-linux-x86_64.tar.xz", "ARM64_": "warpwright-{version}-linux-arm64.tar.xz"}
KINDS = (*ARCHIVES.values(), "warpwright_{version}_amd64.deb", "warpwright_{version}_arm64.deb", "warpwright-{version}-py3-none-*_x86_64.whl",
         "warpwright-{version}-py3-none-*_aarch64.whl", "warpwright.vsix", "warpwright-linux-x64.vsix", "warpwright-linux-arm64.vsix",
         "warpwright-{version}-source.tar.xz", "warpwright-{version}.spdx.json")


def version():
    return (ROOT / "VERSION").read_text().strip()


def git(*arguments):
    return output_of("git", "-C", ROOT, *arguments).strip()


def owner_of(repository):
    found = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+?)(\.git)?/?", repository)
    return found[1] if found else fail(f"a release needs the URL of the repository on GitHub where it is published, not \"{repository}\": "
                                       "make release REPOSITORY=URL, or set it in packaging/project.toml")


def changes(text, number):
    """The section of a version in the text of CHANGELOG.md, without its heading; None if there is none."""
    found = re.search(rf"(?ms)^## {re.escape(number)}(?: [^\n]*)?\n(.*?)(?=^## |\Z)", text)
    return found[1].strip() if found and found[1].strip() else None


def check(repository):
    owner_of(repository)
    changed = git("status", "--porcelain")
    if changed:
        fail("a release is made of committed sources only; commit or remove these first:\n" + changed)
    if not changes((ROOT / "CHANGELOG.md").read_text(), version()):
        fail(f"CHANGELOG.md has no section \"## {version()}\"")


def sums_of(packages):
    """SHA-256 by file name, as scripts/checksums.sh wrote them."""
    return dict(reversed(line.split(maxsplit=1)) for line in (packages / "SHA256SUMS").read_text().splitlines())


def expected_packages(packages):
    for kind in KINDS:
        found = sorted(packages.glob(kind.format(version=version())))
        if len(found) != 1:
            system = "arm64" if "arm64" in kind or "aarch64" in kind else "x86_64"
            fail(f"{packages} has {len(found)} files {kind.format(version=version())}, not one: make package ARCH={system}")
        yield found[0].name


def release_notes(sums, names):
    rows = "\n".join(f"| `{name}` | `{sums[name]}` |" for name in names)
    return (f"# Warpwright {version()}\n\n{changes((ROOT / 'CHANGELOG.md').read_text(), version())}\n\n## Files\n\n"
            f"Commit {git('rev-parse', 'HEAD')}. `sha256sum -c SHA256SUMS` checks all files.\n\n| file | SHA-256 |\n|---|---|\n{rows}\n")


def filled(template, values):
    return re.sub(r"@([A-Z][A-Z0-9_]*)@", lambda found: values[found[1]], template)


def check_commit(archive, commit):
    """Refuses an archive whose program is of another commit. Programs of another architecture cannot be asked, so their text is read."""
    with tarfile.open(archive) as packed:
        member = packed.getmember(f"{archive.name.removesuffix('.tar.xz')}/lib/warpwright/warpwright")
        if f"{commit}\0".encode() not in packed.extractfile(member).read():
            fail(f"{archive.name} is not of the commit {commit}")


def archive_values(sums):
    """Values of the templates by name: each system's archive."""
    values = {}
    for prefix, kind in ARCHIVES.items():
        name = kind.format(version=version())
        values |= {f"{prefix}ARCHIVE": name, f"{prefix}ARCHIVE_FOLDER": name.removesuffix(".tar.xz"), f"{prefix}ARCHIVE_SHA256": sums[name]}
    return values


def write(build, packages, repository):
    names, sums = list(expected_packages(packages)), sums_of(packages)
    for kind in ARCHIVES.values():
        check_commit(packages / kind.format(version=version()), git("rev-parse", "--short=12", "HEAD"))
    values = {"VERSION": version(), "REPOSITORY": repository, "OWNER": owner_of(repository), "SUMMARY": PROJECT["summary"],
              "LICENSE": PROJECT["license"], "GLIBC": cached_value(build, "WARPWRIGHT_GLIBC"), **archive_values(sums)}
    (packages / "release-notes.md").write_text(release_notes(sums, names))
    for name, place in TEMPLATES.items():
        target = packages / "release" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(filled((ROOT / "packaging/templates" / name).read_text(), values))


def main(arguments):
    def repository(position):
        return (arguments[position:] or [PROJECT["repository"]])[0].removesuffix("/").removesuffix(".git")

    if arguments[:1] == ["check"] and len(arguments) <= 2:
        check(repository(1))
    elif arguments[:1] == ["write"] and 3 <= len(arguments) <= 4:
        write(*(pathlib.Path(argument).resolve() for argument in arguments[1:3]), repository(3))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
