"""Facts of an ELF file that decide on which machines it starts, read with objdump."""
import re

from components import output_of

# Libraries of glibc: present on each machine with it. Others may be absent.
GLIBC_LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"}


def is_elf(path):
    if not path.is_file() or path.is_symlink():
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


class Elf:
    """
    needed   names of the shared libraries that it loads
    glibc    the newest version of glibc that it asks for, (2, 28); (0,) if it asks for none
    runpath  folders in which it looks for libraries first, or None
    """

    def __init__(self, path):
        text = output_of("objdump", "-p", path)
        self.needed = set(re.findall(r"NEEDED\s+(\S+)", text))
        self.glibc = max([(0,), *(tuple(map(int, version.split("."))) for version in re.findall(r"\bGLIBC_([0-9.]+)", text))])
        found = re.search(r"\bR(?:UN)?PATH\s+(\S+)", text)
        self.runpath = found and found[1]
