#!/usr/bin/env python3
"""Tests of bench/honesty: the arithmetic on small samples, and each script against fake_worker.py. Run by CTest.

With WARPWRIGHT_RUNNER set to a built warpwright-runner, every task also passes the service's own
validation.
"""
import glob
import json
import lzma
import os
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.join(HERE, "..", "..", "bench")
sys.path[:0] = [BENCH, os.path.join(BENCH, "honesty")]
import aa  # noqa: E402
import adversary  # noqa: E402
import cupti  # noqa: E402
import cupti_records  # noqa: E402
import entries  # noqa: E402
import kernels  # noqa: E402
import latency  # noqa: E402
import plots  # noqa: E402
import repeat  # noqa: E402
import summary  # noqa: E402
import svg  # noqa: E402
from runner_client import Runner, serve_command  # noqa: E402

FAKE = os.path.join(HERE, "fake_worker.py")


def pair(ratio, low, high, elements=1024):
    return {"kernel": "copy", "elements": elements, "ratio": ratio, "low": low, "high": high, "samples": 30,
            "candidate_ns": 2000.0}


class ArithmeticTest(unittest.TestCase):
    def test_the_interval_of_a_rate_is_wilsons(self):
        low, high = entries.wilson(10, 200)
        self.assertAlmostEqual(low, 0.0274, places=3)
        self.assertAlmostEqual(high, 0.0896, places=3)
        self.assertEqual(entries.wilson(0, 200)[0], 0.0)

    def test_quantiles_lie_between_neighbours(self):
        self.assertEqual(entries.quantile([4, 1, 3, 2], 0.5), 2.5)
        self.assertEqual(entries.quantile([5], 0.9), 5)

    def test_an_interval_without_1_is_a_false_speedup_and_a_pair_without_one_is_counted_apart(self):
        records = [pair(1.01, 1.005, 1.015), pair(0.99, 0.985, 0.995), pair(1.0, 0.999, 1.001), pair(1.001, 1.0, 1.002),
                   pair(None, None, None)]
        found = aa.summarise(records)
        self.assertEqual((found["false"], found["measured"], found["not_measured"]), (2, 4, 1))
        self.assertEqual(found["false_rate"], 0.5)
        self.assertAlmostEqual(found["largest_false_distance"], 0.01)
        self.assertEqual(aa.summarise(records[-1:])["measured"], 0)

    def test_200_pairs_hold_every_family_and_every_size(self):
        pairs = aa.draw_pairs(200, 1)
        self.assertEqual(len(pairs), 200)
        self.assertEqual({family for family, _, _ in pairs}, set(kernels.FAMILIES))
        self.assertEqual({elements for _, elements, _ in pairs}, set(aa.SIZES))
        self.assertEqual(pairs, aa.draw_pairs(200, 1))

    def test_the_budget_of_a_pair_is_what_is_left_within_its_limits(self):
        self.assertEqual(aa.budget_ms(100, 100, 0.25), 750)
        self.assertEqual(aa.budget_ms(1, 100, 0.25), aa.BUDGET_MS[0])
        self.assertEqual(aa.budget_ms(1000, 1, 0.25), aa.BUDGET_MS[1])

    def test_the_spread_of_long_kernels_counts_and_that_of_short_ones_does_not(self):
        def run(ratio, ns):
            return {"ratio": ratio, "low": ratio - 0.01, "high": ratio + 0.01, "reference_ns": 2 * ns, "candidate_ns": ns}
        found = repeat.summarise({"long": [run(2.0, 50_000), run(2.02, 50_000)], "short": [run(2.0, 5_000), run(3.0, 5_000)],
                                  "lost": [run(2.0, 50_000), {"ratio": None}]})
        self.assertEqual(found["long_cases"], 1)
        self.assertAlmostEqual(found["worst_spread"], 0.02 / 2.01)

    def test_cold_launches_are_the_graph_launches_right_after_a_flush(self):
        lines = ["M 0 10 50\n", "K 20 30 0 ww_delay\n", "K 40 45 0 cand_a\n",              # not in a graph
                 "M 100 110 500\n", "K 120 130 0 ww_delay\n", "K 140 147 9 cand_a\n",      # cold
                 "K 150 155 9 cand_a\n",                                                   # warm: follows a kernel
                 "M 200 210 99\n", "K 240 245 9 cand_a\n",                                 # the memset was too small
                 "M 300 310 500\n", "K 340 349 9 name with spaces(int)\n", "K 400 4"]       # cut off
        found = cupti_records.cold_durations(cupti_records.read_trace(lines), 100)
        self.assertEqual(found, [7, 9])

    def test_records_out_of_order_are_put_in_order(self):
        lines = ["K 140 147 9 cand_a\n", "M 100 110 500\n"]
        self.assertEqual(cupti_records.cold_durations(cupti_records.read_trace(lines), 100), [7])

    def test_ncu_durations_are_read_from_its_csv(self):
        text = ('==PROF== Connected\n"ID","Process ID","Kernel Name","gpu__time_duration.sum"\n"","","","nsecond"\n'
                '"0","7","cand_copy_1","1,504"\n"1","7","cand_copy_1","1496"\n').splitlines(True)
        self.assertEqual(cupti.parse_ncu(text), {"cand_copy_1": [1504.0, 1496.0]})
        self.assertEqual(cupti.parse_ncu(["==ERROR== no permission\n"]), {})

    def test_agreement_is_judged_from_3_us_on(self):
        def times(ns):
            return {"ns": ns, "raw_ns": ns + 500, "samples": 30}
        first, second = cupti.case_name(cupti.CASES[0]), cupti.case_name(cupti.CASES[1])
        rows = cupti.rows_of({first: times(1000), second: times(3900)}, {second: times(3940)},
                             {first: times(2500), second: times(4020)},
                             {first: [2000], second: [4000, 4000, 4100]}, {})
        found = cupti.summarise(rows)
        self.assertEqual((found["kernels"], found["worst_kernel"]), (1, second))
        self.assertAlmostEqual(found["worst"], 0.005)
        self.assertEqual((rows[1]["raw_ns"], rows[1]["under_cupti_raw_ns"]), (4420, 4520))

    def test_a_refusal_for_the_wrong_reason_does_not_count(self):
        case = {"name": "x", "family": "memory", "refused": True, "as_expected": False}
        found = adversary.summarise({"cases": [case, {**case, "as_expected": True}]})
        self.assertEqual((found["cases"], found["refused"], found["missed"]), (2, 1, ["x"]))


