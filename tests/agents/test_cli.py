"""``fogplay match holdem`` as a user types it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fogplay as fp
from fogplay.cards import tables
from fogplay.cli import main
from fogplay.cli.console import Watch
from fogplay.errors import FogplayError
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.strategies.betting import BettingStrategy
from fogplay.strategies.policy import BettingPolicy
from tests.helpers import fogplay

Mistake = Callable[..., str]


def last_json(output: str) -> Any:
    return json.loads(output.splitlines()[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile with ten buckets a round, and a strategy of another game."""
    here = tmp_path_factory.mktemp("agents")
    simulated = HoldemSimulator.of("holdem(grid=ehs:10/10/10/10)")
    weights = np.random.default_rng(1).exponential(size=simulated.num_slots)
    BettingStrategy.of(simulated.rules, simulated.betting, weights=weights, greedy=True, method="random").save(
        here / "ten.safetensors"
    )
    kuhn = fp.flatten("kuhn")
    fp.TabularStrategy.of(kuhn, kuhn.uniform(), "uniform").save(here / "kuhn.safetensors")
    return here


@pytest.fixture
def mistake(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Mistake:
    """Run a command that must fail as a user's mistake does: the one line that it says."""

    def run(*arguments: str) -> str:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["fogplay", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code == 2
        (line,) = capsys.readouterr().err.splitlines()
        return line

    return run


def test_match_json_and_log(folder: Path) -> None:
    asked = ("match", "holdem", "ten.safetensors", "rules", "--hands", "2001", "--seed", "4")
    done = fogplay(*asked, "--json", "--log", "hands.log", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    facts = last_json(done.stdout)
    assert facts["hands"] == 2002
    assert facts["deals"] == 1001
    assert facts["unit"] == "mb/h"
    first, second = facts["players"]
    assert (first["name"], second["name"]) == ("ten", "rules")
    assert first["mean"] == -second["mean"] == pytest.approx(first["chips"] / 2002 * 100)
    assert first["interval"][0] < first["mean"] < first["interval"][1]
    lines = (folder / "hands.log").read_text().splitlines()
    assert len(lines) == 2005
    assert lines[2].startswith("STATE:0:")
    assert lines[2].endswith(":ten|rules")
    assert lines[3].endswith(":rules|ten")
    assert lines[-1] == f"SCORE:{first['chips']:g}|{second['chips']:g}:ten|rules"
    shown = fogplay(*asked, cwd=folder)
    assert shown.returncode == 0, shown.stderr
    assert "2,002 hands (1,001 deals in 2 seatings)" in shown.stdout
    assert f"{first['mean']:+.1f}" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("holdem", "rules"), "is for 2 players; 1 agents were named"),
        (
            ("holdem", "rules", "nobody"),
            "there is no file nobody; an agent is a saved strategy or always-fold, ",
        ),
        (("holdem", "rules", "smooth-utc"), "there is no file smooth-utc; did you mean 'smooth-uct'? an agent is"),
        (
            ("holdem", "rules", "kuhn.safetensors"),
            "this strategy is for kuhn, not for holdem",
        ),
        (("holdem(players=3)", "rules", "rules", "ten.safetensors"), "players is 2 there and 3 here"),
        (("holdem(players=3,max_raises=[1,1,1,1])", "sparring", "probe", "probe"), "sparring is for two players"),
        (("holdem(blinds=[4,2])", "probe", "ten.safetensors"), "blinds is [10, 5] there and [4, 2] here"),
        (("holdem", "rules", "probe", "--hands", "0"), "hands must be a whole number"),
        (("holdem", "rules", "probe", "--log", "nowhere/x"), "there is no folder nowhere"),
        (("holdem", "rules", "probe", "--seen-by", "probe"), "--seen-by is for games that fit in a tree"),
        (
            ("kuhn", "rules", "uniform"),
            "the bot rules plays holdem, not kuhn; an agent is a saved ",
        ),
        (("kuhn", "nobody", "uniform"), "there is no file nobody; an agent is a saved strategy or uniform"),
        (("holdem(players=9)", "rules", "probe"), "players"),
    ],
)
def test_mistakes_are_one_line(mistake: Mistake, arguments: tuple[str, ...], said: str) -> None:
    assert said in mistake("match", *arguments)


def test_play_mistakes_are_one_line(mistake: Mistake) -> None:
    for arguments, said in (
        (("holdem", "--against", "nobody"), "there is no file nobody"),
        (("holdem", "--against", "rules", "--against", "rules"), "2 opponents were named, and you"),
        (("kuhn", "--against", "ten.safetensors"), "ten.safetensors: this strategy is for holdem("),
        (("kuhn", "--against", "uniform", "--hands", "0"), "--hands must be"),
    ):
        assert said in mistake("play", *arguments)


def test_who_is_unknown_is_refused_before_anything_is_built(
    mistake: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "folder", lambda: tmp_path)
    monkeypatch.setattr(Watch, "building", lambda self: pytest.fail("tables are built for nothing"))
    for command in (["match", "holdem", "rules", "nobody"], ["play", "holdem", "--against", "nobody"]):
        assert "there is no file nobody" in mistake(*command)


@pytest.mark.parametrize(
    "command",
    [
        ("match", "holdem", "rules", "always-call", "--hands", "100"),
        ("advise", "holdem", "--agent", "rules", "--hand", "AhKh"),
        ("evaluate", "rules", "--game", "holdem", "--local", "--hands", "200"),
    ],
    ids=lambda command: command[0],
)
def test_what_players_build_once_is_announced(
    command: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def build(_policy: BettingPolicy, progress: Callable[[str, int, int], None]) -> None:
        for done in (1, 2):
            progress("tables of strength", done, 2)
        progress("clusters of hands", 1, 1)

    monkeypatch.chdir(folder)
    monkeypatch.setattr(BettingPolicy, "prepare", build)
    monkeypatch.setattr(sys, "argv", ["fogplay", *command])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    said = capsys.readouterr().err
    assert said.index("building tables of strength") < said.index("building clusters of hands")


@pytest.mark.parametrize("wrong", [("--local", "--hands", "2"), ("--full", "--flops", "1")])
def test_a_wrong_number_is_refused_before_anything_is_built(
    wrong: tuple[str, ...], mistake: Mistake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BettingPolicy, "prepare", lambda *_: pytest.fail("tables are built for nothing"))
    assert "must be a whole number from" in mistake("evaluate", "rules", "--game", "holdem", *wrong)


def test_a_log_that_cannot_be_written_costs_the_log_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_given: Any) -> None:
        raise FogplayError("the disk is full")

    monkeypatch.setattr("fogplay.opponents.write_log", full)
    monkeypatch.setattr(sys, "argv", ["fogplay", "match", "holdem", "rules", "probe", "-n", "20", "--log", "l"])
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as stopped:
        main()
    said = capsys.readouterr()
    assert stopped.value.code == 2
    assert "20 hands (10 deals in 2 seatings)" in said.out
    assert "the hands are in" not in said.out
    assert "the disk is full" in said.err
