"""Shafiei, Sturtevant & Schaeffer (2009), the players themselves: rules in GDL over HTTP, on a clock."""

from __future__ import annotations

import contextlib
import math
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fogplay.errors import FogplayError
from fogplay.experiments.reproduce import Experiment, Outcome
from fogplay.experiments.rows import Estimate, Row, Rows, mean_of
from fogplay.experiments.runner import Runner, write_rows
from fogplay.experiments.verdicts import Equal, Exact, Finding
from fogplay.games.gdl import GdlGame
from fogplay.gdl.kif import parse, unparse
from fogplay.protocols.ggp.host import Host
from fogplay.protocols.ggp.http import Seat, ask, run

SHEET = "goofspiel.kif"
UNTIL_THE_CLOCK = 86400.0  # seconds: the player thinks as long as its clock allows
STARTING = 120.0  # seconds for a player to come up
RESOLUTION = 7.0  # percent: a fifth of what lies between the paper's p = 0 and p = 1


@dataclass(frozen=True)
class Clocks:
    """How many matches there are, and seconds: before the first move, for a move, and of those for thinking."""

    matches: int
    start: float
    play: float
    thinking: float = UNTIL_THE_CLOCK

    def __str__(self) -> str:
        thinking = "" if self.thinking == UNTIL_THE_CLOCK else f"; players think for {self.thinking:g} seconds"
        return f"clocks of {self.start:g} and {self.play:g} seconds{thinking}"


QUICK, PAPER = Clocks(40, 10.0, 2.0, 0.3), Clocks(20, 60.0, 20.0)
SCALES = {"quick": QUICK, "medium": QUICK, "paper": PAPER}
RESPONDING = {"wire": Clocks(40, 10.0, 2.0, 0.3), "wire-paper": Clocks(40, 60.0, 20.0)}  # for each confidence


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
    """A player in a process of its own that has compiled its kernels; gives its address."""
    command = [sys.executable, "-m", "fogplay", "ggp", "player", "--port", "0", "--agent", agent]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stderr is not None
            address = ""
            for line in process.stderr:
                if " waits at " in line:
                    address = line.partition(" waits at ")[2].split()[0]
                elif line.startswith("compiled"):
                    yield address
                    return
            raise FogplayError(f"the player {agent} did not start")
        finally:
            process.terminate()


def rules_of(sheet: str) -> str:
    """The rules of a sheet as a START has them."""
    return " ".join(unparse(form) for form, _ in parse(GdlGame(sheet).sheet.source.text))


def run_over_the_wire(runner: Runner, scale: str) -> list[Row]:
    """The CFR player against the UCT player in five-card Goofspiel, both over HTTP on a clock."""
    clocks = SCALES[scale]
    game = GdlGame(SHEET)
    rules = rules_of(SHEET)
    rows: list[Played] = []
    with player(f"ggp:cfr:{clocks.thinking:g}s") as cfr, player(f"ggp:uct:{clocks.thinking:g}s") as uct:
        for address in (cfr, uct):
            _await(address)
        for number in range(clocks.matches):
            role, goals, host = _meet(game, rules, number, clocks, (cfr, uct))
            rows.append(Played(number, role, *goals, len(host.faults), len(host.steps)))
            if runner.progress is not None:
                runner.progress(len(rows), clocks.matches)
    label = f"CFR against UCT, {clocks}"
    return [
        Row(label, measure, number, number + 1, value)
        for number, row in enumerate(rows)
        for measure, value in (("won", row.cfr), ("replaced", row.replaced), ("moves", 2 * row.steps))
    ]


def _meet(
    game: GdlGame, rules: str, number: int, clocks: Clocks, addresses: tuple[str, str]
) -> tuple[str, tuple[int, int], Host]:
    """One match between two players: the first one's role, the goals of both, and the host that kept the clocks."""
    place = number % 2  # the role of the first
    host = Host(game, f"goofspiel.{number}", rules, clocks.start, clocks.play, np.random.default_rng(number))
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
    clocks = RESPONDING[scale]
    game, rules = GdlGame(SHEET), rules_of(SHEET)
    rows: list[Responded] = []
    with player(f"ggp:uct:{clocks.thinking:g}s") as uct:
        _await(uct)
        for confidence in confidences:
            with player(f"ggp:exploit:{confidence:g}:{clocks.thinking:g}s") as exploiter:
                _await(exploiter)
                met = [_meet(game, rules, each, clocks, (exploiter, uct)) for each in range(clocks.matches)]
            won = np.array([goals[0] for _, goals, _ in met], float)
            replaced = sum(len(host.faults) for _, _, host in met)
            moves = 2 * sum(len(host.steps) for _, _, host in met)
            error = float(won.std(ddof=1) / len(won) ** 0.5)
            rows.append(Responded(confidence, clocks.matches, float(won.mean()), error, replaced, moves))
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


def agrees(found: Estimate, won: float) -> Equal:
    """The claim that a percentage is the paper's, which has an error of its own."""
    return Equal(found, won, luck(won), RESOLUTION)


def luck(won: float) -> float:
    """The most that the standard error of a published mean can be, if it is of a hundred matches."""
    return math.sqrt(won * (100 - won) / 100)


def over_the_wire(rows: Rows, folder: Path) -> Outcome:
    """They play legally and on time; every match is a run of its own, since both search anew."""
    findings = []
    for label in rows.labels("won"):
        of = {name: [row.value for row in rows.all if (row.label, row.measure) == (label, name)] for name in
              ("won", "replaced", "moves")}  # fmt: skip
        replaced, moves, won = int(sum(of["replaced"])), int(sum(of["moves"])), mean_of(of["won"])
        what = f"{label}: moves that were illegal or late"
        findings.append(Finding(what, "none", f"{replaced} of {moves:,}", Exact(replaced == 0)))
        published = f"50.63 (± at most {luck(50.63):.1f})"
        findings.append(Finding(f"{label} (table 3, p = 0)", published, won.show(1, "%"), agrees(won, 50.63)))
    return Outcome(tuple(findings))


EXPERIMENTS = (
    Experiment(
        "uct-vs-cfr-2009/ggp", "The players over the wire, on a clock", run_over_the_wire, over_the_wire, device=False
    ),
)
