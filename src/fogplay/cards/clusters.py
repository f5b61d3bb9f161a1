"""Buckets by k-means: hands whose chances on later rounds are alike, not only their average strength.

A grid such as ``kmeans:169/1000/1000/1000`` has clusters of the vectors of ``features.py`` from the flop on; what a
hand was on an earlier round is forgotten. Centres are found on the first use, from a sample of hands, and then every
hand goes to the nearest one. All numbers are whole, so every machine finds the same buckets and no centres need be
shipped. The tables of a grid take some minutes of two cores and 400 MB in the cache folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay import storage
from fogplay.cards import tables
from fogplay.cards.deck import CARDS, HOLES
from fogplay.cards.evaluator import STRENGTHS, evaluator
from fogplay.cards.features import GROUPS, LENGTH, next_strengths, strengths_by_group
from fogplay.cards.index import boards
from fogplay.cards.strength import Progress, Work
from fogplay.errors import FogplayError
from fogplay.jit import kernel, num_cores

VERSION = 1  # of the clusters' contents
KIND = "clusters of hands"
WHAT = "the clusters of hands (only once per grid: some minutes, about 400 MB on disk)"
MOST = 9000  # clusters per round
SAMPLE = 30  # hands per cluster from which centres are found ...
LEAST_SAMPLE = 20_000  # ... and at least so many
STEPS = 12  # of k-means
_PER_TASK = {3: 8, 4: 32, 5: 64}  # boards
_COST = {3: 4, 4: 4, 5: 1}


class Clusters(NamedTuple):
    """The cluster of every hand: at canonical board and canonical hole cards."""

    flop: NDArray[np.uint16]  # [1755, 1326]
    turn: NDArray[np.uint16]  # [16432, 1326]
    river: NDArray[np.uint16]  # [134459, 1326]


def load(counts: tuple[int, int, int], progress: Progress | None = None, threads: int | None = None) -> Clusters:
    """The clusters of a grid with so many on the flop, the turn and the river; built on the first call."""
    if not all(1 <= count <= MOST for count in counts):
        raise FogplayError(f"k-means makes 1 to {MOST} clusters per round, not {'/'.join(map(str, counts))}")
    path = _path(counts)
    found = _read(path)
    if found is None:
        strength = tables.load("ehs")
        work = Work(progress, threads or num_cores())
        work.total = sum(_COST[size] * len(boards(size)[0].cards) for size in LENGTH)
        made = [_cluster(strength, size, count, work) for size, count in zip(LENGTH, counts, strict=True)]
        storage.write(path, KIND, Clusters(*made)._asdict(), {"version": VERSION})
        found = _read(path)
    if found is None:
        raise FogplayError(f"cannot read back {path}; check the disk, or set FOGPLAY_CACHE")
    return found


def _path(counts: tuple[int, int, int]) -> Path:
    return tables.folder() / f"clusters-{'-'.join(map(str, counts))}.safetensors"


def _read(path: Path) -> Clusters | None:
    try:
        arrays, about = storage.read(path, KIND)
    except FogplayError:
        return None
    return Clusters(**arrays) if about.get("version") == VERSION else None


class Vectors:
    """The vectors of all hands on a board of one round, for one thread."""

    def __init__(self, strength: tables.Tables, size: int) -> None:
        self.size, self.strength, self.group = size, strength, groups(strength)
        self.vectors = np.zeros((HOLES, LENGTH[size]), np.uint8)
        self.cards = boards(size)[0].cards.astype(np.int64)
        self.scratch = np.zeros(HOLES, np.int64), np.zeros(HOLES, np.int64), np.zeros(STRENGTHS + 1, np.int64)
        self.counts = np.zeros((CARDS + 1, GROUPS), np.int64), np.zeros((CARDS + 1, GROUPS), np.int64)

    def of(self, board: int) -> NDArray[np.uint8]:
        """[1326, length] on a canonical board; what is returned is overwritten by the next call."""
        if self.size == 5:
            strengths_by_group(evaluator(), self.group, self.cards[board], self.vectors, *self.scratch, *self.counts)
            return self.vectors
        table = self.strength.river if self.size == 4 else self.strength.turn
        next_strengths(
            boards(self.size + 1)[1], table, self.size == 4, self.cards[board], np.zeros(5, np.int64),
            np.zeros(CARDS, np.uint64), self.vectors, self.scratch[0],
        )  # fmt: skip
        return self.vectors


def groups(strength: tables.Tables) -> NDArray[np.int64]:
    """[169] the group of each class of hole cards: equally many hands in each, in order of strength."""
    order = np.argsort(strength.preflop, kind="stable")
    middle = np.cumsum(strength.preflop_population[order]) * 2 - strength.preflop_population[order]
    found = np.zeros(len(order), np.int64)
    found[order] = middle * GROUPS // (2 * int(strength.preflop_population.sum()))
    return found


def _cluster(strength: tables.Tables, size: int, count: int, work: Work) -> NDArray[np.uint16]:
    """[boards, 1326] the cluster of every hand of a round."""
    cards = boards(size)[0].cards
    centres = find_centres(sample(strength, size, max(LEAST_SAMPLE, SAMPLE * count)), count)
    found = np.zeros((len(cards), HOLES), np.uint16)
    sums = centres.sum(axis=1, dtype=np.int64)

    def task(first: int, last: int) -> None:
        vectors = Vectors(strength, size)
        for board in range(first, last):
            nearest(vectors.of(board), centres, sums, found[board])

    work.share(len(cards), _PER_TASK[size], _COST[size], task)
    return found


def sample(strength: tables.Tables, size: int, hands: int, per_board: int = 20) -> NDArray[np.uint8]:
    """[hands, length] vectors of hands that are drawn as they are dealt, some on each board; the same at every call."""
    canonical, _ = boards(size)
    raw = np.random.PCG64(size).random_raw  # the same in every version of numpy, unlike what is derived from it
    ends = np.cumsum(canonical.weight).astype(np.uint64)
    drawn, parts = Vectors(strength, size), []
    holes = np.array([(low, high) for high in range(CARDS) for low in range(high)])
    for board in np.searchsorted(ends, raw(-(-hands // per_board)) % ends[-1], side="right"):
        allowed = np.flatnonzero(~np.isin(holes, canonical.cards[board]).any(axis=1))
        parts.append(drawn.of(int(board))[allowed[raw(per_board) % np.uint64(len(allowed))]])
    return np.concatenate(parts)[:hands]


def find_centres(vectors: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """[count, length] centres by k-means, in order of their sums.

    They begin at vectors that are evenly spaced in order of sums. A centre that loses all its vectors moves to the
    vector that is farthest from its own.
    """
    order = np.lexsort((*vectors.T, vectors.sum(axis=1, dtype=np.int64)))
    centres = vectors[order[(2 * np.arange(count) + 1) * len(order) // (2 * count)]].copy()
    nearest_of, distance = np.zeros(len(vectors), np.uint16), np.zeros(len(vectors), np.int64)
    totals, members = np.zeros(centres.shape, np.int64), np.zeros(count, np.int64)
    for _ in range(STEPS):
        centres = _in_order(centres)
        nearest(vectors, centres, centres.sum(axis=1, dtype=np.int64), nearest_of, distance)
        move(vectors, nearest_of, distance, totals, members, centres)
    return _in_order(centres)


def _in_order(centres: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return centres[np.lexsort((*centres.T, centres.sum(axis=1, dtype=np.int64)))]


def nearest(
    vectors: NDArray[np.uint8],
    centres: NDArray[np.uint8],
    sums: NDArray[np.int64],
    found: NDArray[np.uint16],
    distance: NDArray[Any] | None = None,
) -> None:
    """Write the nearest of the centres, which are in order, to ``found[n]``, and how far it is to ``distance[n]``."""
    _nearest(vectors, centres, sums, found, np.zeros(0, np.int64) if distance is None else distance)


@kernel
def _nearest(vectors, centres, sums, found, distance):
    """The sums of two vectors differ at most by their distance, so only centres of similar sums are compared."""
    length = vectors.shape[1]
    for number in range(len(vectors)):
        total = np.int64(0)
        for place in range(length):
            total += np.int64(vectors[number, place])
        low, high = 0, len(sums)
        while low < high:
            middle = (low + high) // 2
            if sums[middle] < total:
                low = middle + 1
            else:
                high = middle
        up, down = low, low - 1
        best, chosen = np.int64(1 << 40), np.int64(0)
        while True:
            above = sums[up] - total if up < len(sums) else np.int64(1 << 40)
            below = total - sums[down] if down >= 0 else np.int64(1 << 40)
            if min(above, below) > best or (up >= len(sums) and down < 0):
                break
            at = up if above < below else down
            if above < below:
                up += 1
            else:
                down -= 1
            apart = np.int64(0)
            for place in range(length):
                apart += abs(np.int64(vectors[number, place]) - np.int64(centres[at, place]))
            if apart < best or (apart == best and at < chosen):
                best, chosen = apart, np.int64(at)
        found[number] = chosen
        if len(distance) > 0:
            distance[number] = best


@kernel
def move(vectors, nearest, distance, totals, members, centres):
    """Move each of ``centres`` to the mean of its vectors; ``totals`` and ``members`` are scratch."""
    totals[:], members[:] = 0, 0
    for number in range(len(vectors)):
        members[nearest[number]] += 1
        for place in range(vectors.shape[1]):
            totals[nearest[number], place] += np.int64(vectors[number, place])
    for centre in range(len(centres)):
        if members[centre] > 0:
            for place in range(vectors.shape[1]):
                centres[centre, place] = (2 * totals[centre, place] + members[centre]) // (2 * members[centre])
        else:
            farthest = 0
            for number in range(len(vectors)):
                if distance[number] > distance[farthest]:
                    farthest = number
            distance[farthest] = 0
            for place in range(vectors.shape[1]):
                centres[centre, place] = vectors[farthest, place]
