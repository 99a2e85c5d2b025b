#!/usr/bin/env python3
"""Adds an operator of each kind, a move, a family and a tensor-core generation to a copy of the source tree, counts the files that each
touches, builds the copy and runs the programs that prove that each addition works.

usage: additions_test.py BUILD

BUILD is a configured build of this checkout; the copy stands in BUILD/additions, always at that
place, since precompiled headers come from ccache only there. Objects that an addition leaves alone
come from ccache, or from the copy of the run before. Exit code 77 if there is no ccache, for then
the whole copy would be compiled. Standard library only.
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
from lines import ADDITIONS  # noqa: E402

def graph_of(op, first, second, result):
    """A graph of one node over an input and a parameter."""
    def node(name, kind, inputs, shape):
        return {"name": name, "op": kind, "inputs": inputs, "attributes": {}, "types": [{"dtype": "float32", "shape": shape}]}
    return json.dumps({"nodes": [node("a", "input", [], first), node("b", "parameter", [], second), node("y", op, ["a", "b"], result)],
                       "outputs": ["y"], "updates": []})


def tracked():
    """Files of the checkout, those that are new and not ignored too."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=True).stdout.split("\n")
    return [path for path in listed if path and os.path.isfile(os.path.join(ROOT, path))]


def copy_tree(folder):
    """Links the checkout's files into the copy and removes what the checkout no longer has; files of additions stay as they are."""
    wanted = set(tracked())
    added = {path for addition in ADDITIONS for path in [*addition.files, *addition.lines]}
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if os.path.join(parent, name) != os.path.join(folder, "build")]
        for name in names:
            path = os.path.relpath(os.path.join(parent, name), folder)
            if path not in wanted | added:
                os.unlink(os.path.join(parent, name))
    for path in wanted - added:
        source, to = os.path.join(ROOT, path), os.path.join(folder, path)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if os.path.exists(to) and os.path.samefile(source, to):
            continue
        if os.path.lexists(to):
            os.unlink(to)
        try:
            os.link(source, to)
        except OSError:
            shutil.copy2(source, to)
    dependencies, link = os.path.join(ROOT, "build", "dependencies"), os.path.join(folder, "build", "dependencies")
    if os.path.exists(dependencies) and not os.path.lexists(link):
        os.makedirs(os.path.dirname(link), exist_ok=True)
        os.symlink(dependencies, link)


def write(folder, path, text):
    """Never through a hard link into the checkout, and not where nothing changes, so that nothing is built again."""
    to = os.path.join(folder, path)
    os.makedirs(os.path.dirname(to), exist_ok=True)
    if os.path.exists(to):
        with open(to, encoding="utf-8") as file:
            if file.read() == text:
                return
        os.unlink(to)
    with open(to, "w", encoding="utf-8") as file:
        file.write(text)


def add(folder, addition):
    """Additions touch no file in common. @return the places that it touches: files, and folders that are new"""
    touched = set()
    for path in addition.files:
        parent = os.path.dirname(path)
        touched.add(parent if not os.path.exists(os.path.join(ROOT, parent)) else path)
        with open(os.path.join(HERE, "files", path), encoding="utf-8") as file:
            write(folder, path, file.read())
    for path, insertions in addition.lines.items():
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        for anchor, more in insertions:
            if text.count(anchor) != 1:
                raise SystemExit(f"{addition.name}: {path} has {anchor!r} {text.count(anchor)} times, not once: mend lines.py")
            text = text.replace(anchor, more + anchor)
        write(folder, path, text)
        touched.add(path)
    return touched


