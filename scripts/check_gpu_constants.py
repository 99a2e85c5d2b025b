#!/usr/bin/env python3
"""Checks that nothing outside arch/ knows compute capabilities, sizes or speeds of GPUs.

usage: scripts/check_gpu_constants.py

Looks at the code of the production folders, without comments and texts of messages. Prints each
finding; the exit code is 1 if there is one. Standard library only.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("analysis", "generator", "runner", "server", "support", "trainer")
ENDINGS = (".cpp", ".h", ".inc", ".cuh", ".cu", ".py")
# What a user's own text or a test of somebody else's may say, and what measures rather than plans.
LEFT_OUT = ("analysis/stub/", "runner/cpu/shim/", "runner/adversary/", "trainer/tasks/suite/")
PATTERNS = {
    "a compute capability": r"capability\w*\)?\s*(?:[<>]=?|[!=]=)\s*\d+|capability\w*\s*=\s*\d\d+\s*[;,}]",
    "a compile target": r"\bsm_\d+(?!\d|_intrinsics)|\bcompute_\d\d",
    "a number of multiprocessors": r"(?<![\w.])(?:132|528|1056|2112)(?![\w.])",
    "a size of shared memory": r"\b(?:227|228|163|164|99|100|96) ?\* ?(?:1024|kKiB)\b|\b22\de3\b",
    "the registers of a multiprocessor": r"\b65536 ?/",
    "a speed": r"\bk\w*(?:PerSecond|PerMicrosecond|AMicrosecond|ASecond|AUs)\s*=\s*[\d.]",
}


def code_of(text, name):
    """The text with comments and, of C++, messages blanked; lines stay."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])

    if name.endswith(".py"):
        return re.sub(r"#[^\n]*|\"\"\".*?\"\"\"", blank, text, flags=re.S)
    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)


def findings(files):
    for file in files:
        with open(os.path.join(ROOT, file), encoding="utf-8") as handle:
            lines = code_of(handle.read(), file).split("\n")
        for number, line in enumerate(lines, 1):
            for what, pattern in PATTERNS.items():
                if re.search(pattern, line):
                    yield f"{file}:{number}: {what}: {line.strip()[:120]}"


def tracked():
    files = subprocess.run(["git", "-C", ROOT, "ls-files", *FOLDERS], capture_output=True, text=True, check=True).stdout.split("\n")
    return [file for file in files if file.endswith(ENDINGS) and not file.startswith(LEFT_OUT) and os.path.exists(os.path.join(ROOT, file))]


def main():
    found = list(findings(tracked()))
    for one in found:
        print(one)
    print(f"{len(found)} constants of GPUs outside arch/")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
