"""Random games of Doudizhu on a GPU: the same source as on a CPU, one thread per game, the same games bit for bit."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.simulators.doudizhu_random import random_game

with warnings.catch_warnings():  # numba's built-in CUDA target warns that it is deprecated
    warnings.simplefilter("ignore")
    import numba.cuda

cuda: Any = numba.cuda
THREADS = 128  # per block


@cuda.jit
def play(seed, first, checksums, points, moves):
    """Play game ``first + place`` for every place of the results ``[games]``."""
    place = cuda.grid(1)
    if place < len(checksums):
        rng = cuda.local.array(2, np.uint64)
        checksums[place], points[place], moves[place] = random_game(seed, first + place, rng)


class RandomGamesOnGpu:
    """Buffers for ``count`` games at a time in the memory of a GPU."""

    def __init__(self, count: int) -> None:
        if not cuda.is_available():
            missing = importlib.util.find_spec("numba_cuda") is None
            what = "an extra package: pip install 'fogplay[gpu]'" if missing else "its driver; use device cpu"
            raise FogplayError(f"device cuda needs an NVIDIA GPU and {what}")
        self.count = count
        self.there = [cuda.to_device(np.zeros(count, kind)) for kind in (np.uint64, np.int32, np.int32)]

    def launch(self, seed: int, first: int) -> None:
        """Start to play games ``first``, ``first + 1``, …, without waiting for their end."""
        play[-(-self.count // THREADS), min(THREADS, self.count)](seed, first, *self.there)

    def wait(self) -> None:
        """Wait for the end of all games."""
        cuda.synchronize()

    def play(self, seed: int, first: int) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32]]:
        """The same as ``doudizhu_random.random_games``."""
        self.launch(seed, first)
        checksums, points, moves = (each.copy_to_host() for each in self.there)
        return checksums, points, moves
