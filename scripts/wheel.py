#!/usr/bin/python3
"""Packs the wheel `warpwright`, for users of PyTorch, out of a finished build. Builds nothing and needs no network.

usage: scripts/wheel.py BUILD_DIR OUT_DIR

The wheel holds the Python packages `warpwright` and `warpwright_runtime`. The core library lies in
`warpwright`; the search program, the runner and the runner's Python files lie in `warpwright/bin`,
as in a build. An entry point makes "warpwright" a backend of torch.compile. Not included: the CPU
worker, 120 MB that only tests of the search use (WARPWRIGHT_CPU_WORKER names one of a build).

The platform tag is computed: the version of glibc that the build was made for, or the newest that a
program in the wheel asks for. Debian's python3-wheel writes the archive, so this runs with Debian's
Python.
"""
import pathlib
import platform
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from components import PROJECT, ROOT, cached_value, fail, optional_value, output_of  # noqa: E402
from elf import GLIBC_LIBRARIES, Elf, is_elf  # noqa: E402

PROGRAMS = ("warpwright-search", "warpwright-runner")
CORE = "libwarpwright-core.so"
METADATA = """Metadata-Version: 2.1
Name: warpwright
Version: {version}
Summary: A backend of torch.compile that replaces regions of a model by verified, faster kernels
License: {license}
Requires-Python: >=3.9
Requires-Dist: torch>=2.6
Description-Content-Type: text/markdown

{description}"""
WHEEL = """Wheel-Version: 1.0
Generator: scripts/wheel.py
Root-Is-Purelib: false
Tag: py3-none-{platform}
"""
ENTRY_POINTS = """[torch_dynamo_backends]
warpwright = warpwright.dynamo:backend
"""


def copy_parts(build, out):
    ours = build / "bin/torch"
    for path in [ours / CORE, *(build / "bin" / name for name in PROGRAMS)]:
        if not path.exists():
            fail(f"{path} is not there: make build")
    no_cache = shutil.ignore_patterns("__pycache__")
    for package in ("warpwright", "warpwright_runtime"):
        shutil.copytree(ours / package, out / package, ignore=no_cache)
    shutil.copy2(ours / CORE, out / "warpwright")
    # The runner's Python files import warpwright_runtime in any interpreter that the user names, so a copy lies beside them.
    shutil.copytree(ours, out / "warpwright/bin/torch", ignore=shutil.ignore_patterns("__pycache__", "warpwright", CORE))
    for name in PROGRAMS:
        shutil.copy2(build / "bin" / name, out / "warpwright/bin")


def platform_tag(binaries, oldest=(2, 17), machine=platform.machine()):
    """The oldest glibc from `oldest` on that has every symbol version of `binaries`, as a tag of PEP 600, which begins at 2.17."""
    newest = oldest
    for path in binaries:
        elf = Elf(path)
        others = elf.needed - GLIBC_LIBRARIES
        if others:
            fail(f"{path.name} needs {min(others)}, which the user's machine may lack: link it statically")
        newest = max(newest, elf.glibc)
    return f"manylinux_{newest[0]}_{newest[1]}_{machine}"


def main(build, out):
    version = cached_value(build, "CMAKE_PROJECT_VERSION")
    floor = tuple(map(int, optional_value(build, "WARPWRIGHT_GLIBC", "2.17").split(".")))
    machine = {"arm64": "aarch64"}.get(system := cached_value(build, "WARPWRIGHT_SYSTEM"), system)
    with tempfile.TemporaryDirectory(prefix="warpwright-wheel-") as folder:
        place = pathlib.Path(folder)
        copy_parts(build, place)
        binaries = [path for path in sorted(place.rglob("*")) if is_elf(path)]
        for path in binaries:
            output_of(cached_value(build, "CMAKE_STRIP"), path)
        information = place / f"warpwright-{version}.dist-info"
        information.mkdir()
        description = (ROOT / "docs/use/pytorch.md").read_text()
        (information / "METADATA").write_text(METADATA.format(version=version, license=PROJECT["license"], description=description))
        (information / "WHEEL").write_text(WHEEL.format(platform=platform_tag(binaries, floor, machine)))
        (information / "entry_points.txt").write_text(ENTRY_POINTS)
        shipped = [path for path in sorted((build / "bin").rglob("*")) if path.name in {one.name for one in binaries}]
        output_of(ROOT / "scripts/notices.py", "programs", build, information, *(path.relative_to(build) for path in shipped))
        out.mkdir(parents=True, exist_ok=True)
        for old in out.glob(f"warpwright-*_{machine}.whl"):
            old.unlink()
        output_of(sys.executable, "-m", "wheel", "pack", place, "--dest-dir", out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:]))
