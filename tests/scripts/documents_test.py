"""Numbers that occur in several documents agree with their source, links lead to pages and headings that exist,
and commands name subcommands and options of the programs.

A fact is a pattern and the values of its groups, computed from bench/results or from the code. Each
match in each document must have these values, so a document that is added or edited cannot state
another number.
"""

import json
import lzma
import pathlib
import re
import statistics
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/kernelbench")]
import scoreboard  # noqa: E402
import tables  # noqa: E402

H200 = ROOT / "bench/results/h200"


def archive(name):
    return json.loads(lzma.open(H200 / (name + ".json.xz")).read())


def documents():
    """{name: text} of the Markdown files that describe the present state."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "*.md"], capture_output=True, text=True, check=True).stdout.split()
    return {name: (ROOT / name).read_text() for name in names if not name.startswith("bench/results/") and (ROOT / name).exists()}


def spaced(text):
    """The text with one space between words, so that patterns match across lines."""
    return re.sub(r"\s+", " ", text)


def summary():
    return {one["key"]: one["value"] for one in json.loads((ROOT / "bench/results/summary.json").read_text())}


def against_inductor(rows, part):
    """Median and least ratio of the modules that were measured."""
    ratios = [one[part]["baselines"]["compile"]["ratio"] for one in rows if one.get(part) and one[part]["baselines"].get("compile")]
    return f"{statistics.median(ratios):.2f}", f"{min(ratios):.2f}"


def suite_files(ending):
    return len(list((ROOT / "trainer/tasks/suite").rglob("*." + ending)))


def other_system():
    """Tasks on which CUDA-L1 and Warpwright have a figure, and both geometric means against eager+graph."""
    report = archive("candidates")
    theirs = {row["id"]: row for row in [*report["first"], *report["again"]]}
    ours = {row["id"]: row for row in archive("kernelbench_all")["runs"]["original"][1:]}
    both = [one for one, row in theirs.items() if "eager+graph" in row["ratios"] and "eager+graph" in ours[one]["ratios"]]
    means = [f"{tables.geometric([rows[one]['ratios']['eager+graph']['ratio'] for one in both]):.2f}" for rows in (theirs, ours)]
    return len(both), *means


def facts():
    """(pattern, values of its groups, number of documents that have it at least)"""
    measured = summary()
    cheats, honest = measured["adversary.refused"], measured["adversary.honest_verified"]
    sets = [rows[1:] for rows in archive("kernelbench_all")["runs"].values()]
    real = archive("real")["rows"]
    means = [f"{scoreboard.counts(real, regime)[0]:.2f}" for regime in ("called", "graph")]
    medians = [one for part in ("called", "graph") for one in against_inductor(real, part)]
    cuda, torch = suite_files("cu"), suite_files("py")
    tasks, theirs, ours = other_system()
    requires = re.search(r"Requires-Dist: torch>=(\S+)", (ROOT / "scripts/wheel.py").read_text())[1]
    return [
        (r"submits (\d+) cheating or broken candidates", [cheats], 1),
        (r"(\d+) of (\d+) cheating or broken candidates", [cheats, cheats], 1),
        (r"There are (\d+) cheating or broken candidates and (\d+) honest ones\. On a GPU, (\d+) of", None, 1),
        (r"(\d+) of (\d+) honest candidates", [honest, honest], 1),
        (r"the (\d+) (?:CUDA )?kernels of `examples/`", [measured["optimize examples, kernels made faster"]], 2),
        (r"all faster, geometric mean ([\d.]+)x", [f"{measured['optimize examples, geometric mean']:.3g}"], 1),
        (r"(\d+) PyTorch modules, against `torch.compile` in a CUDA graph", [len(sets[0])], 1),
        (r"public benchmark of (\d+) PyTorch modules", [len(sets[0])], 1),
        (r"(\d+) tasks in original sizes and (\d+) in current sizes are over 1% slower", [tables.slower(rows) for rows in sets], 1),
        (r"over 1% slower \| \d+ / (\d+) \| \d+ / (\d+)", [tables.slower(rows) for rows in sets], 1),
        (r"(\d+) bfloat16 layers and blocks of language and vision models, against `torch.compile` \S+ \| geometric mean ([\d.]+)x as called, ([\d.]+)x in",
         [len(real), *means], 1),
        (r"(\d+) of the 75 modules of bench/real, bfloat16 \S+ \| \d+ \| \d+ \| ([\d.]+) \(([\d.]+)\) \| ([\d.]+) \(([\d.]+)\)", [len(real), *medians], 1),
        (r"on the (\d+) tasks where both have a verified figure, they reach ([\d.]+) of eager in a CUDA graph, and Warpwright ([\d.]+)",
         [tasks, theirs, ours], 1),
        (r"\| eager\+graph \| (\d+) \| ([\d.]+) / [\d.]+ \| ([\d.]+) / [\d.]+ \| \d+ \|", [tasks, theirs, ours], 1),
        (r"has (\d+) tasks in \d+ families: (\d+) CUDA files and (\d+) torch modules", [cuda + torch, cuda, torch], 1),
        (r"`bench/modules` (?:holds|has) (\d+) modules", [len(list((ROOT / "bench/modules").rglob("*.py")))], 1),
        (r"PyTorch (\d+\.\d+) or (?:newer|later)(?! and)(?=[ ,|]*(?:\||is \())", [requires], 2),
    ]


class Numbers(unittest.TestCase):
    def test_each_document_has_the_number_of_its_source(self):
        texts = {name: spaced(text) for name, text in documents().items()}
        for pattern, values, least in facts():
            found = {(name, match.groups()) for name, text in texts.items() for match in re.finditer(pattern, text)}
            with self.subTest(pattern):
                self.assertGreaterEqual(len({name for name, _ in found}), least, "the documents lost this number: change the pattern")
                if values is not None:
                    self.assertEqual({groups for _, groups in found}, {tuple(map(str, values))}, found)

    def test_the_suite_has_the_cheats_that_a_gpu_was_measured_with(self):
        page = spaced(documents()["docs/internals/adversary.md"])
        cheats, honest, skipped = map(int, re.search(r"There are (\d+) cheating or broken candidates and (\d+) honest ones\. On a GPU, (\d+) of", page).groups())
        self.assertEqual(cheats - skipped, summary()["adversary.refused"])
        self.assertEqual(honest, summary()["adversary.honest_verified"])
        rows = [int(number) for number in re.findall(r"(?m)^\| [^|]+ \| (\d+) \| [^|]+ \|$", documents()["docs/internals/adversary.md"])]
        self.assertEqual(sum(rows), cheats + honest)


class Pages(unittest.TestCase):
    def test_the_readme_is_a_landing_page(self):
        self.assertLessEqual(len(documents()["README.md"].splitlines()), 120)

    def test_the_readme_leads_to_every_page_of_docs(self):
        pages = [name for name in documents() if re.match(r"docs/((use|operate|internals)/)?[^/]+$", name)]
        self.assertGreater(len(pages), 30)
        for page in pages:
            self.assertIn(f"]({page})", documents()["README.md"])

    def test_links_lead_somewhere(self):
        texts = documents()
        anchors = {name: set(map(anchor, re.findall(r"(?m)^#+ (.*)$", without_fences(text)))) for name, text in texts.items()}
        for name, text in texts.items():
            for target in re.findall(r"\]\(([^)\s]+)\)", without_fences(text)):
                if re.match(r"\w+:", target):
                    continue
                path, _, fragment = target.partition("#")
                file = (ROOT / name).parent / path if path else ROOT / name
                with self.subTest(f"{name}: {target}"):
                    self.assertTrue(file.exists())
                    page = str(file.resolve().relative_to(ROOT))
                    if fragment and page in anchors:
                        self.assertIn(fragment, anchors[page])


class Commands(unittest.TestCase):
    def test_programs_have_the_subcommands_and_options_that_documents_show(self):
        sources = "".join(path.read_text() for folder in ("server", "runner", "trainer") for path in sorted((ROOT / folder).rglob("*.cpp")))
        found = [(name, line) for name, text in documents().items() for line in commands(text)]
        self.assertGreater(len(found), 80)
        for name, line in found:
            words = line.partition(" -- ")[0].partition("#")[0].split()
            with self.subTest(f"{name}: {line}"):
                if re.fullmatch(r"[a-z-]+", words[1]):
                    self.assertTrue(f'"{words[1]}"' in sources, words[1])
                for option in re.findall(r"(?<![\w'-])--[a-z][a-z-]*", " ".join(words)):
                    self.assertTrue(re.search(rf'[",]{option}[",{{]', sources), option)


def commands(text):
    """Lines of code blocks that start one of our programs."""
    for block in re.findall(r"(?ms)^ *```(?:sh|console)\n(.*?)^ *```$", text):
        for line in re.sub(r"\\\n *", "", block).split("\n"):
            if match := re.match(r"(?:\$ )?(warpwright(?:-runner|-train|-collect)? .*)", line.strip()):
                yield match[1]


def without_fences(text):
    return re.sub(r"(?ms)^ *```.*?^ *```$|`[^`\n]*\]\([^`\n]*`", "", text)


def anchor(heading):
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


if __name__ == "__main__":
    unittest.main()
