"""A small client of `warpwright-runner serve` and of its worker processes, for the benchmarks.

JSON-RPC 2.0 with Content-Length framing over a child's stdin and stdout. Any number of requests may
be outstanding: a thread reads the answers and hands each to the future of its request.
Notifications (stages) are dropped. Standard library only.
"""
import concurrent.futures
import itertools
import json
import os
import subprocess
import threading
import time


class RpcError(Exception):
    """What the runner answered instead of a result, or how it ended."""


class Runner:
    """One child process that speaks the protocol; leave the `with` block to end it.

    command: ["warpwright-runner", "serve"] or ["warpwright-runner", "worker", "--device", "cuda:0"], perhaps under a
    profiler. environment: added to this process's own. log: path that takes the child's stderr.
    """

    def __init__(self, command, environment=None, log=None):
        self.started = time.monotonic()
        self.log = open(log, "ab") if log else subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        env={**os.environ, **(environment or {})})
        self.ids = itertools.count(1)
        self.lock = threading.Lock()  # of waiting and ended; never held while writing, or both ends could wait
        self.writing = threading.Lock()
        self.waiting = {}
        self.ended = None
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self, limit_s=10):
        """Ends the child: its stdin closes, and after the limit it is killed."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join(5)
        self.process.stdout.close()
        if self.log is not subprocess.DEVNULL:
            self.log.close()

    def send(self, method, params):
        """A future of the result. Its exception is RpcError."""
        future = concurrent.futures.Future()
        with self.lock:
            if self.ended is not None:
                future.set_exception(RpcError(self.ended))
                return future
            number = next(self.ids)
            self.waiting[number] = future
        body = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()
        try:
            with self.writing:
                self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
                self.process.stdin.flush()
        except (OSError, ValueError) as error:
            with self.lock:
                unanswered = self.waiting.pop(number, None)
            if unanswered:
                future.set_exception(RpcError(f"the runner took no more requests: {error}"))
        return future

    def call(self, method, params=None, limit_s=600):
        try:
            return self.send(method, params or {}).result(limit_s)
        except concurrent.futures.TimeoutError as error:
            raise RpcError(f"no answer to {method} within {limit_s} s") from error

    def verify(self, task, plan, limit_s=600, **options):
        """One verdict, from a service or from a worker, whose answer wraps it."""
        return verdict_of(self.call("verify", {"task": task, "plan": plan, "options": options}, limit_s))

    def _read(self):
        reason = "the runner closed its output"
        try:
            while True:
                message = self._message()
                if message is None:
                    break
                self._settle(message)
        except (OSError, ValueError) as error:
            reason = f"the runner's output was no protocol: {error}"
        with self.lock:
            self.ended = reason
            left, self.waiting = self.waiting, {}
        for future in left.values():
            future.set_exception(RpcError(reason))

    def _message(self):
        length = None
        while True:
            line = self.process.stdout.readline()
            if not line:
                return None
            if line == b"\r\n":
                break
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if length is None:
            raise ValueError("a header without Content-Length")
        return json.loads(self.process.stdout.read(length))

    def _settle(self, message):
        if "id" not in message or "method" in message:
            return
        with self.lock:
            future = self.waiting.pop(message["id"], None)
        if future is None:
            return
        if "error" in message:
            future.set_exception(RpcError(message["error"].get("message", "no reason was given")))
        else:
            future.set_result(message.get("result"))


def verdict_of(answer):
    return answer["verdict"] if "verdict" in answer else answer


def serve_command(binary):
    return [binary, "serve"]


def worker_command(binary, device):
    return [binary, "worker", "--device", device]
