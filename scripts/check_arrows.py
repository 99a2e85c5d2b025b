#!/usr/bin/env python3
"""Checks that includes follow the table below: who may use whom.

usage: scripts/check_arrows.py [--list]

A place is a set of files that is, or will be, one folder; the first pattern that fits a file decides. A file may include its own place and
those that its place names. Breaks that are known stand in KNOWN, a list that may only become shorter: the exit code is 1 for a break that is not in it, for an entry that is none any more, and for a type that one namespace
defines twice. --list prints all breaks. Standard library only.
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
    "symbolic": ["support/expression*", "analysis/facts/polynomial*", "analysis/task/interval*", "generator/fusion/index_math*"],
    "support": ["support/*"],
    "ops": ["generator/graph/*", "generator/fusion/op_traits*", "generator/fusion/scalar_ops*", "generator/rewrites/cost*",
            "generator/families/row_expansion*", "generator/fusion/aten_lowering*"],
    "rewrites": ["generator/rewrites/*"],
    "elements": ["generator/fusion/element_*", "generator/fusion/region.h", "generator/fusion/memory_view*", "generator/fusion/table_form*",
                 "generator/families/family.h", "generator/families/window_text*"],
    "families/matmul": ["generator/families/matmul*"],
    "families/rows": ["generator/families/row*", "generator/fusion/row_regions*"],
    "families/convolution": ["generator/families/convolution*", "generator/families/direct_convolution*",
                             "generator/families/tile_convolution*", "generator/families/weight_layouts*"],
    "families/windows": ["generator/families/pool*", "generator/families/upsample*", "generator/families/window_*",
                         "generator/families/depthwise*"],
    "families/scan": ["generator/families/scan*"],
    "families/recurrent": ["generator/families/recurrent*"],
    "families/pointwise": ["generator/families/pointwise*"],
    "families": ["generator/families/registry*"],
    "search": ["generator/search*", "generator/beam_policy*", "generator/fusion/torch_search*", "generator/fusion/plan_walk*",
               "generator/fusion/plan_starts*", "generator/fusion/recipe*", "generator/env*", "generator/graph_env*"],
    "planning": ["generator/fusion/*"],
    "text/source": ["generator/source/*"],
    "text/templates": ["generator/templates/*"],
    "text/lift": ["generator/lift/*"],
    "text/moves": ["generator/moves/*"],
    "text/states": ["generator/generator.*", "generator/plan.*", "generator/write_plan*", "generator/open_states*", "generator/move.*"],
    "torch_cpp": ["generator/torch_cpp/*"],
    "tools": ["generator/graph_tool*", "generator/rewrites/rewrites_tool*"],
    "device headers": ["analysis/stub/include/*", "runner/cpu/shim/*"],
    "analysis": ["analysis/*"],
    "runner/client": ["runner/client/*", "runner/net/*"],
    "runner/ledger": ["runner/ledger/*"],
    "runner/adversary": ["runner/adversary/*"],
    "runner": ["runner/*"],
    "trainer/policy": ["trainer/policy/*", "trainer/tokens/*", "trainer/inference/*"],
    "trainer": ["trainer/*"],
    "server/report": ["server/cli/report/*"],
    "server": ["server/*"],
}

FAMILIES = ["families/matmul", "families/rows", "families/convolution", "families/windows", "families/scan", "families/recurrent",
            "families/pointwise"]
ELEMENTS = ["support", "symbolic", "ops", "elements"]
PLANNING = [*ELEMENTS, "families", "rewrites", "planning"]
TEXT = ["text/source", "text/templates", "text/lift", "text/moves", "text/states"]

# place: what it may use besides itself.
ARROWS = {
    "symbolic": ["support"],
    "support": ["symbolic"],
    "ops": ["support", "symbolic"],
    "rewrites": ["support", "symbolic", "ops"],
    "elements": ["support", "symbolic", "ops"],
    **{family: ELEMENTS for family in FAMILIES},
    "families": [*ELEMENTS, *FAMILIES],
    "planning": PLANNING,
    **{place: ["support", "symbolic", "analysis", *TEXT[:i]] for i, place in enumerate(TEXT)},
    "search": [*PLANNING, *TEXT, "analysis"],
    "torch_cpp": ["support", "symbolic", "analysis"],
    "tools": [*PLANNING, "search"],
    "device headers": [],
    "analysis": ["support", "symbolic"],
    "runner": ["support", "symbolic", "runner/client", "runner/ledger", "runner/adversary"],
    "runner/client": ["support", "symbolic"],
    "runner/ledger": ["support", "symbolic"],
    "runner/adversary": ["support", "symbolic", "runner/client", "runner"],
    "server/report": ["support", "symbolic"],
    "server": ["support", "symbolic", "analysis", *PLANNING, *TEXT, "search", "torch_cpp", "runner/client", "runner/ledger", "trainer/policy",
               "server/report"],
    "trainer/policy": ["support", "symbolic", "trainer"],
    "trainer": ["support", "symbolic", "runner/client", "runner/ledger", "runner/adversary", "trainer/policy", "server/report"],
}

# "file -> file" that break the arrows. Remove what is mended; add nothing.
KNOWN = """
analysis/facts/polynomial.cpp -> analysis/guard/budget.h
generator/families/convolution.cpp -> generator/families/window_families.h
generator/families/depthwise.cpp -> generator/families/convolution_shape.h
generator/families/direct_convolution.cpp -> generator/families/window_families.h
generator/families/recurrent.cpp -> generator/families/window_families.h
generator/families/row_expansion.h -> generator/fusion/region.h
generator/families/scan.cpp -> generator/families/window_families.h
generator/families/tile_convolution.cpp -> generator/families/window_families.h
generator/families/weight_layouts.cpp -> generator/families/window_families.h
generator/families/weight_layouts.cpp -> generator/fusion/layouts.h
generator/fusion/aten_lowering.h -> generator/fusion/partition.h
generator/fusion/channels_last_values.cpp -> generator/families/window_families.h
generator/fusion/convolution_choice.cpp -> generator/families/window_families.h
generator/fusion/memory_view.cpp -> generator/fusion/partition.h
generator/fusion/partition.cpp -> generator/fusion/row_regions.h
generator/fusion/plan_starts.cpp -> generator/families/window_families.h
generator/fusion/plan_walk.cpp -> generator/fusion/row_regions.h
generator/source/kernel_source.h -> generator/generator.h
generator/source/tree_reduction.h -> generator/templates/reduce.h
generator/torch_cpp/graph_writer.cpp -> generator/graph/attributes.h
generator/torch_cpp/graph_writer.cpp -> generator/graph/infer.h
generator/torch_cpp/kernels.cpp -> generator/graph/text.h
generator/torch_cpp/kernels.cpp -> generator/graph/verify_graph.h
generator/torch_cpp/operators.cpp -> generator/graph/infer.h
generator/torch_cpp/ops_products.cpp -> generator/graph/infer.h
runner/client/client.cpp -> runner/fleet/client.h
server/policy/builtin_adviser.cpp -> trainer/environment/live.h
"""


def tracked():
    files = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    return [file for file in files if file.endswith((".h", ".cpp", ".inc")) and place_of(file)]


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
    for problem in problems:
        print(problem)
    print(f"{len(files)} files in {len(PLACES)} places: {len(found)} known breaks, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
