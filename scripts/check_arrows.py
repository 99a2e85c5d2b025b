#!/usr/bin/env python3
"""Checks that includes follow the table of arrows in ARCHITECTURE.md: who may use whom.

usage: scripts/check_arrows.py [--list]

A place is a set of files; the first row of the table that fits a file decides. A file may include its own files
place, and of the places that its row names. The exit code is 1 for
- a table that cannot be read, or a row that no file fits;
- an include against the arrows that is not in KNOWN, and an entry of KNOWN that breaks nothing any more;
- a type that one namespace defines twice;
- a folder of the generator that is not one namespace, and a namespace that two of its folders share;
- folders that include each other in a circle.
KNOWN may only become shorter. --list prints all includes against the arrows. Standard library only.
"""
import collections
import functools
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "ARCHITECTURE.md")
BEGIN, END = "<!-- arrows:begin -->", "<!-- arrows:end -->"
HEADER = ["place", "files", "holds", "may use"]
ANY = "NAME"


class TableError(Exception):
    """Why the table of arrows cannot be read, with its line."""


class Arrows:
    """The table: a row a place, its files and the places that it may use.

    The files of a place are folders ("arch/") and files, in backquotes. NAME stands for any one folder, in the files and
    in the place's name: each such folder is a place of its own. A row without files is a group: its name stands for the
    places that it uses.
    """

    def __init__(self, text):
        self.rows = []  # (place, pattern of its files)
        self.uses = {}  # place: the places that it may use besides itself
        self.groups = {}
        named = {}
        for number, cells in self.cells_of(text):
            self.read_row(number, cells, named)
        for name, (number, _) in self.groups.items():
            self.resolve(name, number)
        for place, (number, names) in named.items():
            self.uses[place] = [one for name in names for one in self.resolve(name, number)]

    @staticmethod
    def cells_of(text):
        lines = text.split("\n")
        if lines.count(BEGIN) != 1 or lines.count(END) != 1 or lines.index(END) < lines.index(BEGIN):
            raise TableError(f"the table of arrows must stand between one line {BEGIN} and one line {END}")
        first = lines.index(BEGIN) + 1
        rows = []
        for number, line in enumerate(lines[first:lines.index(END)], first + 1):
            if not (line.startswith("|") and line.endswith("|")):
                raise TableError(f"line {number}: not a row of a table: {line!r}")
            rows.append((number, [cell.strip() for cell in line[1:-1].split("|")]))
            if len(rows[-1][1]) != len(HEADER):
                raise TableError(f"line {number}: {len(rows[-1][1])} cells, not {len(HEADER)} ({', '.join(HEADER)})")
        if len(rows) < 3 or rows[0][1] != HEADER or any(set(cell) != {"-"} for cell in rows[1][1]):
            raise TableError(f"line {first + 1}: the table must begin with | {' | '.join(HEADER)} | and a line of dashes, and have rows")
        return rows[2:]

    def read_row(self, number, cells, named):
        place, files, _, names = cells
        name = place.strip("*")
        if not name or name in self.groups or name in named:
            raise TableError(f"line {number}: {'the name ' + name + ' stands twice' if name else 'a place without a name'}")
        names = [] if names == "nothing" else [one.strip() for one in names.split(",")]
        if not all(names):
            raise TableError(f"line {number}: {place} must say which places it may use, or: nothing")
        if not files:
            self.groups[name] = (number, names)
            return
        if not re.fullmatch(r"`[^`\s]+`( `[^`\s]+`)*", files):
            raise TableError(f"line {number}: the files of {place} must be paths in backquotes, with a space between: {files}")
        paths = files.replace("`", "").split()
        if any((path.count(ANY), place.count(ANY)) not in ((0, 0), (1, 1)) for path in paths):
            raise TableError(f"line {number}: {ANY} must stand once in the place and in each of its files, or nowhere")
        pattern = "|".join(re.escape(path) + (".*" if path.endswith("/") else "") for path in paths)
        self.rows.append((place, re.compile(pattern.replace(ANY, "(?P<name>[^/]+)"))))
        named[place] = (number, names)

    def resolve(self, name, number, within=()):
        if name in within:
            raise TableError(f"line {number}: the group {name} is made of itself")
        if name in self.groups:
            line, names = self.groups[name]
            return [one for inner in names for one in self.resolve(inner, line, (*within, name))]
        if all(name != place for place, _ in self.rows):
            raise TableError(f"line {number}: there is no place or group {name}")
        return [name]

    @functools.lru_cache(maxsize=None)
    def row_of(self, file):
        """(row, place) of a file, which differ where the row has NAME; (None, None) for a file that is in no row."""
        for place, pattern in self.rows:
            match = pattern.fullmatch(file)
            if match:
                return place, place.replace(ANY, match["name"]) if ANY in place else place
        return None, None

    def allows(self, file, included):
        row, place = self.row_of(file)
        used_row, used = self.row_of(included)
        return used is None or used == place or used_row in self.uses[row]


