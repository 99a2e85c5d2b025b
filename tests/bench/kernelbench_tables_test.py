#!/usr/bin/env python3
"""Tests of bench/kernelbench/tables.py, and that documents show what it computes from the committed rows. Run by CTest."""
import contextlib
import io
import json
import lzma
import os
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench", "kernelbench"))
import tables  # noqa: E402

ROWS = os.path.join(ROOT, "bench", "results", "h200", "kernelbench_all.json.xz")


def row(task, state="verified", date="2026-11-20", **ratios):
    names = {"graph": "eager+graph", "compiled": "torch.compile+graph", "eager": "eager"}
    return {"id": task, "level": int(task[0]), "name": task, "state": state, "date": date,
            "ratios": {names[key]: {"ratio": value, "low": value - 0.05, "high": value + 0.05} for key, value in ratios.items()}}


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def printed(*arguments):
    out, argv = io.StringIO(), sys.argv
    sys.argv = ["tables.py", *arguments]
    try:
        with contextlib.redirect_stdout(out):
            tables.main()
    finally:
        sys.argv = argv
    return out.getvalue()


class Tables(unittest.TestCase):
    def test_what_was_not_measured_counts_as_one(self):
        rows = [row("1/1", graph=4.0), row("1/2", "degenerate")]
        self.assertEqual(tables.means(rows, "eager+graph"), "2.00 / 2.50")
        self.assertEqual(tables.verified(rows), 1)

    def test_faster_and_slower_go_by_the_better_framework_variant_and_its_interval(self):
        rows = [row("1/1", graph=4.0, compiled=1.03), row("1/2", graph=1.5, compiled=2.0), row("1/3", graph=3.0, compiled=0.9), row("1/4", "skipped")]
        self.assertEqual((tables.faster(rows), tables.slower(rows)), (1, 1))

    def test_the_newest_verdict_of_a_task_is_taken_and_a_strange_task_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path, more = os.path.join(folder, "rows.json.xz"), os.path.join(folder, "more.jsonl")
            with lzma.open(path, "wt") as file:
                json.dump({"runs": {"small": [{}, row("1/1", graph=4.0), row("1/2", graph=4.0)]}}, file)

            def merge(*rows):
                with open(more, "w", encoding="utf-8") as file:
                    file.write("\n".join(json.dumps(one) for one in ({}, *rows)))
                return printed(path, "--merge", "small", more)

            self.assertIn("| 2.00 / 2.50 |", merge(row("1/1", date="2026-11-21", graph=1.0), row("1/2", date="2026-11-19", graph=9.0)))
            self.assertIn("| 2.00 / 2.50 |", printed(path))
            with self.assertRaises(SystemExit):
                merge(row("1/3", graph=1.0))


class Documents(unittest.TestCase):
    def test_they_show_what_was_measured(self):
        lines = [line for line in printed(ROWS).splitlines() if line.startswith("|")]
        self.assertGreater(len(lines), 10)
        shown = set(read("docs", "use", "kernelbench.md").splitlines())
        for line in lines:
            self.assertIn(line, shown)

    def test_the_results_show_both_sets(self):
        with lzma.open(ROWS, "rt", encoding="utf-8") as file:
            sets = [rows[1:] for rows in json.load(file)["runs"].values()]
        text = read("docs", "results.md")
        for title, baseline in (("eager in a CUDA graph", "eager+graph"), ("torch.compile in a CUDA graph", "torch.compile+graph"),
                                ("eager, as called", "eager")):
            self.assertIn("| %s | %s |\n" % (title, " | ".join(tables.means(rows, baseline) for rows in sets)), text)
        self.assertIn(" | ".join(f"{tables.verified(rows)} of {len(rows)}" for rows in sets), text)
        self.assertIn(" | ".join(f"{tables.faster(rows)} / {tables.slower(rows)}" for rows in sets), text)
        means = [tables.means(rows, "torch.compile+graph").split(" / ")[0] for rows in sets]
        self.assertIn("%sx in original sizes, %sx in current sizes" % tuple(means), read("README.md"))


if __name__ == "__main__":
    unittest.main()
