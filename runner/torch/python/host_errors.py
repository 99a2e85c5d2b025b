"""Errors of a torch host as the runner's faults (runner/device/device.h). Thread: any."""

import contextlib
import traceback

import torch


class HostError(Exception):
    """@var kind "unsupported", "bad_launch", "out_of_memory", "crash", "timeout" or "internal"; for
    candidates also "compile_failed" or "suspected" """

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind
        self.message = message


def is_out_of_memory(error):
    if isinstance(error, MemoryError):
        return True
    kind = getattr(torch.cuda, "OutOfMemoryError", None)
    text = str(error)
    return (kind is not None and isinstance(error, kind)) or "out of memory" in text or "can't allocate memory" in text


def is_device_lost(error):
    """Whether a CUDA error leaves the device unusable. Only the first line of the text names the
    error; advice about device-side assertions follows in every text."""
    text = (str(error).strip().splitlines() or [""])[0]
    return "CUDA error" in text and any(one in text for one in (
        "device-side assert triggered", "illegal memory access", "misaligned address", "illegal instruction", "unspecified launch failure"))


def place_in(error, file):
    """The line of the user's file where the error was raised; 0 if it was raised elsewhere."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return lines[-1] if lines else 0


user_file = ""  # path of the loaded module's file, so that errors name its lines


@contextlib.contextmanager
def told_by(what):
    """Converts errors of torch and of users' code to HostErrors with the operation and the line.
    @param what the operation, for the message"""
    try:
        yield
    except HostError:
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the user's code may raise SystemExit as well
        kind = "out_of_memory" if is_out_of_memory(error) else "crash" if is_device_lost(error) else "unsupported"
        line = place_in(error, user_file)
        where = f" (line {line} of the module's file)" if line else ""
        text = " ".join(str(error).split())[:500]
        raise HostError(kind, f"{what}: {type(error).__name__}: {text}{where}") from error
