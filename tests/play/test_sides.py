"""Matches of teams: wins and points by side, over the same decks for both, in any number of processes."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import psutil
import pytest

import fogplay as fp
from fogplay.agents.workers import Job, Workers
from fogplay.interrupts import Stop
from fogplay.play import Given, Sides, play_hand
from fogplay.play.sides import BOTH, BySides


class First:
    def act(self, view: fp.View) -> int:
        return view.legal[0]


class Last:
    def act(self, view: fp.View) -> int:
        return view.legal[-1]


def test_wins_and_points_by_side_against_a_slow_twin() -> None:
    """A deal is the unit: the mean over its two hands is one observation."""
    rng = np.random.default_rng(1)
    format = Sides((0, 1, 1), ("one", "two"), ("coins", 2.0))
    won = rng.choice([-4.0, -2.0, 2.0, 4.0], size=(30, 2))  # [deals, seatings] of side 0
    scores = np.stack([won, -won / 2, -won / 2], axis=2)
    tally = format.tally()
    assert isinstance(tally, BySides)
    tally.add(format.counted(scores[:11]), 0)
    tally.add(format.counted(scores[11:]), 11)
    rows = {(row.player, row.side): row for row in tally.by_side()}
    wanted = {  # seating 0: agent 0 is side 0; seating 1: agent 1 is
        (0, "one"): won[:, 0],
        (0, "two"): -won[:, 1],
        (1, "one"): won[:, 1],
        (1, "two"): -won[:, 0],
        (0, BOTH): (won[:, 0] - won[:, 1]) / 2,
        (1, BOTH): (won[:, 1] - won[:, 0]) / 2,
    }
    for (player, side), values in wanted.items():
        row = rows[player, side]
        assert row.mean == pytest.approx(mean(values) / 2)
        assert row.error == pytest.approx(stdev(values) / math.sqrt(30) / 2)
        if side != BOTH:
            wins = (values > 0).astype(float)
            assert (row.wins, row.wins_error) == pytest.approx((mean(wins), stdev(wins) / math.sqrt(30)))
    both = ((won[:, 0] > 0).astype(float) + (won[:, 1] < 0)) / 2
    assert rows[0, BOTH].wins == pytest.approx(mean(both))
    assert rows[0, BOTH].wins_error == pytest.approx(stdev(both) / math.sqrt(30))
    assert rows[0, BOTH].wins + rows[1, BOTH].wins == pytest.approx(1.0)
    assert (rows[0, BOTH].hands, rows[0, "one"].hands) == (60, 30)


def test_a_draw_is_half_a_win() -> None:
    format = Sides((0, 1))
    tally = BySides(format)
    tally.add(np.zeros((3, 2, 2)), 0)
    assert [row.wins for row in tally.by_side()] == [0.5] * 6


def test_points_of_doudizhu_are_those_of_the_paper() -> None:
    """Plus or minus 1, doubled by every bomb: half of what the landlord wins or loses."""
    outcome = fp.match("doudizhu", [First(), Last()], 2, seed=4)
    format = outcome.format
    table = play_hand(fp.load("doudizhu"), format.luck(4)(0), [First(), Last(), Last()])
    landlord = next(row for row in outcome.by_side if (row.player, row.side) == (0, "landlord"))
    assert landlord.mean == table.scores[0] / 2
    assert math.log2(abs(landlord.mean)).is_integer()
    assert outcome.unit == "ADP"


def test_given_decks_are_played() -> None:
    deck = (*(rank for rank in range(13) for _ in range(4)), 13, 14)
    outcome = fp.match("doudizhu", [Last(), Last()], 10, decks=[deck, deck])
    assert (outcome.deals, outcome.hands) == (2, 4)
    table = play_hand(fp.load("doudizhu"), Given(deck, "0 0"), [Last()] * 3)
    assert outcome.by_side[1].mean == table.scores[0] / 2
    assert table.moves[:54] == deck
    with pytest.raises(fp.FogplayError, match="decks are for games of teams"):
        fp.match("doudizhu", ["uniform"] * 3, 3, decks=[deck])


class Memory:
    """Notes which seats it played; each seat of a side has an agent of its own."""

    def __init__(self) -> None:
        self.seats: set[int] = set()

    def act(self, view: fp.View) -> int:
        self.seats.add(view.seat)
        return view.legal[0]


def test_partners_do_not_share_an_agent() -> None:
    """What one peasant has seen must not reach the other through its memory."""
    made: list[list[Memory]] = []

    def crew() -> list[Memory]:
        made.append([Memory(), Memory()])
        return made[-1]

    fp.play.match("doudizhu", crew(), 2, crew=crew)
    assert [[agent.seats for agent in cast] for cast in made] == [[{0, 1}, {0, 1}], [{2}, {2}]]


@pytest.mark.parametrize("play", [fp.match, fp.play.match])
def test_partners_do_not_share_an_agent_that_is_passed_in(play: Any) -> None:
    agents = [Memory(), Memory()]
    play("doudizhu", agents, 2)
    assert [agent.seats for agent in agents] == [{0, 1}, {0, 1}]  # a copy sits at seat 2


def test_an_agent_that_cannot_be_copied_is_refused() -> None:
    holds = First()
    holds.lock = threading.Lock()  # type: ignore[attr-defined]
    with pytest.raises(fp.FogplayError, match=r"First cannot be copied .*: define __deepcopy__, or pass one agent per"):
        fp.match("doudizhu", [holds, "random"], 2)
    assert fp.match("doudizhu", [holds, "random", "random"], 3).hands == 3


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start workers after the first deal."""
    module = sys.modules["fogplay.play.match"]
    monkeypatch.setattr(module, "TRYING", 0.0)
    monkeypatch.setattr(module, "WORTH_STARTING", 0.0)


