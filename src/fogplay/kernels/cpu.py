"""The driver for CPUs: threads that play their own episodes and share the tables."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.kernels.updates import Plain
from fogplay.simulators.streams import streams

Zeros = Callable[..., Any]  # as numpy.zeros


class CpuDriver:
    """One thread per entry of ``games``, each with its own random stream and scratch buffers.

    ``tables`` makes the shared tables, given a function that makes arrays of zeros and how to write to them;
    ``scratch`` is what an episode works in, a tuple of arrays that every thread gets a copy of.
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
        """Play iterations ``first ... first + count - 1``, every thread each n-th of them."""
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
        """The tables and the random streams: the driver's own, so what is written to them is there."""
        return self.tables, self.rng

    def write(self, tables: Any, rng: NDArray[np.uint64]) -> None:
        """Go on from what ``read`` gave, changed."""

    def fetch(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array of the games that workers write to, as it is now."""
        return array

    def store(self, array: NDArray[Any]) -> None:
        """Go on from what ``fetch`` gave, changed and put into ``array``."""


def copied(scratch: Any) -> Any:
    """A tuple of arrays with arrays of its own."""
    return type(scratch)(*(each.copy() if isinstance(each, np.ndarray) else each for each in scratch))
