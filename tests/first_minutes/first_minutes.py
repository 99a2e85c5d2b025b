#!/usr/bin/env python3
"""Records the commands of docs/first-ten-minutes.md and writes their output and times into the page.

usage: first_minutes.py record PLACE OUT.json BIN_DIR WHEEL_DIR
           runs one path: laptop, ssh or pip
       first_minutes.py record-gpu OUT.json BIN_DIR WHEEL_DIR
           runs the commands that the page shows with a GPU, on a machine that has one
       first_minutes.py write BIN_DIR WHEEL_DIR [PLACE...]
           runs the commands that need no GPU, all of them or those of some paths, keeps their
           output in recorded/cpu.json and writes the page
       first_minutes.py page
           writes the page from recorded/ and runs nothing

BIN_DIR has the programs of a build, WHEEL_DIR the wheel. After `record-gpu`, copy OUT.json to
recorded/gpu.json and run `page`. `write` enters the root of scripts/torch2-root.sh for PyTorch 2.
first_minutes_test.py runs the same commands and keeps nothing.
"""
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import page  # noqa: E402
import places  # noqa: E402
from steps import STEPS  # noqa: E402

ROOT = page.ROOT
PLACES = ("laptop", "ssh", "pip")


class Failed(Exception):
    """A command of the page that does not end as the page shows it."""


def place_of(name, binaries, wheels, has_gpu, small):
    if name == "laptop":
        return places.Laptop(binaries, small)
    if name == "ssh":
        return places.Ssh(binaries, has_gpu)
    return places.Pip(binaries, wheels, page.files(page.PAGE.read_text()), has_gpu)


def run_path(name, binaries, wheels, has_gpu, small=False):
    """{region: runs} of one place, for a test with a `small` example. Raises Failed or page.Missing at the first step that is not as on the page."""
    told = page.regions(page.PAGE.read_text())
    place, ran = place_of(name, binaries, wheels, has_gpu, small), {}
    try:
        for step in (step for step in STEPS if step.place == name):
            ran[step.region] = [run_one(step, place, command) for command in told[step.region]]
            output = "".join(run["output"] for run in ran[step.region])
            page.key_lines(step, output, "gpu" if has_gpu and step.gpu else "cpu")
    finally:
        place.close()
    return ran


def run_one(step, place, command):
    for old, new in () if place.has_gpu else step.without_gpu:
        command = command.replace(old, new)
    print(f"{step.region}: {command}", file=sys.stderr, flush=True)
    run = place.run(command, step.gpu)
    if run["exit_code"] != step.exit_code:
        raise Failed(f"{step.region}: exit code {run['exit_code']} instead of {step.exit_code} of {command}\n{run['output']}")
    return run


def machine(has_gpu):
    cpu = re.search(r"(?m)^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text())
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    gpu, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0].split(", ") if has_gpu else (None, None)
    return {"cpu": cpu[1].strip() if cpu else "a CPU", "cores": len(os.sched_getaffinity(0)), "gpu": gpu, "driver": driver}


def recording(ran, has_gpu):
    kept = {step.region: ran[step.region] for step in STEPS if step.gpu == has_gpu and step.region in ran}
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    return {"version": (ROOT / "VERSION").read_text().strip(), "date": today, "on": "gpu" if has_gpu else "cpu", "machine": machine(has_gpu),
            "steps": kept}


def save(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def record_in_root(binaries, wheels):
    """The path of pip in the root with PyTorch 2, which sees this checkout at /warpwright."""
    out = ROOT / "build/first_minutes.json"
    there = [pathlib.Path("/warpwright") / path.relative_to(ROOT) for path in (pathlib.Path(__file__).resolve(), out, binaries, wheels)]
    script, out_there, *folders = map(str, there)
    subprocess.run([ROOT / "scripts/torch2-root.sh", "python3", "-B", script, "record", "pip", out_there, *folders], check=True)
    ran = json.loads(out.read_text())
    out.unlink()
    return ran


def write(binaries, wheels, names):
    """Records the named paths. The other paths are kept, if they are of this machine and version."""
    ran = {}
    for name in names:
        ran |= record_in_root(binaries, wheels) if name == "pip" else run_path(name, binaries, wheels, False)
    new, old = recording(ran, False), page.recording("cpu")
    if set(names) != set(PLACES):
        if old is None or any(old[what] != new[what] for what in ("version", "machine")):
            raise Failed("recorded/cpu.json is of another machine or version: record all paths")
        new["steps"] = {step.region: (old["steps"] | new["steps"])[step.region] for step in STEPS if not step.gpu}
    save(page.RECORDED / "cpu.json", new)


def main(action, *arguments):
    paths = [pathlib.Path(one).resolve() for one in arguments if one not in PLACES]
    if action == "record":
        save(paths[0], run_path(arguments[0], *paths[1:], False))
    elif action == "record-gpu":
        save(paths[0], recording(run_path("ssh", *paths[1:], True) | run_path("pip", *paths[1:], True), True))
    elif action == "write":
        write(*paths, [one for one in arguments if one in PLACES] or PLACES)
    if action in ("write", "page"):
        page.PAGE.write_text(page.written(page.PAGE.read_text()))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("record", "record-gpu", "write", "page"):
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except (Failed, page.Missing) as error:
        sys.exit(f"first_minutes: {error}")
