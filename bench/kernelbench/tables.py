#!/usr/bin/env python3
"""The tables of docs/use/kernelbench.md from rows of KernelBench runs: tables.py FILE.json.xz
tables.py FILE.json.xz --merge SET RESULTS.jsonl... first takes the newest verdict of each task from
`--results` files into a set.

FILE holds {"runs": {"original": [header, row...], "current": ...}}; the rows are what
`warpwright optimize --kernelbench --results` writes. What is not verified and measured counts as
1.0. `fast_p` and "faster" go by the lower end of the ratio's 95% interval, "slower" by its upper.
"""

import argparse
import json
import lzma
import math
import statistics

BASELINES = ("eager+graph", "torch.compile+graph", "eager", "torch.compile")
TITLES = {"eager": "eager, as called", "torch.compile": "torch.compile, as called"}
GRAPHS = BASELINES[:2]
MARGIN = 0.01


def ratio(row, baseline, part="ratio"):
    return row["ratios"].get(baseline, {}).get(part, 1.0)


def best_variant(row):
    """The ratio against the faster of the two graphs; None: not measured."""
    found = [row["ratios"][name] for name in GRAPHS if name in row["ratios"]]
    return min(found, key=lambda one: one["ratio"]) if found else None


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def means(rows, baseline):
    values = [ratio(row, baseline) for row in rows]
    return f"{geometric(values):.2f} / {statistics.fmean(values):.2f}"


def faster(rows):
    best = [best_variant(row) for row in rows]
    return sum(one is not None and one["low"] > 1 + MARGIN for one in best)


def slower(rows):
    best = [best_variant(row) for row in rows]
    return sum(one is not None and one["high"] < 1 - MARGIN for one in best)


def verified(rows):
    return sum(row["state"] == "verified" for row in rows)


def spread(rows, baseline):
    values = sorted(ratio(row, baseline) for row in rows)
    quartiles = " ".join(f"{one:.2f}" for one in statistics.quantiles(values, n=4, method="inclusive"))
    shares = [sum(ratio(row, baseline, "low") > p for row in rows) / len(rows) for p in (1, 1.5, 2)]
    return " | ".join([quartiles] + [f"{share:.0%}" for share in shares])


def print_row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |")


def print_tables(runs):
    groups = []  # (title, rows)
    for name, rows in runs.items():
        groups.append((f"{name} sizes ({len(rows)})", rows))
        for level in sorted({row["level"] for row in rows}):
            part = [row for row in rows if row["level"] == level]
            groups.append((f"level {level} ({len(part)})", part))
    print_row("geometric mean / mean", *(title for title, _ in groups))
    print("|---" * (len(groups) + 1) + "|")
    for baseline in BASELINES:
        print_row(TITLES.get(baseline, baseline), *(means(rows, baseline) for _, rows in groups))
    for title, count in (("verified and measured", verified), ("over 1% faster than the best framework variant, by its interval", faster),
                         ("over 1% slower, by its interval", slower)):
        print_row(title, *(count(rows) for _, rows in groups))
    print()
    print_row("", *(f"quartiles, {name} sizes | fast_1 | fast_1.5 | fast_2" for name in runs))
    print("|---" * (4 * len(runs) + 1) + "|")
    for baseline in BASELINES[:3]:
        print_row(TITLES.get(baseline, baseline), *(spread(rows, baseline) for rows in runs.values()))
    for name, rows in runs.items():
        print(f"\n{name} sizes, without a figure: "
              + ", ".join(f"{row['id']} {row['state']}" for row in rows if row["state"] != "verified"))


def merge(document, name, paths):
    rows = {row["id"]: row for row in document["runs"][name][1:]}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in list(file)[1:]:
                row = json.loads(line)
                if row["id"] not in rows:
                    raise SystemExit(f"{path}: the set '{name}' has no task {row['id']}")
                if row["date"] >= rows[row["id"]]["date"]:
                    row.pop("variants", None)
                    rows[row["id"]] = dict(row, name=rows[row["id"]]["name"])
    document["runs"][name][1:] = rows.values()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--merge", nargs="+", metavar=("SET", "RESULTS"))
    options = parser.parse_args()
    with lzma.open(options.file, "rt", encoding="utf-8") as file:
        document = json.load(file)
    if options.merge:
        merge(document, options.merge[0], options.merge[1:])
        with lzma.open(options.file, "wt", encoding="utf-8", preset=9) as file:
            json.dump(document, file)
    print_tables({name: rows[1:] for name, rows in document["runs"].items()})


if __name__ == "__main__":
    main()
