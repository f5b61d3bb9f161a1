"""Buckets: groups of hands of similar strength, which a player treats as the same hand.

A *grid* is a card abstraction. It defines the measure of hand strength, the number of buckets on each of the four
rounds, and their spacing: equal width over [0, 1], as in the papers, or equally many deals per bucket. With 169 buckets
before the flop, each of the 169 classes of hole cards has its own. A spec, such as ``ehs2:169/1000/500/200`` or
``ehs-percentile:169/100/100/100``, describes a grid completely. In ``ehs2-percentile:169/100x10/100x10/200x5``, buckets
are divided by a second number (``nested.py``). The buckets of ``kmeans:169/1000/1000/1000`` are clusters of hands whose
chances on the next round are alike (``clusters.py``).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards import clusters, nested, tables
from fogplay.cards.deck import HANDS, HOLES
from fogplay.cards.index import (
    PREFLOP_CLASSES,
    Index,
    canonical_board,
    canonical_hole,
    flop_entry,
    index,
    preflop_class,
    river_entry,
    turn_entry,
)
from fogplay.cards.nested import Split, percentiles
from fogplay.cards.strength import FULL_SCORE, MEASURES, STEPS, Progress
from fogplay.errors import FogplayError
from fogplay.jit import kernel, piece

PREFLOP, FLOP, TURN, RIVER = range(4)
ROUNDS = ("preflop", "flop", "turn", "river")
PERCENTILE = "-percentile"
KMEANS = "kmeans"  # instead of a measure

_COUNT = re.compile(r"[0-9]+(x[0-9]+)?")
_16 = np.uint64(16)
_HOLES = np.uint64(HOLES)


@dataclass(frozen=True)
class Grid:
    """A card abstraction: the number of buckets on each round, their measure and their spacing."""

    counts: tuple[int, int, int, int] = (169, 1000, 500, 200)
    measure: str = "ehs2"
    percentile: bool = False  # equally many deals per bucket instead of equal width
    parts: tuple[int, int, int, int] = (1, 1, 1, 1)  # of each bucket before they are told apart: 10 in 100x10

    def __post_init__(self) -> None:
        if self.measure not in (*MEASURES, KMEANS):
            known = ", ".join(MEASURES)
            raise FogplayError(f"unknown measure of hand strength '{self.measure}'; choose {known} or {KMEANS}")
        if self.measure == KMEANS and (self.percentile or self.counts[PREFLOP] != PREFLOP_CLASSES):
            raise FogplayError(f"clusters begin after the flop: write {KMEANS}:{PREFLOP_CLASSES}/1000/1000/1000")
        if self.measure == KMEANS and not all(1 <= count <= clusters.MOST for count in self.counts):
            raise FogplayError(f"k-means makes 1 to {clusters.MOST} clusters per round, not {self.counts[1:]}")
        if len(self.counts) != len(ROUNDS) or not all(1 <= count <= STEPS for count in self.counts):
            raise FogplayError(
                f"a grid needs four numbers of buckets from 1 to {STEPS}, for {', '.join(ROUNDS)}, such as "
                f"169/1000/500/200, not {'/'.join(map(str, self.counts))}"
            )
        if self.is_nested and self.measure == KMEANS:
            raise FogplayError(f"clusters have no parts: write {KMEANS}:{PREFLOP_CLASSES}/1000/1000/1000")
        if self.is_nested and not self.percentile:
            raise FogplayError(f"only buckets of equally many deals have parts: write {self.measure}{PERCENTILE}:…")
        if self.parts[PREFLOP] != 1 or not all(each >= 1 for each in self.parts):
            raise FogplayError(
                "buckets have parts from the flop on, at least one: write 169/100x10/100x10/200x5, not "
                f"{self.spec.rpartition(':')[2]}"
            )

    @property
    def is_nested(self) -> bool:
        """Whether some buckets are divided by a second number."""
        return self.parts != (1, 1, 1, 1)

    @property
    def splits(self) -> tuple[Split, Split, Split]:
        """From the flop on: how many buckets there are by the measure, and how many parts each of them has."""
        _, flop, turn, river = ((count // parts, parts) for count, parts in zip(self.counts, self.parts, strict=True))
        return flop, turn, river

    @classmethod
    def parse(cls, spec: str) -> Grid:
        """The grid that a spec describes; the inverse of ``spec``."""
        name, colon, numbers = spec.strip().rpartition(":")
        measure = name.removesuffix(PERCENTILE) if colon else "ehs2"
        words = numbers.split("/")
        if len(words) != len(ROUNDS) or not all(_COUNT.fullmatch(word) for word in words):
            raise FogplayError(
                f"'{spec}' is not a grid; write a measure and four numbers of buckets, such as ehs2:169/1000/500/200, "
                "ehs2-percentile:169/1000/500/200 or ehs2-percentile:169/100x10/100x10/200x5"
            )
        splits = [(int(outer), int(inner or 1)) for outer, _, inner in (word.partition("x") for word in words)]
        preflop, flop, turn, river = (outer * inner for outer, inner in splits)
        first, second, third, fourth = (inner for _, inner in splits)
        return cls((preflop, flop, turn, river), measure, name.endswith(PERCENTILE), (first, second, third, fourth))

    @property
    def spec(self) -> str:
        """The grid as text; the inverse of ``parse``."""
        pairs = zip(self.counts, self.parts, strict=True)
        sizes = (str(count) if parts == 1 else f"{count // max(parts, 1)}x{parts}" for count, parts in pairs)
        return f"{self.measure}{PERCENTILE * self.percentile}:{'/'.join(sizes)}"

    @property
    def digest(self) -> str:
        """A hash that changes with the grid and with the version of the tables."""
        version = f"{tables.VERSION}"
        if self.measure == KMEANS:
            version += f".{clusters.VERSION}"
        elif self.is_nested:
            version += f".{nested.VERSION}"
        return hashlib.sha256(f"{self.spec} {version}".encode()).hexdigest()[:16]

    def require(self, spec: str) -> None:
        """Raise an error unless ``spec``, the grid that something was learned on, is this grid."""
        if Grid.parse(spec) != self:
            raise FogplayError(
                f"this was learned on the grid {spec} and cannot be used on {self.spec}, whose buckets hold other "
                f"hands; use the grid {spec}, or train again"
            )


class Signals(NamedTuple):
    """The arrays from which a kernel looks up a bucket: 430 MB, nearly all of it memory-mapped."""

    boards: Index
    preflop: NDArray[np.uint16]  # [169] the bucket of each class
    flop: NDArray[np.uint16]  # [1755 * 1326] 65536ths, at canonical board * 1326 + canonical hole
    turn: NDArray[np.uint16]  # [16432 * 1326] 65536ths
    river: NDArray[np.uint16]  # [134459 * 1326] half-wins out of 1980; or, as on the flop and turn, buckets
    flop_width: np.uint64  # the number of buckets of equal width; 0: use flop_bucket instead
    turn_width: np.uint64
    flop_bucket: NDArray[np.uint16]  # [65536] by value; empty for buckets of equal width
    turn_bucket: NDArray[np.uint16]
    river_bucket: NDArray[np.uint16]  # [1981] by half-wins; [65536] by bucket


def signals(grid: Grid, progress: Progress | None = None) -> Signals:
    """The signals of a grid; builds the tables first if they are missing."""
    if grid.measure == KMEANS:
        return arrange_clusters(clusters.load(grid.counts[1:], progress))
    if grid.is_nested:
        return arrange_clusters(nested.load(grid.measure, grid.splits, progress))
    return arrange(grid, tables.load(grid.measure, progress))


def prepare(grid: Grid, progress: Callable[[str, int, int], None]) -> None:
    """Build the tables of a grid if they are missing; ``progress`` is told what, how much is done, of how much."""
    if grid.measure == KMEANS:
        tables.load("ehs", lambda done, total: progress(tables.WHAT, done, total))
        clusters.load(grid.counts[1:], lambda done, total: progress(clusters.WHAT, done, total))
    else:
        tables.load(grid.measure, lambda done, total: progress(tables.WHAT, done, total))
        if grid.is_nested:
            nested.load(grid.measure, grid.splits, lambda done, total: progress(nested.WHAT, done, total))


def arrange(grid: Grid, strength: tables.Tables) -> Signals:
    """The signals of a grid over given tables."""
    _, flop, turn, river = grid.counts
    scores = np.arange(FULL_SCORE + 1, dtype=np.int64)
    power = 2 if grid.measure == "ehs2" else 1
    nothing = np.zeros(0, np.uint16)
    if grid.percentile:
        flop_bucket = percentiles(strength.flop_population, flop)
        turn_bucket = percentiles(strength.turn_population, turn)
        river_bucket = percentiles(strength.river_population, river)
        flop = turn = 0
    else:
        flop_bucket = turn_bucket = nothing
        river_bucket = np.minimum(scores**power * river // FULL_SCORE**power, river - 1).astype(np.uint16)
    return Signals(
        boards=index(),
        preflop=_preflop(grid, strength),
        flop=strength.flop.reshape(-1),
        turn=strength.turn.reshape(-1),
        river=strength.river.reshape(-1),
        flop_width=np.uint64(flop),
        turn_width=np.uint64(turn),
        flop_bucket=flop_bucket,
        turn_bucket=turn_bucket,
        river_bucket=river_bucket,
    )


def arrange_clusters(found: clusters.Clusters) -> Signals:
    """The signals of a grid whose tables have buckets instead of values."""
    same = np.arange(STEPS, dtype=np.uint16)
    return Signals(
        boards=index(),
        preflop=same[:PREFLOP_CLASSES],
        flop=found.flop.reshape(-1),
        turn=found.turn.reshape(-1),
        river=found.river.reshape(-1),
        flop_width=np.uint64(0),
        turn_width=np.uint64(0),
        flop_bucket=same,
        turn_bucket=same,
        river_bucket=same,
    )


def _preflop(grid: Grid, strength: tables.Tables) -> NDArray[np.uint16]:
    count = grid.counts[PREFLOP]
    values = strength.preflop.astype(np.int64)
    if count == PREFLOP_CLASSES:
        return np.arange(PREFLOP_CLASSES, dtype=np.uint16)
    if not grid.percentile:
        return (values * count // STEPS).astype(np.uint16)
    by_value = np.bincount(values, weights=strength.preflop_population, minlength=STEPS).astype(np.int64)
    bucket: NDArray[np.uint16] = percentiles(by_value, count)[values]
    return bucket


def bucket_for(signals: Signals, hole: Sequence[int], board: Sequence[int] = ()) -> int:
    """The bucket of one hand, for callers outside compiled code; the number of cards on the board gives the round."""
    tables.check_hand(hole, board)
    street = len(board) - 2 if board else PREFLOP
    return int(_bucket_for(signals, street, *hole, (*board, *(0,) * (5 - len(board)))))


def buckets_of_hands(signals: Signals, board: Sequence[int] = ()) -> NDArray[np.uint16]:
    """``bucket[1326, 4]`` of all hands (``deck.HANDS``) up to a board's round; 0 for hands with one of its cards."""
    tables.check_board(board)
    rounds = len(board) - 1 if board else 1
    buckets = np.zeros((len(HANDS), len(ROUNDS)), np.uint16)
    _fill_buckets(signals, HANDS, (*board, *(0,) * (5 - len(board))), len(board), rounds, buckets)
    return buckets


