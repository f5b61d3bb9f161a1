"""``fogplay bench``: side by side with the peers that are installed, on one core, in one run.

A suite is a list of contestants and of games: full-width (CFR+), sampling (Monte Carlo CFR and search, units counted
alike), and threads (fogplay alone, what a second core brings).

Every contestant has a process of its own and works while the others wait. Speed is taken in short rounds in turn, so
that a noisy moment of the machine hits all alike; the median counts, and the slowest and fastest round are told.
"""

from __future__ import annotations

import contextlib
import csv
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
from typing import Any, NamedTuple

from fogplay.errors import FogplayError
from fogplay.experiments import contestants
from fogplay.experiments.contestants import OURS, SUITES, Entry
from fogplay.games.game import PYSPIEL
from fogplay.games.registry import load, split_at_commas

GAMES = {  # measured by default, suite by suite
    "full-width": (
        "leduc", "bluff(1,1,5)", "kuhn", "ocp(13)", "ocp(50)", "ocp(100)", "ocp(200)", "ocp(500)",
    ),
    "sampling": ("leduc", "bluff(1,1,5)", "kuhn", "ocp(13)", "ocp(50)", "ocp(200)", "ocp(500)"),
    "threads": ("bluff(1,1,6)", "leduc"),
}  # fmt: skip
OPENSPIEL_NAMES = {  # the same game by the name under which peers load it
    "kuhn": "kuhn_poker",
    "kuhn(players=3)": "kuhn_poker(players=3)",
    "leduc": "leduc_poker",
    **{f"bluff(1,1,{faces})": f"liars_dice(dice_sides={faces})" for faces in range(3, 7)},
}
SECONDS = 5.0
ROUNDS = 5
TARGETS: dict[str, float | None] = {"full-width": 0.01, "sampling": 0.5, "threads": None}  # nash_conv
FIRST_LOOK = {"sampling": 1000}  # iterations before nash_conv is looked at; 1 elsewhere
BUILD_LIMIT = 60.0  # seconds that a peer has to build a game
SOLVE_LIMITS = {"full-width": 60.0, "sampling": 20.0, "threads": 0.0}  # seconds of iterating to reach the target
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


@dataclass(frozen=True)
class Row:
    """One contestant on one game; None where it has nothing to say."""

    suite: str
    game: str
    contestant: str
    algorithm: str
    race: str = ""  # who is compared with whom on a game: those of one race
    unit: str = "iteration"  # what is counted as one
    threads: int = 1  # that share tables
    processes: int = 1  # side by side, their speeds added up
    version: str = ""
    nodes: int | None = None
    infosets: int | None = None
    tree_bytes: int | None = None  # the tree's arrays
    table_bytes: int | None = None  # what the solver adds: the sequence form, what is learned, room to work in
    start_seconds: float | None = None  # to import the package and have its code compiled
    start_bytes: int | None = None  # resident after that, right before the game is built
    build_seconds: float | None = None  # from the game's name to ready to iterate
    peak_bytes: int | None = None  # resident at most, up to the end of the speed rounds
    iterations_per_second: float | None = None  # the median round
    slowest_round: float | None = None
    fastest_round: float | None = None
    rounds: int | None = None
    core_share: float | None = None  # of its cores' time that it got in the rounds; less than 1 where others worked too
    target: float | None = None  # the nash_conv to reach
    iterations_to_target: int | None = None
    seconds_to_target: float | None = None  # of iterating: the median of several runs
    nash_conv: float | None = None  # reached after iterations_to_target, or when the time was over
    lost_share: float | None = None  # of visits, where play begins: threads that share tables write over one another
    note: str = ""

    @property
    def nodes_per_second(self) -> float | None:
        """Of building."""
        return self.nodes / self.build_seconds if self.nodes and self.build_seconds else None

    @property
    def bytes_per_node(self) -> float | None:
        return self.tree_bytes / self.nodes if self.tree_bytes and self.nodes else None

    @property
    def nanoseconds_per_node(self) -> float | None:
        """Of one iteration over the whole tree; None for those that sample."""
        if self.unit != "iteration" or not self.iterations_per_second or not self.nodes:
            return None
        return 1e9 / (self.iterations_per_second * self.nodes)


@dataclass(frozen=True)
class Progress:
    """How far a bench is."""

    done: int
    steps: int
    what: str


