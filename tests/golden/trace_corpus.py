#!/usr/bin/env python3
"""Traces modules into a corpus of op graphs, which plan_hashes renders (README.md here).

usage: tests/golden/trace_corpus.py --runner BIN/warpwright-runner --out tests/golden/graphs.jsonl.xz [--python python3] [--jobs 2]
                                    [--eval NAME] [--recipes NAME=RESULTS.json.xz:KEY.KEY]... NAME=FOLDER...

Every .py file in a folder's level* folders becomes a line {id, graph, buffers}, with the id "NAME/level/number"; what cannot be traced is
printed. --eval traces the folder of that name in evaluation mode; --recipes adds what recorded runs ended with, found in a file of results by its
keys and the task's level/number. A file that is there is added to. Standard library only.
"""
import argparse
import concurrent.futures
import glob
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
import time

LIMIT_S = 300


def tasks_of(name, folder):
    """(id, path), in order."""
    found = []
    for path in glob.glob(os.path.join(folder, "level[123]", "*.py")):
        level, file = path.split(os.sep)[-2:]
        number = re.match(r"\d+", file)
        if number:
            found.append((int(level[5:]), int(number[0]), path))
    return [(f"{name}/{level}/{number}", path) for level, number, path in sorted(found)]


def traced(arguments, socket, task, path):
    """The corpus's line, or None with the reason printed."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [arguments.runner, "trace", path, "--inputs", "get_inputs", "--init-inputs", "get_init_inputs", "--json", file.name,
                   "--runner", f"unix:{socket}"] + (["--eval"] if task.split("/")[0] == arguments.eval else [])
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            print(f"{task}: not traced in {LIMIT_S} s", flush=True)
            return None
        if run.returncode != 0:
            print(f"{task}: {run.stderr.strip().splitlines()[-1] if run.stderr.strip() else run.returncode}", flush=True)
            return None
        with open(file.name, encoding="utf-8") as text:
            return {"id": task, **json.load(text)}


def read(path):
    """What is there, and what a run that was ended left beside it."""
    corpus = {}
    for name, opened in ((path, lzma.open), (path + ".part", open)):
        if os.path.exists(name):
            with opened(name, "rt", encoding="utf-8") as lines:
                corpus.update({line["id"]: line for line in map(json.loads, lines)})
    return corpus


def add_recipes(corpus, source):
    """@param source NAME=RESULTS.json.xz:KEY.KEY"""
    name, _, place = source.partition("=")
    path, _, keys = place.rpartition(":")
    with lzma.open(path, "rt", encoding="utf-8") as file:
        rows = json.load(file)
    for key in keys.split("."):
        rows = rows[key]
    for row in rows:
        line = corpus.get(f"{name}/{row.get('id')}")
        if line and row.get("recipe"):
            line["recipe"] = row["recipe"]


def text_of(line):
    return json.dumps(line, separators=(",", ":"), sort_keys=True) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runner", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--python", default="python3")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--eval")
    parser.add_argument("--recipes", action="append", default=[])
    parser.add_argument("folders", nargs="*", metavar="NAME=FOLDER")
    arguments = parser.parse_args()
    corpus = read(arguments.out)
    print(f"{len(corpus)} graphs are there", flush=True)
    tasks = [task for one in arguments.folders for task in tasks_of(*one.split("=", 1)) if task[0] not in corpus]
    with tempfile.TemporaryDirectory() as folder:
        socket = os.path.join(folder, "socket")
        server = subprocess.Popen([arguments.runner, "serve", "--socket", socket], stderr=subprocess.DEVNULL,
                                  env={**os.environ, "WARPWRIGHT_PYTHON": arguments.python})
        try:
            while not os.path.exists(socket) and server.poll() is None:
                time.sleep(0.05)
            with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool, \
                    open(arguments.out + ".part", "a", encoding="utf-8") as part:
                for line in pool.map(lambda task: traced(arguments, socket, *task), tasks):
                    if line:
                        corpus[line["id"]] = line
                        part.write(text_of(line))
                        part.flush()
        finally:
            server.terminate()
            server.wait()
    for source in arguments.recipes:
        add_recipes(corpus, source)
    with lzma.open(arguments.out, "wt", encoding="utf-8", preset=9) as out:
        for _, line in sorted(corpus.items()):
            out.write(text_of(line))
    os.remove(arguments.out + ".part")
    print(f"{len(corpus)} graphs in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