@kernel
def _fill_buckets(signals, hands, board, known, rounds, buckets):
    for number in range(len(hands)):
        first, second = hands[number, 0], hands[number, 1]
        free = True
        for place in range(known):
            free &= board[place] not in (first, second)
        if free:
            for street in range(rounds):
                buckets[number, street] = bucket_of(signals, street, first, second, board)


@kernel
def _bucket_for(signals, street, first, second, board):
    return bucket_of(signals, street, first, second, board)


@piece
def bucket_of(signals, street, first, second, board):
    """The bucket on a round (0 to 3) of the hole cards ``first`` and ``second``.

    ``board`` is indexable and has length 5, such as a tuple; cards of later rounds are ignored.
    """
    if street == PREFLOP:
        return preflop_bucket(signals, first, second)
    return bucket_on(signals, street, board_entry(signals, street, board), first, second)


@piece
def preflop_bucket(signals, first, second):
    """The bucket before the flop."""
    return np.int64(signals.preflop[np.uint64(preflop_class(first, second))])


@piece
def board_entry(signals, street, board):
    """The board's entry in the index, the same for all players; from the flop on."""
    if street == FLOP:
        return flop_entry(signals.boards, board[0], board[1], board[2])
    if street == TURN:
        return turn_entry(signals.boards, board[0], board[1], board[2], board[3])
    return river_entry(signals.boards, board[0], board[1], board[2], board[3], board[4])


@piece
def bucket_on(signals, street, entry, first, second):
    """The bucket of hole cards on a board whose entry is known."""
    return bucket_at(signals, street, place_of(entry, first, second))


@piece
def place_of(entry, first, second):
    """The position of these hole cards on this board in the round's table: below 2^28."""
    return canonical_board(entry) * _HOLES + canonical_hole(entry, first, second)


@piece
def bucket_at(signals, street, place):
    """The bucket at a position of the round's table."""
    if street == FLOP:
        return _grade(signals.flop[place], signals.flop_width, signals.flop_bucket)
    if street == TURN:
        return _grade(signals.turn[place], signals.turn_width, signals.turn_bucket)
    return np.int64(signals.river_bucket[signals.river[place]])


@piece
def _grade(value, width, bucket):
    """The bucket of a value in 65536ths: one multiplication, or one lookup."""
    if width > 0:
        return np.int64((np.uint64(value) * width) >> _16)
    return np.int64(bucket[value])
