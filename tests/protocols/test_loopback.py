"""Over real sockets: the same hands as in process, and players who do what they should not."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fogplay.errors import FogplayError
from fogplay.notation.acpc import parse_hand, parse_score
from fogplay.notation.gamedef import load_definition, our_definitions, print_definition
from fogplay.protocols.acpc import sockets
from fogplay.protocols.acpc.client import Client
from fogplay.protocols.acpc.dealer import Dealer
from fogplay.protocols.acpc.players import seated
from fogplay.protocols.acpc.replay import replay
from fogplay.protocols.acpc.sockets import Gone, Late, Line, Local, Patience, accept, connect, join, listen, run
from tests.protocols.helpers import QUICK, compiled_lines, dealer_of, hands_in, play_locally

GAME = "holdem.limit.2p"


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "fogplay.cli", "acpc", *arguments]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ports_of(dealer: subprocess.Popen[str]) -> list[str]:
    assert dealer.stdout is not None
    return dealer.stdout.readline().split()


def match_by_commands(folder: Path, game: str, agents: list[str], hands: int) -> tuple[dict[str, Any], list[Any]]:
    """A match as users play it: a dealer and as many clients, each a process of its own; what each says of it."""
    asked = ["--hands", str(hands), "--seed", "5", "--log", "net.log", "--json", "--start-timeout", "120"]
    dealer = start("deal", game, *(f"{agent}=:0" for agent in agents), *asked, cwd=folder)
    clients = [
        start("join", "localhost", port, "--agent", agent, "--game", game, "--seed", "5", "--json", cwd=folder)
        for port, agent in zip(ports_of(dealer), agents, strict=True)
    ]
    said, errors = dealer.communicate(timeout=400)
    assert dealer.returncode == 0, errors
    told = []
    for client in clients:
        words, errors = client.communicate(timeout=60)
        assert client.returncode == 0, errors
        told.append(json.loads(words))
    return json.loads(said.splitlines()[-1]), told


def check_match(folder: Path, game: str, agents: list[str], hands: int) -> None:
    result, clients = match_by_commands(folder, game, agents, hands)
    log = (folder / "net.log").read_text().splitlines()
    assert hands_in(log) == compiled_lines(load_definition(game)[1], agents, hands, seed=5)
    assert result["hands"] == hands
    assert result["ended"] is None
    chips = [player["chips"] for player in result["players"]]
    assert parse_score(log[-1]).values == pytest.approx(chips, abs=1e-6)
    assert [client["chips"] for client in clients] == pytest.approx(chips, abs=1e-6)
    assert all(client["hands"] == hands and client["finished"] for client in clients)
    assert replay(folder / "net.log", game).hands == hands


HANDS = [1_000, pytest.param(10_000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("hands", HANDS)
def test_hands_are_those_of_the_compiled_match(tmp_path: Path, hands: int) -> None:
    check_match(tmp_path, GAME, ["sparring", "rules"], hands)


@pytest.mark.parametrize("hands", HANDS)
def test_hands_of_three_players(tmp_path: Path, hands: int) -> None:
    """With fewer raises: a betting tree of a sensible size in three processes."""
    game = str(tmp_path / "three.game")
    text = print_definition(our_definitions()["holdem.limit.3p"]).replace("maxRaises = 3 4 4 4", "maxRaises = 2 1 1 1")
    Path(game).write_text(text)
    check_match(tmp_path, game, ["rules", "probe", "uniform"], hands)


@pytest.mark.slow  # three betting trees of 24 million nodes
def test_ten_thousand_hands_of_three_players_by_the_competitions_rules(tmp_path: Path) -> None:
    check_match(tmp_path, "holdem.limit.3p", ["rules", "probe", "uniform"], 10_000)


@pytest.mark.parametrize("game", ["leduc.limit.3p", "kuhn.limit.2p"])
def test_small_games(game: str) -> None:
    agents = ["uniform"] * load_definition(game)[1].players
    _, expected = play_locally(game, agents, 300)
    log: list[str] = []
    with clients_of(game, agents) as chairs:
        run(dealer_of(game, 300, log=log.append), chairs)
    assert log == expected


@contextlib.contextmanager
def clients_of(game: str, agents: list[str]) -> Iterator[list[Any]]:
    """Our clients in threads, and the dealer's ends of their connections."""
    doors = [listen("127.0.0.1", 0) for _ in agents]
    threads = []
    for door, agent in zip(doors, agents, strict=True):
        client, port = Client(seated(agent, load_definition(game)[1]), seed=1), door.getsockname()[1]
        threads.append(threading.Thread(target=lambda c=client, p=port: join(connect("127.0.0.1", p), c)))
    for thread in threads:
        thread.start()
    yield [accept(door, agent, Patience(10)) for door, agent in zip(doors, agents, strict=True)]
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


