#!/usr/bin/env python3
"""Times that a user waits for in a real Neovim: Warpwright's plugin and server, and clangd alone as the comparison.

usage: bench/editor/neovim.py [--warpwright BIN] [--clangd BIN] [--neovim BIN] [--cuda ROOT] [--rounds N] [--out ENTRIES.json]

Runs neovim_latency.lua, which says what is timed, in two Neovims, one with either server, which
take turns round by round, so that what else the machine does meets both; on bench/clangd/plain.cu.
Prints medians with the quartiles of the samples. clangd answers from one pass over everything;
Warpwright's first answer comes from a pass that reads no headers. Writes entries for
bench/summary.py. Standard library only.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent / "clangd"))
import edit_latency  # noqa: E402
import entries  # noqa: E402

MEASURED = ("key_to_diagnostic", "hover_to_text", "menu_of_actions")


class Editor:
    """One Neovim with one server; its samples by name, in ms."""

    def __init__(self, neovim, command, plugin, folder, rounds):
        file = pathlib.Path(folder) / "plain.cu"
        environment = os.environ | {f"XDG_{kind}_HOME": f"{folder}/{kind.lower()}" for kind in ("STATE", "DATA", "CACHE", "CONFIG")}
        environment |= {"LATENCY_SERVER": json.dumps(command), "LATENCY_PLUGIN": plugin, "LATENCY_FILE": str(file),
                        "LATENCY_ROUNDS": str(rounds)}
        self.name, self.samples = f"{command[0]} in {neovim}", {}
        self.process = subprocess.Popen([neovim, "--headless", "-n", "-u", str(HERE / "neovim_latency.lua")], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def until_its_turn_is_over(self):
        for line in self.process.stdout:
            if line.strip() == "turn over":
                return
            name, _, value = line.strip().partition(" ")
            try:
                self.samples.setdefault(name, []).append(float(value))
            except ValueError:
                pass  # what Neovim itself says
        if self.process.wait():
            sys.exit(f"{self.name}: {self.process.stderr.read().strip()}")

    def turn(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self.until_its_turn_is_over()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warpwright", default=str(ROOT / "build/release/bin/warpwright"))
    parser.add_argument("--clangd", default=shutil.which("clangd-22") or shutil.which("clangd"))
    parser.add_argument("--neovim", default=shutil.which("nvim"))
    parser.add_argument("--cuda", default=os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--out", help="where the entries for bench/summary.py go")
    arguments = parser.parse_args()
    for what, path in (("Neovim", arguments.neovim), ("clangd", arguments.clangd)):
        if not path:
            sys.exit(f"skipped: there is no {what} here")
    commit = subprocess.run(["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    servers = {"warpwright": ([os.path.abspath(arguments.warpwright), "lsp"], str(ROOT / "editors/neovim")),
               "clangd": ([arguments.clangd, "--background-index=false", "--log=error"], "")}
    with contextlib.ExitStack() as folders:
        editors = {}
        for name, (command, plugin) in servers.items():
            folder = folders.enter_context(tempfile.TemporaryDirectory())
            shutil.copy(ROOT / "bench/clangd/plain.cu", folder)
            edit_latency.compile_commands(folder, ["plain.cu"], os.path.realpath(arguments.cuda))
            editors[name] = Editor(arguments.neovim, command, plugin, folder, arguments.rounds)
            editors[name].until_its_turn_is_over()  # opened and warm
        for number in range(arguments.rounds):
            for editor in list(editors.values())[::-1 if number % 2 else 1]:
                editor.turn()
    found = {name: editor.samples for name, editor in editors.items()}
    version = subprocess.run([arguments.neovim, "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    print(f"{version}, plain.cu, median [quartiles] in ms")
    made = []
    for what in ("first_key_to_diagnostic", *MEASURED):
        for name, samples in found.items():
            values = samples[what]
            middle, low, high = statistics.median(values), entries.quantile(values, 0.25), entries.quantile(values, 0.75)
            print(f"  {what:24} {name:11} {middle:7.1f} [{low:.1f}, {high:.1f}]  of {len(values)}")
            if what in MEASURED:
                made.append({"key": f"neovim.{what}_ms" + ("" if name == "warpwright" else ".clangd"), "value": round(middle, 2),
                             "low": round(low, 2), "high": round(high, 2), "unit": "ms, with quartiles", "target": None,
                             "command": "bench/run_neovim", "gpu": None, "commit": commit, "date": entries.now()})
    if arguments.out:
        pathlib.Path(arguments.out).write_text(json.dumps(made, indent=1))


if __name__ == "__main__":
    main()
