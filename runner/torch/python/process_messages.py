"""Messages of the runner's processes: JSON after a Content-Length header, on standard streams."""

import json
import os


def take_streams():
    """(source, sink) of the protocol. Afterwards stdin is empty, and stdout goes to stderr."""
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    return source, sink


def read_message(stream):
    """The next message's JSON value; None at the end of the stream."""
    size = None
    while True:
        line = stream.readline()
        if not line:
            return None
        if line == b"\r\n":
            return json.loads(stream.read(size))
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            size = int(value)


def write_message(stream, message):
    body = json.dumps(message).encode()
    stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    stream.flush()
