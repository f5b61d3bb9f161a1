"""The thin shell around dealer and client: connections, lines out of bytes, and the clock."""

from __future__ import annotations

import os
import select
import socket
import struct
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fogplay.errors import FogplayError
from fogplay.interrupts import Stop, stopping
from fogplay.notation.acpc import MOST_LINE
from fogplay.protocols.acpc.client import Client
from fogplay.protocols.acpc.dealer import Dealer

CHUNK = 1 << 16
SENDING = 10.0  # seconds in which the other side must accept what it is sent
MOMENT = 0.002  # seconds after which the other players receive their lines
SHORTLY = 1e-3  # seconds of yielding the CPU before sleeping, since waking from sleep is slower
QUIET = 10.0  # seconds without a line from a new dealer, after which a client says so
GATHERED = 100  # the most lines held back for a player
BY_HAND = "stopped by hand"

give_way: Callable[[], None] = getattr(os, "sched_yield", lambda: None)


class Gone(Exception):  # noqa: N818 (an end, no error)
    """The connection to the other side has ended; the text says why."""


class Late(Exception):  # noqa: N818 (an end, no error)
    """The time is up."""


class Line:
    """A connection that carries lines; its read buffer never exceeds the longest line plus one chunk."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket, self._rest = connection, b""
        self._lines: deque[bytes] = deque()
        # The kernel waits for data within recv: one system call instead of a poll and a recv.
        connection.setblocking(True)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _timeval(MOMENT))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _timeval(SENDING))
        self._readable = _poll(connection)

    def send(self, lines: Sequence[str]) -> None:
        """Send lines; the other side must accept them within ``SENDING`` seconds."""
        try:
            self._socket.sendall("".join([f"{line}\r\n" for line in lines]).encode())
        except BlockingIOError:
            raise Gone("it takes no more lines") from None
        except OSError as error:
            raise _lost(error) from None

    def read(self, seconds: float | None = None) -> str:
        """The next line, without its line ending; bytes that are not valid UTF-8 are replaced.

        It always waits briefly, even if ``seconds`` is 0.
        """
        if not self._lines:
            end = None if seconds is None else time.monotonic() + seconds
            while not self._lines:
                self._fill(end)
        return self._lines.popleft().decode(errors="replace").rstrip("\r")

    def _fill(self, end: float | None) -> None:
        began = time.monotonic()
        while not self._readable(0.0) and time.monotonic() - began < SHORTLY:
            give_way()
        while (more := self._receive()) is None:
            left = None if end is None else 1000 * (end - time.monotonic())
            if (left is not None and left <= 0) or not self._readable(left):
                raise Late
        if not more:
            raise Gone("it closed the connection")
        *lines, self._rest = (self._rest + more).split(b"\n")
        self._lines.extend(lines)
        if len(self._rest) > MOST_LINE:
            raise Gone(f"it sent a line of over {MOST_LINE:,} bytes")

    def _receive(self) -> bytes | None:
        """The bytes received within a short wait, if any."""
        try:
            return self._socket.recv(CHUNK)
        except BlockingIOError:
            return None
        except OSError as error:
            raise _lost(error) from None

    def close(self) -> None:
        self._socket.close()


def _poll(connection: socket.socket) -> Callable[[float | None], bool]:
    """A function that waits until data has arrived, for so many milliseconds at most, and says whether it has."""
    if not hasattr(select, "poll"):  # on Windows
        return lambda wait: bool(select.select([connection], [], [], None if wait is None else wait / 1000)[0])
    ready = select.poll()
    ready.register(connection, select.POLLIN)
    return lambda wait: bool(ready.poll(wait))


def _timeval(seconds: float) -> bytes:
    """A time as a ``timeval``, for socket options; Windows counts milliseconds."""
    if sys.platform == "win32":
        return struct.pack("L", round(1000 * seconds))
    return struct.pack("ll", int(seconds), round(seconds % 1 * 1e6))


def _lost(error: OSError) -> Gone:
    return Gone(f"the connection is lost ({error.strerror or 'closed'})")


# ---- Clients


def connect(host: str, port: int, wait: float = 0.0) -> Line:
    """A connection to a dealer; retries for ``wait`` seconds while nobody listens there."""
    end = time.monotonic() + wait
    while True:
        try:
            return Line(socket.create_connection((host, port), timeout=max(5.0, end - time.monotonic())))
        except (OSError, OverflowError) as error:
            if time.monotonic() < end and isinstance(error, ConnectionRefusedError | TimeoutError):
                time.sleep(0.1)
                continue
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise FogplayError(f"cannot connect to {host}:{port}: {why}; is the dealer there?") from error


def join(line: Line, client: Client, progress: Callable[[int], None] | None = None) -> str:
    """Play until the dealer ends the match, or a signal; return the reason."""
    done, patience = 0, QUIET if client.is_new else None
    with stopping() as stop:
        try:
            line.send([client.greeting])
            while not stop.is_set():
                try:
                    with stop.at_once():
                        heard = line.read(patience)
                except Late:
                    client.silence(QUIET)
                    patience = None
                    continue
                answer = client.receive(heard)
                if answer is not None:
                    line.send([answer])
                if client.hands != done:
                    done = client.hands
                    patience = patience if client.is_new else None
                    if progress is not None:
                        progress(done)
        except Gone as gone:
            return str(gone)
        except KeyboardInterrupt:
            stop.set()
        finally:
            line.close()
    return BY_HAND


# ---- The dealer's players


class Chair(Protocol):
    """A player's place at the dealer: sends it lines and receives its answers."""

    def send(self, lines: Sequence[str]) -> None: ...

    def read(self, seconds: float) -> str: ...

    def close(self) -> None: ...


