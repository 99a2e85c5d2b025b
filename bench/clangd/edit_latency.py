#!/usr/bin/env python3
"""Edit to published diagnostics and memory: warpwright lsp against clangd, on the same files in the same run.

usage: bench/clangd/edit_latency.py [--warpwright BIN] [--clangd BIN] [--cuda ROOT] [--edits N] [--out ENTRIES.json]

Both servers run at once and get the same edits in turn, so that what else the machine does meets
both. An edit adds a line to a kernel. Its time ends with the last publishDiagnostics for its
version: a server that answers early and then corrects itself is charged for the correction; the
first answer is printed next to it. Each file is opened in a fresh pair of servers. Prints medians
with 95% intervals (bootstrap over edits), and RSS after the last edit. Writes entries for
bench/summary.py. Standard library only.
"""
import argparse
import datetime
import json
import os
import queue
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
QUIET_S = 0.4  # no further answer for an edit is waited for longer than this


class Server:
    """One language server as a child, spoken to over its stdin and stdout."""

    def __init__(self, command, folder):
        self.name = os.path.basename(command[0])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, cwd=folder)
        self.published = queue.Queue()  # (time, params)
        self.replies = {}
        self.replied = threading.Condition()
        self.ended = threading.Event()
        self.next_id = 1
        threading.Thread(target=self.read, daemon=True).start()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def read(self):
        stream = self.process.stdout
        while True:
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not line:
                self.ended.set()
                with self.replied:
                    self.replied.notify_all()
                return
            arrived = time.perf_counter()
            self.receive(json.loads(stream.read(length)), arrived)

    def receive(self, message, arrived):
        if message.get("method") == "textDocument/publishDiagnostics":
            self.published.put((arrived, message["params"]))
        elif "method" in message and "id" in message:
            wanted = message.get("params") or {}
            many = message["method"] == "workspace/configuration"
            self.send({"id": message["id"], "result": [None] * len(wanted["items"]) if many else None})
        elif "id" in message:
            with self.replied:
                self.replies[message["id"]] = message
                self.replied.notify_all()

    def request(self, method, params, timeout_s=60):
        number, self.next_id = self.next_id, self.next_id + 1
        self.send({"id": number, "method": method, "params": params})
        with self.replied:
            if not self.replied.wait_for(lambda: number in self.replies or self.ended.is_set(), timeout_s):
                sys.exit(f"{self.name} does not answer {method}")
            if number not in self.replies:
                sys.exit(f"{self.name} ended during {method}")
            return self.replies.pop(number)

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def start(self, folder):
        capabilities = {"textDocument": {"publishDiagnostics": {"versionSupport": True}}}
        self.request("initialize", {"processId": os.getpid(), "rootUri": "file://" + folder,
                                    "capabilities": capabilities})
        self.notify("initialized", {})

    def answers(self, version, sent, first_timeout_s):
        """Times in ms from `sent` to each publication for `version`, until it stays quiet."""
        times = []
        deadline = time.perf_counter() + first_timeout_s
        while True:
            try:
                arrived, params = self.published.get(timeout=max(0.0, deadline - time.perf_counter()))
            except queue.Empty:
                break
            if params.get("version") != version:
                continue
            times.append((arrived - sent) * 1e3)
            deadline = time.perf_counter() + QUIET_S
        if not times:
            sys.exit(f"{self.name} published nothing for version {version} in {first_timeout_s} s")
        return times

    def rss_mb(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) / 1024
        return float("nan")

    def stop(self):
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.wait(timeout=10)


def edited(text, number):
    """The text with one more line at the start of the first kernel's body."""
    place = text.index("{", text.index("__global__")) + 1
    return text[:place] + f"\n  int edit_{number} = {number} * threadIdx.x; (void)edit_{number};" + text[place:]


def measure(servers, path, text, edits):
    """Opens the file in both and edits it; first and last answer of each edit in ms, by server."""
    uri = "file://" + path
    opened = {}
    for server in servers:
        sent = time.perf_counter()
        server.notify("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": "cuda", "version": 1, "text": text}})
        opened[server] = server.answers(1, sent, 120)[0]
    wait_until_warm(servers, uri, text)
    first, last = {s: [] for s in servers}, {s: [] for s in servers}
    for number in range(edits):
        for server in random.sample(servers, len(servers)):
            version = 100 + number
            sent = time.perf_counter()
            server.notify("textDocument/didChange", {
                "textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": edited(text, number)}]})
            times = server.answers(version, sent, 60)
            first[server].append(times[0])
            last[server].append(times[-1])
    return opened, first, last


def wait_until_warm(servers, uri, text):
    """Headers are compiled in the background after opening; unmeasured edits until two in a row take alike."""
    for server in servers:
        before = 0.0
        for version in range(2, 60):
            sent = time.perf_counter()
            server.notify("textDocument/didChange", {
                "textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": edited(text, -version)}]})
            now = server.answers(version, sent, 60)[-1]
            if version > 4 and now < 1.5 * before + 5 and before < 1.5 * now + 5:
                break
            before = now


