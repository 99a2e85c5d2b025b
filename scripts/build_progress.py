#!/usr/bin/env python3
"""Runs ninja and shows its progress as one line that a person can read.

usage: scripts/build_progress.py LABEL -- NINJA_COMMAND...

LABEL: 311 of 575, 4 min, about 5 min left

A terminal shows one line that is redrawn; a log gets a line for each minute. Compiler messages and
failed commands are passed on. The exit code is ninja's.
"""
import os
import re
import subprocess
import sys
import time

STATUS = "@step %f/%t "  # put before each step by ninja
STEP = re.compile(r"@step (\d+)/(\d+) (.*)")
SURE_AFTER_S = 20  # before, the first steps say little about the rest


def minutes(seconds):
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"


def progress(label, done, total, elapsed_s):
    text = f"{label}: {done} of {total}, {minutes(elapsed_s)}"
    if done < total and elapsed_s >= SURE_AFTER_S:
        text += f", about {minutes(elapsed_s / done * (total - done))} left"
    return text


class Line:
    """The line of progress. Thread: one."""

    def __init__(self, label, terminal):
        self.label, self.terminal = label, terminal
        self.start = self.shown = time.monotonic()
        self.steps = None

    def step(self, done, total):
        self.steps = (done, total)
        now = time.monotonic()
        if self.terminal:
            print(f"\r\x1b[K{progress(self.label, done, total, now - self.start)}", end="", flush=True)
        elif now - self.shown >= 60:
            self.shown = now
            print(progress(self.label, done, total, now - self.start), flush=True)

    def message(self, text):
        print(("\r\x1b[K" if self.terminal else "") + text, flush=True)

    def end(self, succeeded):
        if not succeeded:
            self.message(f"{self.label}: failed")
        elif self.steps:
            self.message(progress(self.label, *self.steps, time.monotonic() - self.start))
        else:
            self.message(f"{self.label}: nothing to do")


def main(label, command):
    line = Line(label, sys.stdout.isatty())
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          env=os.environ | {"NINJA_STATUS": STATUS}) as ninja:
        for text in ninja.stdout:
            found = STEP.match(text)
            if found:
                line.step(int(found[1]), int(found[2]))
            elif not text.startswith("ninja: ") or "error" in text or "stopped" in text:
                line.message(text.rstrip("\n"))
    line.end(ninja.returncode == 0)
    return ninja.returncode


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[3:]))
