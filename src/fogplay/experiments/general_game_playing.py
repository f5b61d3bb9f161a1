"""Shafiei, Sturtevant & Schaeffer (2009), the players themselves: rules in GDL over HTTP, on a clock."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fogplay.errors import FogplayError
from fogplay.experiments.reproduce import Experiment, Finding, Outcome
from fogplay.experiments.runner import Runner, write_rows
from fogplay.games.gdl import GdlGame
from fogplay.gdl.kif import parse, unparse
from fogplay.protocols.ggp.host import Host
from fogplay.protocols.ggp.http import Seat, ask, run

SHEET = "goofspiel.kif"
AGENTS = ("ggp:cfr:86400s", "ggp:uct:86400s")
SCALES = {"quick": (4, 10.0, 2.0), "paper": (20, 60.0, 20.0)}  # matches, start clock, play clock
STARTING = 120.0  # seconds for a player to come up
RESPONDING = {"wire": (4, 10.0, 1.5), "wire-paper": (40, 60.0, 20.0)}  # for each confidence: matches, clocks


@dataclass(frozen=True)
class Played:
    """One match between the CFR player and the UCT player."""

    match: int
    cfr_role: str
    cfr: int
    uct: int
    replaced: int  # moves that were illegal or late
    steps: int


@contextlib.contextmanager
def player(agent: str) -> Iterator[str]:
    """A player in a process of its own; gives its address."""
    command = [sys.executable, "-m", "fogplay", "ggp", "player", "--port", "0", "--agent", agent]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if " waits at " in line:
                    yield line.partition(" waits at ")[2].split()[0]
                    return
            raise FogplayError(f"the player {agent} did not start")
        finally:
            process.terminate()


def rules_of(sheet: str) -> str:
    """The rules of a sheet as a START has them."""
    return " ".join(unparse(form) for form, _ in parse(GdlGame(sheet).sheet.source.text))


def over_the_wire(runner: Runner, scale: str) -> Outcome:
    """The CFR player against the UCT player in five-card Goofspiel, both over HTTP on a clock."""
    count, start_clock, play_clock = SCALES[scale]
    game = GdlGame(SHEET)
    rules = rules_of(SHEET)
    rows: list[Played] = []
    with player(AGENTS[0]) as cfr, player(AGENTS[1]) as uct:
        for address in (cfr, uct):
            _await(address)
        for number in range(count):
            role, goals, host = _meet(game, rules, number, start_clock, play_clock, (cfr, uct))
            rows.append(Played(number, role, *goals, len(host.faults), len(host.steps)))
    write_rows(runner.folder / "matches.csv", rows)
    return _findings(rows, start_clock, play_clock)


def _meet(
    game: GdlGame, rules: str, number: int, start_clock: float, play_clock: float, addresses: tuple[str, str]
) -> tuple[str, tuple[int, int], Host]:
    """One match between two players: the first one's role, the goals of both, and the host that kept the clocks."""
    place = number % 2  # the role of the first
    host = Host(game, f"goofspiel.{number}", rules, start_clock, play_clock, np.random.default_rng(number))
    seats = [Seat(address, 0) for address in addresses]
    run(host, seats if place == 0 else seats[::-1])
    return game.machine.roles[place], (host.goals[place], host.goals[1 - place]), host


@dataclass(frozen=True)
class Responded:
    """What the exploiting player won from the UCT player with some confidence in its model."""

    confidence: float
    matches: int
    won: float  # the mean goal
    error: float
    replaced: int  # moves that were illegal or late
    moves: int


def responses_over_the_wire(runner: Runner, scale: str, confidences: Sequence[float]) -> list[Responded]:
    """Restricted Nash responses to UCT in five-card Goofspiel, both players over HTTP on a clock."""
    count, start_clock, play_clock = RESPONDING[scale]
    game, rules = GdlGame(SHEET), rules_of(SHEET)
    rows: list[Responded] = []
    with player(AGENTS[1]) as uct:
        _await(uct)
        for confidence in confidences:
            with player(f"ggp:exploit:{confidence:g}:86400s") as exploiter:
                _await(exploiter)
                met = [_meet(game, rules, each, start_clock, play_clock, (exploiter, uct)) for each in range(count)]
            won = np.array([goals[0] for _, goals, _ in met], float)
            replaced = sum(len(host.faults) for _, _, host in met)
            moves = 2 * sum(len(host.steps) for _, _, host in met)
            error = float(won.std(ddof=1) / len(won) ** 0.5)
            rows.append(Responded(confidence, count, float(won.mean()), error, replaced, moves))
            if runner.progress is not None:
                runner.progress(len(rows), len(confidences))
    write_rows(runner.folder / "wire.csv", rows)
    return rows


def _await(address: str) -> None:
    end = time.monotonic() + STARTING
    while ask(address, "(ping)", 1.0) != "available":
        if time.monotonic() > end:
            raise FogplayError(f"the player at {address} does not answer")
        time.sleep(0.1)


def _findings(rows: list[Played], start_clock: float, play_clock: float) -> Outcome:
    won = np.array([row.cfr for row in rows], float)
    error = won.std(ddof=1) / len(won) ** 0.5
    replaced, moves = sum(row.replaced for row in rows), 2 * sum(row.steps for row in rows)
    return Outcome(
        (
            Finding("moves that were illegal or late", "none", f"{replaced} of {moves}", replaced == 0),
            Finding("CFR against UCT (table 3, p = 0)", "50.63 - 49.37", f"{won.mean():.1f} ± {error:.1f}"),
        ),
        notes=(
            f"{len(rows)} matches of Goofspiel with clocks of {start_clock:g} and {play_clock:g} seconds; the "
            "players change roles.",
        ),
    )


EXPERIMENTS = (Experiment("uct-vs-cfr-2009/ggp", "The players over the wire, on a clock", over_the_wire, device=False),)
