"""General game playing: the player and the host as state machines, over loopback, and against hostile servers."""

from __future__ import annotations

import http.client
import json
import queue
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fogplay import FogplayError
from fogplay.cli.app import app
from fogplay.games.gdl import OWN, GdlGame
from fogplay.protocols.ggp import messages
from fogplay.protocols.ggp import player as playing
from fogplay.protocols.ggp.host import Host
from fogplay.protocols.ggp.http import LARGEST, PlayerServer, Seat, ask, is_address, run
from fogplay.protocols.ggp.player import Player
from tests.helpers import refusal

pytestmark = pytest.mark.usefixtures("compiled_players")

QUICK = "ggp:auto:0.05s"


def rules(name: str) -> str:
    return " ".join(line for line in (OWN / name).read_text().splitlines() if not line.startswith(";"))


def start(name: str, role: str, match: str = "m1", clock: float = 5.0) -> str:
    """A START with time to compile, and a play clock."""
    return messages.start(match, role, rules(name), 60.0, clock)


def host_of(name: str, clock: float = 3.0, seed: int = 1) -> Host:
    return Host(GdlGame(name), "m1", rules(name), 60.0, clock, np.random.default_rng(seed))


# ---- Messages


def test_messages_are_read_and_printed() -> None:
    assert messages.read("(INFO)").kind == "info"
    begun = messages.read("(START M1 White ((role white) (ROLE black)) 30 5.5)")
    assert (begun.match, begun.role, begun.start_clock, begun.play_clock) == ("m1", "white", 30.0, 5.5)
    assert begun.rules == "(role white)\n(role black)"
    assert messages.read("(PLAY m1 NIL)").moves is None
    assert messages.read("(PLAY m1 (noop (mark 1 2)))").moves == ("noop", ("mark", "1", "2"))
    hidden = messages.read("(PLAY m1 3 (bid 2) ((card k) won))")
    assert (hidden.turn, hidden.own, hidden.percepts) == (3, ("bid", "2"), (("card", "k"), "won"))
    assert messages.read(messages.perceive("m1", 0, None, ())).own is None
    assert messages.read(messages.play("m1", ["a", ("b", "c")], "STOP")).moves == ("a", ("b", "c"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a message is one list"),
        ("(a) (b)", "a message is one list"),
        ("(", "this ( is never closed"),
        ("(dance)", "there is no message 'dance'"),
        ("()", "there is no message"),
        ("(START m1 white)", "has 5 parts, not 2; write (START MATCH ROLE"),
        ("(START m1 white ((role white)) soon 5)", "a clock is a number of seconds, not soon"),
        ("(START m1 white rules 5 5)", "the rules of a START are a list"),
        ("(PLAY m1)", "has 2 parts, not 1"),
        ("(PLAY m1 x y z)", "the turn of a play is a whole number"),
    ],
)
def test_messages_that_make_no_sense(text: str, says: str) -> None:
    assert says in refusal(Player("uniform").handle, text)


# ---- The player


def test_a_match_from_start_to_stop() -> None:
    player = Player(QUICK)
    assert player.handle("(info)") == "((name fogplay) (status available))"
    assert player.handle(start("tictactoe.kif", "xplayer")) == "ready"
    assert (player.handle("(ping)"), player.handle(start("rps.kif", "row", "m2"))) == ("busy", "busy")
    first = player.handle("(PLAY m1 NIL)")
    assert first.startswith("(mark ")
    assert player.handle(f"(PLAY m1 ({first} NOOP))") == "noop"
    taken = "(MARK 2 2)" if first != "(mark 2 2)" else "(mark 1 1)"
    second = player.handle(f"(PLAY m1 (noop {taken}))")
    assert second.startswith("(mark ")
    assert second not in (first, taken.lower())
    assert player.handle("(STOP m1 (noop noop))") == "done"
    assert player.handle("(ping)") == "available"
    assert "no match is called m1" in refusal(player.handle, "(PLAY m1 NIL)")


