"""Requests to this process's supervisor (runner/isolation/supervisor.h) for candidates' processes,
each in a separate enclosure.

This process is isolated: it cannot start a process that opens the GPU, change users, or freeze
other processes. The supervisor can, and for this process it starts only candidate_host.py, one
process at a time. The folder of one process can be kept for the next, which then finds the
extensions that the first compiled. Thread: the main thread.
"""

import json
import os
import socket

LARGEST_MESSAGE = 4096
VARIABLE = "WARPWRIGHT_STARTER"
_connection = None


def ask(request, descriptors=()):
    """The supervisor's answer. @raise OSError if the supervisor refuses or does not exist"""
    global _connection
    if _connection is None:
        if VARIABLE not in os.environ:
            raise OSError("this process has no supervisor to start candidates: it was not started by a runner")
        _connection = socket.socket(fileno=int(os.environ[VARIABLE]))
        os.set_inheritable(_connection.fileno(), False)
    message = json.dumps(request).encode()
    if descriptors:
        socket.send_fds(_connection, [message], list(descriptors))
    else:
        _connection.sendall(message)
    text = _connection.recv(LARGEST_MESSAGE)
    if not text:
        raise OSError("the supervisor has ended")
    answer = json.loads(text)
    if "error" in answer:
        raise OSError(answer["error"])
    return answer


class Started:
    """A started candidate process."""

    def __init__(self, memory, size, opens_gpu=True, again=False):
        """@param memory descriptor of the shared memory
        @param again whether to use the folder that the last process kept, if any"""
        (stdin, to), (from_, stdout) = os.pipe(), os.pipe()
        try:
            self.pid = ask({"start": "candidate", "size": size, "opens_gpu": opens_gpu, "again": again}, (stdin, stdout, memory))["pid"]
        except OSError:
            os.close(to)
            os.close(from_)
            raise
        finally:
            os.close(stdin)
            os.close(stdout)
        self.stdin, self.stdout = os.fdopen(to, "wb", 0), os.fdopen(from_, "rb", 0)
        self.returncode = None

    def poll(self):
        return self.returncode

    def freeze(self, wanted):
        """Freezes or resumes the whole process tree.
        @return (method: "cgroup", "signals", or "" if none works; whether the process had resumed
            by itself)"""
        answer = ask({"freeze": wanted})
        return answer["by"], answer["woke"]

    def end(self, keeps_folder=False):
        """Ends the process. @return the exit status; a negative value is the signal"""
        if self.returncode is None:
            self.returncode = ask({"end": keeps_folder})["status"]
        return self.returncode
