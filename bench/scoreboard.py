#!/usr/bin/env python3
"""Writes a page of results on modules: ratios to the best form of PyTorch, and the slower modules.

usage: bench/scoreboard.py SET=ROWS.json.xz... [--page docs/scoreboard.md] [--images docs/images]
       bench/scoreboard.py --keep ROWS.json.xz --from ROWS.jsonl... --commit C --driver D
           --command TEXT [--add]

The second form makes ROWS.json.xz of the files of bench/backend/run.py: {"commit", "date", "gpu",
"driver", "torch", "command", "rows": [row...]}. Each row has its commit. With --add, rows of the
file that are not measured again stay. The best form is the fastest one with a right
result in the same run. A module without a right result, or without a figure, counts as 1.0.
Standard library only.
"""
import argparse
import collections
import json
import lzma
import os
import statistics
import sys
import textwrap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "backend"))
import summary  # noqa: E402
import svg  # noqa: E402

MARGIN = 0.01
REGIMES = {"graph": "in a CUDA graph", "called": "as called"}
SHOWN_LOSSES, SHOWN_KERNELS = 12, 3


def load(path):
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def ratio_of(row, regime):
    """Ours beside the best right form: {ratio, low, high}; 1 without a figure."""
    found = None if "failed" in row or not row["right"] else summary.beside(row, regime, "best")
    return found or {"ratio": 1.0, "low": 1.0, "high": 1.0}


def name_of(row):
    return row["id"].split("/")[0]


def counts(rows, regime):
    found = [ratio_of(row, regime) for row in rows]
    return (statistics.geometric_mean(one["ratio"] for one in found), statistics.median(one["ratio"] for one in found),
            sum(one["low"] > 1 + MARGIN for one in found), sum(one["high"] < 1 - MARGIN for one in found), min(one["ratio"] for one in found))


def distribution(title, document, regime):
    """Every module's ratio with its interval, sorted; those below 1 in red, those without a plan of ours hollow."""
    rows = sorted(document["rows"], key=lambda row: ratio_of(row, regime)["ratio"])
    found = [ratio_of(row, regime) for row in rows]
    x = svg.horizontal(0, len(rows) + 1)
    y = svg.vertical(min(0.6, min(one["low"] for one in found)), 1.05 * max(2.0, max(one["high"] for one in found)))
    marks = svg.axes(x, y, "modules, by their ratio", "time of PyTorch's best form / ours")
    marks.append(svg.line(svg.LEFT, y.at(1), svg.WIDTH - svg.RIGHT, y.at(1), svg.INK))
    for place, (row, one) in enumerate(zip(rows, found), 1):
        colour = svg.RED if one["high"] < 1 - MARGIN else svg.GREEN if one["low"] > 1 + MARGIN else svg.GREY
        marks.append(svg.line(x.at(place), y.at(one["low"]), x.at(place), y.at(one["high"]), colour, 1.2))
        marks.append(svg.dot(x.at(place), y.at(one["ratio"]), colour, 2.6, hollow=not row.get("bound")))
    mean, _, faster, slower, _ = counts(rows, regime)
    return svg.document(f"{title}, {REGIMES[regime]}: geometric mean {mean:.2f}, {faster} of {len(rows)} faster, {slower} slower",
                        f"{document['gpu']}, driver {document['driver']}, torch {document['torch']}, commit {document['commit']}, {document['date']}",
                        marks)


def losses(rows):
    """Rows of a table of what is slower in a CUDA graph, and the kernels that take the time there on both sides."""
    slower = sorted((row for row in rows if ratio_of(row, "graph")["high"] < 1 - MARGIN), key=lambda row: ratio_of(row, "graph")["ratio"])
    for row in slower[:SHOWN_LOSSES]:
        slowest = [", ".join(f"{kernel.split('(')[0][-40:]} {us:.0f}" for kernel, _, us in row.get(f"slowest_{side}", [])[:SHOWN_KERNELS])
                   for side in ("ours", "inductor")]
        yield f"| {name_of(row)} | {ratio_of(row, 'graph')['ratio']:.2f} | {ratio_of(row, 'called')['ratio']:.2f} | {slowest[0]} | {slowest[1]} |"


