#!/usr/bin/env python3
"""Tests of bench/summary.py, in a folder of their own. Run by CTest."""
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import summary  # noqa: E402


def entry(**changes):
    values = {"key": "matmul", "value": 4.2, "low": 4.1, "high": 4.3, "unit": "x", "target": ">= 1.4",
              "command": "make bench", "gpu": "NVIDIA H200", "commit": "abc", "date": "2026-11-20T10:00:00Z"}
    values.update(changes)
    return values


class SummaryTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.makedirs(os.path.join(self.folder.name, "bench", "results"))
        os.makedirs(os.path.join(self.folder.name, "docs"))
        self.write("docs/results.md", f"before\n{summary.BEGIN}\nold\n{summary.END}\nafter\n")

    def write(self, name, content):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def read(self, name):
        with open(os.path.join(self.folder.name, name), encoding="utf-8") as file:
            return file.read()

    def run_tool(self, *arguments):
        summary.run(list(arguments), self.folder.name)

    def test_merge_replaces_by_key_and_sorts(self):
        self.run_tool("merge", self.write("a.json", [entry(), entry(key="alpha", value=1)]))
        self.run_tool("merge", self.write("b.json", [entry(value=5.0)]))
        merged = json.loads(self.read("bench/results/summary.json"))
        self.assertEqual([(e["key"], e["value"]) for e in merged], [("alpha", 1), ("matmul", 5.0)])

    def test_merge_writes_the_page_between_the_markers_only(self):
        self.run_tool("merge", self.write("a.json", [entry()]))
        page = self.read("docs/results.md")
        self.assertIn("| matmul | 4.2 [4.1, 4.3] x | >= 1.4 | NVIDIA H200 | 2026-11-20 |", page)
        self.assertTrue(page.startswith("before\n") and page.endswith("\nafter\n"))
        self.assertNotIn("old", page)
        self.run_tool("check")

    def test_check_fails_when_the_table_is_stale(self):
        self.run_tool("merge", self.write("a.json", [entry()]))
        self.write("docs/results.md", self.read("docs/results.md").replace("4.2 [", "9.9 ["))
        with self.assertRaises(summary.Problem):
            self.run_tool("check")

    def test_a_missed_target_is_marked_and_fails(self):
        self.run_tool("merge", self.write("a.json", [entry(value=1.2, low=None, high=None)]))
        self.assertIn("| 1.2 x | >= 1.4 (missed) |", self.read("docs/results.md"))
        with self.assertRaisesRegex(summary.Problem, "matmul: 1.2 x, target >= 1.4"):
            self.run_tool("targets")

    def test_met_targets_and_entries_without_one_pass(self):
        self.run_tool("merge", self.write("a.json", [entry(), entry(key="b", target=None, gpu=None)]))
        self.run_tool("targets")
        self.assertIn("| CPU |", self.read("docs/results.md"))

    def test_a_promise_cannot_be_entered_with_an_easier_target(self):
        for target in ("<= 0.5", None):
            with self.assertRaisesRegex(summary.Problem, "the target of honesty.aa_false_rate is <= 0.05"):
                summary.check_entry(entry(key="honesty.aa_false_rate", target=target), "entry")

    def test_bad_entries_are_refused_and_change_nothing(self):
        for bad in ([entry(value="fast")], [entry(value=float("nan"))], [entry(target="about 2")], [{"key": "x"}], {}):
            with self.assertRaises(summary.Problem):
                self.run_tool("merge", self.write("a.json", bad))
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "bench/results/summary.json")))


if __name__ == "__main__":
    unittest.main()
