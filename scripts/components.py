"""Software of others inside the packages, as found in a finished build.

For notices.py, sbom.py and wheel.py. The archives come from the link commands and the headers from
the compiler's dependency log, both of which ninja keeps, and dpkg knows which package each file
belongs to: this machine's, or that of the packages that a cross build uses (scripts/sysroot.py).
packaging/components.toml has the name and the license of each package. A package that
it lacks is an error, so that each shipped package is named.
"""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHIPPED = ("bin/warpwright", "bin/warpwright-runner", "bin/warpwright-worker-cpu", "bin/warpwright-kernelbench",
           "bin/warpwright-collect", "bin/libwarpwright-capture.so", "bin/torch/libwarpwright-worker.so")
TABLE = tomllib.loads((ROOT / "packaging/components.toml").read_text())
KNOWN = TABLE["components"]
PROJECT = tomllib.loads((ROOT / "packaging/project.toml").read_text())


@dataclasses.dataclass
class Component:
    name: str
    version: str
    license: str  # an SPDX expression
    purl: str     # a package URL, which identifies it
    texts: dict   # license texts: file name in a package -> text
    where: str    # the files that it is in


def fail(text):
    sys.exit(f"{pathlib.Path(sys.argv[0]).stem}: {text}")


def output_of(*command):
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        fail(f"`{' '.join(map(str, command))}` failed: {run.stderr.strip()}")
    return run.stdout


def optional_value(build, name, default):
    """A value in the cache of a CMake build, or the default if it is absent or empty."""
    found = re.search(rf"(?m)^{name}:\w+=(.+)$", (build / "CMakeCache.txt").read_text())
    return found[1] if found else default


def cached_value(build, name):
    """A value in the cache of a CMake build; its absence is an error."""
    return optional_value(build, name, None) or fail(f"{build} is no build folder of CMake with {name}")


def source_of(build):
    """The folder that the build is of."""
    return pathlib.Path(cached_value(build, "CMAKE_HOME_DIRECTORY"))


def system_root(build):
    """The folder with Debian's packages that the build uses: of this machine, or of a cross build."""
    return pathlib.Path(os.path.realpath(optional_value(build, "WARPWRIGHT_SYSROOT", "/")))


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
        elif wanted:
            headers.add(os.path.normpath(build / line.strip()))
    if not headers:
        fail(f"{build} is no finished build: make build")
    inside, others = (str(source_of(build)) + "/", str(build) + "/"), str(system_root(build) / "usr") + "/"
    return {header for header in headers if header.startswith(others) or not header.startswith(inside)}


def packages_of(files, root=pathlib.Path("/")):
    """Debian package by file; `root` has the packages, except those of the compiler itself, with its own headers.

    A file of no package is an error: its license would be unknown.
    """
    named = {}  # files by each of their paths: one may be reached through several links
    for file in files:
        for path in {file, os.path.realpath(file)}:
            named.setdefault(path, []).append(file)
    owners = {}
    for place in {root, pathlib.Path("/")}:
        for listing in (place / "var/lib/dpkg/info").glob("*.list"):
            package = listing.name.removesuffix(".list").split(":")[0]
            for line in listing.read_text().splitlines():
                for file in named.get(str(place / line.lstrip("/")), ()):
                    owners[file] = package
    lost = sorted(file for file in files if file not in owners)
    if lost:
        fail(f"{lost[0]} is linked in or included, and of no Debian package: its license is unknown "
             f"({len(lost)} files). Use Debian's package of it, or teach scripts/components.py its license")
    return owners


