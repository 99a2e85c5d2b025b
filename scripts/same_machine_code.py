#!/usr/bin/env python3
"""Compares the machine code of plans before and after a change of the device code.

usage: scripts/same_machine_code.py BEFORE.jsonl AFTER.jsonl [--most N] [--targets sm_80,sm_90a] [--jobs N]

The files are what `plan_hashes GRAPHS --sources` printed (tests/golden). NVRTC compiles both texts
of each row whose source changed; the code, registers and static shared memory of every kernel must
be equal. Kernels that differ are printed with their registers, bytes of code and of shared memory
before and after. With --most N, N changed rows, evenly drawn. Needs no GPU; NVRTC and a Python with
torch. The exit code is 1 where a kernel differs.
"""
import argparse
import concurrent.futures
import json
import os
import struct
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "runtime"))

from warpwright_runtime import nvrtc  # noqa: E402


def sections(cubin):
    """{name: (bytes, sh_info, size)} of an ELF file's sections."""
    table, = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + i * size) for i in range(count)]
    first = headers[names][4]

    def name_of(offset):
        return cubin[first + offset:cubin.index(b"\0", first + offset)].decode()

    no_bits = 8
    return {name_of(one[0]): (b"" if one[1] == no_bits else cubin[one[4]:one[4] + one[5]], one[7], one[5]) for one in headers}


def registers_of(found):
    """{symbol: registers}, from the attributes EIATTR_REGCOUNT (0x2f) of the section .nv.info."""
    symbols, strings, info = found[".symtab"][0], found[".strtab"][0], found[".nv.info"][0]
    registers, at = {}, 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        if (form, attribute) == (4, 0x2F):
            symbol, count = struct.unpack_from("<II", info, at + 4)
            name, = struct.unpack_from("<I", symbols, symbol * 24)
            registers[strings[name:strings.index(b"\0", name)].decode()] = count
        at += 4 + (size if form == 4 else 0)
    return registers


def kernels_of(row, target):
    """{kernel: {"code", "registers", "shared"}}, or what NVRTC said."""
    flags = [f"--gpu-architecture={target}"] + ([] if any("-std=" in one for one in row["options"]) else ["-std=c++17"])
    headers = [os.path.join(root, "include") for root in nvrtc.toolkit_folders()]
    flags += ["-I" + path for path in headers if os.path.exists(os.path.join(path, "cuda_fp16.h"))][:1] + row["options"]
    try:
        cubin, symbols = nvrtc.run_nvrtc(nvrtc.open_nvrtc(), row["source"], row["kernels"], flags)
    except OSError as error:
        return str(error)
    found = sections(cubin)
    registers = registers_of(found)
    return {kernel: {"code": found[".text." + symbol][0], "registers": registers.get(symbol),
                     "shared": found.get(".nv.shared." + symbol, (b"", 0, 0))[2]}
            for kernel, symbol in zip(row["kernels"], symbols)}


def compare(job):
    before, after, target = job
    old, new = kernels_of(before, target), kernels_of(after, target)
    where = f"{before['id']} {target}"
    if isinstance(old, str) or isinstance(new, str):
        same = isinstance(old, str) and isinstance(new, str)  # neither is for this target
        return [] if same else [f"{where}: {old if isinstance(old, str) else 'compiles'} -> {new if isinstance(new, str) else 'compiles'}"]
    if set(old) != set(new):
        return [f"{where}: other kernels"]
    return [f"{where} {kernel}: registers {old[kernel]['registers']} -> {new[kernel]['registers']}, "
            f"code {len(old[kernel]['code'])} -> {len(new[kernel]['code'])} bytes, shared {old[kernel]['shared']} -> {new[kernel]['shared']}"
            for kernel in old if old[kernel] != new[kernel]]


def read(path):
    with open(path, encoding="utf-8") as file:
        return {row["id"]: row for row in map(json.loads, file)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--most", type=int)
    parser.add_argument("--targets", default="sm_80,sm_90a")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    before, after = read(options.before), read(options.after)
    changed = [name for name in before if name in after and before[name]["source"] != after[name]["source"]]
    if options.most and len(changed) > options.most:
        changed = [changed[i * len(changed) // options.most] for i in range(options.most)]
    jobs = [(before[name], after[name], target) for name in changed for target in options.targets.split(",")]
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        found = [line for lines in pool.map(compare, jobs) for line in lines]
    for line in found + [f"{name} is in one file alone" for name in sorted(set(before) ^ set(after))]:
        print(line)
    print(f"{len(changed)} rows compiled before and after for {options.targets}: {len(found)} kernels differ")
    return 1 if found or set(before) != set(after) else 0


if __name__ == "__main__":
    sys.exit(main())
