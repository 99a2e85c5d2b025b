#!/usr/bin/env python3
"""Tests of bench/entries_from_optimize.py against the shape of `warpwright optimize --json`. Run by CTest."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import entries_from_optimize as tool  # noqa: E402
import summary  # noqa: E402


def report(kind="cuda"):
    def kernel(name, ratio):
        speedup = {"ratio": ratio, "low": ratio - 0.1, "high": ratio + 0.1, "samples": 40, "device": "G"} if ratio else None
        return {"file": f"examples/{name}.cu", "name": name, "best": 0 if ratio else None, "variants": [{"speedup": speedup}]}
    return {"device": {"kind": kind, "name": "G", "driver": "580"}, "command": "warpwright optimize", "date": "2026-11-20",
            "kernels": [kernel("matmul", 4.0), kernel("saxpy", None)]}


class EntriesTest(unittest.TestCase):
    def test_one_entry_a_faster_kernel_and_two_over_all(self):
        entries = {entry["key"]: entry for entry in tool.entries(report(), "abc")}
        self.assertEqual(entries["optimize matmul"]["value"], 4.0)
        self.assertEqual(entries["optimize matmul"]["low"], 3.9)
        self.assertEqual(entries["optimize examples, geometric mean"]["value"], 2.0)
        self.assertEqual(entries["optimize examples, kernels made faster"]["value"], 1)
        self.assertEqual(len(entries), 3)

    def test_every_entry_is_one_that_the_summary_takes(self):
        for entry in tool.entries(report(), "abc"):
            summary.check_entry(entry, "entry")

    def test_a_cpu_measures_nothing(self):
        self.assertEqual(tool.entries(report("cpu"), "abc"), [])


if __name__ == "__main__":
    unittest.main()
