#!/usr/bin/env python3
"""bench/programs: the order and the steps with imitations of warpwright and make, resuming, and the table."""
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BENCH = os.path.join(ROOT, "bench", "programs")
sys.path.insert(0, BENCH)
import table  # noqa: E402

# Writes what the real program writes: a capture, facts with a run after it, a report.
WARPWRIGHT = '''#!/usr/bin/env python3
import json, os, sys
command, arguments = sys.argv[1], sys.argv[2:]
name = os.path.basename(os.getcwd())[:-5]
with open(os.environ["CALLS"], "a") as file:
    file.write(f"{command} {name}\\n")
marker = os.path.join(os.environ["XDG_CACHE_HOME"], "captured-" + name)
if command == "capture":
    folder = os.path.join(arguments[arguments.index("--out") + 1], "1")
    os.makedirs(folder)
    totals = {"launches": 10, "gpu_ns": 0 if name == "idle" else 1000}
    json.dump({"totals": totals, "gpus": [{"name": "Fake GPU"}]}, open(os.path.join(folder, "capture.json"), "w"))
    open(marker, "w")
elif command == "analyze":
    kernels = []
    for kernel, share in (("big", 0.9), ("asking", 0.06), ("small", 0.04)):
        task = {"inferred": kernel != "asking", "missing": [{"name": "n"}] if kernel == "asking" else []}
        kernels.append({"name": kernel, "qualified_name": kernel, "task": task})
        if os.path.exists(marker):
            kernels[-1]["run"] = {"share": share, "runs": 10, "total_ns": 1000 * share}
    print(json.dumps({"files": [{"path": "main.cu", "kernels": kernels}], "failures": []}))
elif command == "optimize":
    verdict = {"outcome": "verified", "message": "", "moves": ["vectorize(4)"], "reference_time": {"median_ns": 90}, "time": {"median_ns": 45},
               "speedup": {"ratio": 2.0, "low": 1.9, "high": 2.1, "device": "Fake GPU"}}
    print(json.dumps({"kernels": [{"variants": [verdict], "best": 0, "error": None, "sizes": "n=1", "diff": ""}]}))
'''


class ProgramsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name
        self.bin = os.path.join(self.path, "bin")
        os.makedirs(self.bin)
        self.write("bin/warpwright", WARPWRIGHT, 0o755)
        for name in ("busy", "idle", "broken", "nbody"):  # the last is not of a to m
            rule = "\tfalse\n" if name == "broken" else "\ttouch main\n"
            self.write(f"checkout/src/{name}-cuda/Makefile", "main:\n" + rule)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text, mode=0o644):
        path = os.path.join(self.path, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)

    def run_bench(self, *more):
        command = [sys.executable, "-B", os.path.join(BENCH, "run.py"), os.path.join(self.path, "checkout"), "--bin", self.bin,
                   "--out", os.path.join(self.path, "out"), "--work", os.path.join(self.path, "work"), "--jobs", "2", *more]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "CALLS": os.path.join(self.path, "calls")})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def lines(self, kind):
        return [line for line in table.read(os.path.join(self.path, "out", "programs.jsonl")) if line["kind"] == kind]

    def calls(self):
        with open(os.path.join(self.path, "calls")) as file:
            return file.read().split("\n")[:-1]

    def test_each_program_has_an_outcome_and_a_second_run_does_nothing(self):
        text = self.run_bench()
        outcomes = {line["program"]: line["outcome"] for line in self.lines("program")}
        self.assertEqual(outcomes, {"busy": "done", "idle": "nothing captured", "broken": "does not build"})
        kernels = {line["kernel"]: line for line in self.lines("kernel")}
        self.assertEqual(set(kernels), {"big", "asking"})  # "small" has too small a share
        self.assertEqual(kernels["big"]["speedup"], 2.0)
        self.assertEqual(kernels["asking"]["outcome"], "no task")
        self.assertEqual(kernels["asking"]["why"], "asks for n")
        self.assertIn("kernels, geometric mean (failures as 1.0, interval over programs): 1.414", text)
        self.assertIn("| busy | big | 90.0% |", text)
        before = self.calls()
        self.assertEqual(before.count("optimize busy"), 1)
        self.run_bench()
        self.assertEqual(self.calls(), before)

    def test_a_run_without_time_begins_nothing_and_can_be_continued(self):
        self.run_bench("--for", "1s")
        self.assertEqual(self.lines("program"), [])
        self.run_bench("--only", "busy")
        self.assertEqual([line["program"] for line in self.lines("program")], ["busy"])

    def test_a_task_is_compared_with_its_own_launch_as_a_profiler_counts_both(self):
        line = {"before_ns": 9500, "before_kernel_ns": 5000, "total_ns": 12000, "launches": 6, "launch_ns": 4500}
        self.assertEqual(table.task_and_launch_ns(line), (5000, 4500))
        self.assertEqual(table.task_and_launch_ns({**line, "launch_ns": None, "before_kernel_ns": None}), (9500, 2000))

    def test_means_count_failures_as_one(self):
        self.assertAlmostEqual(table.geometric_mean([4.0, 1.0]), 2.0)
        self.assertEqual(table.speedup_of({"outcome": "failed"}), 1.0)
        self.assertEqual(table.speedup_of({"speedup": 0.9}), 1.0)
        kernels = [{"total_ns": 500, "speedup": 2.0}, {"total_ns": 300, "outcome": "no task"}]
        self.assertAlmostEqual(table.gpu_ratio(kernels, 1000), 1000 / 750)
        low, high = table.interval([[2.0], [2.0]])
        self.assertAlmostEqual(low, 2.0)
        self.assertAlmostEqual(high, 2.0)

    def test_a_search_without_a_result_says_why(self):
        wrong = {"outcome": "wrong_result", "message": "x differs", "moves": ["unroll"], "speedup": None, "reference_time": None}
        kernel = {"variants": [wrong], "best": None, "error": None, "sizes": ""}
        self.assertEqual(table.outcome_of(kernel), {"variants": {"wrong_result": 1}, "sizes": "", "outcome": "nothing verified",
                                                    "why": "x differs", "refused": [
                                                        {"moves": ["unroll"], "outcome": "wrong_result", "message": "x differs"}]})
        self.assertEqual(table.outcome_of({**kernel, "error": {"message": "lost"}})["outcome"], "failed")

    def test_the_archive_has_programs_a_to_m_and_what_they_name(self):
        source = os.path.join(self.path, "git")
        for path, text in {"src/busy-cuda/main.cu": '#include "../busy-sycl/util.h"\n// ../data/cfd/x\n', "src/busy-sycl/util.h": "", "src/other-sycl/x.h": "",
                           "src/nbody-cuda/main.cu": "", "src/include/a.h": "", "src/data/cfd/x": "", "src/data/nn/x": ""}.items():
            self.write("git/" + path, text)
        for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "all"]):
            subprocess.run(["git", "-C", source, *command], check=True)
        archive = os.path.join(self.path, "all.tar.xz")
        subprocess.run([sys.executable, "-B", os.path.join(BENCH, "pack.py"), source, archive], check=True, capture_output=True)
        with tarfile.open(archive) as packed:
            self.assertEqual(sorted(packed.getnames()), ["COMMIT", "src/busy-cuda/main.cu", "src/busy-sycl/util.h", "src/data/cfd/x",
                                                         "src/include/a.h"])


if __name__ == "__main__":
    unittest.main()