def page(sets, images):
    lines = ["# Scoreboard of modules", "",
             "Each ratio is the time of PyTorch's fastest right form in the same run, divided by Warpwright's.",
             "A module without a right result counts as 1. Hollow dots run Inductor's code, because no plan made",
             "the module faster.", "",
             "| set | modules | right | with plans | in a CUDA graph: geometric mean, median | faster / slower by over 1% | least | as called: geometric mean |",
             "|---|---|---|---|---|---|---|---|"]
    for name, document in sets.items():
        rows = document["rows"]
        mean, median, faster, slower, least = counts(rows, "graph")
        right, bound = sum(bool(row.get("right")) for row in rows), sum(bool(row.get("bound")) for row in rows)
        lines.append(f"| {name} | {len(rows)} | {right} | {bound} | {mean:.2f}, {median:.2f} | {faster} / {slower} | {least:.2f} | {counts(rows, 'called')[0]:.2f} |")
    for name, document in sets.items():
        forms = sorted({form for row in document["rows"] for regime in REGIMES for form in (row.get(regime) or {}).get("baselines", {})})
        lines += ["", f"## {name}", "", f"![ratios of {name}]({images}/scoreboard-{name}.svg)", "",
                  f"    {document['command']}", "",
                  *textwrap.wrap(f"Commit {document['commit']}.", 100),
                  f"{document['gpu']}, driver {document['driver']}, torch {document['torch']}, {document['date']}.",
                  f"Forms of PyTorch: {', '.join(forms)}."]
        found = list(losses(document["rows"]))
        if found:
            lines += ["", "Slower in a CUDA graph, with the kernels that take the most microseconds there:", "",
                      "| module | graph | as called | our kernels | Inductor's |", "|---|---|---|---|---|", *found]
    return "\n".join(lines) + "\n"


def keep(path, options):
    rows = []
    for source in options.sources:
        with open(source, encoding="utf-8") as file:
            rows += map(json.loads, file)
    for row in rows:
        row["commit"] = options.commit
    if options.add:
        old, new = load(path), {row["id"] for row in rows}
        rows = [{"commit": old["commit"], **row} for row in old["rows"] if row["id"] not in new] + rows
    commits = collections.Counter(row["commit"] for row in rows)
    names = ", ".join(f"{name} ({count} modules)" for name, count in commits.items()) if len(commits) > 1 else options.commit
    document = {"commit": names, "driver": options.driver, "command": options.command, "gpu": rows[0]["gpu"], "torch": rows[0]["torch"],
                "date": max(row["date"] for row in rows), "rows": rows}
    with lzma.open(path, "wt", encoding="utf-8", preset=9) as file:
        json.dump(document, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET=ROWS.json.xz")
    parser.add_argument("--page")
    parser.add_argument("--images", default="docs/images")
    parser.add_argument("--keep", metavar="ROWS.json.xz")
    parser.add_argument("--add", action="store_true")
    parser.add_argument("--from", dest="sources", nargs="+", metavar="ROWS.jsonl")
    for name in ("commit", "driver", "command"):
        parser.add_argument("--" + name)
    options = parser.parse_args()
    if options.keep:
        keep(options.keep, options)
        return
    sets = {name: load(path) for name, path in (one.split("=", 1) for one in options.sets)}
    if options.page:
        for name, document in sets.items():
            with open(os.path.join(options.images, f"scoreboard-{name}.svg"), "w", encoding="utf-8") as file:
                file.write(distribution(name, document, "graph"))
    text = page(sets, os.path.relpath(options.images, os.path.dirname(options.page)) if options.page else options.images)
    if options.page:
        with open(options.page, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
