"""Starts and ends candidates' processes for a GPU's worker, which is held in too tightly to start a process that opens the GPU.

`python3 candidate_nursery.py LIBRARY SOCKET` is started before the worker is held in. It runs nothing but candidate_host.py, which holds
itself in before any of the candidate's code is there; it is told when to start one and when to end it, and ends with its worker. One at a time.
The folder of one can be kept for the next, which finds there what the first compiled.
Thread: the main thread of either process.
"""

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

PR_SET_CHILD_SUBREAPER = 36
MOST_ROUNDS = 64  # of ending what those that were ended leave behind
LARGEST_MESSAGE = 4096


def children():
    """Process ids of this process's children."""
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if parent == os.getpid():
                found.add(int(name))
    return found


class Started:
    """A candidate's process that this one started.

    @param memory descriptor of the shared memory
    @param stdin, stdout pipes of its own unless descriptors are given
    @param folder of one that ended; None: a new one"""

    def __init__(self, library, memory, size, stdin=subprocess.PIPE, stdout=subprocess.PIPE, folder=None):
        # In the worker's own, which goes with it whatever happens here.
        self.folder = folder or tempfile.mkdtemp(prefix="candidate-", dir=os.environ.get("WARPWRIGHT_WORKER_DIRECTORY"))
        environment = dict(os.environ, WARPWRIGHT_WORKER_DIRECTORY=self.folder, TMPDIR=self.folder, HOME=self.folder)
        for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TORCH_EXTENSIONS_DIR", "CUDA_CACHE_PATH"):
            environment.pop(name, None)
        # What the candidate starts and leaves becomes a child of this process, which ends it.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.others = children()
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "candidate_host.py")
        self.process = subprocess.Popen([sys.executable, "-B", script, library, str(memory), str(size)], stdin=stdin, stdout=stdout,
                                        env=environment, pass_fds=(memory,), start_new_session=True, bufsize=0)
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.pid = self.process.pid

    @property
    def returncode(self):
        return self.process.returncode

    def poll(self):
        return self.process.poll()

    def end(self, keeps_folder=False):
        """Its status; negative: the signal."""
        if self.process.poll() is None:
            try:
                self.process.wait(0.2)  # one that has just ended by itself keeps its status
            except subprocess.TimeoutExpired:
                pass
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                self.process.kill()
            self.process.wait()
        for _ in range(MOST_ROUNDS):
            left = children() - self.others
            if not left:
                break
            for pid in left:
                kill(pid)
        if not keeps_folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        return self.process.returncode


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError, PermissionError):
        pass


class Nursery:
    """The worker's end."""

    def __init__(self, library):
        self.connection, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), library, str(theirs.fileno())],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=(theirs.fileno(),))

    def start(self, memory, size, again=False):
        """@param again in the folder that the last one kept, if it did"""
        (to, stdin), (stdout, from_) = os.pipe(), os.pipe()
        socket.send_fds(self.connection, [json.dumps({"size": size, "again": again}).encode()], [memory, to, from_])
        os.close(to)
        os.close(from_)
        return Remote(self, self.answer()["pid"], os.fdopen(stdin, "wb", 0), os.fdopen(stdout, "rb", 0))

    def end(self, keeps_folder):
        self.connection.sendall(json.dumps({"end": True, "keeps_folder": keeps_folder}).encode())
        return self.answer()["status"]

    def answer(self):
        message = self.connection.recv(LARGEST_MESSAGE)
        if not message:
            raise OSError("the process that starts candidates has ended")
        return json.loads(message)


class Remote:
    """A candidate's process that the nursery started, as Started."""

    def __init__(self, nursery, pid, stdin, stdout):
        self.nursery, self.pid, self.stdin, self.stdout = nursery, pid, stdin, stdout
        self.returncode = None

    def poll(self):
        return self.returncode

    def end(self, keeps_folder=False):
        if self.returncode is None:
            self.returncode = self.nursery.end(keeps_folder)
        return self.returncode


nursery = None  # of this worker, where it has one


def serve(library, connection):
    started = kept = None
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, LARGEST_MESSAGE, 3)
        request = json.loads(message) if message else {"end": True}
        if kept is not None and not request.get("again"):
            shutil.rmtree(kept, ignore_errors=True)
            kept = None
        if started is not None and "end" in request:
            kept = started.folder if request.get("keeps_folder") else None
            status, started = started.end(kept is not None), None
            if message:
                connection.sendall(json.dumps({"status": status}).encode())
        if not message:
            return
        if "size" in request:
            memory, stdin, stdout = descriptors
            started, kept = Started(library, memory, request["size"], stdin, stdout, kept), None
            for descriptor in descriptors:
                os.close(descriptor)
            connection.sendall(json.dumps({"pid": started.pid}).encode())


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))
