#!/usr/bin/env python3
"""Files of verdicts (trainer/records/record_book.h) as one, with each verdict of a text kept once: the first file's.

  merge_records.py OUT FILE... [--splits training,validation]

Clients of one runner write a file each; what they share are the tasks, states and devices. A task
that a later file holds with another definition is omitted of that file. A torn last line is
dropped. Files that end in .xz are read too. Standard library only.
"""
import argparse
import json
import lzma
import os


def lines_of(path):
    with (lzma.open if path.endswith(".xz") else open)(path, "rt") as text:
        for line in text:
            if line.endswith("\n"):
                yield json.loads(line)


class Merged:
    def __init__(self, out, splits):
        self.out, self.splits = out, splits
        self.tasks, self.moves, self.devices = {}, {}, {}
        self.hashes, self.states, self.verdicts = {}, set(), set()
        self.write({"warpwright_records": 1})

    def write(self, line):
        self.out.write(json.dumps(line, separators=(",", ":")) + "\n")

    def number(self, known, key, line):
        if key not in known:
            known[key] = len(known)
            self.write(line)
        return known[key]

    def take(self, path):
        tasks, moves, devices = [], [], []

        def renumbered(numbers):
            return [self.number(self.moves, moves[number], {"move": moves[number]}) for number in numbers]

        for line in lines_of(path):
            if "move" in line:
                moves.append(line["move"])
            elif "device" in line:
                key = line["device"]["name"]
                devices.append(self.number(self.devices, key, line))
            elif "task" in line:
                name = line["task"]
                wanted = (not self.splits or line["split"] in self.splits) and self.hashes.setdefault(name, line["hash"]) == line["hash"]
                tasks.append(self.number(self.tasks, name, line) if wanted else None)
            elif "state" in line:
                task = tasks[line["state"][0]]
                if task is None:
                    continue
                path_of = renumbered(line["state"][1:])
                key = (task, tuple(path_of))
                if key not in self.states:
                    self.states.add(key)
                    self.write({**line, "state": [task, *path_of], "legal": renumbered(line["legal"])})
            elif "verdict" in line:
                task, device = tasks[line["verdict"][0]], devices[line["verdict"][1]]
                if task is not None and (task, device, line["text"]) not in self.verdicts:
                    self.verdicts.add((task, device, line["text"]))
                    self.write({**line, "verdict": [task, device]})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--splits", default="", help="only tasks of these; empty: all")
    arguments = parser.parse_args()
    with open(arguments.out + ".new", "w") as out:
        merged = Merged(out, [split for split in arguments.splits.split(",") if split])
        for path in arguments.files:
            if os.path.exists(path):
                merged.take(path)
    os.replace(arguments.out + ".new", arguments.out)
    print(f"{len(merged.tasks)} tasks, {len(merged.states)} states, {len(merged.verdicts)} verdicts")


if __name__ == "__main__":
    main()
