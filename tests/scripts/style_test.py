"""The style check on texts of its own, and that this tree has no hits beyond the baseline."""

import contextlib
import importlib.util
import io
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
spec = importlib.util.spec_from_file_location("style", os.path.join(ROOT, "scripts", "style.py"))
style = importlib.util.module_from_spec(spec)
spec.loader.exec_module(style)

# One sentence for each rule that matches words, and a sentence that is close to it and accepted.
EXAMPLES = {
    "us-spelling": ("The compiler optimises the loop.", "The compiler optimizes the loop. A specialist works."),
    "per": ("It runs one job a GPU.", "It runs a job on a GPU."),
    "is-no": ("This is no error.", "It is no longer used."),
    "negative-subject": ("No file is read.", "There is no file."),
    "says": ("The verdict says why.", "The verdict gives the reason."),
    "what-subject": ("What fails first decides.", "What is a plan?"),
    "vague-pronoun": ("Whoever reads it understands.", "Each reader understands."),
    "of-its-own": ("It has a process of its own.", "It has its own process."),
    "unusual-word": ("The file is written anew.", "The file is written again."),
    "whose": ("A file whose name is short.", "A file with a short name."),
    "where-for-if": ("Where there is a GPU, it is used.", "The folder where programs go."),
    "left-out": ("The row is left out.", "The left output is empty."),
    "was-tried": ("It was tried twice.", "It was tested twice."),
}


def rules(name, source):
    return [hit.rule for hit in style.hits(name, source)]


class Rules(unittest.TestCase):
    def test_each_rule_of_words_has_an_example(self):
        self.assertEqual({rule.name for rule in style.RULES}, set(EXAMPLES))

    def test_examples(self):
        for rule, (wrong, right) in EXAMPLES.items():
            with self.subTest(rule):
                self.assertEqual(rules("a.md", wrong), [rule])
                self.assertEqual(rules("a.md", right), [])

    def test_each_rule_has_advice(self):
        self.assertLessEqual({"semicolon", "long-sentence", "long-line", *EXAMPLES}, set(style.ADVICE))

    def test_lengths(self):
        self.assertEqual(rules("a.md", "word " * 15 + "\n" + "word " * 16), ["long-sentence"])
        self.assertEqual(rules("a.md", "word " * 15 + "\n" + "word " * 15), [])
        self.assertEqual(rules("a.md", "letters" * 15), ["long-line"])
        self.assertEqual(rules("a.md", "One; two.\n\n- Three; four.\n- Five; six; seven."), ["semicolon"])


class Texts(unittest.TestCase):
    def test_markdown_without_code_targets_and_generated_tables(self):
        page = ("Text `whose`, [link](whose.md).\n\n```sh\nwhose\n```\n\n    whose\n\n"
                "<!-- bench:begin -->\n| whose |\n<!-- bench:end -->\n\n| cell | a kernel whose name |\n")
        found = list(style.hits("a.md", page))
        self.assertEqual([(hit.line, hit.rule) for hit in found], [(13, "whose")])

    def test_long_links_are_not_long_lines(self):
        self.assertEqual(rules("a.md", "See [page](" + "a" * 100 + ")."), [])

    def test_heads_and_messages_of_code(self):
        code = ('// A file whose head is read.\n\n#include "a.h"\n// whose\n'
                'auto text = R"(a kernel whose text is code)";\n'
                'auto message = "the file is written "\n               "anew in two literals";\nauto name = "anew";\n')
        found = list(style.hits("server/a.cpp", code))
        self.assertEqual([(hit.line, hit.rule) for hit in found], [(1, "whose"), (6, "unusual-word")])
        self.assertEqual(rules("tests/a.cpp", code), ["whose"])

    def test_python(self):
        code = '"""Head whose words count."""\n\n\ndef f(x):\n    """Whose"""\n    return f"the file {x} is written anew"\n'
        found = list(style.hits("runner/a.py", code))
        self.assertEqual([(hit.line, hit.rule) for hit in found], [(1, "whose"), (6, "unusual-word")])


class Baseline(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        old = style.ROOT, style.tracked
        self.addCleanup(lambda: (setattr(style, "ROOT", old[0]), setattr(style, "tracked", old[1])))
        style.ROOT, style.tracked = folder.name, lambda folders=(): ["a.md"]
        os.makedirs(os.path.join(folder.name, "scripts"))

    def page(self, text):
        with open(os.path.join(style.ROOT, "a.md"), "w", encoding="utf-8") as file:
            file.write(text)

    def run_main(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            return style.main(list(arguments)), printed.getvalue()

    def test_hits_beyond_the_baseline_fail_with_advice(self):
        self.page("A file whose name is short.\n")
        self.run_main("--update")
        self.assertEqual(self.run_main()[0], 0)
        self.page("A file whose name is short.\n\nA kernel whose name is long.\n")
        status, printed = self.run_main()
        self.assertEqual(status, 1)
        self.assertIn("a.md:3: whose", printed)
        self.assertIn("write two sentences", printed)

    def test_the_baseline_only_shrinks(self):
        self.page("A file whose name is short, whose words count.\n")
        self.run_main("--update")
        self.page("A file whose name is short.\n\nIt is written anew.\n")
        self.run_main("--update")
        self.assertEqual(style.read_baseline(), {("a.md", "whose"): 1})
        self.page("A file whose name is short, whose words count.\n")
        self.run_main("--update")
        self.assertEqual(style.read_baseline(), {("a.md", "whose"): 1})


class ThisTree(unittest.TestCase):
    def test_it_has_no_new_hits(self):
        self.assertEqual(style.main([]), 0)


if __name__ == "__main__":
    unittest.main()
