"""bench/compare: what it says of times that are alike, a little apart, far apart and too noisy to tell."""
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/compare"))
import compare  # noqa: E402


def pairs(ratio, noise, count=60):
    """Times of two programs that meet the same machine: pairs go up and down together, and a little apart."""
    source = random.Random(7)
    machine = [100 * source.uniform(1, 1.5) for _ in range(count)]
    return [one * source.gauss(1, noise) for one in machine], [one * ratio * source.gauss(1, noise) for one in machine]


class Compare(unittest.TestCase):
    def verdict(self, ratio, noise):
        return compare.compared("a row", "ms", *pairs(ratio, noise), 1.03)

    def test_builds_that_are_alike_are_as_fast(self):
        row = self.verdict(1.0, 0.001)
        self.assertEqual(row["verdict"], "as fast")
        self.assertLess(abs(row["ratio"] - 1), 0.01)
        self.assertEqual(row["pairs"], 60)

    def test_a_slower_build_is_named_with_its_interval(self):
        row = self.verdict(1.2, 0.001)
        self.assertEqual(row["verdict"], "slower")
        self.assertTrue(row["low"] <= row["ratio"] <= row["high"])
        self.assertLess(abs(row["ratio"] - 1.2), 0.02)
        self.assertIn("slower", compare.text_of(row))

    def test_a_faster_build_is_as_fast(self):
        self.assertEqual(self.verdict(0.8, 0.001)["verdict"], "as fast")

    def test_noise_is_unsure_and_not_a_verdict(self):
        self.assertEqual(self.verdict(1.0, 0.3)["verdict"], "unsure")

    def test_a_folder_without_programs_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([ROOT / "bench/compare/compare.py", folder, folder], capture_output=True, text=True)
            self.assertEqual(run.returncode, 1)
            self.assertIn(f"{folder} has no warpwright", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
