#!/usr/bin/env python3
"""Checks the English of documents, of comments at file heads and of messages.

usage: scripts/style.py [PATH...]      prints new hits with advice; exit code 1 if there is one
       scripts/style.py --all [PATH...]   prints every hit
       scripts/style.py --count           counts the hits of each rule
       scripts/style.py --update          lowers the baseline to what is left; never raises it

scripts/style_baseline.txt has the number of hits of each rule in each file from the time before
the check. A file with more hits than that fails. PATH limits the check to files below it.
style_texts.py describes the texts that are read. Standard library only.
"""
import collections
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import style_texts  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BASELINE = "scripts/style_baseline.txt"
MOST_WORDS, MOST_CHARACTERS = 30, 100
Rule = collections.namedtuple("Rule", "name pattern advice")
Hit = collections.namedtuple("Hit", "path line rule text")

RULES = [Rule(name, re.compile(pattern), advice) for name, pattern, advice in (
    ("us-spelling", r"(?i)\b\w*(?:optimis|recognis|initialis|synchronis|vectoris|speciali(?:s(?!t)))\w*|\banaly(?:se|sed|sing)\b"
     r"|\b(?:un)?favou?red\b(?<!favored)|\b\w*(?:behaviour|colour|favour|neighbour)\w*|\blicence\w*|\bnormalis\w*|\bserialis\w*",
     "use US spelling: optimize, behavior, analyze"),
    ("per", r"\b(?:line|job|process|thread|token|candidates|once|warp|block|file|row|launch|microseconds|seconds|[0-9]+ ?ms) an? "
     r"(?:GPU|line|row|minute|device|kernel|block|second|task|test|job|launch|warp|thread|column|file|host|class|folder)\b",
     "write 'per': one job per GPU"),
    ("is-no", r"(?<!here )\b(?:is|are|was|were) no (?!longer|more|less|better|\()\w+", "write 'is not a' or 'there is no'; for things, 'does not have'"),
    ("negative-subject", r"(?:^|[.;:] |, |\band )(?:[Nn]o|[Nn]one|[Nn]othing|[Nn]obody)(?: [\w'-]+){0,4}? (?:is|are|has|can|runs|needs)\b",
     "make the subject positive: 'X does not ...'"),
    ("says", r"\b(?:says?|said|tells?|told) (?:so|it|which|why|what|how|that|where)\b|\b(?:is|are) said\b", "write reports, prints, shows, describes"),
    ("what-subject", r"(?:^|[.:;] )What (?!is\b|are\b|does\b|do\b)\w+", "start with the noun that the clause stands for"),
    ("vague-pronoun", r"(?i)\b(?:who|what|which|where)ever\b|\b(?:every|any|no|some)body\b|\b(?:those|ones?) (?:who|that|which)\b",
     "name the thing or the person"),
    ("of-its-own", r"\bof (?:its|their|our|your|one's) own\b|\bof (?:ours|yours|theirs)\b", "write 'its own X', 'a separate X', 'your X'"),
    ("unusual-word", r"(?i)\b(?:amid|besides?|hence|thus|anew|albeit|foreign(?! key)|lest|forbids?|in vain|for ever|at hand|once more|be had|thereof|whereof|wherein)\b",
     "use a usual word: next to, therefore, again, other, prevents"),
    ("whose", r"\b[Ww]hose\b", "write two sentences, or 'with'"),
    ("where-for-if", r"\b[Ww]here (?:it|they|there|that|none|nothing) (?:is|are|was|can|has)\b", "write 'if' or 'when'"),
    ("left-out", r"\b[Ll]eft out\b|\b[Ll]eaves? out\b|\b[Ss]tands? for\b", "write 'does not include', 'omits', 'means'"),
    ("was-tried", r"\b(?:was|were|is|are) (?:tried|asked|told)\b", "write tested, attempted, prompted"),
)]
LENGTH = {"semicolon": "at most one semicolon per paragraph: write sentences",
          "long-sentence": f"at most {MOST_WORDS} words per sentence",
          "long-line": f"at most {MOST_CHARACTERS} characters per line"}
ADVICE = {**{rule.name: rule.advice for rule in RULES}, **LENGTH}

