#!/usr/bin/env python3
"""Tests of bench/trainer/merge_records.py and held_out.py on small files of the trainer's formats. Run by CTest."""
import json
import lzma
import math
import os
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "trainer")
sys.path.insert(0, TOOLS)
import held_out  # noqa: E402


def written(path, lines, tail=""):
    with open(path, "w") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines) + tail)
    return path


def task(name, split="training", hash="h"):
    return {"task": name, "family": "f", "split": split, "language": "cuda", "kernel": "k", "hash": hash, "definition": {}}


class MergeRecords(unittest.TestCase):
    def merged(self, *files, splits=""):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for i, lines in enumerate(files):
                tail = lines.pop() if isinstance(lines[-1], str) else ""
                paths.append(written(os.path.join(folder, f"{i}.jsonl"), lines, tail))
            with open(paths[-1], "rb") as plain, lzma.open(paths[-1] + ".xz", "wb") as packed:
                packed.write(plain.read())
            out = os.path.join(folder, "out.jsonl")
            command = [sys.executable, "-B", os.path.join(TOOLS, "merge_records.py"), out, *paths[:-1], paths[-1] + ".xz", os.path.join(folder, "none")]
            said = subprocess.run(command + ["--splits", splits], check=True, capture_output=True, text=True).stdout
            with open(out) as file:
                return [json.loads(line) for line in file], said

    FIRST = [{"warpwright_records": 1}, {"device": {"name": "G"}}, task("a"), {"move": "m"}, {"state": [0, 0], "text": "t1", "legal": [0]},
             {"verdict": [0, 0], "text": "t1", "outcome": "verified", "seconds": 1}]
    SECOND = [{"warpwright_records": 1}, {"move": "n"}, {"move": "m"}, task("b", "held-out"), task("a"), {"device": {"name": "G"}},
              {"state": [1, 1], "text": "t1", "legal": [1]}, {"state": [0, 0, 1], "text": "t2", "legal": []},
              {"verdict": [1, 0], "text": "t1", "outcome": "verified", "seconds": 2}, {"verdict": [0, 0], "text": "t2", "outcome": "crash"}]

    def test_what_two_files_share_is_kept_once_and_numbers_are_of_the_merged_file(self):
        lines, said = self.merged(list(self.FIRST), list(self.SECOND))
        self.assertEqual(said, "2 tasks, 2 states, 2 verdicts\n")
        self.assertEqual(lines[0], {"warpwright_records": 1})
        self.assertEqual([line["task"] for line in lines if "task" in line], ["a", "b"])
        self.assertEqual([line["move"] for line in lines if "move" in line], ["m", "n"])
        self.assertIn({"state": [1, 1, 0], "text": "t2", "legal": []}, lines)
        self.assertEqual([line for line in lines if line.get("text") == "t1" and "verdict" in line][0]["seconds"], 1)
        self.assertIn({"verdict": [1, 0], "text": "t2", "outcome": "crash"}, lines)

    def test_tasks_of_other_splits_are_left_out_with_all_of_theirs(self):
        lines, said = self.merged(list(self.FIRST), list(self.SECOND), splits="training")
        self.assertEqual(said, "1 tasks, 1 states, 1 verdicts\n")
        self.assertFalse([line for line in lines if line.get("text") == "t2"])

    def test_a_task_with_another_definition_and_a_torn_line_are_left_out(self):
        other = [{"warpwright_records": 1}, {"device": {"name": "G"}}, task("a", hash="other"), {"verdict": [0, 0], "text": "t9", "outcome": "crash"}, '{"verdict": [0']
        _, said = self.merged(list(self.FIRST), other)
        self.assertEqual(said, "1 tasks, 1 states, 1 verdicts\n")


class HeldOut(unittest.TestCase):
    def found(self, *starts):
        with tempfile.TemporaryDirectory() as folder:
            lines = []
            for sessions in starts:
                lines.append({"event": "start"})
                lines += [{"event": "session", "policy": policy, "task": name, "scores": scores} for policy, name, scores in sessions]
            os.mkdir(os.path.join(folder, "eval_families_trained"))
            written(os.path.join(folder, "eval_families_trained", "log.jsonl"), lines, '{"event": "sess')
            return held_out.sessions([folder], ["eval_families_*"])

    def test_of_two_starts_the_one_with_more_sessions_counts_not_both(self):
        found = self.found([("random", "a", [2.0])], [("random", "a", [2.0]), ("random", "a", [4.0])])
        self.assertEqual(found, {("random", "a"): [[2.0], [4.0]]})

    def test_best_of_k_is_no_less_than_the_unchanged_source(self):
        self.assertEqual(held_out.log_best([0, 0.5, 3.0], 2), 0)
        self.assertAlmostEqual(held_out.log_best([0, 0.5, 3.0], 3), math.log(3))

    def test_a_policy_that_had_fewer_trials_has_no_value_for_more(self):
        values = held_out.values_of(self.found([("evolve", "a", [2.0, 4.0]), ("evolve", "b", [2.0])]), 2)
        self.assertAlmostEqual(values["evolve"]["a"], math.log(4))
        self.assertAlmostEqual(values["evolve"]["b"], math.log(2))  # nothing more was found there
        self.assertEqual(held_out.values_of(self.found([("evolve", "a", [2.0, 4.0])]), 4), {})

    def test_random_search_is_averaged_over_all_drawings(self):
        values = held_out.values_of(self.found([("random", "a", [2.0, 8.0])]), 1)
        self.assertAlmostEqual(values["random"]["a"], (math.log(2) + math.log(8)) / 2)

    def test_policies_are_compared_on_tasks_that_both_have(self):
        result = held_out.judged(self.found([("random", "a", [2.0]), ("random", "b", [4.0]), ("evolve", "a", [8.0])]))
        pair = [e for e in result["paired"] if e["k"] == 1][0]
        self.assertEqual((pair["policy"], pair["against"], pair["tasks"]), ("random", "evolve", 1))
        self.assertAlmostEqual(pair["value"], 0.25)


if __name__ == "__main__":
    unittest.main()
