"""``fogplay acpc`` as a user types it."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import fogplay as fp
from fogplay.agents import match
from fogplay.cli.acpc import Place, places_of
from fogplay.errors import FogplayError
from fogplay.notation.gamedef import our_definitions, print_definition
from fogplay.protocols.acpc import sockets
from tests.helpers import fogplay
from tests.protocols.conftest import Command


def test_a_match_of_ours_and_its_log(run: Command, tmp_path: Path) -> None:
    status, out, err = run(
        "deal", "holdem.limit.2p", "Al=probe", "rules", "-n", "300", "--seed", "2", "--log", "a.log", "--json"
    )
    assert (status, err) == (0, "")
    facts = json.loads(out)
    assert (facts["hands"], facts["ended"]) == (300, None)
    al, rules = facts["players"]
    assert (al["name"], rules["name"]) == ("Al", "rules")
    assert al["chips"] == -rules["chips"]
    assert al["mb/h"] == pytest.approx(al["chips"] / 3)
    status, out, _ = run("replay", "a.log", "--json")
    assert status == 0
    assert json.loads(out)["players"][0]["chips"] in (al["chips"], rules["chips"])
    assert json.loads(out)["finished"] is True
    status, out, _ = run("replay", "a.log")
    assert "300 hands of holdem.limit.2p follow the rules" in out
    status, out, _ = run("deal", "holdem.limit.2p", "Al=probe", "rules", "-n", "300", "--seed", "2", "--turn", "1")
    assert status == 0
    assert "300 of 300 hands" in out


def test_models_learn_from_the_dealers_log(tmp_path: Path) -> None:
    asked = ("deal", "holdem.limit.2p", "Al=probe", "rules", "-n", "1500", "--log", "a.log")
    assert fogplay("acpc", *asked, cwd=tmp_path).returncode == 0
    done = fogplay("model", "holdem(grid=ehs:5/5/5/5)", "--from", "a.log", "--player", "Al", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hands"] == 1500


def test_strategies_of_small_games_play(run: Command, tmp_path: Path) -> None:
    fp.solve("kuhn", "cfr+", iterations=500).strategy.save(tmp_path / "good.safetensors")
    status, out, err = run("deal", "kuhn.limit.2p", "good.safetensors", "uniform", "-n", "3000", "--json")
    assert status == 0, err
    good, uniform = json.loads(out)["players"]
    assert good["name"] == "good"
    assert good["chips"] > 150 > uniform["chips"]


def test_definitions_are_listed_and_printed(run: Command, tmp_path: Path) -> None:
    _, out, _ = run("games")
    assert all(name in out for name in our_definitions())
    _, out, _ = run("games", "leduc.limit.2p")
    assert out == print_definition(our_definitions()["leduc.limit.2p"])
    (tmp_path / "mine.game").write_text(out)
    assert run("deal", "mine.game", "uniform", "uniform", "-n", "10")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("deal", "nothing", "a", "b"),
            "there is no game definition nothing; name a file, or one of holdem.limit",
        ),
        (("deal", "holdem.limit.2p", "rules"), "holdem.limit.2p is for 2 players; 1 were named"),
        (("deal", "holdem.limit.2p", "rules", "nobody"), "there is no file nobody"),
        (("deal", "holdem.limit.2p", "rules", ":x"), "':x' is not a port; a player who connects is :PORT, or :0"),
        (("deal", "holdem.limit.2p", "rules", ":99999"), "is not a port"),
        (("deal", "holdem.limit.2p", "rules", "probe", "--hands", "0"), "hands must be a whole number from 1"),
        (("deal", "holdem.limit.2p", "rules", "probe", "--seed", "-1"), "seed must be a whole number from 0"),
        (("deal", "holdem.limit.2p", "rules", "probe", "--t-hand", "0"), "limits of time must be over 0 seconds"),
        (("deal", "holdem.limit.2p", "rules", "probe", "--log", "no/x"), "there is no folder no"),
        (("deal", "bad.game", "rules", "probe"), "bad.game: line 2: expected limit, nolimit, or numbers after one of"),
        (("deal", "nolimit.game", "rules", "probe"), "fogplay plays limit games only"),
        (
            ("deal", "holdem.limit.2p", "rules", ":0", "--start-timeout", "0.05"),
            "player did not connect in 0.05 seconds",
        ),
        (("deal", "holdem.limit.2p", "rules", ":0", "--host", "no.such.host.invalid"), "cannot listen at no.such.host"),
        (("join", "localhost", "1", "--agent", "probe"), "cannot connect to localhost:1: "),
        (("join", "no.such.host.invalid", "9999", "--agent", "probe"), "cannot connect to no.such.host.invalid:9999: "),
        (
            ("join", "localhost", "99999", "--agent", "probe"),
            "PORT must be a whole number from 1 to 65535, not '99999'",
        ),
        (
            ("join", "18000", "localhost", "--agent", "probe"),
            "HOST comes before PORT: fogplay acpc join localhost 18000",
        ),
        (("join", "localhost", "9999", "--agent", "nobody"), "there is no file nobody"),
        (("join", "localhost", "9999"), "--agent is missing: fogplay acpc join localhost 9999 --agent FILE"),
        (("join", "18000", "localhost"), "HOST comes before PORT: fogplay acpc join localhost 18000"),
        (("replay", "nowhere.log"), "cannot read nowhere.log: No such file"),
        (("replay", "bad.log"), "bad.log, line 2: by the rules this hand is worth 5|-5, not 6|-6"),
        (("replay", "bad.log", "--game", "kuhn.limit.2p"), "bad.log, line 1: "),
        (("games", "chess"), "there is no game definition chess"),
    ],
)
def test_mistakes_are_one_line(run: Command, tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    (tmp_path / "bad.game").write_text("GAMEDEF\nblind = x\n")
    text = print_definition(our_definitions()["holdem.limit.2p"])
    (tmp_path / "nolimit.game").write_text(text.replace("limit", "nolimit"))
    good = "STATE:0:f:2c2d|3c3d:5|-5:a|b"
    (tmp_path / "bad.log").write_text(f"{good}\n{good.replace('STATE:0', 'STATE:1').replace('5|-5', '6|-6')}\n")
    status, _, err = run(*arguments)
    assert status == 2
    assert says in err.splitlines()[-1]
    assert len([line for line in err.splitlines() if not line.startswith("waiting for")]) == 1


def test_what_stands_for_a_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=b.safetensors").touch()
    assert places_of(["rules", "my/best.safetensors", "Al=probe"]) == [
        Place("rules", "rules", None),
        Place("best", "my/best.safetensors", None),
        Place("Al", "probe", None),
    ]
    assert places_of([":0", ":18000", "v1.2=:3"]) == [
        Place("player", None, 0),
        Place("player-2", None, 18000),
        Place("v1.2", None, 3),
    ]
    assert places_of(["a=b.safetensors", "x:y|z=rules"]) == [
        Place("a=b", "a=b.safetensors", None),
        Place("x-y-z", "rules", None),
    ]
    with pytest.raises(FogplayError, match="is not a port"):
        places_of(["A=:"])


# ---- Other seats and stakes


def test_the_competitions_three_player_kuhn_is_played(run: Command, tmp_path: Path) -> None:
    """Its definition has stacks, which cannot run out."""
    fp.solve("kuhn(players=3)", "cfr+", iterations=50).strategy.save(tmp_path / "mine.safetensors")
    text = print_definition(our_definitions()["kuhn.limit.3p"])
    (tmp_path / "kuhn.limit.3p.game").write_text(text.replace("blind", "stack = 2 2 2\nblind"))
    status, out, err = run("deal", "kuhn.limit.3p.game", *["mine.safetensors"] * 3, "-n", "30", "--json")
    assert status == 0, err
    assert json.loads(out)["hands"] == 30


def test_stakes_are_the_definitions(run: Command, tmp_path: Path) -> None:
    """Ten times the stakes: ten times the chips, and the same mb/h."""
    text = print_definition(our_definitions()["holdem.limit.2p"])
    ten = text.replace("blind = 10 5", "blind = 100 50").replace("10 10 20 20", "100 100 200 200")
    (tmp_path / "ten.game").write_text(ten)
    results = []
    for game in ("holdem.limit.2p", "ten.game"):
        status, out, err = run("deal", game, "probe", "rules", "-n", "50", "--log", f"{game}.log", "--json")
        assert status == 0, err
        dealt = json.loads(out)["players"]
        status, out, err = run("replay", f"{game}.log", "--json")  # finds the definition beside the log
        assert status == 0, err
        again = {row["name"]: row for row in json.loads(out)["players"]}
        for row in dealt:
            assert again[row["name"]]["chips"] == row["chips"]
            assert again[row["name"]]["mb/h"] == pytest.approx(row["mb/h"])
            assert again[row["name"]]["standard_error"] == pytest.approx(row["standard_error"])
        results.append(dealt)
    for one, other in zip(*results, strict=True):
        assert other["chips"] == 10 * one["chips"] != 0
        assert other["mb/h"] == pytest.approx(one["mb/h"])
        assert one["mb/h"] == pytest.approx(one["chips"] * 1000 / 10 / 50)


def test_other_seats_are_played_or_refused(run: Command, tmp_path: Path) -> None:
    text = print_definition(our_definitions()["holdem.limit.2p"])
    (tmp_path / "turned.game").write_text(text.replace("10 5", "5 10").replace("2 1 1 1", "1 2 2 2"))
    status, _, err = run("deal", "turned.game", "probe", "rules", "-n", "50", "--log", "x.log")
    assert status == 0, err
    assert run("replay", "x.log", "--game", "turned.game")[0] == 0
    assert run("replay", "x.log", "--game", "holdem.limit.2p")[0] == 2
    (tmp_path / "odd.game").write_text(text.replace("2 1 1 1", "1 1 1 1"))
    status, _, err = run("join", "localhost", "1", "--agent", "probe", "--game", "odd.game")
    assert status == 2
    assert "the button acts first before the flop and last after it" in err
    assert len(err.splitlines()) == 1


# ---- Dealers and players that are not what they should be


@contextlib.contextmanager
def somebody(port: int, says: str, then: str = "", seconds: float = 0.0) -> Iterator[None]:
    """A player who connects to a port, says something, perhaps waits, and leaves."""

    def play() -> None:
        for _ in range(200):
            try:
                connection = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                time.sleep(0.05)
        with connection, contextlib.suppress(OSError):
            connection.sendall(says.encode())
            over.wait(seconds)
            connection.sendall(then.encode())

    over, thread = threading.Event(), threading.Thread(target=play)
    thread.start()
    yield
    over.set()
    thread.join(20)


@contextlib.contextmanager
def dealer_saying(*lines: str, seconds: float = 0.0) -> Iterator[str]:
    """A dealer who sends these lines to the first who connects, waits and leaves; its port."""

    def deal() -> None:
        connection, _ = door.accept()
        with connection, contextlib.suppress(OSError):
            connection.sendall("".join(f"{line}\r\n" for line in lines).encode())
            over.wait(seconds)

    with socket.create_server(("127.0.0.1", 0)) as door:
        over, thread = threading.Event(), threading.Thread(target=deal)
        thread.start()
        yield str(door.getsockname()[1])
        over.set()
        thread.join(20)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as door:
        return int(door.getsockname()[1])


def test_a_no_limit_dealer_is_left_at_once(run: Command) -> None:
    over, asked = "MATCHSTATE:1:0:f:|9hQd", "MATCHSTATE:0:1:r300:5d5c|"
    with dealer_saying(over, asked, seconds=60.0) as port:
        began = time.monotonic()
        status, out, err = run("join", "127.0.0.1", port, "--agent", "always-fold", "--seed", "1")
        assert time.monotonic() - began < 30.0
    assert status == 2
    assert "the dealer plays no-limit ('MATCHSTATE:0:1:r300:5d5c|'); fogplay plays limit games only" in err
    assert out == "1 hand, -5 chips (a big blind is 10), -500.0 mb/h (seed 1)\n"


def test_a_dealer_with_other_seats_is_not_awaited_in_silence(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "QUIET", 0.1)
    with dealer_saying("MATCHSTATE:0:0::5d5c|", seconds=0.5) as port:
        status, _, err = run("join", "127.0.0.1", port, "--agent", "always-fold")
    assert status == 2
    (note,) = [line for line in err.splitlines() if "has sent nothing for 0.1 seconds" in line]
    assert note.endswith("its game has another order of seats: name its definition with --game")


def test_remarks_are_folded_and_plain(run: Command) -> None:
    """What a terminal library might take for pictures, colours or the end of a line stays as it is."""
    lines = [f"MATCHSTATE:x{number}" for number in range(30)]
    with dealer_saying(*lines, "MATCHSTATE:1:0:f:|9hQd") as port:
        status, _, err = run("join", "127.0.0.1", port, "--agent", "always-fold")
    assert status == 0
    expected = "expected MATCHSTATE:seat:hand:betting:cards"
    remark = f"skipped what the dealer sent: 'MATCHSTATE:x0' is not a match state; {expected}"
    assert err.splitlines()[1:] == [remark, f"29 more like this: {remark}"]


def test_a_silent_player_does_not_outlast_the_start(run: Command) -> None:
    port = free_port()
    with somebody(port, "", seconds=60.0):
        began = time.monotonic()
        status, _, err = run("deal", "kuhn.limit.2p", "uniform", f"Bo=:{port}", "--start-timeout", "0.5")
        assert time.monotonic() - began < 30.0
    assert status == 2
    assert "Bo is out: it did not greet in 0.5 seconds" in err.splitlines()[-1]


def test_forfeit_names_who_left_and_when(run: Command) -> None:
    port = free_port()
    asked = ("deal", "kuhn.limit.2p", "uniform", f"Bo=:{port}", "-n", "4", "--forfeit", "--log", ":smile:.log")
    with somebody(port, "VERSION:2.0.0\r\nMATCHSTATE:1:0:c:|Ks:c\r\n"):
        status, out, _ = run(*asked, "--seed", "1")
    assert status == 0
    (line,) = [line for line in out.splitlines() if line.startswith("Bo left")]
    assert re.fullmatch(r"Bo left in hand [01] \(.+\) and checked or folded from then on", line)
    assert out.splitlines()[-1] == "the hands are in :smile:.log"


# ---- What is printed


def test_duplicate_matches_are_combined(run: Command) -> None:
    """The two logs of a duplicate match are one match: mean and error are those of ``fogplay match``."""
    for turn in ("0", "1"):
        asked = ("deal", "holdem.limit.2p", "probe", "rules", "-n", "300", "--turn", turn, "--log", f"{turn}.log")
        status, out, _ = run(*asked)
        assert status == 0
        assert " ± " in out
    status, out, _ = run("replay", "0.log", "1.log", "--json")
    facts = json.loads(out)
    assert (status, facts["hands"], facts["deals"], len(facts["logs"])) == (0, 600, 300, 2)
    compiled = match("holdem", ["probe", "rules"], 600, seed=0)
    assert compiled.deals == 300
    for row in facts["players"]:
        player = ["probe", "rules"].index(row["name"])
        assert row["mb/h"] == pytest.approx(compiled.means[player])
        assert row["standard_error"] == pytest.approx(compiled.standard_errors[player])
    alone = json.loads(run("replay", "0.log", "--json")[1])
    assert alone["players"][0]["standard_error"] > 1.2 * facts["players"][0]["standard_error"]
    status, out, _ = run("replay", "0.log", "1.log")
    assert "600 hands with the cards of 300 deals: duplicates count as one" in out
    assert len([line for line in out.splitlines() if " ± " in line]) == 3


def test_logs_that_do_not_belong_together(run: Command) -> None:
    for name, game, other in (("a", "kuhn.limit.2p", "x"), ("b", "leduc.limit.2p", "x"), ("c", "kuhn.limit.2p", "y")):
        assert run("deal", game, "me=uniform", f"{other}=uniform", "-n", "5", "--log", f"{name}.log")[0] == 0
    for names, says in (
        (("a.log", "b.log"), "b.log is a match of leduc.limit.2p, and a.log of kuhn.limit.2p"),
        (("a.log", "c.log"), "c.log is a match between me, y, and a.log between me, x"),
        (("a.log", "./a.log"), "the same log is named twice"),
    ):
        status, _, err = run("replay", *names)
        assert (status, err) == (2, f"fogplay: {says}\n")


def test_one_hand_and_long_names_and_the_end_of_the_bar(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "n" * 90
    status, out, _ = run("deal", "kuhn.limit.2p", f"{name}=uniform", "uniform", "-n", "1", "--log", "x.log")
    assert status == 0
    assert out.startswith("kuhn.limit.2p: 1 of 1 hand in ")
    assert any(line.split()[:1] == [name] for line in out.splitlines())
    assert "1 hand of kuhn.limit.2p follows the rules" in run("replay", "x.log")[1]
    monkeypatch.setattr("fogplay.cli.acpc._now_and_then", lambda show: lambda done: show(done) if done == 5 else None)
    status, _, err = run("deal", "kuhn.limit.2p", "uniform", "uniform", "-n", "300")
    assert status == 0
    assert "300 of 300" in err
