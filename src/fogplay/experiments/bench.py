"""``fogplay bench``: fogplay beside the peers that are installed, on one core, in one run.

A suite is a list of contestants and of games: full-width (CFR+), sampling (Monte Carlo CFR and search, with comparable
units), and threads (fogplay alone: the gain from a second core).

Every contestant has its own process and works while the others wait. Speed is measured in short rounds, in turn, so
that noise on the machine affects all equally; the result is the median, reported with the slowest and fastest round.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fogplay.errors import FogplayError
from fogplay.experiments import contest
from fogplay.experiments.bench_rows import Row
from fogplay.experiments.contestants import OURS, SUITES, Entry
from fogplay.games.game import PYSPIEL
from fogplay.games.registry import load, split_at_commas
from fogplay.interrupts import Stop, stopping

GAMES = {  # the default games by suite
    "full-width": (
        "leduc", "bluff(1,1,5)", "kuhn", "ocp(13)", "ocp(50)", "ocp(100)", "ocp(200)", "ocp(500)",
    ),
    "sampling": ("leduc", "bluff(1,1,5)", "kuhn", "ocp(13)", "ocp(50)", "ocp(200)", "ocp(500)"),
    "threads": ("bluff(1,1,6)", "leduc"),
}  # fmt: skip
OPENSPIEL_NAMES = {  # the name under which peers load the same game
    "kuhn": "kuhn_poker",
    "kuhn(players=3)": "kuhn_poker(players=3)",
    "leduc": "leduc_poker",
    **{f"bluff(1,1,{faces})": f"liars_dice(dice_sides={faces})" for faces in range(3, 7)},
}
SECONDS = 5.0
ROUNDS = 5
TARGETS: dict[str, float | None] = {"full-width": 0.01, "sampling": 0.5, "threads": None}  # nash_conv
FIRST_LOOK = {"sampling": 1000}  # iterations before nash_conv is first measured; 1 in other suites
BUILD_LIMIT = 60.0  # seconds in which a peer must build a game
SOLVE_LIMITS = {"full-width": 60.0, "sampling": 20.0, "threads": 0.0}  # seconds of iterating to reach the target
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


@dataclass(frozen=True)
class Progress:
    """The progress of a bench."""

    done: int
    steps: int
    what: str


def run_bench(
    what: str = "full-width",
    seconds: float = SECONDS,
    progress: Callable[[Progress], None] | None = None,
    *,
    games: Sequence[str] | None = None,
    rounds: int = ROUNDS,
    target: float | None = None,
    solve_limit: float | None = None,
) -> list[Row]:
    """Measure every installed contestant of a suite, with ``seconds`` per measurement, divided into ``rounds``.

    ``target`` is the nash_conv to reach within ``solve_limit`` seconds; by default the suite's own, if it has one.
    A contestant that fails on a game gets a row with a note; one that does not have the game gets no row. Ctrl-C ends
    the bench, and what was measured until then is returned.
    """
    entries = _entries(what)
    if not (math.isfinite(seconds) and seconds > 0):
        raise FogplayError(f"seconds must be a number greater than 0, not {seconds!r}")
    field = [(game, _field(entries, game)) for game in (games or GAMES[what])]
    target = TARGETS[what] if target is None else target
    solve_limit = SOLVE_LIMITS[what] if solve_limit is None else solve_limit
    steps = sum((1 + rounds + 2 * (target is not None)) * len(players) for _, players in field)
    done = 0

    def step(now: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(Progress(done, steps, now))

    for entry in {entry.race: entry for entry in reversed(entries) if entry.name == OURS}.values():
        _compile(what, entry)
    rows: list[Row] = []
    with stopping() as stop:
        for game, players in field:
            if not stop.is_set():
                rows += _measure_game(what, game, players, seconds, rounds, target, solve_limit, step, stop)
        if stop.is_set() and not rows:
            raise KeyboardInterrupt
    return rows


def missing_peers(what: str = "full-width") -> list[str]:
    """The names of the suite's peers that are not installed."""
    return list(dict.fromkeys(entry.name for entry in _entries(what) if not _installed(entry)))


