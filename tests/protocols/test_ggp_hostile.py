"""Hostile servers: each message gets an error or nothing, and the player goes on within its memory limit."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import psutil
import pytest
from numba.core.compiler_lock import global_compiler_lock

from fogplay.protocols.ggp import http
from fogplay.protocols.ggp.http import MOST_AT_ONCE, PlayerServer, ask
from fogplay.protocols.ggp.player import Player
from fogplay.protocols.ggp.work import EndedError, Work
from tests.helpers import refusal
from tests.protocols.test_ggp import QUICK, start

pytestmark = pytest.mark.usefixtures("compiled_players")

# A billion legal moves: neither the grounder nor the interpreter can list them.
ENDLESS = (
    "(role ann) (init go) (goal ann 50) (<= terminal (not (true go))) (next go) "
    + " ".join(f"(d {digit})" for digit in range(10))
    + " (<= (legal ann (m ?a ?b ?c ?d ?e ?f ?g ?h ?i)) (d ?a) (d ?b) (d ?c) (d ?d) (d ?e) (d ?f) (d ?g) (d ?h) (d ?i))"
)
GARBAGE = (
    "",
    "(((((",
    "\x00\x01",
    ")" * 1000,
    "(" * 5000,
    "(PLAY)",
    "(START)",
    "(START m a (((((x))))) 5 5)",
    "(PLAY m " * 50,
)


@pytest.fixture
def server() -> Iterator[PlayerServer]:
    made = PlayerServer(Player(QUICK), "127.0.0.1", 0, patience=0.4)
    threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def address_of(server: PlayerServer) -> str:
    return f"127.0.0.1:{server.server_port}"


def plays_on(address: str) -> None:
    """The player takes a match and moves."""
    assert ask(address, start("rps.kif", "row", "last"), 60.0) == "ready"
    assert ask(address, "(PLAY last nil)", 20.0) in ("rock", "paper", "scissors")
    assert ask(address, "(STOP last (rock rock))", 20.0) == "done"


def post(address: str, body: bytes, length: int | None = None) -> bytes:
    """The first bytes of the reply to a message, or nothing if the connection ends."""
    host, _, port = address.partition(":")
    with socket.create_connection((host, int(port)), 60) as line, contextlib.suppress(OSError):
        line.sendall(b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % (len(body) if length is None else length))
        with contextlib.suppress(OSError):
            line.sendall(body)
        return line.recv(1 << 12)
    return b""


def drip(address: str, data: bytes, seconds: float) -> float:
    """Send a byte now and then; returns when the connection was over."""
    host, _, port = address.partition(":")
    began = time.monotonic()
    with socket.create_connection((host, int(port)), 10) as line:
        for byte in data:
            try:
                line.sendall(bytes([byte]))
                line.settimeout(seconds)
                if line.recv(1 << 12) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
            else:
                break
    return time.monotonic() - began


def test_garbage_gets_an_error(server: PlayerServer) -> None:
    for text in GARBAGE:
        assert b" 400 " in post(address_of(server), text.encode()).splitlines()[0]
    plays_on(address_of(server))


def test_fifty_megabytes_of_rules(server: PlayerServer) -> None:
    before = psutil.Process().memory_info().rss
    with socket.create_connection(("127.0.0.1", server.server_port), 10) as line:
        line.sendall(b"POST / HTTP/1.0\r\nContent-Length: 50000000\r\n\r\n(START m1 row (")
        assert b" 413 " in line.recv(1 << 12).splitlines()[0]
    assert psutil.Process().memory_info().rss - before < 50_000_000
    plays_on(address_of(server))


def test_large_messages_are_read_one_at_a_time(server: PlayerServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LARGE", 100)
    assert server.large.acquire(blocking=False)
    assert b" 503 " in post(address_of(server), b"x" * 101).splitlines()[0]
    server.large.release()
    assert b" 400 " in post(address_of(server), b"x" * 101).splitlines()[0]


def test_rules_that_ground_for_ever_are_refused_in_time() -> None:
    player = Player(QUICK, memory=400_000_000)
    began = time.monotonic()
    assert "these rules take" in refusal(player.handle, f"(START m1 ann ({ENDLESS}) 2 2)")
    assert time.monotonic() - began < 6.0  # a busy machine may be late
    assert player.handle(start("rps.kif", "row")) == "ready"


def test_work_that_takes_too_much_memory_is_ended() -> None:
    def grow() -> None:
        kept = []
        while True:
            kept.append(bytes(1_000_000))
            time.sleep(0.001)

    before = psutil.Process().memory_info().rss
    work = Work(grow)
    assert not work.wait(time.monotonic() + 30.0, before + 60_000_000)
    work.join(5.0)
    assert not work.is_alive()


def test_work_that_swallows_its_end_is_asked_again() -> None:
    asked = []

    def stubborn() -> None:
        while True:
            try:
                while True:
                    time.sleep(0.001)
            except EndedError:
                asked.append(1)
                if len(asked) == 2:
                    raise

    work = Work(stubborn)
    work.finish()
    work.join(10.0)
    assert not work.is_alive()
    assert len(asked) == 2


def test_work_is_not_ended_while_it_compiles() -> None:
    compiling, compiled = threading.Event(), threading.Event()

    def compile_for_a_while() -> None:
        with global_compiler_lock:
            compiling.set()
            compiled.wait(10.0)  # an exception would come here, or at the next step
            steps.append("compiled")
        while True:
            time.sleep(0.01)

    steps: list[str] = []
    work = Work(compile_for_a_while)
    assert compiling.wait(10.0)
    work.finish()
    time.sleep(0.3)
    assert work.is_alive()
    compiled.set()
    work.join(10.0)
    assert not work.is_alive()
    assert steps == ["compiled"]
    assert isinstance(work.error, EndedError)


def test_wrong_matches_and_moves() -> None:
    player = Player(QUICK)
    assert player.handle(start("tictactoe.kif", "oplayer", "m1", 1.0)) == "ready"
    for text in ("(PLAY m2 nil)", "(STOP m2 (noop noop))", "(PLAY (m 1) nil)"):
        assert "no match is called" in refusal(player.handle, text)
    assert player.handle("(ABORT m2)") == "aborted"
    assert player.handle(start("rps.kif", "row", "m1")) == "busy"  # START twice
    assert player.handle("(PLAY m1 nil)") == "noop"
    for moves in ("(jump)", "(a b c d)", "((mark 7 7) (mark 7 7))", "((mark ?x 1) noop)", "(nil nil)"):
        assert re.fullmatch(r"noop|\(mark \d \d\)", player.handle(f"(PLAY m1 {moves})")), moves
    assert player.handle("(STOP m1 nil)") == "done"


def test_slow_bytes_are_cut_off(server: PlayerServer) -> None:
    """In the header and in the message, whatever the pause between two bytes."""
    for data in (
        b"POST / HTTP/1.0\r\nX: " + b"y" * 500,
        b"POST / HTTP/1.0\r\nContent-Length: 500\r\n\r\n" + b"(" * 500,
    ):
        assert drip(address_of(server), data, 0.02) < 4.0
    plays_on(address_of(server))


def test_connections_that_break_off(server: PlayerServer) -> None:
    for data in (b"", b"POST", b"POST / HTTP/1.0\r\nContent-Length: 100\r\n\r\n(STA", b"\xff\x00\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", server.server_port), 10) as line:
            line.sendall(data)
    text = start("rps.kif", "row", "cut").encode()
    with socket.create_connection(("127.0.0.1", server.server_port), 10) as line:
        line.sendall(b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))  # leaves before the reply
    end = time.monotonic() + 60
    while server.player.match is None or server.player.match.name != "cut":  # it may come a little later
        assert time.monotonic() < end
        time.sleep(0.01)
    assert ask(address_of(server), "(ABORT cut)", 5.0) == "aborted"
    while ask(address_of(server), "(ping)", 5.0) != "available":
        assert time.monotonic() < end
    plays_on(address_of(server))


def test_too_many_connections(server: PlayerServer) -> None:
    lines = [socket.create_connection(("127.0.0.1", server.server_port), 10) for _ in range(MOST_AT_ONCE + 8)]
    time.sleep(0.1)
    for line in lines:
        line.close()
    end = time.monotonic() + 10
    while ask(address_of(server), "(ping)", 5.0) != "available":
        assert time.monotonic() < end


def test_info_and_abort_while_thinking() -> None:
    player = Player("ggp:auto:86400s")
    assert player.handle(start("rps.kif", "row", "m1", 60.0)) == "ready"
    replies: list[str] = []
    thinking = threading.Thread(target=lambda: replies.append(player.handle("(PLAY m1 nil)")), daemon=True)
    thinking.start()
    time.sleep(0.2)
    assert "(status busy)" in player.handle("(info)")
    assert player.handle("(abort m1)") == "aborted"
    thinking.join(10.0)
    assert replies[0] in ("rock", "paper", "scissors")  # at once, not after a minute
    assert player.handle(start("rps.kif", "row", "m2")) == "ready"


@pytest.mark.slow
def test_a_player_of_its_own_survives_everything() -> None:
    """The command, in a process whose memory is measured all the time."""
    command = [sys.executable, "-m", "fogplay", "ggp", "player", "--port", "0", "--memory", "1.5"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        address = next(line for line in process.stderr if " waits at " in line).partition(" waits at ")[2].split()[0]
        most, over = [0], threading.Event()

        def measure() -> None:
            while not over.wait(0.02):
                most[0] = max(most[0], psutil.Process(process.pid).memory_info().rss)

        threading.Thread(target=measure, daemon=True).start()
        try:
            for text in GARBAGE:
                assert b" 400 " in post(address, text.encode()).splitlines()[0]
            post(address, b"(START m1 row (" + b"(a b c d)" * 5_600_000 + b") 5 5)")
            large = f"(START m1 ann ((role ann) {'(fact a b c) ' * 600_000}) 9 9)"
            assert b" 400 " in post(address, large.encode()).splitlines()[0]
            assert ask(address, f"(START m1 ann ({ENDLESS}) 10 5)", 15.0) is None
            assert drip(address, b"POST / HTTP/1.0\r\nX: " + b"y" * 200, 0.5) < 30.0
            plays_on(address)
        finally:
            over.set()
            process.terminate()
        print(f"at most {most[0] / 1e6:.0f} MB")
        assert most[0] < 2_000_000_000
