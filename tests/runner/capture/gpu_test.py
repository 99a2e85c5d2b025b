#!/usr/bin/env python3
"""Captures gpu_program.cu on a real GPU: launches, graphs, kinds of memory, a child process, a program ended by SIGKILL, the cost of a launch.

usage: python3 tests/runner/capture/gpu_test.py FOLDER_WITH_WARPWRIGHT [--out FILE.json]

Ends with 77 if there is no GPU or no nvcc. The file gets the nanoseconds of a launch with and
without the recording, which no test judges.
"""
import argparse
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

OPTIONS = argparse.Namespace()
HERE = os.path.dirname(os.path.abspath(__file__))


class Process:
    def __init__(self, folder):
        with open(os.path.join(folder, "capture.json")) as file:
            self.facts = json.load(file)
        self.launches, self.copies, self.graphs = (lines(os.path.join(folder, name)) for name in ("launches.jsonl", "copies.jsonl", "graphs.jsonl"))

    def counts(self, member="count"):
        found = collections.Counter()
        for launch in self.launches:
            found["scale" if "scale" in launch["kernel"] else "total"] += launch.get(member, 0)
        return found


def lines(path):
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [json.loads(line) for line in file]


class Capture(unittest.TestCase):
    def capture(self, *arguments):
        out = tempfile.mkdtemp(dir=OPTIONS.folder)
        ran = subprocess.run([os.path.join(OPTIONS.programs, "warpwright"), "capture", "--out", out, "--", OPTIONS.program, *arguments],
                             capture_output=True, text=True, timeout=120)
        processes = [Process(os.path.dirname(path)) for path in glob.glob(os.path.join(out, "*", "capture.json"))]
        self.assertTrue(processes, ran.stderr)
        for process in processes:
            self.assertEqual(process.facts.get("stopped", ""), "", ran.stderr)
        return ran, processes

    def test_launches_have_counts_times_and_parameters(self):
        ran, (process,) = self.capture("launches", "1000")
        self.assertEqual(ran.returncode, 7, ran.stderr)
        self.assertEqual(process.counts(), {"scale": 1000, "total": 9})
        self.assertEqual(process.counts("timed"), {"scale": 1000, "total": 9}, process.facts)
        by_name = {"scale" if "scale" in one["kernel"] else "total": one for one in process.launches}
        pointer, count, factor = by_name["scale"]["parameters"]
        self.assertEqual((pointer["pointers"][0]["offset"], pointer["pointers"][0]["memory"]), (0, "device"))
        self.assertGreaterEqual(pointer["pointers"][0]["extent_bytes"], 4096 * 4)
        self.assertEqual((count["bytes"], factor["bytes"]), ("00100000", "0000003f"))
        structure = by_name["total"]["parameters"][0]
        self.assertEqual((structure["pointers"][0]["at"], structure["pointers"][0]["offset"]), (0, 4096))
        self.assertEqual(sorted(one.get("direction", "") for one in process.copies)[-1], "fill")
        self.assertIn(" scale(float*, int, float)", re.sub(r"\(anonymous namespace\)::", "", ran.stderr))

    def test_the_operations_of_a_graph_are_counted_with_each_run(self):
        ran, (process,) = self.capture("graph")
        self.assertEqual(ran.returncode, 7, ran.stderr)
        self.assertEqual(process.counts("captured"), {"scale": 2, "total": 1}, process.launches)
        self.assertEqual(process.counts("in_graphs"), {"scale": 10, "total": 5}, process.launches)
        self.assertEqual([one["count"] for one in process.graphs], [5])

    def test_kinds_of_memory(self):
        ran, (process,) = self.capture("memories")
        self.assertEqual(ran.returncode, 7, ran.stderr)
        self.assertEqual(sorted(one["parameters"][0]["pointers"][0]["memory"] for one in process.launches), ["host", "managed", "pool"])

    def test_a_child_has_a_folder_of_its_own(self):
        ran, processes = self.capture("fork")
        self.assertEqual(ran.returncode, 7, ran.stderr)
        self.assertEqual(sorted(one.counts()["scale"] for one in processes), [50, 100])

    def test_a_killed_program_keeps_its_record(self):
        ran, (process,) = self.capture("killed")
        self.assertEqual(ran.returncode, 128 + 9, ran.stderr)
        self.assertEqual(process.counts(), {"scale": 100, "total": 9})
        self.assertEqual(process.counts("timed"), {"scale": 100, "total": 9}, process.facts)

    def test_cost(self):
        plain = [int(subprocess.run([OPTIONS.program, "cost", "100000"], capture_output=True, text=True).stdout) for _ in range(3)]
        ran = [self.capture("cost", "100000") for _ in range(3)]
        recorded = [int(one.stdout) for one, _ in ran]
        for _, (process,) in ran:
            self.assertEqual(process.counts(), {"scale": 102000})
        found = {"launch_ns": min(plain), "recorded_launch_ns": min(recorded), "plain": plain, "recorded": recorded}
        print("cost of a launch:", json.dumps(found))
        if OPTIONS.out:
            with open(OPTIONS.out, "w") as file:
                json.dump(found, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs")
    parser.add_argument("--out")
    parser.parse_args(namespace=OPTIONS)
    has_gpu = shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0
    if not has_gpu or not shutil.which("nvcc"):
        print("skipped: no GPU or no nvcc")
        return 77
    with tempfile.TemporaryDirectory() as OPTIONS.folder:
        OPTIONS.program = os.path.join(OPTIONS.folder, "program")
        subprocess.run(["nvcc", "-arch=native", "-O2", "-o", OPTIONS.program, os.path.join(HERE, "gpu_program.cu")], check=True)
        return 0 if unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
