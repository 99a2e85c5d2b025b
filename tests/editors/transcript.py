#!/usr/bin/env python3
"""Stands between an editor and a language server and writes down what both say, a line of JSON a message.

usage: transcript.py OUT.jsonl COMMAND...

Each line: {"s": seconds since the start, "from": "editor" or "server", "message": {...}}. Bytes
pass unchanged and at once; in the transcript texts of more than 6000 characters are cut. Ends when
the server ends, with its exit code.
"""
import json
import os
import subprocess
import sys
import threading
import time

LONGEST = 6000


def cut(value):
    if isinstance(value, str) and len(value) > LONGEST:
        return f"{value[:LONGEST]} ... ({len(value)} characters)"
    if isinstance(value, list):
        return [cut(one) for one in value]
    return {name: cut(one) for name, one in value.items()} if isinstance(value, dict) else value


class Transcript:
    def __init__(self, path):
        self.file, self.lock, self.begun = open(path, "w"), threading.Lock(), time.monotonic()

    def write(self, who, message):
        with self.lock:
            line = {"s": round(time.monotonic() - self.begun, 3), "from": who, "message": cut(message)}
            self.file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self.file.flush()


class Frames:
    """Finds the messages in a stream of bytes that arrive in any pieces."""

    def __init__(self):
        self.bytes = b""

    def feed(self, piece):
        self.bytes += piece
        while (end := self.bytes.find(b"\r\n\r\n")) >= 0:
            length = next(int(line.split(b":")[1]) for line in self.bytes[:end].split(b"\r\n")
                          if line.lower().startswith(b"content-length:"))
            if len(self.bytes) < end + 4 + length:
                return
            yield json.loads(self.bytes[end + 4:end + 4 + length])
            self.bytes = self.bytes[end + 4 + length:]


def pump(source, target, who, transcript):
    frames = Frames()
    while piece := os.read(source, 1 << 16):
        rest = piece
        while rest:
            rest = rest[os.write(target, rest):]
        for message in frames.feed(piece):
            transcript.write(who, message)
    os.close(target)


def main():
    transcript = Transcript(sys.argv[1])
    server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    threading.Thread(target=pump, args=(0, server.stdin.fileno(), "editor", transcript), daemon=True).start()
    pump(server.stdout.fileno(), 1, "server", transcript)
    sys.exit(server.wait())


if __name__ == "__main__":
    main()
