"""Lanes on a GPU: the same source as on a CPU; a thread plays the 64 lanes of one word.

Node values are in global memory as ``[node, word]``, so that neighbouring threads read and write neighbouring words.
"""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np

from fogplay.errors import FogplayError
from fogplay.gdl.circuit import Circuit
from fogplay.gdl.lanes import Outcome, Rows, make_rows, outcome_of, play

with warnings.catch_warnings():  # numba's built-in CUDA target warns that it is deprecated
    warnings.simplefilter("ignore")
    import numba.cuda

cuda: Any = numba.cuda
THREADS = 128  # per block
WORDS = 1 << 16  # threads, for small networks
LARGEST = 8 << 30  # bytes of node values, from which there are fewer threads


@cuda.jit
def play_all(
    circuit: Any, values: Any, start: Any, after: Any, over: Any, small: Any, random: Any, won: Any, plays: Any,
    state: Any,
) -> None:  # fmt: skip
    """``lanes.play``, one word per thread.

    Arrays are those of ``Rows`` with words last; ``small[4, digits, words]`` has counts, drawn, passed and spare. All
    threads write the same to ``start[nodes]``.
    """
    place = cuda.grid(1)
    if place < over.shape[0]:
        rows = Rows(
            values[:, place : place + 1], start, after[:, place : place + 1], over[place : place + 1],
            small[0, :, place : place + 1], small[1, :, place : place + 1], small[2, :, place : place + 1],
            small[3, :, place : place + 1], random[:, place : place + 1], won[:, place], plays[:, place],
        )  # fmt: skip
        play(circuit, rows, state)


class LanesOnGpu:
    """Lanes in the memory of a GPU."""

    def __init__(self, circuit: Circuit, seed: int, width: int | None = None) -> None:
        if not cuda.is_available():
            missing = importlib.util.find_spec("numba_cuda") is None
            what = "an extra package: pip install 'fogplay[gpu]'" if missing else "its driver; use device cpu"
            raise FogplayError(f"device cuda needs an NVIDIA GPU and {what}")
        nodes = circuit.first_gate + len(circuit.left)
        width = width or max(THREADS, min(WORDS, LARGEST // (8 * nodes)))
        self.circuit, self.width = circuit, width
        rows = make_rows(circuit, seed, 1)
        digits = max(len(rows.counts), 4)
        random = np.random.default_rng(seed).integers(1, 2**63, (2, width), np.uint64) | np.uint64(1)
        there: list[Any] = [cuda.to_device(each) if isinstance(each, np.ndarray) else each for each in circuit]
        self._circuit = Circuit(*there)
        self._rows = [
            cuda.device_array((nodes, width), np.uint64),
            cuda.device_array(nodes, np.uint64),
            cuda.device_array((len(circuit.next), width), np.uint64),
            cuda.device_array(width, np.uint64),
            cuda.device_array((4, digits, width), np.uint64),
            cuda.to_device(random),
        ]

    def simulate(self, state: bytes, plays: int) -> Outcome:
        """Random plays from a state; the random numbers go on where the last ones ended."""
        won = cuda.to_device(np.zeros((len(self.circuit.goals), self.width), np.int64))
        shares = np.zeros((4, self.width), np.int64)
        shares[0] = plays // self.width + (np.arange(self.width) < plays % self.width)
        counts = cuda.to_device(shares)
        grid = -(-self.width // THREADS), min(THREADS, self.width)
        there = cuda.to_device(np.frombuffer(state, np.uint8).copy())
        play_all[grid](self._circuit, *self._rows, won, counts, there)
        return outcome_of(self.circuit, won.copy_to_host().sum(1), counts.copy_to_host().sum(1))
