#!/usr/bin/env python3
"""Keeps bench/results/summary.json and the table in docs/results.md that shows it.

usage: bench/summary.py merge ENTRIES.json...   add measurements, replacing those of the same key, and write the table
       bench/summary.py table                   write the table
       bench/summary.py check                   fail if the table differs from summary.json
       bench/summary.py targets                 fail if a value misses its target

An entry is {"key", "value", "low", "high", "unit", "target", "command", "gpu", "commit", "date"}.
low, high, target and gpu may be null. A target is text: ">= 1.4", "<= 100", "> 1". PROMISES has the
project's promises about its runner, which cannot be entered with another target. Standard library
only.
"""
import json
import operator
import os
import re
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
PAGE = "docs/results.md"
PROMISES = {"honesty.aa_false_rate": "<= 0.05", "honesty.aa_pairs": ">= 200", "honesty.repeatability": "<= 0.01",
            "honesty.cupti_difference": "<= 0.02", "fault.next_job_s": "< 2", "throughput.vs_kernelbench": ">= 50",
            "throughput.four_gpus": ">= 3.6"}
MEMBERS = ("key", "value", "low", "high", "unit", "target", "command", "gpu", "commit", "date")
OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "==": operator.eq}


class Problem(Exception):
    """What is wrong, for people."""


def check_entry(entry, where):
    if not isinstance(entry, dict):
        raise Problem(f"{where}: not an object")
    missing = [name for name in MEMBERS if name not in entry]
    unknown = [name for name in entry if name not in MEMBERS]
    if missing or unknown:
        raise Problem(f"{where}: missing {missing}, unknown {unknown}")
    for name in ("value", "low", "high"):
        value = entry[name]
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
        if not number and not (value is None and name != "value"):
            raise Problem(f"{where}: {name} is {value!r}, not a number")
    for name in ("key", "unit", "command", "commit", "date"):
        if not isinstance(entry[name], str):
            raise Problem(f"{where}: {name} is no text")
    if entry["target"] is not None:
        parse_target(entry["target"])
    promised = PROMISES.get(entry["key"], entry["target"])
    if entry["target"] != promised:
        raise Problem(f"{where}: the target of {entry['key']} is {promised}, not {entry['target']}")


def parse_target(text):
    match = re.fullmatch(r"(>=|<=|==|>|<)\s*([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)", text.strip())
    if not match:
        raise Problem(f"target {text!r} is not understood; write '>= 1.4'")
    return OPERATORS[match[1]], float(match[2])


def meets(entry):
    """True, False, or None without a target."""
    if entry["target"] is None:
        return None
    compare, bound = parse_target(entry["target"])
    return compare(entry["value"], bound)


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)
    except (OSError, ValueError) as error:
        raise Problem(f"cannot read {path}: {error}") from error
    if not isinstance(entries, list):
        raise Problem(f"{path}: not a list of entries")
    for index, entry in enumerate(entries):
        check_entry(entry, f"{path}[{index}]")
    return entries


def merge(old, new):
    """New entries replace those of the same key; sorted by key, so that diffs stay small."""
    by_key = {entry["key"]: entry for entry in old}
    by_key.update({entry["key"]: entry for entry in new})
    return [by_key[key] for key in sorted(by_key)]


def number(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def cell(text):
    return str(text).replace("|", "\\|")


def table(entries):
    if not entries:
        return ""
    lines = ["| measurement | value | target | machine | date | command |", "|---|---:|---|---|---|---|"]
    for entry in entries:
        value = number(entry["value"])
        if entry["low"] is not None and entry["high"] is not None:
            value += f" [{number(entry['low'])}, {number(entry['high'])}]"
        value += f" {entry['unit']}" if entry["unit"] else ""
        met = meets(entry)
        target = "" if met is None else entry["target"] + ("" if met else " (missed)")
        lines.append("| " + " | ".join(cell(text) for text in (
            entry["key"], value, target, entry["gpu"] or "CPU", entry["date"][:10],
            "`" + entry["command"] + "`")) + " |")
    return "\n".join(lines) + "\n"


def with_table(text, entries):
    begin, end = text.find(BEGIN), text.find(END)
    if begin < 0 or end < begin:
        raise Problem(f"{PAGE} has no {BEGIN} ... {END}")
    return f"{text[:begin]}{BEGIN}\n{table(entries)}{text[end:]}"


def read_text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise Problem(f"cannot read {path}: {error}") from error


def write_text(path, text):
    """Whole or not at all."""
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(path), delete=False, encoding="utf-8") as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def run(arguments, root=ROOT):
    summary, page = os.path.join(root, "bench", "results", "summary.json"), os.path.join(root, *PAGE.split("/"))
    if not arguments or arguments[0] not in ("merge", "table", "check", "targets"):
        raise Problem(__doc__.split("\n\n")[1])
    command, paths = arguments[0], arguments[1:]
    entries = load(summary) if os.path.exists(summary) else []
    if command == "merge":
        for path in paths:
            entries = merge(entries, load(path))
        write_text(summary, json.dumps(entries, indent=1) + "\n")
        write_text(page, with_table(read_text(page), entries))
    elif command == "table":
        write_text(page, with_table(read_text(page), entries))
    elif command == "check":
        if read_text(page) != with_table(read_text(page), entries):
            raise Problem(f"{PAGE}'s table differs from bench/results/summary.json; run bench/summary.py table")
    else:
        missed = [entry for entry in entries if meets(entry) is False]
        if missed:
            raise Problem("\n".join(f"{entry['key']}: {entry['value']} {entry['unit']}, target {entry['target']}"
                                    for entry in missed))


if __name__ == "__main__":
    try:
        run(sys.argv[1:])
    except Problem as problem:
        print(f"summary.py: {problem}", file=sys.stderr)
        sys.exit(1)
