"""The figures of docs/rules, from samples of the code that the pages show (bench/rules/measure.py).

usage: rules_test.py [Compiled]     Compiled: the code of all pages by nvcc; skipped without nvcc
"""
import copy
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/rules")]
import entries  # noqa: E402
import measure  # noqa: E402


def report():
    """Good code that takes half of the time, on an imaginary GPU."""
    times = [100 + one % 7 for one in range(measure.PAIRS)]
    rules = {name: {"code": measure.fingerprint(name), "bad_us": [2.0 * one for one in times], "good_us": times} for name in measure.CASES}
    return {"gpu": "G", "driver": "1", "nvcc": "13.0", "date": "2026-01-02T03:04:05Z", "commit": "c", "rules": rules}


class Pages(unittest.TestCase):
    def test_each_page_with_code_is_measured_or_about_correct_results(self):
        for page in sorted(measure.PAGES.glob("*.md")):
            text = page.read_text()
            if "\n## Bad\n" in text:
                self.assertNotEqual(page.stem in measure.CASES, "This rule is about correct results, not about speed: not measured." in text, page.name)

    def test_pages_and_samples_agree(self):
        measure.check(measure.kept())

    def test_samples_of_other_code_are_refused(self):
        other = report()
        other["rules"]["block-size"]["code"] = "0"
        with self.assertRaisesRegex(measure.Problem, "block-size.md has other code"):
            measure.check(other)

    def test_figures_that_differ_are_refused(self):
        with self.assertRaisesRegex(measure.Problem, "has other figures"):
            measure.check(report())


class Figures(unittest.TestCase):
    def test_the_sentence_names_ratio_interval_times_sizes_and_machine(self):
        self.assertEqual(measure.figures(report(), "bank-conflict"), "The good code is 2.00x faster [2.00, 2.00]: 103 us instead of 206 us, for "
                         "n = 4096, on an G with nvcc 13.0, 2026-01-02.")

    def test_code_that_is_not_faster_with_confidence_is_not_called_faster(self):
        equal = copy.deepcopy(report())
        rule = equal["rules"]["missing-const"]
        rule["bad_us"] = [time * (1 + (number % 3 - 1) / 100) for number, time in enumerate(rule["good_us"])]
        self.assertIn("The good code is 1.00x as fast [", measure.figures(equal, "missing-const"))

    def test_the_interval_of_a_median_has_the_ranks_of_tables(self):
        # Nair 1940, distribution-free 95% intervals: ranks 1 of 6, 2 of 10, 6 of 20.
        for size, rank in ((6, 1), (10, 2), (20, 6)):
            low, _, high = entries.median_interval(list(range(1, size + 1)))
            self.assertEqual((low, high), (rank, size + 1 - rank))


class Compiled(unittest.TestCase):
    def test_the_code_of_all_pages_compiles(self):
        try:
            measure.nvcc()
        except measure.Problem as problem:
            self.skipTest(str(problem))
        measure.main("compile")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + (sys.argv[1:] or ["Pages", "Figures"]))
