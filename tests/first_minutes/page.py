"""docs/first-ten-minutes.md as regions, and the text of a region from a recording.

Between `<!-- transcript PLACE NAME -->` and `<!-- end -->` stand a console block and the time that
its commands took. Between `<!-- machine RECORDING -->` and `<!-- end -->` stands a sentence about
the machine. Both are written by first_minutes.py. A Python block below `<!-- file NAME -->` is a
file that the reader creates.
"""
import json
import pathlib
import re

from steps import STEPS

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/first-ten-minutes.md"
RECORDED = pathlib.Path(__file__).resolve().parent / "recorded"
REGION = re.compile(r"(?ms)^<!-- (transcript|machine) ([^\n]*?) -->\n(.*?)^<!-- end -->$")
# The page has this line as long as nothing was recorded on a GPU. Its GPU blocks are older then.
WAITING = "<!-- the blocks with a GPU wait for a recording -->\n"
WIDTH = 116  # a row of a table with a GPU's figures fits


class Missing(Exception):
    """An output that lost a key line, or a page without a region."""


def commands(block):
    return re.findall(r"(?m)^\$ (.*)$", block)


def regions(text):
    """{"PLACE NAME": commands} in the order of the page."""
    return {one[2]: commands(one[3]) for one in REGION.finditer(text) if one[1] == "transcript"}


def files(text):
    """{name: text} of the files that the page tells its reader to create."""
    return dict(re.findall(r"(?ms)^<!-- file (\S+) -->\n```python\n(.*?)^```$", text))


def key_lines(step, output, on):
    """Numbers of the lines that the page shows. Raises Missing if a key line is not there."""
    lines, shown, at = output.splitlines(), [], 0
    for key in step.keys:
        if key.on not in ("any", on):
            continue
        found = next((i for i in range(at, len(lines)) if re.search(key.pattern, lines[i])), None)
        if found is None:
            raise Missing(f"{step.region}: the output has no line {key.pattern!r} after line {at}:\n{output}")
        at = found + 1
        while at < min(found + key.most, len(lines)) and re.search(key.pattern, lines[at]):
            at += 1
        shown += range(found, at)
    return shown


def cut(line):
    """A long line without its middle, if it ends with the name of a rule, else without its end."""
    if len(line) <= WIDTH:
        return line
    end = " ..." + (re.search(r" \[[\w-]+\]$|$", line)[0])
    return line[:WIDTH - len(end)].rpartition(" ")[0].rstrip() + end


def shortened(step, output, on):
    """The key lines, with "..." for the lines between them."""
    lines, text, last = output.splitlines(), [], -1
    for number in [*key_lines(step, output, on), len(lines)]:
        if any(line.strip() for line in lines[last + 1:number]):
            text.append("...")
        text += [cut(lines[number])] if number < len(lines) else []
        last = number
    return text


def duration(seconds):
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def region_text(step, recording):
    """The console block of a step and its time."""
    runs = recording["steps"][step.region]
    block = [line for run in runs for line in ["$ " + run["command"], *shortened(step, run["output"], recording["on"])]]
    return "```console\n" + "\n".join(block) + "\n```\n\nTook " + duration(sum(run["seconds"] for run in runs)) + ".\n"


def machine_text(recording):
    machine = recording["machine"]
    gpu = f"an {machine['gpu']} with driver {machine['driver']}" if machine["gpu"] else "no GPU"
    return f"Version {recording['version']}, {recording['date']}: {machine['cpu']} with {machine['cores']} cores\nand {gpu}.\n"


def recording(name):
    path = RECORDED / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def written(text):
    """The page with each region made again from the recordings."""
    recordings = {name: recording(name) for name in ("cpu", "gpu")}
    steps = {step.region: step for step in STEPS}

    def region(match):
        kind, name, old = match.groups()
        source = recordings["gpu" if steps[name].gpu else "cpu"] if kind == "transcript" else recordings[name]
        if source is None:
            return match[0]
        new = region_text(steps[name], source) if kind == "transcript" else machine_text(source)
        return f"<!-- {kind} {name} -->\n{new}<!-- end -->"

    text = REGION.sub(region, text)
    return text.replace(WAITING, "") if recordings["gpu"] else text
