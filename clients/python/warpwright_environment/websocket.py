"""A WebSocket client (RFC 6455) on the standard library: text messages, pings, TLS. One thread
at a time."""

import base64
import hashlib
import os
import socket
import ssl
import struct
from urllib.parse import urlsplit

_MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0, 1, 2, 8, 9, 10
_LONGEST_MESSAGE = 100 << 20  # bytes


class ConnectionLost(ConnectionError):
    """The connection cannot be made, broke, or was closed. `code` is the peer's close code, if it sent one."""

    def __init__(self, message, code=None):
        super().__init__(message)
        self.code = code


def _masked(data, mask):
    """XOR of the data with the repeated mask, as one large number: pure Python, but fast."""
    length = len(data)
    if not length:
        return b""
    repeated = (mask * (length // 4 + 1))[:length]
    return (int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")).to_bytes(length, "big")


class WebSocket:
    def __init__(self, url, headers=None, timeout_s=600.0, context=None):
        """Connects. `context` is an ssl.SSLContext for https:// with an authority of its own."""
        parts = urlsplit(url)
        is_tls = parts.scheme in ("https", "wss")
        port = parts.port or (443 if is_tls else 80)
        try:
            self._socket = socket.create_connection((parts.hostname, port), timeout=min(timeout_s, 30))
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if is_tls:
                context = context or ssl.create_default_context()
                self._socket = context.wrap_socket(self._socket, server_hostname=parts.hostname)
            self._received = b""
            self._shake_hands(parts, headers or {})
            self._socket.settimeout(timeout_s)
        except OSError as error:
            if hasattr(self, "_socket"):
                self._socket.close()
            if isinstance(error, ConnectionLost):
                raise
            raise ConnectionLost(f"cannot connect to {parts.hostname}:{port}: {error}") from error

    def _shake_hands(self, parts, headers):
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {parts.path or '/'} HTTP/1.1", f"Host: {parts.netloc.rpartition('@')[2]}", "Upgrade: websocket",
                 "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        while b"\r\n\r\n" not in self._received:
            self._receive()
            if len(self._received) > 1 << 16:
                raise ConnectionLost("the server's answer to the handshake is too long")
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        status, *fields = head.decode("latin-1").split("\r\n")
        answered = {name.strip().lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        if " 101 " not in status + " ":
            raise ConnectionLost(f"the server refuses the WebSocket: {status}")
        expected = base64.b64encode(hashlib.sha1((key + _MAGIC).encode()).digest()).decode()
        if answered.get("sec-websocket-accept") != expected:
            raise ConnectionLost("the server is no WebSocket server")

    def _receive(self):
        data = self._socket.recv(1 << 16)
        if not data:
            raise ConnectionLost("the server closed the connection")
        self._received += data

    def _take(self, count):
        while len(self._received) < count:
            self._receive()
        taken, self._received = self._received[:count], self._received[count:]
        return taken

    def _send_frame(self, kind, data):
        length = len(data)
        head = bytes([0x80 | kind])
        if length < 126:
            head += bytes([0x80 | length])
        elif length < 1 << 16:
            head += bytes([0x80 | 126]) + struct.pack("!H", length)
        else:
            head += bytes([0x80 | 127]) + struct.pack("!Q", length)
        mask = os.urandom(4)
        self._socket.sendall(head + mask + _masked(data, mask))

    def _frame(self):
        first, second = self._take(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", self._take(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", self._take(8))
        if length > _LONGEST_MESSAGE or second & 0x80:
            raise ConnectionLost("the server sent a frame that is too long, or masked")
        return first & 0x80, first & 0x0F, self._take(length)

    def send(self, text):
        try:
            self._send_frame(_TEXT, text.encode())
        except OSError as error:
            raise ConnectionLost(f"the connection broke: {error}") from error

    def receive(self):
        """The next text message. Raises ConnectionLost, also after `timeout_s` without one."""
        message = b""
        try:
            while True:
                is_last, kind, data = self._frame()
                if kind == _PING:
                    self._send_frame(_PONG, data)
                elif kind == _CLOSE:
                    code = struct.unpack("!H", data[:2])[0] if len(data) >= 2 else None
                    raise ConnectionLost(f"the server closed: {data[2:].decode(errors='replace')}", code)
                elif kind in (_TEXT, _BINARY, _CONTINUATION):
                    message += data
                    if len(message) > _LONGEST_MESSAGE:
                        raise ConnectionLost("the server sent a message that is too long")
                    if is_last:
                        return message.decode()
        except ConnectionLost:
            raise
        except OSError as error:  # a timeout too
            raise ConnectionLost(f"the connection broke: {error}") from error

    def close(self):
        try:
            self._send_frame(_CLOSE, struct.pack("!H", 1000))
        except OSError:
            pass
        self.abort()

    def abort(self):
        """Ends the connection without a word."""
        self._socket.close()
