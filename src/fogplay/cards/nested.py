"""Buckets within buckets: hands of similar strength, told apart by a second number.

A grid such as ``ehs2-percentile:169/100x10/100x10/200x5`` has 100 buckets of E[HS²] on the flop, each with equally many
deals, and divides each of them into 10 by a second number, again with equally many deals:

- before the river by the other measure: of hands with the same E[HS²], those with a lower E[HS] win or lose more often
  by what is still to come, as draws do;
- on the river by the strength against the strongest starting hands, which players who have stayed in tend to hold.

All numbers are whole, so every machine finds the same buckets. They are kept in the cache folder.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fogplay import storage
from fogplay.cards import tables
from fogplay.cards.clusters import Clusters, Vectors
from fogplay.cards.deck import HOLES
from fogplay.cards.features import GROUPS
from fogplay.cards.index import boards
from fogplay.cards.strength import MEASURES, STEPS, Progress, Work
from fogplay.errors import FogplayError
from fogplay.jit import kernel, num_cores

VERSION = 1  # of the buckets' contents
KIND = "nested buckets of hands"
WHAT = "the buckets of hands (only once per grid: some seconds, about 400 MB on disk)"
STRONGEST = 3  # groups of starting hands, of eight
RIVER_BOARDS_PER_TASK = 256

Split = tuple[int, int]  # how many buckets, and how many parts each of them has


def load(
    measure: str, splits: tuple[Split, Split, Split], progress: Progress | None = None, threads: int | None = None
) -> Clusters:
    """The bucket of every hand on the flop, the turn and the river; found on the first call."""
    path = _path(measure, splits)
    found = _read(path)
    if found is None:
        made = _make(measure, splits, Work(progress, threads or num_cores()))
        storage.write(path, KIND, made._asdict(), {"version": VERSION})
        found = _read(path)
    if found is None:
        raise FogplayError(f"cannot read back {path}; check the disk, or set FOGPLAY_CACHE")
    return found


def _path(measure: str, splits: tuple[Split, ...]) -> Path:
    sizes = "-".join(f"{outer}x{inner}" for outer, inner in splits)
    return tables.folder() / f"nested-{measure}-{sizes}.safetensors"


def _read(path: Path) -> Clusters | None:
    try:
        arrays, about = storage.read(path, KIND)
    except FogplayError:
        return None
    return Clusters(**arrays) if about.get("version") == VERSION else None


def _make(measure: str, splits: tuple[Split, Split, Split], work: Work) -> Clusters:
    first = tables.load(measure)
    other = tables.load(next(each for each in MEASURES if each != measure))
    flop, turn, river = splits
    work.total = len(boards(5)[0].cards)
    nothing = np.zeros((0, HOLES), np.uint16)
    against = nothing if river[1] == 1 else _against_the_strongest(other, work)
    return Clusters(
        divide(3, flop, first.flop, first.flop_population, other.flop, STEPS),
        divide(4, turn, first.turn, first.turn_population, other.turn, STEPS),
        divide(5, river, first.river, first.river_population, against, 255 * STRONGEST + 1),
    )


def _against_the_strongest(strength: tables.Tables, work: Work) -> NDArray[np.uint16]:
    """[rivers, 1326] the sum of a hand's strengths against the strongest groups of starting hands, in 255ths."""
    found = np.zeros((len(boards(5)[0].cards), HOLES), np.uint16)

    def task(first: int, last: int) -> None:
        vectors = Vectors(strength, 5)
        for board in range(first, last):
            vectors.of(board)[:, GROUPS - STRONGEST :].sum(axis=1, dtype=np.uint16, out=found[board])

    work.share(len(found), RIVER_BOARDS_PER_TASK, 1, task)
    return found


def percentiles(population: NDArray[np.int64], count: int) -> NDArray[np.uint16]:
    """[values] the bucket of each value, such that buckets hold equally many deals, as nearly as whole values allow.

    The middle of a value's deals decides its bucket. A value more frequent than a bucket leaves buckets empty.
    """
    middle = np.cumsum(population) * 2 - population  # twice (the deals below, plus half of its own)
    bucket: NDArray[np.int64] = np.minimum(middle * count // max(2 * int(population.sum()), 1), count - 1)
    return bucket.astype(np.uint16)


def divide(
    size: int,
    split: Split,
    value: NDArray[np.uint16],
    population: NDArray[np.int64],
    second: NDArray[np.uint16],
    seconds: int,
) -> NDArray[np.uint16]:
    """[boards, 1326] the bucket of every hand on boards of one ``size``, by ``value`` and then by ``second``.

    ``population[values]`` counts the deals of each value; second values are below ``seconds``.
    """
    outer, inner = split
    first = percentiles(population, outer)
    if inner == 1:
        return first[value]
    counts = np.zeros((outer, seconds), np.int64)
    canonical, _ = boards(size)
    _count(canonical.cards, canonical.weight, first, value, second, counts)
    parts = np.stack([percentiles(row, inner) + np.uint16(bucket * inner) for bucket, row in enumerate(counts)])
    found = np.zeros(value.shape, np.uint16)
    _assign(first, value, second, parts, found)
    return found


@kernel
def _count(cards, weight, first, value, second, counts):
    """Count the deals in ``counts[buckets, second values]``."""
    for board in range(len(weight)):
        on_board = 0
        for place in range(cards.shape[1]):
            on_board |= 1 << int(cards[board, place])
        hole = 0
        for high in range(1, 52):
            for low in range(high):
                if (on_board >> low | on_board >> high) & 1 == 0:
                    counts[first[value[board, hole]], second[board, hole]] += weight[board]
                hole += 1


@kernel
def _assign(first, value, second, parts, found):
    """Fill ``found[boards, 1326]`` from ``parts[buckets, second values]``."""
    for board in range(found.shape[0]):
        for hole in range(found.shape[1]):
            found[board, hole] = parts[first[value[board, hole]], second[board, hole]]
