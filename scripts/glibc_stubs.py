#!/usr/bin/env python3
"""Writes stub libraries of an older glibc, for the linker, from the glibc that is installed.

usage: scripts/glibc_stubs.py [--compiler CLANG] [--target TRIPLE --sysroot ROOT] VERSION FOLDER

glibc keeps its old symbol versions, so the installed one shows those of an older one: each symbol
gets its newest version up to VERSION. A symbol without such a version is absent, so that a link
that needs it fails by its name. A program linked with -L FOLDER asks for no newer version. The
stubs hold no code; at run time the machine's own libraries are loaded. TRIPLE and ROOT are those of
a cross build; ROOT has the glibc of the other architecture.

FOLDER gets libc.so, libm.so, libpthread.so, libdl.so, librt.so and the loader. Needs Clang, LLD and
readelf.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

Symbol = collections.namedtuple("Symbol", "name version kind address size")
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
EMPTY = {"libpthread.so": "libpthread.so.0", "libdl.so": "libdl.so.2", "librt.so": "librt.so.1"}  # since 2.34 parts of libc


def output_of(*command):
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"glibc_stubs: `{' '.join(map(str, command))}` failed: {run.stderr.strip()}")
    return run.stdout


def numbers(version):
    return tuple(map(int, version.split(".")))


def symbols_of(library):
    """Dynamic symbols with a numbered version of glibc, all versions of each."""
    for line in output_of("readelf", "--dyn-syms", "-W", library).splitlines():
        words = line.split()
        if len(words) < 8 or words[6] == "UND":
            continue
        found = re.fullmatch(r"(\w+)@@?GLIBC_([0-9.]+)", words[7])
        if found and words[3] in ("FUNC", "IFUNC", "OBJECT", "TLS"):
            yield Symbol(found[1], found[2], words[3], words[1], int(words[2], 0))


def newest_up_to(floor, library):
    best = {}
    for symbol in symbols_of(library):
        if numbers(symbol.version) <= floor and (symbol.name not in best or numbers(best[symbol.name].version) < numbers(symbol.version)):
            best[symbol.name] = symbol
    return sorted(best.values())


def definition(labels, symbol):
    """Assembly of one place with all its labels. Names of one variable must share it: the linker copies it for all of them."""
    section = {"OBJECT": ".data", "TLS": '.section .tbss,"awT",@nobits'}.get(symbol.kind, ".text")
    kind = {"OBJECT": "object", "TLS": "tls_object"}.get(symbol.kind, "function")
    lines = [section, ".balign 32"]
    for label in labels:
        lines += [f".globl {label}", f".type {label}, @{kind}", f".size {label}, {symbol.size}", f"{label}:"]
    return [*lines, f".zero {max(symbol.size if kind != 'function' else 1, 1)}"]


def assembly(symbols):
    lines = ['.section .note.GNU-stack,"",@progbits']
    places = collections.defaultdict(list)
    for number, symbol in enumerate(symbols):
        places[symbol.kind, symbol.address].append((f"stub{number}", symbol))
    for place in places.values():
        lines += definition([label for label, _ in place], max((symbol for _, symbol in place), key=lambda symbol: symbol.size))
        lines += [f".symver {label}, {symbol.name}@@GLIBC_{symbol.version}, remove" for label, symbol in place]
    return "\n".join(lines) + "\n"


def write_stub(compiler, path, soname, symbols):
    versions = sorted({symbol.version for symbol in symbols}, key=numbers)
    with tempfile.TemporaryDirectory() as work:
        source, script = pathlib.Path(work, "stub.s"), pathlib.Path(work, "versions.map")
        source.write_text(assembly(symbols))
        script.write_text("".join(f"GLIBC_{version} {{}};\n" for version in versions))
        named = [f"-Wl,--version-script={script}"] if versions else []
        output_of(*compiler, "-shared", "-nostdlib", "-fuse-ld=lld", f"-Wl,-soname,{soname}", *named, "-o", path, source)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", default="clang-22")
    parser.add_argument("--target")
    parser.add_argument("--sysroot")
    parser.add_argument("version", type=numbers)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    compiler = [arguments.compiler, *([f"--target={arguments.target}", f"--sysroot={arguments.sysroot}"] if arguments.target else [])]

    def installed(name):
        return output_of(*compiler, f"-print-file-name={name}").strip()

    def write(name, soname, symbols=()):
        write_stub(compiler, folder / name, soname, symbols)

    loader = LOADERS[output_of(*compiler, "-dumpmachine").split("-")[0]]
    for name, soname in EMPTY.items():
        write(name, soname)
    write("libm.so", "libm.so.6", newest_up_to(arguments.version, installed("libm.so.6")))
    for name in ("libc.so.6", loader):
        write(name, name, newest_up_to(arguments.version, installed(name)))
    # Some functions are only in the C library's archive, as in the linker script of the installed one. Written last: all is there.
    (folder / "libc.so").write_text(f"GROUP ( {folder}/libc.so.6 {installed('libc_nonshared.a')} AS_NEEDED ( {folder}/{loader} ) )\n")


if __name__ == "__main__":
    main()
