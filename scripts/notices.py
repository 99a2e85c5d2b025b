#!/usr/bin/env python3
"""Writes the licenses that a package of Warpwright must carry: our own and those of the software that is shipped inside it.

usage: scripts/notices.py programs BUILD_DIR OUT_DIR [PROGRAM...]  what the programs of a finished build link in
       scripts/notices.py extension META.json FOLDER OUT_DIR       what esbuild bundled into the VS Code extension in FOLDER

PROGRAMs are paths in BUILD_DIR; by default those of the .deb.

OUT_DIR gets LICENSE, NOTICE, THIRD_PARTY.txt (a list with versions and licenses) and licenses/ (the texts).

Nothing is listed by hand: the archives come from the link commands and the headers from the compiler's dependency log, both of which
ninja keeps; dpkg says which package each file belongs to, and the text is that package's own copyright file. The table below holds
only the name and the license of each package. A package that the table lacks is an error, so that nothing is shipped unnamed.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHIPPED = ("bin/warpwright", "bin/warpwright-runner", "bin/warpwright-worker-cpu", "bin/warpwright-kernelbench",
           "bin/warpwright-collect", "bin/libwarpwright-capture.so", "bin/torch/libwarpwright-worker.so")
# By Debian package, without the version in a library's name: what it is called, its license as an SPDX expression.
KNOWN = {
    "libclang-22-dev": ("Clang", "Apache-2.0 WITH LLVM-exception"),
    "libclang-common-22-dev": ("Clang's headers", "Apache-2.0 WITH LLVM-exception AND MIT"),
    "llvm-22-dev": ("LLVM, with xxHash", "Apache-2.0 WITH LLVM-exception AND BSD-2-Clause AND BSD-3-Clause"),
    "libpolly-22-dev": ("Polly, with isl", "Apache-2.0 WITH LLVM-exception AND MIT"),
    "libboost1.81-dev": ("Boost", "BSL-1.0"),
    "libboost-context1.81-dev": ("Boost.Context", "BSL-1.0"),
    "libssl-dev": ("OpenSSL", "Apache-2.0"),
    "libsqlite3-dev": ("SQLite", "blessing"),
    "libsqlitecpp-dev": ("SQLiteCpp", "MIT"),
    "nlohmann-json3-dev": ("JSON for Modern C++", "MIT"),
    "libcli11-dev": ("CLI11", "BSD-3-Clause"),
    "libtomlplusplus-dev": ("toml++", "MIT"),
    "libvalijson-dev": ("Valijson", "BSD-2-Clause"),
    "libseccomp-dev": ("libseccomp", "LGPL-2.1-only"),
    "librabbitmq-dev": ("rabbitmq-c", "MIT"),
    "libtree-sitter-dev": ("tree-sitter", "MIT"),
    "libzstd-dev": ("Zstandard", "BSD-3-Clause"),
    "zlib1g-dev": ("zlib", "Zlib"),
    "libstdc++-12-dev": ("GCC's C++ library", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    "libgcc-12-dev": ("GCC's runtime library", "GPL-3.0-or-later WITH GCC-exception-3.1"),
}
RUNTIME = ("libstdc++-12-dev", "libgcc-12-dev")  # by -static-libstdc++ and -static-libgcc, which name no archive
SYSTEM = ("libc6-dev", "linux-libc-dev")         # the C library and the kernel's headers: neither is shipped
# Sources inside a package that its copyright file does not name, by the package whose copyright file does.
INSIDE = {"libpolly-22-dev": ["libisl23"], "llvm-22-dev": ["libxxhash0"]}
LGPL = """libseccomp is under the GNU Lesser General Public License, version 2.1, and is linked in statically. So that you can change
it and link these programs again: they are built from the source of Warpwright, which is offered at the place this package is from as
warpwright-VERSION-source.tar.xz, by `make build`, against any libseccomp.a that is installed. The source of libseccomp is Debian's
source package libseccomp {version}. For three years from the day you received this package the Warpwright maintainers
give anyone who asks the source of both, for no more than the cost of doing so. You may change these programs for your own use and
reverse engineer them to debug such changes."""


def fail(text):
    sys.exit(f"{pathlib.Path(sys.argv[0]).stem}: {text}")


def output_of(*command):
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        fail(f"`{' '.join(map(str, command))}` failed: {run.stderr.strip()}")
    return run.stdout


def cached_value(build, name):
    """A value in the cache of a CMake build."""
    found = re.search(rf"(?m)^{name}:\w+=(.+)$", (build / "CMakeCache.txt").read_text())
    return found[1] if found else fail(f"{build} is no build folder of CMake")


def source_of(build):
    """The folder that the build is of."""
    return pathlib.Path(cached_value(build, "CMAKE_HOME_DIRECTORY"))


def linked_archives(build, target):
    """Paths of the archives on a program's link line that are not of this build."""
    words = output_of("ninja", "-C", build, "-t", "commands", "-s", target).split()
    folders = [word[2:] for word in words if word.startswith("-L")]
    for word in words:
        if word.startswith("/") and word.endswith(".a"):
            yield word
        elif word.startswith("-l"):
            found = [path for folder in folders if os.path.exists(path := f"{folder}/lib{word[2:]}.a")]
            if found:  # else of the C library: -ldl, -lm
                yield found[0]