class Local:
    """A fogplay player in the dealer's own process, which exchanges the same lines."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._said: deque[str] = deque([client.greeting])

    def send(self, lines: Sequence[str]) -> None:
        for line in lines:
            answer = self.client.receive(line)
            if answer is not None:
                self._said.append(answer)

    def read(self, seconds: float) -> str:
        if not self._said:
            raise Gone("it has no answer")
        return self._said.popleft()

    def close(self) -> None:
        pass


def listen(host: str, port: int) -> socket.socket:
    """A socket to which one player may connect; port 0 means any free port."""
    try:
        return socket.create_server((host, port), backlog=1)
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FogplayError(f"cannot listen at {host}:{port}: {why}; choose another port, or 0 for any") from error


@dataclass(frozen=True)
class Patience:
    """How many seconds all players together have to connect and to greet; None: no limit."""

    seconds: float | None
    began: float = field(default_factory=time.monotonic)

    def left(self) -> float | None:
        return None if self.seconds is None else max(self.began + self.seconds - time.monotonic(), 1e-3)


def accept(listening: socket.socket, name: str, patience: Patience) -> Line:
    """Wait for a player to connect, and return the connection."""
    with listening:
        listening.settimeout(patience.left())
        try:
            connection, _ = listening.accept()
        except TimeoutError:
            raise FogplayError(f"{name} did not connect in {patience.seconds:g} seconds; nothing was played") from None
    return Line(connection)


def run(
    dealer: Dealer,
    chairs: Sequence[Chair],
    progress: Callable[[int], None] | None = None,
    patience: Patience | None = None,
) -> None:
    """Play the match to its end; a signal ends it after the last completed hand.

    Players greet within the time that ``patience`` leaves, or that of an answer.
    """
    with stopping() as stop:
        try:
            with stop.at_once():
                _greet(dealer, chairs, patience)
            dealer.begin()
            hand = dealer.hand
            while dealer.waits_for is not None and not stop.is_set():
                _ask(dealer, chairs, dealer.waits_for, stop)
                if progress is not None and dealer.hand != hand:
                    hand = dealer.hand
                    progress(hand)
            if stop.is_set():
                dealer.end(BY_HAND)
            _tell_all(dealer, chairs)
        except KeyboardInterrupt:
            dealer.end(BY_HAND)
        finally:
            for chair in chairs:
                chair.close()


def _greet(dealer: Dealer, chairs: Sequence[Chair], patience: Patience | None) -> None:
    limited = patience if patience is not None and patience.seconds is not None else None
    for player, chair in enumerate(chairs):
        waits = limited or Patience(dealer.terms.limits.answer)
        try:
            dealer.greet(player, chair.read(waits.left() or 0.0))
        except Gone as gone:
            dealer.fail(player, str(gone))
        except Late:
            dealer.fail(player, f"it did not greet in {waits.seconds:g} seconds")


def _ask(dealer: Dealer, chairs: Sequence[Chair], player: int, stop: Stop) -> None:
    """Listen to the player ``dealer.waits_for`` until it answers or fails.

    The other players receive their lines only when this one takes a moment to think, or when many lines have collected:
    players that answer at once are then woken for their own decisions only. Wake-ups are most of the cost of a hand.
    """
    _tell(dealer, chairs, player)
    asked = time.monotonic()
    for other in range(len(chairs)):
        if dealer.waiting(other) > GATHERED:
            _tell(dealer, chairs, other)
    end, patience = asked + dealer.limit, 0.0
    while dealer.waits_for == player and player not in dealer.gone:
        try:
            with stop.at_once():
                line = chairs[player].read(patience)
        except Late:
            if time.monotonic() >= end:
                dealer.late()
                return
            _tell_all(dealer, chairs)
            patience = end - time.monotonic()
        except Gone as gone:
            dealer.fail(player, str(gone))
            return
        else:
            if dealer.receive(line, time.monotonic() - asked):
                return


def _tell_all(dealer: Dealer, chairs: Sequence[Chair]) -> None:
    for player in range(len(chairs)):
        _tell(dealer, chairs, player)


def _tell(dealer: Dealer, chairs: Sequence[Chair], player: int) -> None:
    """Send a player its lines."""
    lines = dealer.take(player)
    if lines and player not in dealer.gone:
        try:
            chairs[player].send(lines)
        except Gone as gone:
            dealer.fail(player, str(gone))
