"""Sources of luck for a table: chance's moves, and the random number for each decision."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fogplay.simulators.streams import streams
from fogplay.simulators.tree import EVEN, alias

_MASK = (1 << 64) - 1
_SCALE = 2.0**-53


class Luck(Protocol):
    """Where a table's randomness comes from."""

    def chance(self, state: Any, before: int) -> int:
        """The action that chance takes at ``state``, after ``before`` earlier moves of chance in this hand."""

    def decision(self, before: int) -> float:
        """A number from [0, 1) for the decision after ``before`` earlier decisions in this hand."""


class Stream:
    """One stream of random numbers for all hands: the numbers of ``simulators.streams`` in plain Python.

    Chance is drawn as ``simulators.tree`` draws it, so that a table and a compiled match play the same hands.
    """

    def __init__(self, rng: NDArray[np.uint64]) -> None:
        """``rng[:2]`` is the state to start from."""
        self._low, self._high = int(rng[0]), int(rng[1])

    @staticmethod
    def seeded(seed: int) -> Stream:
        """The stream of a match with this seed."""
        return Stream(streams(seed, 1)[0])

    def uniform(self) -> float:
        """A number from [0, 1), any multiple of 2^-53."""
        low, high = self._low, self._high
        total = (low + high) & _MASK
        result = (((total << 17) & _MASK | total >> 47) + low) & _MASK
        high ^= low
        self._low = ((low << 49) & _MASK | low >> 15) ^ high ^ (high << 21) & _MASK
        self._high = (high << 28) & _MASK | high >> 36
        return (result >> 11) * _SCALE

    def chance(self, state: Any, before: int) -> int:
        return drawn_outcome(state, self.uniform)

    def decision(self, before: int) -> float:
        return self.uniform()


class Dealt:
    """Luck drawn in advance: chance's moves in order, and a number for every possible decision."""

    def __init__(self, moves: Sequence[int], numbers: Sequence[float]) -> None:
        self._moves, self._numbers = moves, numbers

    def chance(self, state: Any, before: int) -> int:
        return self._moves[before]

    def decision(self, before: int) -> float:
        return self._numbers[before]


class Seeded:
    """Luck that depends only on a seed and the position in the hand: a table rebuilt from its events has the same."""

    def __init__(self, seed: int | str) -> None:
        self._seed = seed

    def _stream(self, kind: str, before: int) -> Stream:
        mixed = hashlib.sha256(f"{self._seed} {kind} {before}".encode()).digest()
        return Stream(np.frombuffer(mixed[:16], np.uint64))

    def chance(self, state: Any, before: int) -> int:
        return drawn_outcome(state, self._stream("chance", before).uniform)

    def decision(self, before: int) -> float:
        return self._stream("decision", before).uniform()


class Given(Seeded):
    """Chance's moves given in order, and random numbers for decisions that depend only on a seed and the position."""

    def __init__(self, moves: Sequence[int], seed: int | str) -> None:
        super().__init__(seed)
        self._moves = moves

    def chance(self, state: Any, before: int) -> int:
        return self._moves[before]


def drawn_outcome(state: Any, uniform: Any) -> int:
    """One of a state's chance outcomes by its probability, by the alias method."""
    outcomes = state.chance_outcomes()
    choice = int(uniform() * len(outcomes))
    tables = _alias_tables(tuple(outcome[1] for outcome in outcomes))
    if tables is not None and uniform() >= tables[0][choice]:
        choice = tables[1][choice]
    return int(outcomes[choice][0])


@functools.lru_cache(maxsize=1 << 12)
def _alias_tables(probabilities: tuple[float, ...]) -> tuple[list[float], list[int]] | None:
    """The tables of ``simulators.tree.alias`` for uneven probabilities; None if they are even."""
    if max(probabilities) - min(probabilities) <= EVEN:
        return None
    count = len(probabilities)
    keep, instead = np.ones(count), np.arange(count, dtype=np.int32)
    alias(np.array(probabilities), 0, count, keep, instead, np.zeros(count, np.int32), np.zeros(count))
    return keep.tolist(), instead.tolist()