@pytest.mark.usefixtures("at_once")
def test_any_number_of_processes_plays_the_same_hands() -> None:
    """Also an agent with random numbers of its own: it is seeded before each hand."""
    before = psutil.Process().children()
    one, two = (fp.match("kuhn", ["uniform", "search:uct:5"], 6, seed=2, workers=workers) for workers in (1, 2))
    assert one.means == two.means
    assert one.standard_errors == two.standard_errors
    assert psutil.Process().children() == before


def test_workers_need_agents_by_name() -> None:
    with pytest.raises(fp.FogplayError, match="workers make the agents anew from their text"):
        fp.match("kuhn", [First(), "uniform"], 4, workers=2)
    with pytest.raises(fp.FogplayError, match="workers must be a whole number from 1"):
        fp.match("kuhn", ["uniform", "uniform"], 4, workers=0)


def test_what_stops_a_worker_is_told_in_one_line() -> None:
    before = psutil.Process().children()
    workers = Workers(Job("kuhn", ("uniform", "no-such-agent"), ("a", "b"), 0), 2)
    with pytest.raises(fp.FogplayError, match="there is no file no-such-agent"):
        list(workers.blocks(0, 4, 1.0, Stop()))
    assert psutil.Process().children() == before


def test_a_worker_that_dies_is_replaced() -> None:
    """The range that it played is played by another one, with the same result; twice is too often."""
    before = psutil.Process().children()
    job = Job("kuhn", ("uniform", "uniform"), ("a", "b"), 3)
    wanted = [block.points.tolist() for block in Workers(job, 1).blocks(0, 6, 1.0, Stop())]
    blocks = Workers(job, 2).blocks(0, 6, 1.0, Stop())
    found = [next(blocks).points.tolist()]
    next(each for each in psutil.Process().children() if each not in before).kill()
    found += [block.points.tolist() for block in blocks]
    assert found == wanted
    assert len(found) == 6
    with pytest.raises(
        fp.FogplayError, match=r"two workers died \(the last with exit status 1\) while they played deals 0"
    ):
        list(Workers(Job("kuhn", ("uniform", "uniform"), (), 3), 1).blocks(0, 2, 1.0, Stop()))  # nobody has a name
    assert psutil.Process().children() == before


def test_decks_at_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Write the decks of a match, read them back, and get the same result."""
    asked = ["match", "doudizhu", "uniform", "uniform", "--seed", "3", "--json"]
    assert typed([*asked, "--decks", "2", "--save-decks", str(tmp_path / "decks.json")]) is None
    assert typed([*asked, "--deck-file", str(tmp_path / "decks.json"), "--workers", "1"]) is None
    facts, same = map(json.loads, capsys.readouterr().out.splitlines())
    assert facts["sides"] == same["sides"]
    assert facts["deals"] == 2
    assert {row["side"] for row in facts["sides"]} == {"all", "landlord", "peasants"}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["doudizhu", "uniform", "uniform", "--decks", "3", "--hands", "6"], "--hands and --decks both say"),
        (["doudizhu", "uniform", "uniform", "--decks", "0"], "--decks must be a whole number from 1"),
        (["doudizhu", "uniform", "uniform", "--deck-file", "none.json"], "none.json cannot be read"),
        (["kuhn", "uniform", "uniform", "--deck-file", "none.json"], "has no form for decks in files"),
        (["doudizhu", "uniform", "uniform", "uniform", "--save-decks", "a.json"], "need one agent for each side"),
        (["doudizhu", "uniform", "uniform", "--time-limit", "0"], "--time-limit must be a number from 0.001"),
        (["doudizhu", "uniform", "uniform", "--workers", "0"], "--workers must be a whole number from 1"),
    ],
)
def test_options_that_do_not_fit(options: list[str], why: str) -> None:
    done = typed(["match", *options])
    assert isinstance(done, fp.FogplayError)
    assert why in str(done)


def typed(words: list[str]) -> Any:
    """The error that a command ends with, in this process."""
    from fogplay.cli import app

    try:
        return app(words, standalone_mode=False)
    except fp.FogplayError as error:
        return error


def test_a_killed_match_leaves_no_workers() -> None:
    """A worker ends with its input, whatever happened to its parent."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "fogplay.agents.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert worker.stdin is not None
    job = {"game": "kuhn", "agents": ["uniform"] * 2, "names": ["a", "b"], "seed": 0, "limit": None, "decks": None}
    worker.stdin.write(json.dumps(job).encode() + b"\n[0, 2]\n")
    worker.stdin.close()
    assert worker.wait(60) == 0
    assert worker.stdout is not None
    assert len(json.loads(worker.stdout.read())["points"]) == 2