def test_the_servers_moves_are_trusted() -> None:
    player = Player(QUICK)
    player.handle(start("tictactoe.kif", "oplayer"))
    player.handle("(PLAY m1 NIL)")
    assert player.handle("(PLAY m1 ((mark 9 9) noop))").startswith("(mark ")  # never legal: the interpreter takes over
    assert player.match is not None
    assert ("cell", "9", "9", "xplayer") in player.match.game.machine.fluents(player.match.belief.worlds[0][0])


def test_unknown_roles_and_broken_rules() -> None:
    player = Player(QUICK)
    assert "there is no role eve; the roles are row, column" in refusal(player.handle, start("rps.kif", "eve"))
    assert "no role is declared" in refusal(player.handle, "(START m1 a ((init b)) 5 5)")
    assert player.handle("(ping)") == "available"


def test_a_match_whose_stop_never_comes_is_forgotten() -> None:
    now = [0.0]
    player = Player("uniform", clock=lambda: now[0])
    assert player.handle(start("rps.kif", "row")) == "ready"
    assert player.handle(start("rps.kif", "row", "m2")) == "busy"
    now[0] = 100.0
    assert player.handle(start("rps.kif", "row", "m2")) == "ready"


def test_abort() -> None:
    player = Player("uniform")
    player.handle(start("rps.kif", "row"))
    assert (player.handle("(ABORT other)"), player.handle("(ping)")) == ("aborted", "busy")
    assert (player.handle("(ABORT m1)"), player.handle("(ping)")) == ("aborted", "available")


@pytest.mark.parametrize("with_turn", [True, False])
def test_percepts_in_both_forms(with_turn: bool) -> None:
    """Kuhn poker: all states that the player holds possible have the card that it saw."""
    player = Player(QUICK)
    assert player.handle(start("kuhn.kif", "bob")) == "ready"
    assert player.handle("(PLAY m1 0 nil nil)" if with_turn else "(PLAY m1 NIL)") == "wait"
    assert player.handle("(PLAY m1 1 wait (queen))" if with_turn else "(PLAY m1 (queen))") == "wait"
    assert player.handle("(PLAY m1 2 wait (bet))" if with_turn else "(PLAY m1 (bet))") in ("bet", "pass")
    assert player.match is not None
    worlds = [player.match.game.machine.fluents(state) for state in player.match.belief.states()]
    assert all(("holds", "bob", "queen") in world for world in worlds)
    assert {card for world in worlds for card in ("jack", "king") if ("holds", "alice", card) in world} == {
        "jack",
        "king",
    }


class Sleeper:
    """An agent that thinks longer than it may, until somebody wakes it."""

    def __init__(self) -> None:
        self.awake = threading.Event()

    def act(self, view: object) -> int:
        self.awake.wait(60.0)
        return 0


def test_an_agent_that_is_late_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    sleeper = Sleeper()
    monkeypatch.setattr("fogplay.protocols.ggp.player.resolve", lambda texts, rules: [sleeper])
    player = Player("sleeper")
    player.handle(start("rps.kif", "row", clock=1.0))
    began = time.monotonic()
    assert player.handle("(PLAY m1 NIL)") in ("rock", "paper", "scissors")
    assert time.monotonic() - began < 20.0
    assert player.handle("(PLAY m1 (rock paper))")  # while the agent still sleeps
    sleeper.awake.set()


# ---- The host


def test_a_host_replaces_what_is_wrong() -> None:
    host = host_of("rps.kif")
    assert host.ask(0) == "(PLAY m1 nil)"
    host.take(["(well", None])
    assert [fault[1:] for fault in host.faults] == [(0, "no move: '(well'"), (1, "no reply in time")]
    assert host.is_over
    assert sum(host.goals) == 100
    assert host.ask(0).startswith("(STOP m1 (")
    other = host_of("rps.kif")
    other.take(["ROCK", "stone"])
    assert other.steps[0][0] == "rock"
    assert other.faults == [(0, 1, "illegal: stone")]


