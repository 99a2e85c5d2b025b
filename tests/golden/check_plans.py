#!/usr/bin/env python3
"""Compares what plan_hashes makes of the corpus with plans.tsv.

usage: tests/golden/check_plans.py PLAN_HASHES [--every N] [--most-nodes N] [--write | --add]

Exit code: 1 when a line differs. --write writes plans.tsv anew; --add writes lines that it lacks into it. Standard library only.
"""
import argparse
import os
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
GRAPHS, PLANS = os.path.join(FOLDER, "graphs.jsonl.xz"), os.path.join(FOLDER, "plans.tsv")


def keyed(text):
    """By graph, device and kind."""
    return {tuple(line.split("\t")[:3]): line for line in text.splitlines()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", metavar="PLAN_HASHES")
    parser.add_argument("--every", default="1")
    parser.add_argument("--most-nodes", default="1000000")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--add", action="store_true")
    arguments = parser.parse_args()
    which = [] if arguments.write else ["--every", arguments.every, "--most-nodes", arguments.most_nodes]
    run = subprocess.run([arguments.program, GRAPHS, *which], stdout=subprocess.PIPE, text=True, check=True)
    if arguments.write:
        with open(PLANS, "w", encoding="utf-8") as file:
            file.write(run.stdout)
        return 0
    with open(PLANS, encoding="utf-8") as file:
        golden = keyed(file.read())
    found = keyed(run.stdout)
    if arguments.add:
        golden = {**found, **golden}
        with open(PLANS, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in golden.values())
    graphs = {key[0] for key in found}
    wanted = {key: line for key, line in golden.items() if key[0] in graphs}
    different = [key for key in sorted({*wanted, *found}) if wanted.get(key) != found.get(key)]
    for key in different[:40]:
        print(f"was:    {wanted.get(key, 'nothing')}\nis now: {found.get(key, 'nothing')}")
    print(f"{len(found)} lines of {len(graphs)} graphs, {len(different)} differ"
          + ("; is that wanted? tests/golden/README.md" if different else ""))
    return 1 if different or not found else 0


if __name__ == "__main__":
    sys.exit(main())