def split_games(text: str) -> list[str]:
    """Split ``leduc,bluff(1,1,5)`` into games, at the commas outside brackets."""
    return split_at_commas(text, text)


# Who takes part


def _entries(what: str) -> tuple[Entry, ...]:
    if what not in SUITES:
        raise FogplayError(f"there is no suite {what!r}; choose {' or '.join(SUITES)}")
    return SUITES[what]


def _installed(entry: Entry) -> bool:
    return importlib.util.find_spec(entry.module) is not None


def _field(entries: Sequence[Entry], game: str) -> list[tuple[Entry, str]]:
    """The contestants that have a game, and the name under which each loads it."""
    theirs = openspiel_name(game)
    names = [(entry, game if entry.name == OURS else theirs) for entry in entries if _installed(entry)]
    return [(entry, name) for entry, name in names if name is not None]


def openspiel_name(game: str) -> str | None:
    """OpenSpiel's name of a game, or None if it does not have it."""
    if game.startswith(PYSPIEL):
        return game[len(PYSPIEL) :]
    return _openspiel_names().get(str(load(game)))


@functools.cache
def _openspiel_names() -> dict[str, str]:
    return {str(load(ours)): theirs for ours, theirs in OPENSPIEL_NAMES.items()}


# Measuring


class _ContestantError(Exception):
    """A contestant failed; the message becomes the row's note."""


class _Seat:
    """One contestant on one game: its processes and measurements."""

    def __init__(self, suite: str, entry: Entry, game: str, called: str) -> None:
        self.entry, self.called = entry, called
        self.rates: list[float] = []  # one per round
        self.shares: list[float] = []
        self.row = Row(suite, game, entry.name, entry.algorithm, entry.race, entry.unit, entry.threads, entry.processes)
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        needed = entry.threads * entry.processes
        self.processes: list[subprocess.Popen[str]] = []
        if needed > (len(cores) or os.cpu_count() or 1):
            self.learn(note=f"needs {needed} cores")
            return
        mine = cores[-needed:]  # the same for all contestants, which never work at the same time
        for number in range(entry.processes):
            pinned = ",".join(map(str, mine[number * entry.threads : (number + 1) * entry.threads]))
            self.processes.append(
                subprocess.Popen(
                    [sys.executable, "-P", contest.__file__, suite, entry.name, entry.algorithm, pinned],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    env=os.environ | ONE_THREAD,
                )
            )

    def ask(self, do: str, **details: Any) -> list[dict[str, Any]]:
        """Send a request to all its processes at once; return their answers."""
        for process in self.processes:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                print(json.dumps({"do": do, **details}), file=process.stdin, flush=True)
        return [self._answer(process, do, details) for process in self.processes]

    def _answer(self, process: subprocess.Popen[str], do: str, details: dict[str, Any]) -> dict[str, Any]:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            code = process.wait()
            late = do == "build" and code < 0 and details["limit"]
            raise _ContestantError(
                f"not built within {details['limit']:g} s" if late else f"{do} ended with exit code {code}"
            )
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise _ContestantError(answer["error"])
        return answer

    def build(self) -> None:
        limit = 0.0 if self.entry.name == OURS else BUILD_LIMIT
        self.learn(**self.ask("build", game=self.called, limit=limit)[0])

    def take_round(self, seconds: float) -> None:
        answers = self.ask("rate_for", seconds=seconds)
        self.rates.append(sum(each["iterations"] / each["seconds"] for each in answers))
        cores = self.entry.threads * self.entry.processes
        self.shares.append(sum(each["cpu_seconds"] / each["seconds"] for each in answers) / cores)
        self.learn(
            iterations_per_second=statistics.median(self.rates),
            slowest_round=min(self.rates),
            fastest_round=max(self.rates),
            rounds=len(self.rates),
            core_share=min(1.0, statistics.median(self.shares)),
            peak_bytes=sum(each["peak_bytes"] for each in answers),
        )

    def learn(self, **facts: Any) -> None:
        self.row = dataclasses.replace(self.row, **facts)

    def close(self, at_once: bool = False) -> None:
        for process in self.processes:
            if at_once:
                process.kill()  # it may be in the middle of a long measurement
            with contextlib.suppress(BrokenPipeError):
                process.communicate()  # closes its stdin, which ends it


