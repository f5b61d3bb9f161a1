"""Lanes of Doudizhu on a GPU: the same source as on a CPU, one thread per lane."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from fogplay.simulators.doudizhu_features import FACTS, OVER, WORDS
from fogplay.simulators.doudizhu_lanes import GROUPS, Lanes, move_lane, observe_lane
from fogplay.simulators.doudizhu_policy import MOST_KICKERS
from fogplay.simulators.streams import many_streams

with warnings.catch_warnings():  # numba's built-in CUDA target warns that it is deprecated
    warnings.simplefilter("ignore")
    import numba.cuda

cuda: Any = numba.cuda
THREADS = 128  # per block
ROWS, COLUMNS = 16, MOST_KICKERS + 1  # of the scratch for kickers


@cuda.jit
def observe_all(step, words, facts, seen, legal, playing, rng):
    """``doudizhu_lanes.observe_all``, one lane per thread."""
    place = cuda.grid(1)
    size = words.shape[1]
    if place < GROUPS * size:
        group, lane = place // size, place % size
        seat = (step + group) % 3
        playing[seat, lane] = observe_lane(
            words[group, lane], facts[group, lane], seat, seen[seat, lane], legal[seat, lane], rng[group, lane]
        )


@cuda.jit
def move_all(step, words, facts, outputs, legal, heat, choice, sets, results, logarithms, rng):
    """``doudizhu_lanes.move_all``, one lane per thread."""
    place = cuda.grid(1)
    size = words.shape[1]
    if place < GROUPS * size:
        ways = cuda.local.array((ROWS, COLUMNS), np.float32)
        group, lane = place // size, place % size
        seat = (step + group) % 3
        logarithms[seat, lane] = move_lane(
            words[group, lane], facts[group, lane], outputs[seat, lane], legal[seat, lane], heat, choice[seat, lane],
            sets[seat, lane], results[seat, lane], ways, rng[group, lane],
        )  # fmt: skip


class LanesOnGpu:
    """Lanes in the memory of a GPU; the arrays that are passed in are those of ``Lanes``, on the same GPU."""

    seen_words, open_words = Lanes.seen_words, Lanes.open_words
    legal_words, num_outputs = Lanes.legal_words, Lanes.num_outputs

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        facts = np.zeros((GROUPS, size, FACTS), np.int32)
        facts[:, :, OVER] = 1
        self.words = cuda.to_device(np.zeros((GROUPS, size, WORDS), np.uint64))
        self.facts = cuda.to_device(facts)
        self.rng = cuda.to_device(many_streams(seed, GROUPS * size).reshape(GROUPS, size, 2))
        self._grid = -(-GROUPS * size // THREADS), THREADS

    def observe(self, step: int, *arrays: Any) -> None:
        """Begin new games where it is their turn, and fill what the seats see."""
        observe_all[self._grid](step, self.words, self.facts, *map(cuda.as_cuda_array, arrays), self.rng)

    def move(self, step: int, outputs: Any, legal: Any, heat: float, *arrays: Any) -> None:
        """Draw a move on every lane from the networks' outputs and make it."""
        here = cuda.as_cuda_array
        move_all[self._grid](
            step, self.words, self.facts, here(outputs), here(legal), np.float32(heat), *map(here, arrays), self.rng
        )