def interval(values, function, rounds=2000):
    """Value and its 95% interval, from resampled edits."""
    source = random.Random(1)
    size = len(values)
    found = sorted(function([values[source.randrange(size)] for _ in range(size)]) for _ in range(rounds))
    return function(values), found[int(0.025 * rounds)], found[int(0.975 * rounds)]


def ratio_of_medians(pairs):
    return statistics.median(p[0] for p in pairs) / statistics.median(p[1] for p in pairs)


def compile_commands(folder, names, cuda):
    flags = ["clang++", "-x", "cuda", f"--cuda-path={cuda}", "-isystem", f"{cuda}/include/cccl", "--cuda-gpu-arch=sm_90",
             "-std=c++17", "-Wno-unknown-cuda-version"]
    entries = [{"directory": folder, "file": os.path.join(folder, name), "arguments": [*flags, "-c", name]}
               for name in names]
    with open(os.path.join(folder, "compile_commands.json"), "w") as file:
        json.dump(entries, file)


def entry(key, values, unit, target, commit):
    value, low, high = values
    return {"key": key, "value": round(value, 3), "low": round(low, 3), "high": round(high, 3), "unit": unit,
            "target": target, "command": "bench/run_clangd", "gpu": None, "commit": commit,
            "date": datetime.date.today().isoformat()}


def run_file(name, folder, commands, edits, commit):
    path = os.path.join(folder, name)
    with open(path) as file:
        text = file.read()
    servers = [Server(command, folder) for command in commands]
    for server in servers:
        server.start(folder)
    opened, first, last = measure(servers, path, text, edits)
    print(f"{name}: {edits} edits each")
    for server in servers:
        value, low, high = interval(last[server], statistics.median)
        print(f"  {server.name:12} edit to diagnostics {value:7.1f} ms [{low:.1f}, {high:.1f}]"
              f"  first answer {statistics.median(first[server]):7.1f} ms"
              f"  after opening {opened[server]:7.1f} ms  RSS {server.rss_mb():6.1f} MB")
    stem, entries = os.path.splitext(name)[0], []
    if len(servers) == 2:
        ours, theirs = servers
        entries = [
            entry(f"lsp.{stem}.edit_ms", interval(last[ours], statistics.median), "ms", None, commit),
            entry(f"lsp.{stem}.edit_ms.clangd", interval(last[theirs], statistics.median), "ms", None, commit),
            entry(f"lsp.{stem}.edit_ratio", interval(list(zip(last[ours], last[theirs])), ratio_of_medians),
                  "x of clangd's time", "<= 1", commit),
            entry(f"lsp.{stem}.open_ms", (opened[ours],) * 3, "ms to first facts", "<= 100", commit),
            entry(f"lsp.{stem}.rss_ratio", (ours.rss_mb() / theirs.rss_mb(),) * 3, "x of clangd's memory", "<= 1", commit)]
        for made in entries:
            if made["low"] == made["value"] == made["high"]:
                made["low"] = made["high"] = None  # measured once: no interval
    for server in servers:
        server.stop()
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warpwright", default=os.path.join(HERE, "../../build/release/bin/warpwright"))
    parser.add_argument("--clangd", default=shutil.which("clangd-22") or "clangd")
    parser.add_argument("--cuda", default=os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    parser.add_argument("--edits", type=int, default=40)
    parser.add_argument("--out", help="where the entries for bench/summary.py go")
    arguments = parser.parse_args()
    if arguments.edits < 20:
        sys.exit("--edits must be at least 20: fewer give no interval worth printing")
    if not os.path.exists(os.path.join(arguments.cuda, "include/cuda_runtime.h")):
        sys.exit(f"skipped: no CUDA toolkit at {arguments.cuda}; name one with --cuda")
    commands = [[os.path.abspath(arguments.warpwright), "lsp"],
                [arguments.clangd, "--background-index=false", "--log=error"]]
    if not os.path.exists(commands[0][0]):
        print(f"no {commands[0][0]}: clangd is measured alone", file=sys.stderr)
        del commands[0]
    commit = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True,
                            text=True).stdout.strip()
    entries = []
    with tempfile.TemporaryDirectory() as folder:
        names = ["plain.cu", "with_cub.cu"]
        for name in names:
            shutil.copy(os.path.join(HERE, name), folder)
        compile_commands(folder, names, os.path.realpath(arguments.cuda))
        for name in names:
            entries += run_file(name, folder, commands, arguments.edits, commit)
    if arguments.out:
        with open(arguments.out, "w") as file:
            json.dump(entries, file, indent=1)


if __name__ == "__main__":
    main()
