#!/usr/bin/env python3
"""Checks that includes follow the table below: who may use whom.

usage: scripts/check_arrows.py [--list]

A place is a set of files that is, or will be, one folder; the first pattern that fits a file decides. A file may include its own place and
those that its place names. Breaks that are known stand in KNOWN, a list that may only become shorter: the exit code is 1 for a break that is not in it, for an entry that is none any more, for a type that one namespace
defines twice, and for folders that include each other in a circle. --list prints all breaks. Standard library only.
"""
import collections
import fnmatch
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# place: patterns of its files; * crosses folders.
PLACES = {
    "symbolic": ["support/symbolic/*"],
    "model": ["support/model/*"],
    "support": ["support/*"],
    "arch": ["arch/*"],
    "plan": ["plan/*"],
    "ops": ["generator/ops/*"],
    "device": ["generator/device/*"],
    "runtime": ["runtime/*"],
    "rewrites": ["generator/rewrites/*"],
    "elements": ["generator/elements/*"],
    **{f"families/{name}": [f"generator/families/{name}/*"]
       for name in ("matmul", "rows", "convolution", "windows", "scan", "recurrent", "pointwise")},
    "families": ["generator/families/*"],
    "planning": ["generator/planning/*"],
    "search": ["generator/search/*"],
    **{f"text/{name}": [f"generator/text/{name}/*"] for name in ("source", "templates", "lift", "moves", "states")},
    "torch_cpp": ["analysis/torch_cpp/*"],
    "tools": ["generator/tools/*"],
    "device headers": ["analysis/stub/include/*", "runner/cpu/shim/*"],
    "analysis": ["analysis/*"],
    "runner/client": ["runner/client/*", "runner/net/*"],
    "runner/fleet": ["runner/fleet/*"],
    "runner/connect": ["runner/connect/*"],
    "runner/ledger": ["runner/ledger/*"],
    "runner/adversary": ["runner/adversary/*"],
    "runner/main": ["runner/main.cpp"],
    "runner": ["runner/*"],
    "trainer/policy": ["trainer/environment/environment.h", "trainer/policy/*", "trainer/tokens/*", "trainer/inference/*"],
    "trainer": ["trainer/*"],
    "server/report": ["server/cli/report/*"],
    "server": ["server/*"],
}

SUPPORT = ["support", "symbolic", "model", "arch"]
FAMILIES = [place for place in PLACES if place.startswith("families/")]
ELEMENTS = [*SUPPORT, "ops", "elements"]
PLANNING = [*ELEMENTS, "families", "rewrites", "planning"]
TEXT = ["text/source", "text/templates", "text/lift", "text/moves", "text/states"]
CLIENT = ["runner/client", "runner/fleet", "runner/connect", "runner/ledger"]

# place: what it may use besides itself.
ARROWS = {
    "support": [],
    "symbolic": ["support"],
    "model": ["support", "symbolic"],
    "arch": ["support", "symbolic", "model"],
    "plan": ["support", "symbolic", "model"],
    "ops": [*SUPPORT, "device"],
    "device": [],
    "runtime": [],
    "rewrites": [*SUPPORT, "ops"],
    "elements": [*SUPPORT, "ops"],
    **{family: [*ELEMENTS, "device"] for family in FAMILIES},
    "families": [*ELEMENTS, *FAMILIES],
    "planning": PLANNING,
    **{place: [*SUPPORT, "analysis", *TEXT[:i]] for i, place in enumerate(TEXT)},
    "search": [*PLANNING, *TEXT, "analysis"],
    "torch_cpp": [*SUPPORT, "analysis"],
    "tools": [*PLANNING, "search"],
    "device headers": [],
    "analysis": SUPPORT,
    "runner": [*SUPPORT, "plan", *CLIENT],
    "runner/client": SUPPORT,
    "runner/fleet": [*SUPPORT, "runner/client", "runner"],
    "runner/connect": [*SUPPORT, "runner/client", "runner/fleet"],
    "runner/ledger": SUPPORT,
    "runner/adversary": [*SUPPORT, "runner/connect"],
    "runner/main": [*SUPPORT, *CLIENT, "runner", "runner/adversary"],
    "server/report": SUPPORT,
    "server": [*SUPPORT, "plan", "analysis", *PLANNING, *TEXT, "search", "torch_cpp", *CLIENT, "trainer/policy", "server/report", "runtime"],
    "trainer/policy": [*SUPPORT, "trainer"],
    "trainer": [*SUPPORT, *CLIENT, "runner/adversary", "trainer/policy", "server/report"],
}

