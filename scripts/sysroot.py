#!/usr/bin/env python3
"""Makes the folder with libraries and headers of another architecture, for a cross build.

usage: scripts/sysroot.py ARCHITECTURE FOLDER

ARCHITECTURE is Debian's name, arm64. FOLDER/root gets the unpacked Debian packages that
packaging/components.toml names, from the archives that this machine uses. Works without root, and
installs nothing. Does nothing if FOLDER has them; remove it to fetch newer versions. 100 MB are
fetched, and 1 GB unpacked.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from components import KNOWN, TABLE, fail  # noqa: E402
from debian_packages import Unavailable, fetch_root  # noqa: E402

# Shared libraries that Clang's default link names, the glibc that the stubs are made from
# (glibc_stubs.py), and the folder of GCC's copyright files.
RUNTIME = ("libc6", "libgcc-s1", "libstdc++6", "gcc-12-base")


def packages():
    """What programs link and include, the texts of their licenses, and the C library."""
    inside = {name for known in KNOWN.values() for name in known.get("inside", ())}
    return sorted({*KNOWN, *inside, *TABLE["not-shipped"]["packages"], *RUNTIME})


def main(architecture, folder):
    try:
        print(fetch_root(packages(), architecture, folder))
    except Unavailable as why:
        fail(why)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve())