def run(command, where, **more):
    done = subprocess.run(command, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    return done.returncode, done.stdout


def cached(build, name):
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        found = re.search(rf"^{name}:\w+=(.*)$", file.read(), re.M)
    return found[1] if found else ""


def prove(folder, build, addition):
    """@return what is wrong; empty: the addition works"""
    program = os.path.join(build, "tests", addition.target)
    code, said = run([program, *addition.arguments], folder)
    passed = re.search(r"test cases: +(\d+) \| +(\d+) passed", said)
    return "" if code == 0 and passed and int(passed[1]) == int(passed[2]) > 0 else said[-4000:]


def compiled(source, folder):
    """The source of a plan by nvcc; None: there is none that knows the target."""
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc or "sm_121" not in run([nvcc, "--list-gpu-code"], folder)[1]:
        return None
    return run([nvcc, "-std=c++17", "-cubin", "-arch=sm_121a", "-o", os.path.join(folder, "plan.cubin"), source], folder)


def prove_generation(folder, build):
    """Plans for the new GPU multiply by the new header."""
    program = os.path.join(build, "bin", "warpwright-graph")
    for text, wanted in ((graph_of("matmul", [512, 512], [512, 512], [512, 512]), "algorithm=2"),
                         (graph_of("conv", [8, 64, 32, 32], [64, 64, 3, 3], [8, 64, 30, 30]), "math=1")):
        graph, source = os.path.join(folder, "graph.json"), os.path.join(folder, "plan.cu")
        write(folder, "graph.json", text)
        listed = run([program, "plan", "--gpu", "example", graph], folder)[1]
        region = re.search(r"^(\S+): ", listed, re.M)
        offered = re.search(rf"^ *\*? *(\S*{wanted}\S*)$", listed, re.M)
        if not region or not offered:
            return f"no configuration with {wanted} among\n{listed}"
        code, said = run([program, "plan", "--gpu", "example", "--region", region[1], "--config", offered[1], "--source", source, graph], folder)
        with open(source, encoding="utf-8") as file:
            uses = re.search(r"warpwright_mma_example::(Tile|multiply)", file.read())
        if code or not uses:
            return f"the plan with {offered[1]} does not use mma_example.cuh\n{said}"
        built = compiled(source, folder)
        print(f"  {offered[1]}: {'planned' if built is None else 'planned and compiled'}")
        if built and built[0]:
            return built[1][:4000]
    return ""


def main():
    build = os.path.abspath(sys.argv[1])
    if not cached(build, "WARPWRIGHT_CCACHE") or cached(build, "WARPWRIGHT_CCACHE").endswith("NOTFOUND"):
        print("there is no ccache: skipped")
        return 77
    folder = os.path.join(build, "additions")
    failed = []
    copy_tree(folder)
    for addition in ADDITIONS:
        touched = add(folder, addition)
        print(f"{addition.name}: {len(touched)} of {addition.goal} files: {', '.join(sorted(touched))}")
        if len(touched) > addition.goal:
            failed.append(f"{addition.name} takes {len(touched)} files, not {addition.goal}")
    # As deep below the copy as the build is below the checkout, so that compilers see equal paths.
    copy = os.path.join(folder, os.path.relpath(build, ROOT))
    same = [f"-D{name}={cached(build, name)}" for name in
            ("CMAKE_BUILD_TYPE", "CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CMAKE_CXX_FLAGS", "CMAKE_CXX_FLAGS_RELEASE", "CMAKE_CXX_FLAGS_DEBUG",
             "WARPWRIGHT_SANITIZE")]
    code, said = run(["cmake", "-G", cached(build, "CMAKE_GENERATOR"), "-S", folder, "-B", copy, *same, "-DWARPWRIGHT_TRAINER=OFF",
                      f"-DWARPWRIGHT_TESTED_DIR={ROOT}", f"-DWARPWRIGHT_TESTED_PROGRAMS={os.path.join(build, 'bin')}"], folder)
    if code == 0:
        targets = sorted({addition.target for addition in ADDITIONS})
        code, said = run(["cmake", "--build", copy, "-j", "2", "--target", *targets], folder)
    if code:
        print(said[-6000:])
        return 1
    for addition in ADDITIONS:
        wrong = prove(folder, copy, addition) if addition.arguments is not None else prove_generation(folder, copy)
        print(f"{addition.name}: {'fails' if wrong else 'works'}")
        if wrong:
            failed.append(f"{addition.name} does not work: {wrong}")
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
