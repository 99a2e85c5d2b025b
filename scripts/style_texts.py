"""Texts that scripts/style.py reads: prose of Markdown, comments at file heads, messages in code.

`texts(name, source)` yields a Text for each. Code, links' targets, raw strings and generated tables
are not texts. A backquoted name counts as one word. Standard library only.
"""
import ast
import collections
import re

# kind: "prose" (a paragraph or list item), "cell" (of a table), "head", "message".
Text = collections.namedtuple("Text", "line kind text")
# A line that the limit of characters applies to.
Line = collections.namedtuple("Line", "number text")

SLASHES = (".cpp", ".h", ".cuh", ".cu", ".inc", ".ts", ".mjs", ".js")
HASHES = (".py", ".sh", ".cmake", ".toml", ".yml")
WORDS = re.compile(r"[A-Za-z][a-z'-]*(?:,? [A-Za-z][a-z'-]*){3,}")
GENERATED = ("<!-- bench:begin -->", "<!-- bench:end -->")


def without_code(text):
    """Markdown or a comment with backquoted names as one word each, and links as their words."""
    text = re.sub(r"`[^`\n]+`", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"<!--.*?-->|https?://\S+", " ", text)


def is_table(line):
    return line.lstrip().startswith("|")


def markdown_lines(source):
    """(number, line) of the lines that are neither fenced or indented code nor generated."""
    fenced = generated = front = indented = False
    previous = ""
    for number, line in enumerate(source.split("\n"), 1):
        if line.strip() == "---" and (number == 1 or front):
            front = not front
        elif line.lstrip().startswith("```"):
            fenced = not fenced
        elif line in GENERATED:
            generated = line == GENERATED[0]
        else:
            indented = line.startswith("    ") and (indented or not previous.strip())
            if not (fenced or generated or front or indented):
                yield number, line
        previous = line


def markdown(source):
    """Paragraphs and list items as "prose", cells of tables as "cell"."""
    start, part = 0, []

    def flush():
        if part:
            yield Text(start, "prose", without_code(" ".join(part)))

    for number, line in markdown_lines(source):
        text = line.strip()
        starts = re.match(r"(?:[-*]|\d+\.) ", text)
        if not text or is_table(line) or starts or text.startswith("#"):
            yield from flush()
            start, part = number, []
        if is_table(line):
            for cell in re.split(r"(?<!\\)\|", text.strip("|")):
                if not re.fullmatch(r"[\s:-]*", cell):
                    yield Text(number, "cell", without_code(cell).strip())
        elif text.startswith("#"):
            yield Text(number, "cell", without_code(text.lstrip("# ")))
        elif text:
            start = start if part else number
            part.append(text[starts.end():] if starts else text)
    yield from flush()


def head_lines(name, source):
    """(number, line without its comment mark) of the comment that opens a file."""
    lines = source.split("\n")
    if name.endswith(".py"):
        try:
            tree = ast.parse(source)
        except SyntaxError:
            return
        if ast.get_docstring(tree, clean=False):
            first = tree.body[0]
            for number in range(first.lineno, first.end_lineno + 1):
                yield number, lines[number - 1].replace('"""', "")
        return
    mark = "//" if name.endswith(SLASHES) else "--" if name.endswith(".lua") else "#"
    for number, line in enumerate(lines, 1):
        if number == 1 and line.startswith("#!"):
            continue
        if not line.startswith(mark):
            return
        yield number, line[len(mark):].strip()


def head(name, source):
    """The head as texts, one a paragraph. Lines that are indented further are examples."""
    part, start = [], 0
    for number, line in [*head_lines(name, source), (0, "")]:
        if not line.strip() or re.match(r"\s*(?:usage:|-{3,})", line):
            if part:
                yield Text(start, "head", without_code(" ".join(part)))
            part = []
        elif not line.startswith("  "):
            start = start if part else number
            part.append(line.strip())


def python_messages(source):
    """Strings of a Python file without its docstrings; parts of an f-string are joined by X."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            skipped.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            parts = [one.value if isinstance(one, ast.Constant) else "X" for one in node.values]
            skipped.update(id(one) for one in node.values)
            if id(node) not in skipped:
                yield Text(node.lineno, "message", "".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in skipped:
                yield Text(node.lineno, "message", node.value)


def quoted_messages(name, source):
    """String literals of other languages. Literals that stand next to each other are one text."""
    source = re.sub(r'R"(\w*)\(.*?\)\1"', lambda match: '""' + "\n" * match[0].count("\n"), source, flags=re.S)
    comment = r"//[^\n]*|/\*.*?\*/" if name.endswith(SLASHES) else r"--[^\n]*" if name.endswith(".lua") else None
    quotes = r'"(?:[^"\\\n]|\\.)*"'
    if not name.endswith((".cpp", ".h", ".inc", ".json")):
        quotes += r"|'(?:[^'\\\n]|\\.)*'"
    pattern = "|".join(filter(None, (comment, quotes, r"'.'" if name.endswith((".cpp", ".h")) else None)))
    begin, end, part = 0, 0, []
    for match in re.finditer(pattern, source, flags=re.S):
        if match[0][0] not in "\"'":
            continue
        if part and not re.fullmatch(r"\s*", source[end:match.start()]):
            yield Text(source.count("\n", 0, begin) + 1, "message", "".join(part))
            part = []
        begin = begin if part else match.start()
        part.append(re.sub(r"\\.", " ", match[0][1:-1]))
        end = match.end()
    if part:
        yield Text(source.count("\n", 0, begin) + 1, "message", "".join(part))


def texts(name, source, messages=True):
    """All texts of a file, by its name's ending. messages: whether to read string literals."""
    if name.endswith(".md"):
        yield from markdown(source)
        return
    if name.endswith((*SLASHES, *HASHES, ".lua")) or name.endswith("CMakeLists.txt"):
        yield from head(name, source)
    if messages and name.endswith((".cpp", ".h", ".inc", ".py", ".ts", ".js", ".lua", ".json")):
        found = python_messages(source) if name.endswith(".py") else quoted_messages(name, source)
        yield from (one for one in found if WORDS.search(one.text))


def lines(name, source):
    """Lines of prose and of file heads, with links as their words."""
    found = markdown_lines(source) if name.endswith(".md") else head_lines(name, source)
    for number, line in found:
        if not is_table(line) or not name.endswith(".md"):
            yield Line(number, re.sub(r"\]\([^)]*\)|https?://\S+", "]", line))