def included_headers(build, targets):
    """Headers outside of the source and the build that the objects of `targets` were compiled with."""
    objects = set()
    for target in targets:
        objects.update(re.findall(r" -o (\S+\.o)\b", output_of("ninja", "-C", build, "-t", "commands", target)))
    headers, wanted = set(), False
    for line in output_of("ninja", "-C", build, "-t", "deps").splitlines():
        if not line.startswith(" "):
            wanted = line.split(":")[0] in objects
        elif wanted and line.strip().startswith("/"):
            headers.add(line.strip())
    if not headers:
        fail(f"{build} is no finished build: make build")
    inside = (str(source_of(build)) + "/", str(build) + "/")
    return {header for header in headers if not header.startswith(inside)}


def packages_of(files):
    """Debian package by file. A file of no package is an error: its license would be unknown."""
    real = {os.path.realpath(file): file for file in files}
    wanted, owners = {**real, **{file: file for file in files}}, {}
    for listing in pathlib.Path("/var/lib/dpkg/info").glob("*.list"):
        package = listing.name.removesuffix(".list").split(":")[0]
        for line in listing.read_text().splitlines():
            if line in wanted:
                owners[wanted[line]] = package
    lost = sorted(file for file in files if file not in owners)
    if lost:
        fail(f"{lost[0]} is linked in or included, and of no Debian package: its license is unknown "
             f"({len(lost)} files). Use Debian's package of it, or teach scripts/notices.py its license")
    return owners


def shipped_packages(build, programs):
    """Programs by the Debian package that is in them."""
    targets = [target for target in programs if (build / target).exists()]
    if not targets:
        fail(f"{build} has no programs: make build")
    archives = {target: set(linked_archives(build, target)) for target in targets}
    headers = included_headers(build, targets)
    owners = packages_of(set().union(headers, *archives.values()))
    used = {package: set(targets) for package in RUNTIME}
    for target in targets:
        for archive in archives[target]:
            used.setdefault(owners[archive], set()).add(target)
    for header in headers:  # which program has which header is not told apart
        used.setdefault(owners[header], set(targets))
    for package in SYSTEM:
        used.pop(package, None)
    unknown = sorted(package for package in used if package not in KNOWN)
    if unknown:
        example = next(file for file, package in owners.items() if package == unknown[0])
        fail(f"{unknown[0]} is in the programs ({example}), and scripts/notices.py does not know its license: add it there")
    return used