# Places of other people's text, of measured output, and of code that tests and tasks need as it is.
EXCLUDED = ("analysis/stub/", "bench/results/", "bench/modules/", "bench/real/", "runner/cpu/shim/", "tests/data/", "tests/golden/",
            "trainer/tasks/suite/", "scripts/style", "tests/scripts/style_test.py")
ENDINGS = (".md", *style_texts.SLASHES, *style_texts.HASHES, ".lua", ".json", "CMakeLists.txt")
# Folders with messages for users; elsewhere strings are names of tests and the like.
MESSAGES = ("analysis/", "arch/", "editors/", "generator/", "plan/", "regions/", "runner/", "runtime/", "server/", "support/", "trainer/")


def sentences(text):
    return re.split(r"(?<=[.?!:])(?:[\"')*_]*)\s+|;\s+", text)


def words(sentence):
    return len(re.findall(r"[A-Za-z][\w'-]*|\d[\d.,]*", sentence))


def hits(path, source):
    """Hits of all rules in a file."""
    for line, kind, text in style_texts.texts(path, source, path.startswith(MESSAGES)):
        for rule in RULES:
            for match in rule.pattern.finditer(text):
                yield Hit(path, line, rule.name, text[max(0, match.start() - 20):match.end() + 20])
        if kind == "prose":
            for _ in range(text.count(";") - 1):
                yield Hit(path, line, "semicolon", text[:60])
        if kind in ("prose", "cell", "head"):
            for sentence in sentences(text):
                if words(sentence) > MOST_WORDS:
                    yield Hit(path, line, "long-sentence", f"{words(sentence)} words: {sentence[:60]}")
    for line, text in style_texts.lines(path, source):
        if len(text) > MOST_CHARACTERS:
            yield Hit(path, line, "long-line", f"{len(text)} characters: {text.strip()[:60]}")


def tracked(folders=()):
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "--", *folders], capture_output=True, text=True, check=True).stdout.split("\n")
    return [name for name in names if name.endswith(ENDINGS) and not name.startswith(EXCLUDED) and os.path.exists(os.path.join(ROOT, name))]


def all_hits(files):
    for name in files:
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            yield from hits(name, file.read())


def counts(found):
    return collections.Counter((hit.path, hit.rule) for hit in found)


def read_baseline():
    """{(path, rule): number of accepted hits}"""
    path = os.path.join(ROOT, BASELINE)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        rows = [line.split(" ", 2) for line in file.read().split("\n") if line and not line.startswith("#")]
    return {(name, rule): int(number) for number, rule, name in rows}


def write_baseline(numbers):
    with open(os.path.join(ROOT, BASELINE), "w", encoding="utf-8") as file:
        file.write("# Hits of scripts/style.py that are accepted: their number, rule and file. Numbers may only become smaller.\n")
        file.writelines(f"{number} {rule} {name}\n" for (name, rule), number in sorted(numbers.items()))


def lowered(baseline, found):
    """The baseline with every number lowered to the hits that are left."""
    if baseline is None:
        return found
    return {key: min(number, found[key]) for key, number in baseline.items() if found[key]}


def new_hits(baseline, found):
    """Hits of each file and rule that has more than the baseline accepts."""
    numbers = counts(found)
    return [hit for hit in found if numbers[hit.path, hit.rule] > (baseline or {}).get((hit.path, hit.rule), 0)]


def show(found):
    for hit in found:
        print(f"{hit.path}:{hit.line}: {hit.rule}: {' '.join(hit.text.split())}\n    {ADVICE[hit.rule]}")


def main(arguments):
    options = [one for one in arguments if one.startswith("--")]
    if any(one not in ("--all", "--count", "--update") for one in options):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    paths = [one for one in arguments if not one.startswith("--")]
    found = list(all_hits(tracked(paths)))
    baseline = read_baseline()
    if "--count" in options:
        for rule, number in collections.Counter(hit.rule for hit in found).most_common():
            print(f"{number:6} {rule}: {ADVICE[rule]}")
        return 0
    if "--update" in options:
        write_baseline(lowered(baseline, counts(list(all_hits(tracked())))))
        return 0
    if "--all" in options:
        show(found)
        return 0
    fresh = new_hits(baseline, found)
    show(fresh)
    print(f"{len(fresh)} hits in files with more than {BASELINE} accepts; {len(found)} hits in all")
    return 1 if fresh else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