# "file -> file" that break the arrows. Remove what is mended; add nothing.
KNOWN = """
"""

PARTS = {"generator/ops/table": "generator/ops"}  # folders that belong to another's library


def tracked():
    files = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    return [file for file in files if file.endswith((".h", ".cpp", ".cuh", ".cu")) and place_of(file)]


def place_of(file):
    for place, patterns in PLACES.items():
        if any(fnmatch.fnmatchcase(file, pattern) for pattern in patterns):
            return place
    return None


def breaks(files):
    found = []
    for file in files:
        place = place_of(file)
        with open(os.path.join(ROOT, file), encoding="utf-8") as text:
            for included in re.findall(r'^\s*#include "([^"]+)"', text.read(), re.M):
                used = place_of(included)
                if used and used != place and used not in ARROWS[place]:
                    found.append(f"{file} -> {included}")
    return found


def folder_of(file):
    folder = os.path.dirname(file)
    return PARTS.get(folder, folder)


def circles(files):
    """Sets of folders that reach each other by includes."""
    uses = collections.defaultdict(set)
    for file in files:
        with open(os.path.join(ROOT, file), encoding="utf-8") as text:
            for included in re.findall(r'^\s*#include "([^"]+)"', text.read(), re.M):
                if place_of(included) and os.path.exists(os.path.join(ROOT, included)):
                    uses[folder_of(file)].add(folder_of(included))
    reached = {}
    for folder in uses:
        seen, left = set(), [folder]
        while left:
            for next_folder in uses.get(left.pop(), ()):
                if next_folder not in seen:
                    seen.add(next_folder)
                    left.append(next_folder)
        reached[folder] = seen
    found = []
    for folder in sorted(uses):
        circle = {other for other in reached[folder] if other != folder and folder in reached.get(other, ())}
        if circle and circle | {folder} not in found:
            found.append(circle | {folder})
    return found


def namespaces_and_types(text):
    """(namespace, type) of the definitions outside of functions and anonymous namespaces of a header."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", "", text, flags=re.S)
    scopes = []  # a namespace, or None for other braces
    for match in re.finditer(r"namespace\s*([\w:]*)\s*\{|(?<![<,] )(?<!<)\b(?:struct|class|enum class|enum)\s+(\w+)(?!\w|::)[^;{()>]*\{|[{}]", text):
        if match[0] == "}":
            if scopes:
                scopes.pop()
        elif match[0].startswith("namespace"):
            scopes.append(match[1] or "(anonymous)")
        else:
            if match[2] and None not in scopes and "(anonymous)" not in scopes:
                yield "::".join(scopes), match[2]
            scopes.append(None)


def twice_defined(files):
    homes = collections.defaultdict(set)
    for file in files:
        if place_of(file) == "device headers":
            continue
        with open(os.path.join(ROOT, file), encoding="utf-8") as text:
            for name in namespaces_and_types(text.read()):
                homes[name].add(file)
    return {name: sorted(where) for name, where in homes.items() if len(where) > 1}


def main():
    files = tracked()
    found = breaks(files)
    known = [line for line in KNOWN.strip().split("\n") if line]
    if "--list" in sys.argv[1:]:
        print("\n".join(found))
        return 0
    problems = [f"against the arrows: {one}" for one in found if one not in known]
    problems += [f"mended, and still in KNOWN: {one}" for one in known if one not in found]
    problems += [f"{'::'.join(name)} is defined twice: {', '.join(where)}" for name, where in twice_defined(files).items()]
    problems += [f"folders in a circle: {', '.join(sorted(one))}" for one in circles(files)]
    for problem in problems:
        print(problem)
    print(f"{len(files)} files in {len(PLACES)} places: {len(found)} known breaks, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