def copy_copyright(package, licenses):
    source = pathlib.Path(f"/usr/share/doc/{package}/copyright")
    if not source.exists():
        fail(f"{source} is missing: scripts/install-deps.sh installs {package}")
    text = source.read_text(errors="replace")
    (licenses / f"{package}.txt").write_text(text)
    for name in re.findall(r"/usr/share/common-licenses/([A-Za-z]+-[0-9.]*[0-9])", text):
        common = pathlib.Path("/usr/share/common-licenses") / name
        if common.exists():
            shutil.copyfile(common, licenses / name)


def version_of(package):
    return output_of("dpkg-query", "-W", "-f=${Version}", package)


def start(out):
    licenses = out / "licenses"
    shutil.rmtree(licenses, ignore_errors=True)
    licenses.mkdir(parents=True)
    for name in ("LICENSE", "NOTICE"):
        shutil.copyfile(ROOT / name, out / name)
    return licenses


def listed(name, version, license_, text, where):
    return f"{name} {version}\n  license: {license_}\n  text: {text}\n  in: {where}\n"


def write_programs(build, out, programs):
    used = shipped_packages(build, programs)
    licenses = start(out)
    parts = ["Software of others in the programs of Warpwright. Versions are those of Debian's packages.\n"]
    for package in sorted(used, key=lambda package: KNOWN[package][0].lower()):
        name, license_ = KNOWN[package]
        copy_copyright(package, licenses)
        for inner in INSIDE.get(package, ()):
            copy_copyright(inner, licenses)
        texts = ", ".join(f"licenses/{one}.txt" for one in [package, *INSIDE.get(package, ())])
        where = ", ".join(sorted(target.removeprefix("bin/") for target in used[package]))
        parts.append(listed(name, version_of(package), license_, texts, where))
    grammar = next(iter(sorted((source_of(build) / "build/dependencies").glob("tree-sitter-python-*"))), None)
    if grammar and any("libtree-sitter-dev" == package for package in used):
        shutil.copyfile(grammar / "LICENSE", licenses / "tree-sitter-python.txt")
        parts.append(listed("tree-sitter-python", grammar.name.rsplit("-", 1)[1], "MIT", "licenses/tree-sitter-python.txt",
                            "the programs with tree-sitter"))
    if "libseccomp-dev" in used:
        parts.append(LGPL.format(version=version_of("libseccomp-dev")) + "\n")
    (out / "THIRD_PARTY.txt").write_text("\n".join(parts))


def write_extension(meta, folder, out):
    bundled = set()
    for output in json.loads(meta.read_text())["outputs"].values():
        for source in output["inputs"]:
            if "node_modules/" in source:
                before, _, inside = source.rpartition("node_modules/")
                depth = 2 if inside.startswith("@") else 1
                bundled.add(f"{before}node_modules/" + "/".join(inside.split("/")[:depth]))
    if not bundled:
        fail(f"{meta} names no bundled package: was it written by esbuild --metafile?")
    licenses = start(out)
    parts = ["Software of others in the extension: npm packages, bundled into out/extension.js.\n"]
    for place in sorted(bundled):
        package = json.loads((folder / place / "package.json").read_text())
        texts = sorted(path for path in (folder / place).iterdir() if re.match(r"(licen[cs]e|copying|thirdparty)", path.name, re.I))
        if not texts or "license" not in package:
            fail(f"{place} names no license, or brings no text of it; it cannot be shipped")
        target = licenses / (package["name"].replace("/", "__") + ".txt")
        old = target.read_text() if target.exists() else ""  # two versions of one package
        added = "\n".join(text.read_text(errors="replace") for text in texts)
        target.write_text(old if added in old else old + added)
        parts.append(listed(package["name"], package["version"], package["license"], f"licenses/{target.name}", "out/extension.js"))
    (out / "THIRD_PARTY.txt").write_text("\n".join(parts[:1] + sorted(parts[1:])))


def main(arguments):
    if len(arguments) >= 3 and arguments[0] == "programs":
        write_programs(pathlib.Path(arguments[1]).resolve(), pathlib.Path(arguments[2]), arguments[3:] or SHIPPED)
    elif len(arguments) == 4 and arguments[0] == "extension":
        write_extension(*map(pathlib.Path, arguments[1:]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
