"""Configurations of editors as docs/use/editors.md has them, so that the tests run what users copy."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def block(editor, language):
    """The first block of code in `language` below the paragraph that starts with **EDITOR."""
    page = (ROOT / "docs/use/editors.md").read_text()
    found = re.search(rf"^\*\*{re.escape(editor)}.*?^```{language}\n(.*?)^```", page, re.S | re.M)
    assert found, f"docs/use/editors.md has no configuration of {editor}"
    return found.group(1)


def saxpy():
    """The example with fewer elements: the CPU backend takes seconds then, not minutes."""
    text = (ROOT / "examples/saxpy.cu").read_text()
    assert "1 << 24" in text
    return text.replace("1 << 24", "1 << 14")


def environment(folder, binaries):
    """Of a user with nothing but the programs on the PATH."""
    import os
    home = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("STATE", "DATA", "CACHE", "CONFIG")}
    return os.environ | home | {"HOME": str(folder), "PATH": f"{binaries}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