def shipped_packages(build, programs):
    """Programs by the Debian package that is in them."""
    targets = [target for target in programs if (build / target).exists()]
    if not targets:
        fail(f"{build} has no programs: make build")
    archives = {target: set(linked_archives(build, target)) for target in targets}
    headers = included_headers(build, targets)
    owners = packages_of(set().union(headers, *archives.values()), system_root(build))
    used = {package: set(targets) for package, known in KNOWN.items() if known.get("always")}
    for target in targets:
        for archive in archives[target]:
            used.setdefault(owners[archive], set()).add(target)
    for header in headers:  # which program has which header is not told apart
        used.setdefault(owners[header], set(targets))
    for package in TABLE["not-shipped"]["packages"]:
        used.pop(package, None)
    unknown = sorted(package for package in used if package not in KNOWN)
    if unknown:
        example = next(file for file, package in owners.items() if package == unknown[0])
        fail(f"{unknown[0]} is in the programs ({example}), and packaging/components.toml does not know its license: add it there")
    return used


def version_of(package, root):
    return output_of("dpkg-query", f"--admindir={root / 'var/lib/dpkg'}", "-W", "-f=${Version}", package)


def copyright_texts(packages, root):
    """Debian's copyright files, with the common licenses that they refer to, by their names in a package."""
    texts = {}
    for package in packages:
        source = root / f"usr/share/doc/{package}/copyright"
        if not source.exists():
            fail(f"{source} is missing: scripts/install-deps.sh installs {package}")
        texts[f"{package}.txt"] = text = source.read_text(errors="replace")
        for name in re.findall(r"/usr/share/common-licenses/([A-Za-z]+-[0-9.]*[0-9])", text):
            common = pathlib.Path("/usr/share/common-licenses") / name
            if common.exists():
                texts[name] = common.read_text(errors="replace")
    return texts


def debian_component(package, programs, root):
    known, version = KNOWN[package], version_of(package, root)
    where = ", ".join(sorted(target.removeprefix("bin/") for target in programs))
    return Component(known["name"], version, known["license"], f"pkg:deb/debian/{package}@{version.replace('+', '%2B')}",
                     copyright_texts([package, *known.get("inside", ())], root), where)


def grammar_component(build):
    """tree-sitter's grammar of Python, or None if the build does not have it."""
    folder = next(iter(sorted((source_of(build) / "build/dependencies").glob("tree-sitter-python-*"))), None)
    if not folder:
        return None
    known, version = TABLE["tree-sitter-python"], folder.name.rsplit("-", 1)[1]
    return Component(known["name"], version, known["license"], f"pkg:npm/{known['name']}@{version}",
                     {f"{known['name']}.txt": (folder / "LICENSE").read_text()}, "the programs with tree-sitter")


def program_components(build, programs=SHIPPED):
    """What the programs of a finished build link in; `programs` are paths in the build."""
    used = shipped_packages(build, programs)
    found = [debian_component(package, targets, system_root(build)) for package, targets in used.items()]
    if "libtree-sitter-dev" in used and (grammar := grammar_component(build)):
        found.append(grammar)
    return sorted(found, key=lambda component: component.name.lower())


def bundled_components(meta, folder):
    """The npm packages that esbuild bundled into an extension; `meta` is its metafile, relative to `folder`."""
    places = set()
    for output in json.loads(meta.read_text())["outputs"].values():
        for source in output["inputs"]:
            if "node_modules/" in source:
                before, _, inside = source.rpartition("node_modules/")
                depth = 2 if inside.startswith("@") else 1
                places.add(f"{before}node_modules/" + "/".join(inside.split("/")[:depth]))
    if not places:
        fail(f"{meta} names no bundled package: was it written by esbuild --metafile?")
    return sorted((npm_component(folder / place) for place in sorted(places)), key=lambda component: (component.name, component.version))


def npm_component(place):
    package = json.loads((place / "package.json").read_text())
    texts = sorted(path for path in place.iterdir() if re.match(r"(licen[cs]e|copying|thirdparty)", path.name, re.I))
    if not texts or "license" not in package:
        fail(f"{place} names no license, or brings no text of it; it cannot be shipped")
    name, version = package["name"], package["version"]
    return Component(name, version, package["license"], f"pkg:npm/{name.replace('@', '%40')}@{version}",
                     {name.replace("/", "__") + ".txt": "\n".join(text.read_text(errors="replace") for text in texts)}, "out/extension.js")
