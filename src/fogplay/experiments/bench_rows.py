"""The rows that ``fogplay bench`` measures: what they hold, comparisons between them, and CSV files of them."""

from __future__ import annotations

import csv
import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fogplay import storage
from fogplay.experiments.contestants import OURS


@dataclass(frozen=True)
class Row:
    """One contestant on one game; None: not measured."""

    suite: str
    game: str
    contestant: str
    algorithm: str
    race: str = ""  # contestants of the same race are compared
    unit: str = "iteration"  # what ``iterations`` count
    threads: int = 1  # that share tables
    processes: int = 1  # concurrent runs, whose speeds are summed
    version: str = ""
    nodes: int | None = None
    infosets: int | None = None
    tree_bytes: int | None = None  # the tree's arrays
    table_bytes: int | None = None  # what the solver adds: the sequence form, tables, scratch
    start_seconds: float | None = None  # to import the package and have its code compiled
    start_bytes: int | None = None  # resident after that, before the game is built
    build_seconds: float | None = None  # from the game's name until ready to iterate
    peak_bytes: int | None = None  # peak resident, up to the end of the speed rounds
    iterations_per_second: float | None = None  # the median round
    slowest_round: float | None = None
    fastest_round: float | None = None
    rounds: int | None = None
    core_share: float | None = None  # of its cores' time in the rounds; less than 1 if others used them
    target: float | None = None  # the nash_conv to reach
    iterations_to_target: int | None = None
    seconds_to_target: float | None = None  # spent iterating: the median of several runs
    nash_conv: float | None = None  # after iterations_to_target, or at the time limit
    lost_share: float | None = (
        None  # of the visits at the first decision: threads that share tables overwrite each other
    )
    note: str = ""

    @property
    def nodes_per_second(self) -> float | None:
        """The speed of building."""
        return self.nodes / self.build_seconds if self.nodes and self.build_seconds else None

    @property
    def bytes_per_node(self) -> float | None:
        return self.tree_bytes / self.nodes if self.tree_bytes and self.nodes else None

    @property
    def nanoseconds_per_node(self) -> float | None:
        """The time of one iteration over the whole tree; None for sampling algorithms."""
        if self.unit != "iteration" or not self.iterations_per_second or not self.nodes:
            return None
        return 1e9 / (self.iterations_per_second * self.nodes)


@dataclass(frozen=True)
class Comparison:
    """How many times as fast fogplay is as a peer on one game."""

    game: str
    race: str
    peer: str
    speed: float | None  # iterations per second
    to_target: float | None  # seconds to the same nash_conv


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
    """Write rows as CSV, with numbers in full precision."""
    with storage.atomically(Path(path)) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in dataclasses.fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(dataclasses.asdict(row) for row in rows)


def read_csv(path: str | os.PathLike[str]) -> list[Row]:
    """Read back what ``write_csv`` wrote."""
    kinds = {field.name: str(field.type) for field in dataclasses.fields(Row)}
    with open(path, newline="", encoding="utf-8") as file:
        return [Row(**{name: _read(text, kinds[name]) for name, text in line.items()}) for line in csv.DictReader(file)]


def _read(text: str, kind: str) -> Any:
    if kind == "str":
        return text
    return None if text == "" else int(text) if kind.startswith("int") else float(text)


def _quotient(above: float | None, below: float | None) -> float | None:
    return above / below if above and below else None