@dataclass(frozen=True)
class Comparison:
    """How many times as fast fogplay is as a peer on one game."""

    game: str
    race: str
    peer: str
    speed: float | None  # iterations a second
    to_target: float | None  # seconds to the same nash_conv


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
    """Measure every installed contestant of a suite, ``seconds`` for each measurement, cut into ``rounds``.

    ``target`` is the nash_conv to reach, in ``solve_limit`` seconds; the suite's own by default, and where it has none
    that is not measured.
    A contestant that fails on a game leaves a row with a note; one that has no such game leaves none.
    """
    entries = _entries(what)
    if not (math.isfinite(seconds) and seconds > 0):
        raise FogplayError(f"seconds must be a number above 0, not {seconds!r}")
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
    for game, players in field:
        rows += _measure_game(what, game, players, seconds, rounds, target, solve_limit, step)
    return rows


def missing_peers(what: str = "full-width") -> list[str]:
    """The names of the suite's peers that are not installed."""
    return list(dict.fromkeys(entry.name for entry in _entries(what) if not _installed(entry)))


def compare(rows: Sequence[Row]) -> list[Comparison]:
    """fogplay against each peer, game by game and race by race."""
    ours = {(row.game, row.race): row for row in rows if row.contestant == OURS}
    return [
        Comparison(
            row.game,
            row.race,
            row.contestant,
            _quotient(mine.iterations_per_second, row.iterations_per_second),
            _quotient(row.seconds_to_target, mine.seconds_to_target),
        )
        for row in rows
        if row.contestant != OURS and (mine := ours.get((row.game, row.race)))
    ]


def speedups(rows: Sequence[Row]) -> list[float | None]:
    """How many times as fast each row is as one thread at the same race on the same game."""
    alone = {(row.game, row.race): row for row in rows if row.threads * row.processes == 1}
    found = [alone.get((row.game, row.race), row) for row in rows]
    return [
        _quotient(row.iterations_per_second, one.iterations_per_second) for row, one in zip(rows, found, strict=True)
    ]


def write_csv(rows: Sequence[Row], path: str | os.PathLike[str]) -> None:
    """Write rows as CSV, every number in full."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in dataclasses.fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(dataclasses.asdict(row) for row in rows)


def read_csv(path: str | os.PathLike[str]) -> list[Row]:
    """Read back what ``write_csv`` wrote."""
    kinds = {field.name: str(field.type) for field in dataclasses.fields(Row)}
    with open(path, newline="", encoding="utf-8") as file:
        return [Row(**{name: _read(text, kinds[name]) for name, text in line.items()}) for line in csv.DictReader(file)]


def split_games(text: str) -> list[str]:
    """``leduc,bluff(1,1,5)`` into its games: commas inside brackets stay."""
    return split_at_commas(text, text)


def _read(text: str, kind: str) -> Any:
    if kind == "str":
        return text
    return None if text == "" else int(text) if kind.startswith("int") else float(text)


def _quotient(above: float | None, below: float | None) -> float | None:
    return above / below if above and below else None


# Who takes part


def _entries(what: str) -> tuple[Entry, ...]:
    if what not in SUITES:
        raise FogplayError(f"there is no suite {what!r}; there is {', '.join(SUITES)}")
    return SUITES[what]


def _installed(entry: Entry) -> bool:
    return importlib.util.find_spec(entry.module) is not None


def _field(entries: Sequence[Entry], game: str) -> list[tuple[Entry, str]]:
    """Who plays a game, and by what name each loads it."""
    theirs = openspiel_name(game)
    names = [(entry, game if entry.name == OURS else theirs) for entry in entries if _installed(entry)]
    return [(entry, name) for entry, name in names if name is not None]


def openspiel_name(game: str) -> str | None:
    """What OpenSpiel calls a game, or None where it has none such."""
    if game.startswith(PYSPIEL):
        return game[len(PYSPIEL) :]
    return _openspiel_names().get(str(load(game)))


@functools.cache
def _openspiel_names() -> dict[str, str]:
    return {str(load(ours)): theirs for ours, theirs in OPENSPIEL_NAMES.items()}


# Measuring


class _ContestantError(Exception):
    """A contestant that cannot go on; its message is the row's note."""