def _compile(suite: str, ours: Entry) -> None:
    """Compile fogplay's kernels to disk, so that no measured process holds the compiler's memory."""
    seat = _Seat(suite, ours, "kuhn", "kuhn")
    with _noting(seat):
        seat.build()
    seat.close()


def _measure_game(
    suite: str,
    game: str,
    players: Sequence[tuple[Entry, str]],
    seconds: float,
    rounds: int,
    target: float | None,
    solve_limit: float,
    step: Callable[[str], None],
    stop: Stop,
) -> list[Row]:
    seats = [_Seat(suite, entry, game, called) for entry, called in players]

    def in_turn(what: str) -> Iterator[_Seat]:
        """The contestants that have not failed, one after the other."""
        for seat in seats:
            if stop.is_set():
                raise KeyboardInterrupt
            step(f"{game}: {seat.entry.name}, {what}")
            if not seat.row.note:
                yield seat

    try:
        for seat in in_turn("building"):
            with _noting(seat), stop.at_once():
                seat.build()
        for number in range(rounds):
            for seat in in_turn(f"round {number + 1} of {rounds}"):
                with _noting(seat), stop.at_once():
                    seat.take_round(seconds / rounds)
        for seat in seats:
            if seat.entry.threads > 1 and not seat.row.note:
                with _noting(seat), stop.at_once():
                    seat.learn(lost_share=seat.ask("lost")[0]["lost_share"])
        if target is not None:
            with stop.at_once():
                _to_target(in_turn, target, FIRST_LOOK.get(suite, 1), solve_limit, seconds, rounds)
    except KeyboardInterrupt:
        stop.set()
        return [seat.row for seat in seats if seat.row.rounds]
    finally:
        for seat in seats:
            seat.close(at_once=stop.is_set())
    return [seat.row for seat in seats]


def _to_target(
    in_turn: Callable[[str], Iterator[_Seat]],
    target: float,
    first_look: int,
    solve_limit: float,
    seconds: float,
    rounds: int,
) -> None:
    """Count the iterations to ``target``; then time as many from a fresh start, several times if that is short."""
    found: list[tuple[_Seat, dict[str, Any]]] = []
    for seat in in_turn(f"to nash_conv {target:g}"):
        if not seat.entry.solves:
            continue
        with _noting(seat):
            answer = seat.ask("find", target=target, limit=solve_limit, first=first_look)[0]
            seat.learn(target=target, nash_conv=answer["nash_conv"], iterations_to_target=answer["iterations"])
            if answer["nash_conv"] > target:
                raise _ContestantError(f"nash_conv {answer['nash_conv']:.3g} after {solve_limit:g} s")
            found.append((seat, answer))
    for seat in in_turn("the same without measuring nash_conv"):
        for answer in (answer for who, answer in found if who is seat):
            with _noting(seat):
                runs = max(1, min(rounds, int(seconds / max(answer["seconds"], 1e-9))))
                took = [seat.ask("repeat", iterations=answer["iterations"])[0]["seconds"] for _ in range(runs)]
                seat.learn(seconds_to_target=statistics.median(took))


@contextlib.contextmanager
def _noting(seat: _Seat) -> Iterator[None]:
    """Turn a failure into the row's note; the other contestants continue."""
    try:
        yield
    except _ContestantError as failure:
        seat.learn(note=str(failure))
