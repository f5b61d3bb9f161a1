"""Asking an evaluator: rows that wait for a seat's network are packed, answered in one batch and put back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import kernel
from fogplay.simulators.doudizhu_features import SEEN

Evaluate = Callable[[int, NDArray[np.int64]], NDArray[np.float32]]  # (seat, seen[rows, 32]) -> outputs[rows, 476]
NOBODY = -1  # whom a row asks that waits for nothing
_own = threading.local()  # scratch of every thread: large arrays that come and go cost the system's time


@runtime_checkable
class Together(Protocol):
    """An evaluator that is also asked about several seats at once, which on a GPU takes as long as one."""

    def together(self, questions: Sequence[tuple[int, NDArray[np.int64]]]) -> list[NDArray[np.float32]]:
        """The outputs for each seat and what it sees; the thread's next questions reuse them."""
        ...


def ask(asks: NDArray[np.int8], seen: NDArray[np.int64], outputs: NDArray[np.float32], evaluate: Evaluate) -> bool:
    """Fill ``outputs[rows, 476]`` where ``asks[rows]`` is a seat; return whether there was any."""
    counts, (rows, packed) = np.zeros(3, np.int64), _scratch(len(asks))
    count_rows(asks, counts)
    ends = np.cumsum(counts)
    parts = [(seat, slice(int(ends[seat] - counts[seat]), int(ends[seat]))) for seat in range(3) if counts[seat]]
    for seat, part in parts:
        pack_rows(asks, seat, seen, rows[part], packed[part])
    if isinstance(evaluate, Together):
        answers = evaluate.together([(seat, packed[part]) for seat, part in parts])
        for (_, part), answer in zip(parts, answers, strict=True):
            put_back(rows[part], answer, outputs)
    else:
        for seat, part in parts:
            put_back(rows[part], evaluate(seat, packed[part]), outputs)
    return bool(parts)


def _scratch(size: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """``rows[size]`` and ``packed[size, 32]`` of the calling thread, which its next call reuses."""
    if not hasattr(_own, "rows") or len(_own.rows) < size:
        _own.rows, _own.packed = np.empty(size, np.int32), np.empty((size, SEEN), np.int64)
    return _own.rows, _own.packed


@kernel
def count_rows(asks, counts):
    """Count the rows that ask each seat."""
    for row in range(len(asks)):
        if asks[row] != NOBODY:
            counts[asks[row]] += 1


@kernel
def pack_rows(asks, seat, seen, rows, packed):
    """Copy what a seat's rows see to ``packed[count, 32]``, and note their places in ``rows``."""
    count = 0
    for row in range(len(asks)):
        if asks[row] == seat:
            rows[count] = row
            for word in range(seen.shape[1]):
                packed[count, word] = seen[row, word]
            count += 1


@kernel
def put_back(rows, answers, outputs):
    """Copy ``answers[count, 476]`` to their rows."""
    for place in range(len(answers)):
        for output in range(answers.shape[1]):
            outputs[rows[place], output] = answers[place, output]