@pytest.mark.parametrize("name", ["tictactoe.kif", "goofspiel.kif", "kuhn.kif", "battleship.kif"])
def test_our_players_play_legally(name: str) -> None:
    host = host_of(name)
    run(host, [Seat(QUICK, 1), Seat("uniform", 2)])
    assert host.is_over
    assert host.faults == []
    record = host.record(["a", "b"])
    assert json.loads(json.dumps(record))["goals"] == list(host.goals)


# ---- While kernels are compiled


@pytest.mark.parametrize(("name", "role"), [("tictactoe.kif", "xplayer"), ("kuhn.kif", "alice")])
def test_a_match_that_begins_before_kernels_are_compiled(name: str, role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter plays it, and nothing is late."""
    monkeypatch.setattr(playing, "COMPILING", 1e-3)
    player = Player("ggp:auto:0.05s")
    player.compiled.clear()
    assert player.handle("(info)") == "((name fogplay) (status available))"
    assert player.handle(start(name, role)) == "ready"
    assert player.match is not None
    assert player.match.game.machine.kind == "interpreter"
    first = player.handle("(PLAY m1 nil)")
    assert messages.read(f"(PLAY m1 ({first}))").moves is not None
    assert player.handle("(STOP m1 nil)") == "done"
    player.compiled.set()
    assert player.handle(start(name, role, "m2")) == "ready"
    assert player.match.game.machine.kind == "network"


def test_compiling_says_when_it_is_over() -> None:
    for agent, says in (("uniform", "None"), ("ggp:dance", "no player of rule sheets is called")):
        over, player = queue.Queue[str](), Player(agent)
        player.compile(lambda problem, over=over: over.put(str(problem)))  # type: ignore[misc]
        assert says in over.get(timeout=60.0)
        assert player.compiled.is_set()


# ---- Over loopback


@pytest.fixture
def server() -> Iterator[PlayerServer]:
    made = PlayerServer(Player(QUICK), "127.0.0.1", 0)
    thread = threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


def test_a_match_over_loopback(server: PlayerServer) -> None:
    address = f"127.0.0.1:{server.server_port}"
    assert is_address(address)
    host = host_of("connectfour-simultaneous.kif")
    run(host, [Seat(address, 1), Seat("uniform", 2)])
    assert (host.is_over, host.faults) == (True, [])
    assert ask(address, "(ping)", 5.0) == "available"


def test_other_requests(server: PlayerServer) -> None:
    for method, says in (("GET", b"(name fogplay)"), ("OPTIONS", b"")):
        line = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
        line.request(method, "/")
        reply = line.getresponse()
        assert reply.status == 200
        assert reply.getheader("Access-Control-Allow-Origin") == "*"
        assert says in reply.read()


def raw(server: PlayerServer, data: bytes, wait: bool = True) -> bytes:
    with socket.create_connection(("127.0.0.1", server.server_port), 5) as line:
        line.sendall(data)
        return line.recv(1 << 16) if wait else b""


def test_a_hostile_server(server: PlayerServer) -> None:
    """Garbage, huge messages, messages that break off, endless rules: an error or nothing, and the player goes on."""
    address = f"127.0.0.1:{server.server_port}"
    assert b"400" in raw(server, b"POST / HTTP/1.0\r\n\r\n")
    assert b"413" in raw(server, b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % (LARGEST + 1))
    assert b"413" in raw(server, b"POST / HTTP/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n")
    raw(server, b"POST / HTTP/1.0\r\nContent-Length: 100\r\n\r\n(STA", wait=False)
    raw(server, b"\x00\xff\x13garbage\r\n\r\n", wait=False)
    for text in ("(((((", "(PLAY nobody nil)", "\x00\x01", "(" * 5000, "(START m1 ann (((((x))))) 5 5)"):
        assert ask(address, text, 5.0) is None
    endless = "(role ann) (goal ann 0) (legal ann a) (<= terminal (true b)) (n z) (<= (n (s ?x)) (n ?x))"
    endless += "(<= (next ?x) (n ?x))"
    assert ask(address, f"(START m1 ann ({endless}) 5 5)", 9.0) is None
    assert ask(address, "(ping)", 5.0) == "available"
    assert ask(address, start("rps.kif", "row"), 60.0) == "ready"
    assert ask(address, start("rps.kif", "row"), 60.0) == "busy"
    assert ask(address, "(PLAY m1 (one two three four))", 9.0) is not None
    assert ask(address, "(STOP m1 nil)", 5.0) == "done"


def test_slow_bytes_do_not_stretch_a_deadline() -> None:
    """A player that sends a byte now and then is cut off at the deadline."""
    slow = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        line, _ = slow.accept()
        with line:
            line.recv(1 << 16)
            line.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
            for _ in range(400):
                try:
                    line.sendall(b"x")
                except OSError:
                    return
                time.sleep(0.1)

    threading.Thread(target=drip, daemon=True).start()
    began = time.monotonic()
    assert ask(f"127.0.0.1:{slow.getsockname()[1]}", "(ping)", 0.5) is None
    assert time.monotonic() - began < 20.0
    slow.close()


def test_nobody_there() -> None:
    free = socket.create_server(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    assert ask(f"127.0.0.1:{port}", "(ping)", 1.0) is None
    with pytest.raises(FogplayError, match="is not a player's address"):
        ask("http://nowhere", "(ping)", 1.0)


# ---- Commands


def test_a_hosted_tournament(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "matches.jsonl"
    app(
        ["ggp", "match", "rps.kif", QUICK, "uniform", "--matches", "2", "--playclock", "2", "--log", str(log)],
        standalone_mode=False,
    )
    shown = capsys.readouterr().out
    assert "mean goal" in shown
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["players"] for line in lines] == [[QUICK, "uniform"], ["uniform", QUICK]]
    with pytest.raises(FogplayError, match="has 2 roles for players; name as many, not 1"):
        app(["ggp", "match", "rps.kif", "uniform"], standalone_mode=False)
    with pytest.raises(FogplayError, match=r"no player answers at 127\.0\.0\.1:1; start one there"):
        app(["ggp", "match", "rps.kif", "uniform", "127.0.0.1:1"], standalone_mode=False)
    with pytest.raises(FogplayError, match="no player of rule sheets is called 'utc'"):
        app(["ggp", "match", "rps.kif", "uniform", "ggp:utc"], standalone_mode=False)
    with pytest.raises(FogplayError, match="is not a rule sheet"):
        app(["ggp", "match", "kuhn", "uniform", "uniform"], standalone_mode=False)


def test_a_player_that_cannot_listen(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with pytest.raises(
            FogplayError, match=rf"cannot listen at 127.0.0.1:{port}: .*choose another --port or --host"
        ):
            app(["ggp", "player", "--port", port], standalone_mode=False)
    with pytest.raises(FogplayError, match="no player of rule sheets is called 'utc'; did you mean 'uct'"):
        app(["ggp", "player", "--port", "0", "--agent", "ggp:utc"], standalone_mode=False)


def test_a_signal_keeps_the_matches_that_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from fogplay.cli.app import Stopped
    from fogplay.protocols.ggp import http

    played = http.run

    def stop_at_third(host: Host, seats: list[Seat]) -> None:
        if host.name.endswith(".2"):
            raise KeyboardInterrupt
        played(host, seats)

    monkeypatch.setattr(http, "run", stop_at_third)
    log = tmp_path / "matches.jsonl"
    words = ["ggp", "match", "rps.kif", "uniform", "uniform", "--matches", "5", "--playclock", "2", "--json"]
    with pytest.raises(Stopped, match="stopped after 2 of 5 matches"):
        app([*words, "--log", str(log)], standalone_mode=False)
    facts = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert facts["interrupted"]
    assert [json.loads(line) for line in log.read_text().splitlines()] == facts["matches"]
