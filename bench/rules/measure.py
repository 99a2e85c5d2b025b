#!/usr/bin/env python3
"""Measures the rules about performance: the bad code of docs/rules/NAME.md against its good code.

usage: bench/rules/measure.py run OUT.json [COMMIT]
           compiles and times the code of all pages on the GPU of this machine
       bench/rules/measure.py compile
           compiles it for sm_90 and runs nothing
       bench/rules/measure.py keep OUT.json
           takes the samples into bench/results/h200/rules.json.xz, and writes the pages
       bench/rules/measure.py pages
           writes the pages from those samples
       bench/rules/measure.py check
           fails if the pages have other code or other figures than the samples

The pages have the code, and CASES has the sizes and the call. harness.h compares the results and
takes the samples. Needs nvcc to run and to compile. Standard library only.
"""
import collections
import concurrent.futures
import hashlib
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench"))
import entries  # noqa: E402

PAGES, SAMPLES = ROOT / "docs/rules", ROOT / "bench/results/h200/rules.json.xz"
FIGURES = re.compile(r"(?s)(<!-- measured:begin -->\n).*?(<!-- measured:end -->)")
NOT_YET = "Not measured yet.\n"
PAIRS = 200

# n: a value for the page's size; buffers: floats of each, in the order of the call.
Case = collections.namedtuple("Case", "n buffers call size_text")
VECTOR, SIDE = 1 << 24, 4096
CASES = {
    # Numbers of 0 to 3 add up to less than 2^24, so that floats hold the sum exactly.
    "atomic-contention": Case(VECTOR // 2, {"x": VECTOR // 2, "s": 1}, "run(x, s, n)", f"n = {VECTOR // 2}"),
    "bank-conflict": Case(SIDE, {"x": SIDE * SIDE, "y": SIDE * SIDE}, "run(x, y, n)", f"n = {SIDE}"),
    "block-size": Case(VECTOR, {"x": VECTOR, "y": VECTOR}, "run(x, y, n)", f"n = {VECTOR}"),
    "double-arithmetic": Case(VECTOR, {"x": VECTOR, "y": VECTOR}, "run(x, y, n)", f"n = {VECTOR}"),
    "missing-const": Case(VECTOR, {"out": VECTOR, "in": VECTOR}, "run(out, in, n)", f"n = {VECTOR}"),
    "missing-restrict": Case(VECTOR, {"x": VECTOR, "y": VECTOR, "w": 32}, "run(x, y, w, n)", f"n = {VECTOR}"),
    "tree-reduction": Case(VECTOR, {"x": VECTOR // 256, "y": VECTOR}, "run(x, y, n)", f"n = {VECTOR}"),
    "uncoalesced-access": Case(SIDE, {"x": SIDE * SIDE}, "run(x, n, n)", f"rows = cols = {SIDE}"),
}


class Problem(Exception):
    """A page or a set of samples that cannot be used, for people."""


def page(name):
    return PAGES / f"{name}.md"


def code(name):
    """(bad, good) of a page."""
    text = page(name).read_text()
    found = [re.search(rf"(?ms)^## {heading}$.*?^```cuda\n(.*?)^```$", text) for heading in ("Bad", "Good")]
    if None in found:
        raise Problem(f"{page(name)}: no bad or no good code")
    return tuple(one[1] for one in found)


def fingerprint(name):
    return hashlib.sha256("\0".join(code(name)).encode()).hexdigest()


def program(name):
    case, (bad, good) = CASES[name], code(name)
    buffers = "".join(f"  harness::Buffer {buffer}({count});\n" for buffer, count in case.buffers.items())
    addresses = ", ".join("&" + buffer for buffer in case.buffers)
    return (f'#include "{HERE}/harness.h"\nnamespace bad {{\n{bad}}}\nnamespace good {{\n{good}}}\nint main() {{\n  const int n = {case.n};\n{buffers}'
            f"  return harness::run({{{addresses}}}, [&] {{ bad::{case.call}; }}, [&] {{ good::{case.call}; }}, {PAIRS});\n}}\n")


def nvcc():
    found = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not found:
        raise Problem("nvcc is not on the PATH and not in /usr/local/cuda/bin")
    return found


def compiled(folder, architecture):
    """{name: path of the program}"""
    def build(name):
        source, binary = folder / f"{name}.cu", folder / name
        source.write_text(program(name))
        ran = subprocess.run([nvcc(), "-O3", "-std=c++17", f"-arch={architecture}", "-o", binary, source], capture_output=True, text=True)
        if ran.returncode:
            raise Problem(f"{page(name)} does not compile:\n{ran.stdout}{ran.stderr}")
        return binary

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return dict(zip(CASES, pool.map(build, CASES)))


def samples_of(binary):
    """Times of the pairs, in microseconds."""
    ran = subprocess.run([binary], capture_output=True, text=True)
    if ran.returncode:
        raise Problem(f"{binary.name}: {ran.stderr.strip()}")
    pairs = [[float(value) for value in line.split()] for line in ran.stdout.splitlines()]
    if len(pairs) != PAIRS:
        raise Problem(f"{binary.name}: {len(pairs)} pairs instead of {PAIRS}")
    return {"bad_us": [bad for bad, _ in pairs], "good_us": [good for _, good in pairs]}


def run(out, commit=None):
    query = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True, check=True)
    gpu, driver = query.stdout.splitlines()[0].split(", ")
    commit = commit or subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip() or "unknown"
    release = re.search(r"release (\S+),", subprocess.run([nvcc(), "--version"], capture_output=True, text=True).stdout)[1]
    report = {"command": "bench/rules/measure.py run", "gpu": gpu, "driver": driver, "nvcc": release, "date": entries.now(), "commit": commit, "rules": {}}
    with tempfile.TemporaryDirectory() as folder:
        for name, binary in compiled(pathlib.Path(folder), "native").items():
            report["rules"][name] = {"code": fingerprint(name), **samples_of(binary)}
            print(f"{name}: {figures(report, name)}", flush=True)
    pathlib.Path(out).write_text(json.dumps(report) + "\n")


def ratio(report, name):
    """(low, median, high) of bad over good, pair by pair."""
    rule = report["rules"][name]
    return entries.median_interval([bad / good for bad, good in zip(rule["bad_us"], rule["good_us"])])


def time_text(samples):
    middle = entries.median(samples)
    return f"{middle:.3g} us" if middle < 1000 else f"{middle / 1000:.3g} ms"


def figures(report, name):
    """The sentence of a page about its measured difference."""
    low, middle, high = ratio(report, name)
    rule = report["rules"][name]
    change = f"{middle:.2f}x faster [{low:.2f}, {high:.2f}]" if low > 1 else f"{middle:.2f}x as fast [{low:.2f}, {high:.2f}]"
    return (f"The good code is {change}: {time_text(rule['good_us'])} instead of {time_text(rule['bad_us'])}, for {CASES[name].size_text}, on an "
            f"{report['gpu']} with nvcc {report['nvcc']}, {report['date'][:10]}.")


def written(name, report):
    """The page with the figures of a report; without a report, with the sentence that there is none."""
    link = f"Both codes ran in {PAIRS} pairs ([samples](../../bench/results/h200/rules.json.xz))."
    text = textwrap.fill(f"{figures(report, name)} {link}", 100, break_on_hyphens=False, break_long_words=False) + "\n" if report else NOT_YET
    old = page(name).read_text()
    if not FIGURES.search(old):
        raise Problem(f"{page(name)}: no place for figures: <!-- measured:begin --> and <!-- measured:end -->")
    return FIGURES.sub(lambda place: place[1] + text + place[2], old)


def kept():
    return json.loads(lzma.open(SAMPLES).read()) if SAMPLES.exists() else None


def check_code(report):
    for name in CASES if report else ():
        if report["rules"][name]["code"] != fingerprint(name):
            raise Problem(f"{page(name)} has other code than was measured: run bench/rules/measure.py on a GPU again")


def check(report):
    check_code(report)
    for name in CASES:
        if written(name, report) != page(name).read_text():
            raise Problem(f"{page(name)} has other figures than {SAMPLES.name}: run bench/rules/measure.py pages")


def main(action, *arguments):
    if action == "run":
        run(*arguments)
    elif action == "compile":
        with tempfile.TemporaryDirectory() as folder:
            compiled(pathlib.Path(folder), "sm_90")
    elif action == "keep":
        check_code(json.loads(pathlib.Path(arguments[0]).read_text()))
        SAMPLES.write_bytes(lzma.compress(pathlib.Path(arguments[0]).read_bytes(), preset=9))
    if action in ("keep", "pages"):
        for name in CASES:
            page(name).write_text(written(name, kept()))
    if action == "check":
        check(kept())


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("run", "compile", "keep", "pages", "check"):
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except Problem as problem:
        sys.exit(f"measure.py: {problem}")