# ---- Players who do what they should not

Behaviour = Callable[[socket.socket, "Reader"], None]


class Reader:
    """Lines out of a socket, in the plainest way."""

    def __init__(self, connection: socket.socket) -> None:
        self.file = connection.makefile("r", newline="\n")


def play_against(behave: Behaviour, hands: int = 50, **terms: Any) -> tuple[Dealer, list[str], float]:
    """Our bot and somebody who misbehaves, through real sockets; the dealer, its log, and how long it took."""
    door, log = listen("127.0.0.1", 0), list[str]()
    address = door.getsockname()

    def misbehave() -> None:
        with socket.create_connection(address) as connection, contextlib.suppress(OSError, ValueError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            behave(connection, Reader(connection))

    thread = threading.Thread(target=misbehave, daemon=True)
    thread.start()
    dealer = dealer_of(GAME, hands, ["bot", "other"], log.append, limits=QUICK, **terms)
    bot = Local(Client(seated("always-raise", dealer.game.definition), seed=1))
    began = time.monotonic()
    run(dealer, [bot, accept(door, "other", Patience(10))])
    seconds = time.monotonic() - began
    thread.join(10)
    assert not thread.is_alive()
    return dealer, log, seconds


def greet(connection: socket.socket) -> None:
    connection.sendall(b"VERSION:2.0.0\r\n")


def fold_some(connection: socket.socket, reader: Reader, hands: int) -> None:
    """Fold so many hands, as one should."""
    greet(connection)
    done = 0
    while done < hands and (line := reader.file.readline().rstrip("\r\n")):
        seat, betting = line.split(":")[1], line.split(":")[3]
        if (seat == "1" and betting == "") or (seat == "0" and betting == "r"):
            connection.sendall(f"{line}:f\r\n".encode())
            done += 1


def closes_at_once(connection: socket.socket, reader: Reader) -> None:
    pass


def never_greets(connection: socket.socket, reader: Reader) -> None:
    reader.file.readline()


def greets_wrongly(connection: socket.socket, reader: Reader) -> None:
    connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
    reader.file.readline()


def leaves(connection: socket.socket, reader: Reader) -> None:
    fold_some(connection, reader, 10)


def resets(connection: socket.socket, reader: Reader) -> None:
    fold_some(connection, reader, 10)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def hangs(connection: socket.socket, reader: Reader) -> None:
    fold_some(connection, reader, 10)
    while reader.file.readline():
        pass


def sends_a_megabyte(connection: socket.socket, reader: Reader) -> None:
    fold_some(connection, reader, 10)
    connection.sendall(b"x" * 1_000_000)
    reader.file.read()


def sends_zeros(connection: socket.socket, reader: Reader) -> None:
    fold_some(connection, reader, 10)
    connection.sendall(bytes(1_000_000))
    reader.file.read()


def floods_lines(connection: socket.socket, reader: Reader) -> None:
    fold_some(connection, reader, 10)
    connection.sendall(b"# so much to say\r\n" * 100_000)
    reader.file.read()


def drips(connection: socket.socket, reader: Reader) -> None:
    """A byte now and then, never a line: its time runs out all the same."""
    fold_some(connection, reader, 10)
    for _ in range(100):
        connection.sendall(b"M")
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("behave", "hands", "why"),
    [
        (closes_at_once, 0, "it closed the connection"),
        (never_greets, 0, "it did not greet in 2 seconds"),
        (greets_wrongly, 0, "'GET / HTTP/1.1' is not a greeting; expected VERSION:2.0.0"),
        (leaves, 10, "it closed the connection"),
        (resets, 10, "the connection is lost"),
        (hangs, 10, "it did not answer in 2 seconds"),
        (sends_a_megabyte, 10, "it sent a line of over 65,536 bytes"),
        (sends_zeros, 10, "it sent a line of over 65,536 bytes"),
        (floods_lines, 10, "it sent 1,000 lines that answer nothing"),
        (drips, 10, "it did not answer in 2 seconds"),
    ],
)
def test_who_fails_ends_the_match_and_changes_nothing_before(behave: Behaviour, hands: int, why: str) -> None:
    dealer, log, seconds = play_against(behave)
    assert dealer.ended is not None
    assert dealer.ended.startswith(f"hand {hands}: other is out: {why}")
    assert seconds < 5
    assert len(hands_in(log)) == hands
    assert log[-1].startswith("# the match ended early")
    assert len(log) == 4 + hands + 1
    for line in hands_in(log):
        assert sorted(parse_hand(line).betting) in (["f"], ["f", "r"])
    assert dealer.totals == [7.5 * hands, -7.5 * hands]