class _Seat:
    """One contestant at one game: its process and what was measured of it."""

    def __init__(self, suite: str, entry: Entry, game: str, called: str) -> None:
        self.entry, self.called = entry, called
        self.rates: list[float] = []  # a round each
        self.shares: list[float] = []
        self.row = Row(suite, game, entry.name, entry.algorithm, entry.race, entry.unit, entry.threads, entry.processes)
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        needed = entry.threads * entry.processes
        self.processes: list[subprocess.Popen[str]] = []
        if needed > (len(cores) or os.cpu_count() or 1):
            self.learn(note=f"needs {needed} cores")
            return
        mine = cores[-needed:]  # the same for all, who never work at the same time
        for number in range(entry.processes):
            pinned = ",".join(map(str, mine[number * entry.threads : (number + 1) * entry.threads]))
            self.processes.append(
                subprocess.Popen(
                    [sys.executable, "-P", contestants.__file__, suite, entry.name, entry.algorithm, pinned],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    env=os.environ | ONE_THREAD,
                )
            )

    def ask(self, do: str, **details: Any) -> list[dict[str, Any]]:
        """Have all its processes do something at the same time; what each says."""
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
        told = self.ask("rate_for", seconds=seconds)
        self.rates.append(sum(each["iterations"] / each["seconds"] for each in told))
        cores = self.entry.threads * self.entry.processes
        self.shares.append(sum(each["cpu_seconds"] / each["seconds"] for each in told) / cores)
        self.learn(
            iterations_per_second=statistics.median(self.rates),
            slowest_round=min(self.rates),
            fastest_round=max(self.rates),
            rounds=len(self.rates),
            core_share=min(1.0, statistics.median(self.shares)),
            peak_bytes=sum(each["peak_bytes"] for each in told),
        )

    def learn(self, **facts: Any) -> None:
        self.row = dataclasses.replace(self.row, **facts)

    def close(self) -> None:
        for process in self.processes:
            with contextlib.suppress(BrokenPipeError):
                process.communicate()  # closes its stdin, which ends it


def _compile(suite: str, ours: Entry) -> None:
    """Have fogplay's kernels on disk, so that no process measured holds what only the compiler needs."""
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
) -> list[Row]:
    with contextlib.ExitStack() as stack:
        seats = [_Seat(suite, entry, game, called) for entry, called in players]
        for seat in seats:
            stack.callback(seat.close)

        def in_turn(what: str) -> Iterator[_Seat]:
            """Those still in, one after the other; one that fails drops out with a note."""
            for seat in seats:
                step(f"{game}: {seat.entry.name}, {what}")
                if not seat.row.note:
                    yield seat

        for seat in in_turn("building"):
            with _noting(seat):
                seat.build()
        for number in range(rounds):
            for seat in in_turn(f"round {number + 1} of {rounds}"):
                with _noting(seat):
                    seat.take_round(seconds / rounds)
        for seat in seats:
            if seat.entry.threads > 1 and not seat.row.note:
                with _noting(seat):
                    seat.learn(lost_share=seat.ask("lost")[0]["lost_share"])
        if target is not None:
            _to_target(in_turn, target, FIRST_LOOK.get(suite, 1), solve_limit, seconds, rounds)
    return [seat.row for seat in seats]


def _to_target(
    in_turn: Callable[[str], Iterator[_Seat]],
    target: float,
    first_look: int,
    solve_limit: float,
    seconds: float,
    rounds: int,
) -> None:
    """How many iterations to ``target``; then as many from a fresh start, without looking, several times if short."""
    found: list[tuple[_Seat, dict[str, Any]]] = []
    for seat in in_turn(f"to nash_conv {target:g}"):
        if not seat.entry.solves:
            continue
        with _noting(seat):
            told = seat.ask("find", target=target, limit=solve_limit, first=first_look)[0]
            seat.learn(target=target, nash_conv=told["nash_conv"], iterations_to_target=told["iterations"])
            if told["nash_conv"] > target:
                raise _ContestantError(f"nash_conv {told['nash_conv']:.3g} when {solve_limit:g} s were over")
            found.append((seat, told))
    for seat in in_turn("the same without looking"):
        for told in (told for who, told in found if who is seat):
            with _noting(seat):
                runs = max(1, min(rounds, int(seconds / max(told["seconds"], 1e-9))))
                took = [seat.ask("repeat", iterations=told["iterations"])[0]["seconds"] for _ in range(runs)]
                seat.learn(seconds_to_target=statistics.median(took))


@contextlib.contextmanager
def _noting(seat: _Seat) -> Iterator[None]:
    """A failure becomes the row's note, and the others go on."""
    try:
        yield
    except _ContestantError as failure:
        seat.learn(note=str(failure))


# For people


class Table(NamedTuple):
    """Something to print."""

    title: str
    columns: tuple[str, ...]
    lines: list[tuple[str, ...]]


