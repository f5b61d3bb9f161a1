"""Sockets around players and hosts: HTTP/1.0 with total deadlines, so that slow bytes do not stretch them."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import time
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from fogplay.errors import FogplayError
from fogplay.protocols.ggp.host import Host
from fogplay.protocols.ggp.player import Player
from fogplay.protocols.ggp.work import Work

LARGEST = 8_000_000  # bytes of a message: the largest sheets in use have about one million
LARGE = 200_000  # bytes, from which messages are read one at a time
PATIENCE = 20.0  # seconds for a whole message to arrive
MOST_AT_ONCE = 32  # connections; others are closed
PIECE = 1 << 16
KIND = "text/acl"


class _Handler(BaseHTTPRequestHandler):
    """One request to a player."""

    server: PlayerServer
    protocol_version = "HTTP/1.0"
    timeout = PATIENCE

    def setup(self) -> None:
        super().setup()
        self.cut = threading.Timer(self.server.patience, self._cut_off)  # the whole request, header and all
        self.cut.daemon = True
        self.cut.start()

    def finish(self) -> None:
        self.cut.cancel()
        super().finish()

    def _cut_off(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RD)

    def do_POST(self) -> None:
        came = time.monotonic()
        try:
            length = self._length()
            if length > LARGE and not self.server.large.acquire(blocking=False):
                self._reply(503, "another large message is being read; try again")
                return
            try:
                reply = self.server.player.handle(self._body(length), came)
            finally:
                if length > LARGE:
                    self.server.large.release()
            self._reply(200, reply)
        except FogplayError as error:
            self._reply(413 if "bytes" in str(error) else 400, str(error))
        except (OSError, MemoryError):
            return

    def do_GET(self) -> None:
        self._reply(200, self.server.player.handle("(info)"))

    def do_OPTIONS(self) -> None:
        self._reply(200, "")

    def _length(self) -> int:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise FogplayError("a message needs its Content-Length")
        if len(length) > 12 or int(length) > LARGEST:
            raise FogplayError(f"a message has at most {LARGEST:,} bytes")
        return int(length)

    def _body(self, left: int) -> str:
        pieces: list[bytes] = []
        while left:
            piece = self.rfile.read1(min(left, PIECE))
            if not piece:
                raise FogplayError("the message ended early, or took too long")
            pieces.append(piece)
            left -= len(piece)
        self.cut.cancel()
        return b"".join(pieces).decode("utf-8", errors="replace")

    def _reply(self, status: int, text: str) -> None:
        data = text.encode()
        with contextlib.suppress(OSError):  # the other side may have gone
            self.send_response(status)
            self.send_header("Content-Type", KIND)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Access-Control-Allow-Methods", "POST, GET, OPTIONS")
            self.send_header("Access-Control-Allow-Headers", "Content-Type, Sender, Receiver")
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed per request."""


class PlayerServer(ThreadingHTTPServer):
    """A player at a port; 0 takes a free one."""

    daemon_threads = True
    request_queue_size = MOST_AT_ONCE

    def __init__(self, player: Player, host: str, port: int, patience: float = PATIENCE) -> None:
        self.player, self.patience = player, patience
        self.large = threading.Semaphore(1)
        self.connections = threading.Semaphore(MOST_AT_ONCE)
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise FogplayError(f"cannot listen at {host}:{port}: {why}; choose another --port or --host") from error

    def process_request(self, request: Any, client_address: Any) -> None:
        if self.connections.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.connections.release()

    def handle_error(self, *_: Any) -> None:
        """A connection that breaks off ends its own thread only."""


def ask(address: str, text: str, seconds: float) -> str | None:
    """A remote player's reply to a message; None if it does not come in time, or not as HTTP."""
    end = time.monotonic() + seconds
    host, port = _address(address)
    connection = http.client.HTTPConnection(host, port, timeout=max(seconds, 0.001))
    try:
        connection.request("POST", "/", text.encode(), {"Content-Type": KIND, "Accept": KIND})
        assert connection.sock is not None
        line: socket.socket = connection.sock
        line.settimeout(max(end - time.monotonic(), 0.001))
        response = connection.getresponse()
        pieces: list[bytes] = []
        while time.monotonic() < end:
            line.settimeout(max(end - time.monotonic(), 0.001))
            piece = response.read1(PIECE)
            if not piece:
                return b"".join(pieces).decode("utf-8", errors="replace") if response.status == 200 else None
            pieces.append(piece)
            if sum(map(len, pieces)) > LARGEST:
                return None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return None


def _address(text: str) -> tuple[str, int]:
    parts = urlsplit(text if "//" in text else f"//{text}")
    try:
        port = parts.port
    except ValueError:
        port = None
    if not parts.hostname or port is None:
        raise FogplayError(f"{text!r} is not a player's address; write HOST:PORT, such as localhost:9147")
    return parts.hostname, port


def is_address(text: str) -> bool:
    """Whether a text names a player over the network."""
    return text.startswith("http://") or (text.count(":") == 1 and text.partition(":")[2].isdecimal())


class Seat:
    """A player of a match: one over the network, or one of ours, which gets the same messages."""

    def __init__(self, text: str, seed: int) -> None:
        self.text = text
        self.local = None if is_address(text) else Player(text, seed)
        if self.local is None:
            _address(text)

    def ask(self, text: str, seconds: float) -> str | None:
        if self.local is None:
            return ask(self.text, text, seconds)
        try:
            return self.local.handle(text)
        except FogplayError:
            return None


def run(host: Host, seats: list[Seat]) -> None:
    """Play a match to its end."""
    started = _all(seats, [host.start(each) for each in range(len(seats))], host.start_clock + 1.0)
    for player, reply in enumerate(started):
        if reply is None or reply.strip().lower() != "ready":
            host.faults.append((0, player, f"not ready: {(reply or 'no reply in time')[:60]}"))
    while not host.is_over:
        host.take(_all(seats, [host.ask(each) for each in range(len(seats))], host.play_clock + 1.0))
    _all(seats, [host.ask(each) for each in range(len(seats))], host.play_clock + 1.0)


def _all(seats: list[Seat], texts: list[str], seconds: float) -> list[str | None]:
    """The replies of all players, who are asked at the same time; a signal ends the waiting at once."""
    works = [Work(partial(seat.ask, text, seconds)) for seat, text in zip(seats, texts, strict=True)]
    for work in works:
        while not work.done.wait(0.5):
            pass
        if work.error is not None:
            raise work.error
    return [work.value for work in works]


def require_there(address: str) -> None:
    """Refuse an address at which no player answers."""
    if ask(address, "(info)", PATIENCE / 2) is None:
        host, port = _address(address)
        raise FogplayError(f"no player answers at {host}:{port}; start one there: fogplay ggp player --port {port}")