@pytest.mark.parametrize("behave", [leaves, hangs, sends_a_megabyte, floods_lines])
def test_forfeit_plays_on(behave: Behaviour) -> None:
    """The rest is as if the one who failed folded on: exactly what the others get by the rules."""
    dealer, log, seconds = play_against(behave, hands=40, forfeit=True)
    assert dealer.over
    assert dealer.ended is None
    assert seconds < 5
    assert dealer.totals == [7.5 * 40, -7.5 * 40]
    assert sum("other is out" in line for line in log) == 1


def test_illegal_answers_are_calls() -> None:
    def cheats(connection: socket.socket, reader: Reader) -> None:
        greet(connection)
        while line := reader.file.readline().rstrip("\r\n"):
            connection.sendall(f"{line}:win\r\n".encode())  # to every line, whoever is to act

    dealer, log, _ = play_against(cheats, hands=30)
    _, fair = play_locally(GAME, ["always-raise", "always-call"], 30)
    assert dealer.over
    assert [line.rsplit(":", 1)[0] for line in hands_in(log)] == [line.rsplit(":", 1)[0] for line in hands_in(fair)]
    assert any("answered 'win', taken as a call" in line for line in log)


def test_a_player_that_takes_no_lines_is_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "SENDING", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as door, socket.create_connection(door.getsockname()):
        line = Line(door.accept()[0])
        began = time.monotonic()
        with pytest.raises(Gone, match="takes no more lines"):
            line.send(["x" * 1000] * 100_000)
        assert time.monotonic() - began < 5
        line.close()


def test_lines_come_whole_however_they_are_cut() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door, socket.create_connection(door.getsockname()) as theirs:
        line = Line(door.accept()[0])
        with pytest.raises(Late):
            line.read(0.01)
        for part in (b"one\r", b"\ntw", b"o\nthr\xff", b"ee\r\n\r\nfour"):
            theirs.sendall(part)
            time.sleep(0.01)
        assert [line.read(1) for _ in range(4)] == ["one", "two", "thr\ufffdee", ""]
        theirs.close()
        with pytest.raises(Gone):
            line.read(1)
        line.close()


