"""``fogplay acpc`` as a user types it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fogplay as fp
from fogplay.cli import main
from fogplay.cli.acpc import Place, places_of
from fogplay.errors import FogplayError
from fogplay.notation.gamedef import our_definitions, print_definition
from tests.helpers import fogplay

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command here: its exit status, what it printed and what it said on stderr."""

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["fogplay", "acpc", *arguments])
        try:
            main()
            status = 0
        except SystemExit as stopped:
            status = int(str(stopped.code))
        told = capsys.readouterr()
        return status, told.out, told.err

    return command


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
        (("join", "localhost", "9999"), "Missing option '--agent'"),
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
