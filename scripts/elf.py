"""Facts of an ELF file that decide on which machines it starts, read with readelf."""
import re

from components import output_of

# Libraries of glibc: present on each machine with it. Others may be absent.
GLIBC_LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2",
                   "ld-linux-aarch64.so.1"}
MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "arm64"}


def is_elf(path):
    if not path.is_file() or path.is_symlink():
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


class Elf:
    """
    machine  "x86_64", "arm64", or readelf's name of another
    needed   names of the shared libraries that it loads
    glibc    the newest version of glibc that it asks for, (2, 28); (0,) if it asks for none
    runpath  folders in which it looks for libraries first, or None
    """

    def __init__(self, path):
        text = output_of("readelf", "-W", "--file-header", "--dynamic", "--version-info", path)
        machine = re.search(r"(?m)^ *Machine: +(.*)$", text)[1]
        self.machine = MACHINES.get(machine, machine)
        self.needed = set(re.findall(r"\(NEEDED\)\s+Shared library: \[(\S+)\]", text))
        self.glibc = max([(0,), *(tuple(map(int, version.split("."))) for version in re.findall(r"\bGLIBC_([0-9.]+)", text))])
        found = re.search(r"\(R(?:UN)?PATH\)\s+Library (?:run|r)path: \[(\S+)\]", text)
        self.runpath = found and found[1]