def test_a_flood_takes_no_room() -> None:
    """Twenty megabytes, without an end of line or with nothing but those, are never held."""
    for flood in (b"x" * 20_000_000, b"\n" * 20_000_000):
        with socket.create_server(("127.0.0.1", 0)) as door, socket.create_connection(door.getsockname()) as theirs:
            line = Line(door.accept()[0])
            sending = threading.Thread(target=_send_all, args=(theirs, flood))
            sending.start()
            tracemalloc.start()
            with pytest.raises(Gone):
                _read_all(line)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            line.close()
            sending.join(10)
        assert peak < 8_000_000


def _read_all(line: Line) -> None:
    for number in itertools.count():
        line.read(5)
        if number == 300_000:
            raise Gone("enough")


def _send_all(connection: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):
        connection.sendall(data)


# ---- Processes that are killed


def test_a_killed_client_leaves_the_log(tmp_path: Path) -> None:
    dealer = start(
        "deal", GAME, "Al=:0", "Bo=rules", "--hands", "1000000", "--log", "cut.log", "--json", cwd=tmp_path
    )  # fmt: skip
    (port,) = ports_of(dealer)
    client = start("join", "localhost", port, "--agent", "probe", cwd=tmp_path)
    _wait_for_hands(tmp_path / "cut.log", 50)
    os.kill(client.pid, signal.SIGKILL)
    said, errors = dealer.communicate(timeout=30)
    client.communicate()
    assert dealer.returncode == 2
    assert "Al is out" in errors.splitlines()[-1]
    facts = json.loads(said.splitlines()[-1])
    played = replay(tmp_path / "cut.log")
    assert played.hands == facts["hands"] >= 50
    assert played.score is None
    assert [played.totals[name] for name in ("Al", "Bo")] == [player["chips"] for player in facts["players"]]


def test_a_killed_dealer_leaves_its_log_and_a_client_that_says_so(tmp_path: Path) -> None:
    dealer = start("deal", GAME, "Al=:0", "Bo=rules", "--hands", "1000000", "--log", "cut.log", cwd=tmp_path)
    (port,) = ports_of(dealer)
    client = start("join", "localhost", port, "--agent", "probe", cwd=tmp_path)
    _wait_for_hands(tmp_path / "cut.log", 50)
    os.kill(dealer.pid, signal.SIGKILL)
    dealer.communicate()
    said, errors = client.communicate(timeout=30)
    assert "hands, " in said
    assert client.returncode in (0, 2)  # between two hands it may be the end of the match
    assert client.returncode == 0 or "the dealer went away in the middle of hand" in errors.splitlines()[-1]
    text = (tmp_path / "cut.log").read_text()
    (tmp_path / "whole.log").write_text(text[: text.rindex("\n") + 1])
    assert replay(tmp_path / "whole.log").hands >= 50


def _wait_for_hands(log: Path, hands: int) -> None:
    for _ in range(600):
        if log.exists() and log.read_text().count("STATE:") >= hands:
            return
        time.sleep(0.05)
    raise AssertionError("no hands were played")


# ---- Addresses


def test_connections_that_cannot_be() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(FogplayError, match=rf"cannot connect to 127\.0\.0\.1:{port}: Connection refused"):
            connect("127.0.0.1", port)
        began = time.monotonic()
        with pytest.raises(FogplayError, match="Connection refused"):
            connect("127.0.0.1", port, wait=0.3)
        assert 0.3 <= time.monotonic() - began < 3
    with listen("127.0.0.1", 0) as door:
        taken = door.getsockname()[1]
        with pytest.raises(FogplayError, match=f"cannot listen at 127.0.0.1:{taken}: "):
            listen("127.0.0.1", taken)
    with pytest.raises(FogplayError, match=r"cannot listen at nowhere\.invalid:0"):
        listen("nowhere.invalid", 0)
    with pytest.raises(FogplayError, match=r"somebody did not connect in 0\.05 seconds"):
        accept(listen("127.0.0.1", 0), "somebody", Patience(0.05))