class ScriptsTest(unittest.TestCase):
    """Each script as the GPU machine calls it, against a runner that computes nothing."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_script(self, name, *arguments, judged=True):
        """(report, entries by key). judged=False: how it ended, and whether targets are met, is a matter of time."""
        script = os.path.join(BENCH, "honesty", name)
        done = subprocess.run([sys.executable, "-B", script, "--runner", FAKE, "--out", self.folder.name, *arguments],
                              capture_output=True, text=True, timeout=120)
        if judged:
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        stem = os.path.join(self.folder.name, name.removesuffix(".py"))
        with open(stem + ".entries.json", encoding="utf-8") as file:
            made = json.load(file)
        for entry in made:
            summary.check_entry(entry, name)
            self.assertFalse(judged and summary.meets(entry) is False, entry)
        with open(stem + ".json", encoding="utf-8") as file:
            return json.load(file), {entry["key"]: entry["value"] for entry in made}

    def test_aa(self):
        report, made = self.run_script("aa.py")
        self.assertEqual(len(report["pairs"]), 200)
        self.assertEqual(made["honesty.aa_false_rate"], 0)

    def test_repeat(self):
        report, made = self.run_script("repeat.py", "--processes", "2")
        self.assertEqual(len(report["runs"]), len(repeat.CASES))
        self.assertIn("honesty.repeatability", made)

    def test_cupti_finds_the_cold_launches_in_the_trace_that_the_worker_wrote(self):
        report, made = self.run_script("cupti.py", "--library", "none.so")
        self.assertEqual({row["cupti_launches"] for row in report["kernels"]}, {30})
        self.assertLess(made["honesty.cupti_difference"], 0.01)
        self.assertAlmostEqual(report["kernels"][0]["raw_ns"] - report["kernels"][0]["reported_ns"], 500)

    def test_latency(self):
        report, made = self.run_script("latency.py", "--rounds", "2", judged=False)
        self.assertEqual({name: len(runs) for name, runs in report["faults"].items()}, dict.fromkeys(latency.BAD, 2))
        self.assertIn("fault.next_job_s", made)

    def test_an_adversary_report_of_a_gpu_becomes_entries(self):
        report = os.path.join(self.folder.name, "adversary.json")
        with open(report, "w", encoding="utf-8") as file:
            subprocess.run([sys.executable, "-B", FAKE, "adversary"], stdout=file, check=True)
        script = os.path.join(BENCH, "honesty", "adversary.py")
        subprocess.run([sys.executable, "-B", script, "--report", report, "--out", self.folder.name], check=True,
                       stdout=subprocess.DEVNULL)
        made = summary.load(os.path.join(self.folder.name, "adversary.entries.json"))
        self.assertEqual([(e["key"], e["value"], e["target"]) for e in made],
                         [("adversary.refused", 2, "== 2"), ("adversary.honest_verified", 1, "== 1")])


@unittest.skipUnless(os.environ.get("WARPWRIGHT_RUNNER"), "WARPWRIGHT_RUNNER names no built runner")
class ServiceTest(unittest.TestCase):
    def test_the_service_takes_every_task_and_plan(self):
        with Runner(serve_command(os.environ["WARPWRIGHT_RUNNER"]), {"WARPWRIGHT_CPU_WORKER": FAKE}) as runner:
            for family, kind in kernels.FAMILIES.items():
                for elements in (aa.SIZES[0], kind.most):
                    task = kernels.task_of(family, elements, name="ref", naive=family in kernels.NAIVE)
                    verdict = runner.verify(task, kernels.plan_of(family, 256, "cand"), device="cpu", hidden_sizes=False)
                    self.assertEqual(verdict["outcome"], "verified", verdict["message"])
            self.assertEqual(runner.verify(latency.task(), latency.plan(), device="cpu")["outcome"], "verified")


class PlotsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, report):
        with lzma.open(os.path.join(self.folder.name, name + ".json.xz"), "wt", encoding="utf-8") as file:
            json.dump({"device": {"name": "G", "driver": "1"}, "date": "2026-11-21T00:00:00Z", **report}, file)

    def test_what_was_not_measured_is_not_drawn(self):
        self.assertEqual(plots.draw(self.folder.name, self.folder.name), [])

    def test_every_plot_is_well_formed_and_marks_what_is_false(self):
        self.write("aa", {"pairs": [pair(1.01, 1.005, 1.015), pair(1.0, 0.999, 1.001), pair(None, None, None)]})
        times = {name: {"ns": 5000, "raw_ns": 6000, "samples": 9} for name in map(cupti.case_name, cupti.CASES)}
        rows = cupti.rows_of(times, {}, times, {cupti.case_name(cupti.CASES[3]): [4990]}, {})
        self.write("cupti", {"kernels": rows, "summary": cupti.summarise(rows)})
        runs = {"saxpy 16777216": [{"ratio": ratio, "low": 1.9, "high": 2.1, "reference_ns": 1e5, "candidate_ns": 5e4}
                                   for ratio in (2.0, 2.01)]}
        self.write("repeat", {"runs": runs, "summary": repeat.summarise(runs), "processes": 2})
        self.write("kernelbench", {"warpwright": {"a_minute": 200}, "kernelbench": {"a_minute": 2},
                                   "kernelbench_precompiled": None})
        self.assertEqual(len(plots.draw(self.folder.name, self.folder.name)), 4)
        for path in glob.glob(os.path.join(self.folder.name, "*.svg")):
            xml.dom.minidom.parse(path)
        with open(os.path.join(self.folder.name, "measuring_aa.svg"), encoding="utf-8") as file:
            drawing = file.read()
        self.assertIn("1 of 2 intervals exclude 1", drawing)
        self.assertIn(svg.RED, drawing)

    def test_a_logarithmic_axis_has_its_decades_at_equal_distances(self):
        axis = svg.Axis(1, 100, 0, 200, log=True)
        self.assertEqual([round(axis.at(value)) for value in (1, 10, 100, 1000)], [0, 100, 200, 200])
        self.assertEqual(axis.ticks(), [1, 2, 5, 10, 20, 50, 100])


class ResultsTest(unittest.TestCase):
    def test_no_committed_result_is_of_the_imaginary_gpu(self):
        for path in glob.glob(os.path.join(BENCH, "results", "**", "*.json*"), recursive=True):
            with (lzma.open if path.endswith(".xz") else open)(path, "rt", encoding="utf-8") as file:
                self.assertNotIn("Imaginary", file.read(), path)


if __name__ == "__main__":
    unittest.main()
