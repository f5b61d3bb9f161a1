"""The thin shell around dealer and client: connections, lines out of bytes, and the clock."""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from fogplay.errors import FogplayError
from fogplay.notation.acpc import MOST_LINE
from fogplay.protocols.acpc.client import Client
from fogplay.protocols.acpc.dealer import Dealer

CHUNK = 1 << 16


class Gone(Exception):  # noqa: N818 (an end, no error)
    """Nothing more comes from, or goes to, the other side; its text says why."""


class Late(Exception):  # noqa: N818 (an end, no error)
    """The time is up."""


class Line:
    """A connection that carries lines; what is read ahead never takes more room than the longest line and a chunk."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket, self._rest = connection, b""
        self._lines: deque[bytes] = deque()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, lines: Sequence[str], seconds: float | None = None) -> None:
        """Send lines, all of them before the time is up."""
        if not lines:
            return
        try:
            self._socket.settimeout(seconds)
            self._socket.sendall("".join([f"{line}\r\n" for line in lines]).encode())
        except TimeoutError:
            raise Gone("it takes no more lines") from None
        except OSError as error:
            raise Gone(f"the connection is lost ({error.strerror or 'closed'})") from None

    def read(self, seconds: float | None = None) -> str:
        """The next line, without its end; bytes that are no text in UTF-8 are replaced."""
        if self._lines:
            return self._lines.popleft().decode(errors="replace").rstrip("\r")
        end = None if seconds is None else time.monotonic() + seconds
        while not self._lines:
            self._fill(end)
        return self._lines.popleft().decode(errors="replace").rstrip("\r")

    def _fill(self, end: float | None) -> None:
        left = None if end is None else end - time.monotonic()
        if left is not None and left <= 0:
            raise Late
        try:
            self._socket.settimeout(left)
            more = self._socket.recv(CHUNK)
        except TimeoutError:
            raise Late from None
        except OSError as error:
            raise Gone(f"the connection is lost ({error.strerror or 'closed'})") from None
        if not more:
            raise Gone("it closed the connection")
        *lines, self._rest = (self._rest + more).split(b"\n")
        self._lines.extend(lines)
        if len(self._rest) > MOST_LINE:
            raise Gone(f"it sent a line of over {MOST_LINE:,} bytes")

    def close(self) -> None:
        self._socket.close()


# ---- Clients


def connect(host: str, port: int, wait: float = 0.0) -> Line:
    """A connection to a dealer; tries again for so many seconds while nobody listens there."""
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
    """Play until the dealer ends it; why it ended."""
    done = 0
    try:
        line.send([client.greeting])
        while True:
            answer = client.receive(line.read())
            if answer is not None:
                line.send([answer])
            if progress is not None and client.hands != done:
                done = client.hands
                progress(done)
    except Gone as gone:
        return str(gone)
    finally:
        line.close()


# ---- The dealer's players


class Chair(Protocol):
    """Where a player sits: what it is told, and what it says."""

    def send(self, lines: Sequence[str], seconds: float) -> None: ...

    def read(self, seconds: float) -> str: ...

    def close(self) -> None: ...


class Local:
    """One of our players in the dealer's own process, spoken to in the same lines."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._said: deque[str] = deque([client.greeting])

    def send(self, lines: Sequence[str], seconds: float) -> None:
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
    """A socket at which one player may connect; port 0 is any free one."""
    try:
        return socket.create_server((host, port), backlog=1)
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FogplayError(f"cannot listen at {host}:{port}: {why}; choose another port, or 0 for any") from error


def accept(listening: socket.socket, name: str, seconds: float | None) -> Line:
    """The player's connection, once it comes."""
    with listening:
        listening.settimeout(seconds)
        try:
            connection, _ = listening.accept()
        except TimeoutError:
            raise FogplayError(f"{name} did not connect in {seconds:g} seconds; nothing was played") from None
    return Line(connection)


def run(dealer: Dealer, chairs: Sequence[Chair], progress: Callable[[int], None] | None = None) -> None:
    """Play the match to its end; Ctrl-C ends it after the last hand that is over."""
    try:
        _greet(dealer, chairs)
        dealer.begin()
        hand = 0
        while dealer.waits_for is not None:
            _send(dealer, chairs)
            _hear(dealer, chairs)
            if progress is not None and dealer.hand != hand:
                hand = dealer.hand
                progress(hand)
        _send(dealer, chairs)
    except KeyboardInterrupt:
        dealer.end("stopped by hand")
    finally:
        for chair in chairs:
            chair.close()


def _greet(dealer: Dealer, chairs: Sequence[Chair]) -> None:
    for player, chair in enumerate(chairs):
        try:
            dealer.greet(player, chair.read(dealer.terms.limits.answer))
        except Gone as gone:
            dealer.fail(player, str(gone))
        except Late:
            dealer.fail(player, f"it did not greet in {dealer.terms.limits.answer:g} seconds")


def _send(dealer: Dealer, chairs: Sequence[Chair]) -> None:
    for player, chair in enumerate(chairs):
        if player not in dealer.gone:
            try:
                chair.send(dealer.take(player), dealer.terms.limits.answer)
            except Gone as gone:
                dealer.fail(player, str(gone))
        else:
            dealer.take(player)


def _hear(dealer: Dealer, chairs: Sequence[Chair]) -> None:
    """Read the lines of the player who is waited for until one is an answer."""
    player, asked = dealer.waits_for, time.monotonic()
    while player is not None and dealer.waits_for == player and player not in dealer.gone:
        try:
            line = chairs[player].read(dealer.seconds_left() - (time.monotonic() - asked))
        except Gone as gone:
            dealer.fail(player, str(gone))
            return
        except Late:
            dealer.late()
            return
        if dealer.receive(line, time.monotonic() - asked):
            return
