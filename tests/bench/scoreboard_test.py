"""bench/scoreboard.py: what counts as 1, what is slower, and a page with an SVG picture."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")
sys.path.insert(0, BENCH)
import scoreboard  # noqa: E402


def row(name, ratio, right=True, other=None):
    def beside(value):
        return {"ratio": value, "low": value - 0.005, "high": value + 0.005, "us": 10 * value}

    times = {"ours_us": 10.0, "best": "eager" if other else "compile", "baselines": {"compile": beside(ratio), **({"eager": beside(other)} if other else {})}}
    return {"id": name + "/bfloat16/default/eval", "date": "2026-01-02", "gpu": "a GPU", "torch": "2", "right": right, "bound": 1, "forms": {},
            "graph": times, "called": times, "slowest_ours": [["k0_rows(float)", 1.0, 7.0]], "slowest_inductor": [["triton_red", 1.0, 5.0]]}


ROWS = [row("fast", 2.0), row("slow", 0.5), row("wrong", 4.0, right=False), row("eager_is_best", 2.0, other=1.5), {"id": "broken/own/default/eval", "failed": "no memory"}]


class Scoreboard(unittest.TestCase):
    def test_wrong_and_failed_rows_count_as_one_and_the_best_form_is_the_denominator(self):
        self.assertEqual([scoreboard.ratio_of(one, "graph")["ratio"] for one in ROWS], [2.0, 0.5, 1.0, 1.5, 1.0])
        mean, median, faster, slower, least = scoreboard.counts(ROWS, "graph")
        self.assertAlmostEqual(mean, 1.5 ** 0.2)
        self.assertEqual((median, faster, slower, least), (1.0, 2, 1, 0.5))

    def test_a_page_names_what_is_slower_and_the_kernels_on_both_sides(self):
        with tempfile.TemporaryDirectory() as folder:
            rows, kept, page = (os.path.join(folder, name) for name in ("rows.jsonl", "rows.json.xz", "page.md"))
            with open(rows, "w", encoding="utf-8") as file:
                file.writelines(json.dumps({**one, "gpu": "a GPU", "torch": "2", "date": "2026-01-02"}) + "\n" for one in ROWS)
            run = [sys.executable, "-B", os.path.join(BENCH, "scoreboard.py")]
            subprocess.run([*run, "--keep", kept, "--from", rows, "--commit", "abc", "--driver", "1.2", "--command", "run.py"], check=True)
            subprocess.run([*run, "some=" + kept, "--page", page, "--images", folder], check=True)
            with open(page, encoding="utf-8") as file:
                text = file.read()
            self.assertIn("| slow | 0.50 | 0.50 | k0_rows 7 | triton_red 5 |", text)
            self.assertNotIn("| fast | 2", text)
            picture = xml.dom.minidom.parse(os.path.join(folder, "scoreboard-some.svg"))
            self.assertEqual(len(picture.getElementsByTagName("circle")), len(ROWS))
            with open(rows, "w", encoding="utf-8") as file:
                file.write(json.dumps(row("slow", 1.25)) + "\n")
            subprocess.run([*run, "--keep", kept, "--from", rows, "--commit", "def", "--driver", "1.2", "--command", "run.py", "--add"], check=True)
            document = scoreboard.load(kept)
            self.assertEqual(document["commit"], "abc (4 modules), def (1 modules)")
            slow, = (one for one in document["rows"] if scoreboard.name_of(one) == "slow")
            self.assertEqual((len(document["rows"]), slow["commit"], slow["graph"]["baselines"]["compile"]["ratio"]), (len(ROWS), "def", 1.25))


if __name__ == "__main__":
    unittest.main()