@functools.lru_cache(maxsize=None)
def table():
    with open(TABLE, encoding="utf-8") as file:
        return Arrows(file.read())


# "file -> file" that break the arrows. Remove what is mended; add nothing.
KNOWN = """
"""

COMMON = {"warpwright::op"}  # names of operators, which every folder writes: defined by generator/ops
PARTS = {"generator/ops/table": "generator/ops"}  # folders that belong to another's library


def tracked():
    files = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    return [file for file in files if file.endswith((".h", ".cpp", ".cuh", ".cu")) and place_of(file)]


def place_of(file):
    return table().row_of(file)[1]


def includes_of(file):
    with open(os.path.join(ROOT, file), encoding="utf-8") as text:
        return re.findall(r'^\s*#include "([^"]+)"', text.read(), re.M)


def breaks(files):
    return [f"{file} -> {included}" for file in files for included in includes_of(file) if not table().allows(file, included)]


def folder_of(file):
    folder = os.path.dirname(file)
    return PARTS.get(folder, folder)


def circles(files):
    """Sets of folders that reach each other by includes."""
    uses = collections.defaultdict(set)
    for file in files:
        for included in includes_of(file):
            if place_of(included) and os.path.exists(os.path.join(ROOT, included)):
                uses[folder_of(file)].add(folder_of(included))
    reached = {}
    for folder in uses:
        seen, left = set(), [folder]
        while left:
            for next_folder in uses.get(left.pop(), ()):
                if next_folder not in seen:
                    seen.add(next_folder)
                    left.append(next_folder)
        reached[folder] = seen
    found = []
    for folder in sorted(uses):
        circle = {other for other in reached[folder] if other != folder and folder in reached.get(other, ())}
        if circle and circle | {folder} not in found:
            found.append(circle | {folder})
    return found


def namespaces_and_types(text):
    """(namespace, type) of the definitions outside of functions and anonymous namespaces of a header."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", "", text, flags=re.S)
    scopes = []  # a namespace, or None for other braces
    for match in re.finditer(r"namespace\s*([\w:]*)\s*\{|(?<![<,] )(?<!<)\b(?:struct|class|enum class|enum)\s+(\w+)(?!\w|::)[^;{()>]*\{|[{}]", text):
        if match[0] == "}":
            if scopes:
                scopes.pop()
        elif match[0].startswith("namespace"):
            scopes.append(match[1] or "(anonymous)")
        else:
            if match[2] and None not in scopes and "(anonymous)" not in scopes:
                yield "::".join(scopes), match[2]
            scopes.append(None)


def twice_defined(files):
    homes = collections.defaultdict(set)
    for file in files:
        if place_of(file) == "device headers":
            continue
        with open(os.path.join(ROOT, file), encoding="utf-8") as text:
            for name in namespaces_and_types(text.read()):
                homes[name].add(file)
    return {name: sorted(where) for name, where in homes.items() if len(where) > 1}


def shared_namespaces(files):
    """What is wrong with the namespaces of the generator's folders; those within a folder's own belong to it."""
    spaces = collections.defaultdict(set)  # folder: namespaces
    for file in files:
        if file.startswith(("generator/", "support/symbolic/")) and file.endswith((".h", ".cpp")):
            with open(os.path.join(ROOT, file), encoding="utf-8") as text:
                own_text = re.sub(r"^namespace [\w:]+ \{\n(?:(?:class|struct) \w+;.*\n)+\}", "", text.read(), flags=re.M)  # without declarations
                spaces[folder_of(file)].update(re.findall(r"^namespace (\w+(?:::\w+)+)", own_text, re.M))
    own = {folder: {one for one in found if not any(one.startswith(other + "::") for other in found)} - COMMON for folder, found in spaces.items()}
    for folder, found in sorted(own.items()):
        if len(found) > 1:
            yield f"{folder} is more than one namespace: {', '.join(sorted(found))}"
        for other in sorted(own):
            if other > folder and found & own[other]:
                yield f"{folder} and {other} share the namespace {', '.join(sorted(found & own[other]))}"


def main():
    try:
        rows = [place for place, _ in table().rows]
    except (OSError, TableError) as error:
        print(f"{os.path.basename(TABLE)}: {error}")
        return 1
    files = tracked()
    found = breaks(files)
    known = [line for line in KNOWN.strip().split("\n") if line]
    if "--list" in sys.argv[1:]:
        print("\n".join(found))
        return 0
    problems = [f"against the arrows: {one}" for one in found if one not in known]
    problems += [f"mended, and still in KNOWN: {one}" for one in known if one not in found]
    used = {table().row_of(file)[0] for file in files}
    problems += [f"no file is in the place {row} of the table" for row in rows if row not in used]
    problems += [f"{'::'.join(name)} is defined twice: {', '.join(where)}" for name, where in twice_defined(files).items()]
    problems += shared_namespaces(files)
    problems += [f"folders in a circle: {', '.join(sorted(one))}" for one in circles(files)]
    for problem in problems:
        print(problem)
    print(f"{len(files)} files in {len(rows)} places: {len(found)} known breaks, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
