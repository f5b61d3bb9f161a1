"""The driver for CPUs: threads that play their own episodes and share the tables."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.kernels.updates import Plain
from fogplay.simulators.random import streams

Zeros = Callable[..., Any]  # as numpy.zeros


class Threads:
    """So many threads as there are ``games``, each with a random stream and a room of its own.

    ``tables`` is asked for the tables, given a function that makes arrays of zeros and the way to write to them;
    ``room`` is what an episode needs to work in, as a tuple of arrays to make copies of.
    """

    def __init__(
        self, run: Any, games: list[Any], tables: Callable[[Zeros, Any], Any], policy: Any, room: Any, seed: int
    ) -> None:
        self.run, self.games, self.policy, self.threads = run, games, policy, len(games)
        self.tables = tables(np.zeros, Plain())
        self.rng = streams(seed, len(games))
        self.rooms = [copied(room) for _ in games]
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
        game, rng, room = self.games[thread], self.rng[thread], self.rooms[thread]
        self.run(game, self.tables, self.policy, rng, room, first + thread, stride, mine)

    def table(self, name: str) -> NDArray[Any]:
        """One of the tables."""
        found: NDArray[Any] = getattr(self.tables, name)
        return found

    def read(self) -> tuple[Any, NDArray[np.uint64]]:
        """The tables and the random streams: the driver's own, so what is written to them is there."""
        return self.tables, self.rng

    def write(self, tables: Any, rng: NDArray[np.uint64]) -> None:
        """Go on from what ``read`` gave, changed."""


def copied(room: Any) -> Any:
    """A tuple of arrays with arrays of its own."""
    return type(room)(*(each.copy() if isinstance(each, np.ndarray) else each for each in room))
