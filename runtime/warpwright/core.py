"""ctypes interface to libwarpwright-core.so, which makes regions, keys, records and decisions. See
regions/core.cpp."""

import ctypes
import functools
import json
import os

NAME = "libwarpwright-core.so"


class CoreError(RuntimeError):
    """An error of the library, with a remedy if there is one."""


def library_path():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), NAME)
    above = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), NAME)
    for path in (os.environ.get("WARPWRIGHT_CORE", ""), beside, above):
        if path and os.path.exists(path):
            return path
    raise CoreError(f"{NAME} is not in the package {os.path.dirname(beside)}: install the package warpwright again")


@functools.lru_cache(maxsize=None)
def library():
    loaded = ctypes.CDLL(library_path())
    for name in ("regions", "read", "write", "folder", "digest", "decide"):
        function = getattr(loaded, "ww_" + name)
        function.argtypes, function.restype = [ctypes.c_char_p], ctypes.c_void_p
    loaded.ww_free.argtypes, loaded.ww_free.restype = [ctypes.c_void_p], None
    return loaded


def ask(name, **request):
    """The answer to one request, a dict.
    @param name the library's function without "ww_"
    @raise CoreError"""
    loaded = library()
    text = getattr(loaded, "ww_" + name)(json.dumps(request).encode())
    try:
        answer = json.loads(ctypes.string_at(text))
    finally:
        loaded.ww_free(text)
    if "error" in answer:
        raise CoreError(answer["error"])
    return answer