def tables(rows: Sequence[Row]) -> list[Table]:
    """What a person reads: everyone on the games that peers have, then how fogplay's cost grows."""
    if any(row.threads * row.processes > 1 for row in rows):
        return [_sharing(rows)]
    compared = {(each.game, each.race, each.peer): each for each in compare(rows)}
    shared = [row for row in rows if any(row.game == game for game, _, _ in compared)]
    ours = sorted((row for row in rows if row.contestant == OURS), key=lambda row: row.nodes or 0)
    speed: list[tuple[str, ...]] = []
    quality: list[tuple[str, ...]] = []
    size: list[tuple[str, ...]] = []
    for row in shared:
        against = compared.get((row.game, row.race, row.contestant))
        spread = f"{_show(row.slowest_round)} to {_show(row.fastest_round)}" if row.rounds else ""
        iterations = f"{row.iterations_to_target:,}" if row.iterations_to_target else ""
        who = (row.game, f"{row.contestant} {row.version}", row.algorithm)
        times = _times(against.speed if against else None)
        speed.append((*who, f"{row.unit}s", _show(row.iterations_per_second), spread, times, row.note))
        if row.target:
            times = _times(against.to_target if against else None)
            quality.append((*who, iterations, _show(row.seconds_to_target), times))
        size.append((*who, _show(row.build_seconds), _megabytes(row.start_bytes), _megabytes(row.peak_bytes)))
    targets = " or ".join(sorted({f"{row.target:g}" for row in rows if row.target}))
    side_by_side = [
        Table(
            "Speed: the median round, and how many times as fast fogplay is",
            ("game", "contestant", "algorithm", "unit", "units/s", "slowest to fastest", "fogplay's", ""),
            speed,
        ),
        Table(
            f"Seconds of iterating to nash_conv {targets}, from a fresh start",
            ("game", "contestant", "algorithm", "units", "seconds", "fogplay's"),
            quality,
        ),
        Table(
            "Memory of the process: right before the game is built, and at most while it iterates",
            ("game", "contestant", "algorithm", "build s", "MB before", "MB at most"),
            size,
        ),
    ]
    return [*(side_by_side if shared else []), *_growth(ours)]


def _growth(rows: Sequence[Row]) -> list[Table]:
    """By game, from small to large; where several algorithms ran, the first says what building costs."""
    first = {row.game: row for row in reversed(rows)}
    building: list[tuple[str, ...]] = []
    iterating: list[tuple[str, ...]] = []
    for row in rows:
        what = (row.game, f"{row.nodes:,}" if row.nodes else row.note)
        if row is first[row.game]:
            built = (_show(row.build_seconds), _show(row.nodes_per_second))
            building.append((*what, *built, _megabytes(row.tree_bytes), _show(row.bytes_per_node)))
        each = 1e9 / row.iterations_per_second if row.iterations_per_second else None
        cost = (f"{row.unit}s", _show(row.iterations_per_second), _show(each), _show(row.nanoseconds_per_node))
        iterating.append((*what, row.algorithm, *cost, _megabytes(row.table_bytes), _megabytes(row.peak_bytes)))
    return [
        Table(
            "How fogplay's cost grows: building the tree",
            ("game", "nodes", "seconds", "nodes/s", "MB", "bytes/node"),
            building,
        ),
        Table(
            "How fogplay's cost grows: iterating, and the memory of the whole process",
            ("game", "nodes", "algorithm", "unit", "units/s", "ns each", "ns/node", "MB of tables", "MB at most"),
            iterating,
        ),
    ]


def _sharing(rows: Sequence[Row]) -> Table:
    lines: list[tuple[str, ...]] = []
    for row, times in zip(rows, speedups(rows), strict=True):
        alone = row.threads * row.processes == 1
        spread = f"{_show(row.slowest_round)} to {_show(row.fastest_round)}" if row.rounds else ""
        lost = "" if row.lost_share is None else f"{100 * row.lost_share:.2g} %"
        got = "" if row.core_share is None else f"{100 * row.core_share:.0f} %"
        rate = _show(row.iterations_per_second)
        lines.append((row.game, row.algorithm, rate, spread, "" if alone else _times(times), got, lost, row.note))
    columns = ("game", "algorithm", "episodes/s", "slowest to fastest", "one thread's", "of its cores", "lost", "")
    return Table("A second core: two threads that share tables, or two runs side by side", columns, lines)


def _times(ratio: float | None) -> str:
    return f"{_show(ratio)} ×" if ratio else ""


def _show(number: float | None) -> str:
    """Three digits that count, without an exponent."""
    if number is None:
        return ""
    digits = 2 - math.floor(math.log10(abs(number))) if number else 0
    return f"{round(number, digits):,.{max(digits, 0)}f}"


def _megabytes(size: int | None) -> str:
    return _show(size / 1e6) if size is not None else ""
