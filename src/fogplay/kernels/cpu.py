"""The driver for CPUs: threads that play their own episodes and share the tables."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.kernels.updates import Plain
from fogplay.simulators.streams import streams

Zeros = Callable[..., Any]  # has the signature of numpy.zeros


class CpuDriver:
    """One thread per entry of ``games``, each with its own random stream and scratch buffers.

    ``tables`` builds the shared tables from a function that allocates arrays of zeros and a type that says how to write
    to them. ``scratch`` is a tuple of arrays for the use of one episode; every thread gets a copy.
    """

    def __init__(
        self, run: Any, games: list[Any], tables: Callable[[Zeros, Any], Any], policy: Any, scratch: Any, seed: int
    ) -> None:
        self.run, self.games, self.policy, self.threads = run, games, policy, len(games)
        self.tables = tables(np.zeros, Plain())
        self.rng = streams(seed, len(games))
        self.scratches = [copied(scratch) for _ in games]
        self.pool = ThreadPoolExecutor(len(games)) if len(games) > 1 else None

    def advance(self, first: int, count: int) -> None:
        """Play iterations ``first ... first + count - 1``; each of n threads plays every n-th."""
        if self.pool is None:
            self._play(0, first, count)
        else:
            list(self.pool.map(lambda thread: self._play(thread, first, count), range(len(self.games))))

    def _play(self, thread: int, first: int, count: int) -> None:
        stride = len(self.games)
        mine = len(range(thread, count, stride))
        game, rng, scratch = self.games[thread], self.rng[thread], self.scratches[thread]
        self.run(game, self.tables, self.policy, rng, scratch, first + thread, stride, mine)

    def table(self, name: str) -> NDArray[Any]:
        """One of the tables."""
        found: NDArray[Any] = getattr(self.tables, name)
        return found

    def read(self) -> tuple[Any, NDArray[np.uint64]]:
        """The tables and the random streams, not copied: the caller may write to them."""
        return self.tables, self.rng

    def write(self, tables: Any, rng: NDArray[np.uint64]) -> None:
        """Continue from what ``read`` returned, with the caller's changes; nothing to do, since it was not copied."""

    def fetch(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array of the games that workers write to, as it is now."""
        return array

    def store(self, array: NDArray[Any]) -> None:
        """Go on from what ``fetch`` gave, changed and put into ``array``."""


def copied(scratch: Any) -> Any:
    """A copy of a tuple of arrays."""
    return type(scratch)(*(each.copy() if isinstance(each, np.ndarray) else each for each in scratch))
