"""docs/first-ten-minutes.md: each command runs as it is shown, and each block is from a recording.

usage: first_minutes_test.py page
           the page agrees with the recordings; runs nothing
       first_minutes_test.py PLACE BIN_DIR WHEEL_DIR
           the commands of laptop, ssh or pip, on the CPU

Times are recorded and never compared. The place `ssh` is skipped without OpenSSH's server.
"""
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
import first_minutes  # noqa: E402
import page  # noqa: E402
import places  # noqa: E402
from steps import STEPS, Key, Step  # noqa: E402


class Page(unittest.TestCase):
    def setUp(self):
        self.text = page.PAGE.read_text()

    def test_each_block_of_a_terminal_is_a_step(self):
        self.assertEqual(list(page.regions(self.text)), [step.region for step in STEPS])
        outside = page.REGION.sub("", self.text).replace(page.WAITING, "")
        self.assertNotIn("```console", outside)
        for region, commands in page.regions(self.text).items():
            self.assertTrue(commands, region)

    def test_each_block_is_what_was_recorded(self):
        for name in ("cpu", "gpu"):
            recorded = page.recording(name)
            if recorded is None:
                self.assertEqual(name, "gpu")
                self.assertIn(page.WAITING, self.text)
                continue
            for region, runs in recorded["steps"].items():
                self.assertEqual([run["command"] for run in runs], page.regions(self.text)[region])
        self.assertEqual(page.written(self.text), self.text, "run tests/first_minutes/first_minutes.py page")

    def test_recordings_have_nothing_of_the_machine(self):
        for path in page.RECORDED.glob("*.json"):
            self.assertEqual(re.findall(r"/(?:tmp|work|root)/\w[\w./-]*", path.read_text()), [], path)


class Comparison(unittest.TestCase):
    """A lost key line is found."""

    STEP = Step("laptop x", [Key("^first$"), Key("^many ", most=2), Key("^last on a GPU$", "gpu")])

    def test_lines_between_key_lines_are_replaced_by_dots(self):
        self.assertEqual(page.shortened(self.STEP, "first\nother\nmany 1\nmany 2\nmany 3\n", "cpu"), ["first", "...", "many 1", "many 2", "..."])

    def test_a_lost_key_line_is_an_error(self):
        for output, on in (("first\n", "cpu"), ("many 1\nfirst\n", "cpu"), ("first\nmany 1\n", "gpu")):
            with self.assertRaises(page.Missing):
                page.key_lines(self.STEP, output, on)

    def test_a_long_line_is_cut_between_words(self):
        self.assertEqual(page.cut("word " * 30), ("word " * 22).rstrip() + " ...")
        self.assertEqual(page.cut("word " * 30 + "[a-rule]"), ("word " * 20).rstrip() + " ... [a-rule]")


class Path(unittest.TestCase):
    def test_the_commands_run_as_the_page_shows_them(self):
        if PLACE == "ssh" and not places.sshd.is_installed():
            self.skipTest("OpenSSH's server is not installed")
        try:
            first_minutes.run_path(PLACE, *FOLDERS, has_gpu=False, small=True)
        except (first_minutes.Failed, page.Missing) as error:
            self.fail(str(error))


if __name__ == "__main__":
    PLACE, FOLDERS = sys.argv[1], [pathlib.Path(one).resolve() for one in sys.argv[2:]]
    unittest.main(argv=sys.argv[:1] + (["Page", "Comparison"] if PLACE == "page" else ["Path"]), verbosity=2)
