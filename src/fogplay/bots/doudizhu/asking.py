"""Asking an evaluator what searches and inference wait for: each different question once, and none a second time.

Rows that wait for the same seat's network are asked in one batch. Many of them ask the same: several worlds of a search
give a player the same hand, and the next search of a game begins where this one has been. Python does little per batch,
since threads that search take turns at it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import kernel, piece
from fogplay.simulators.doudizhu_features import SEEN
from fogplay.simulators.doudizhu_policy import OUTPUTS
from fogplay.simulators.streams import mix

Evaluate = Callable[[int, NDArray[np.int64]], NDArray[np.float32]]  # (seat, seen[rows, 32]) -> outputs[rows, 476]
NOBODY = -1  # whom a row asks that waits for nothing
SEATS = 3
LEAST, MOST = 1 << 14, 1 << 17  # answers kept; 2.2 kB each
_KNOWN = -1  # the question of a row that was answered from memory, or does not ask
_NOWHERE = -1  # the place of an answer that is not kept
_1 = np.uint64(1)


@runtime_checkable
class Together(Protocol):
    """An evaluator that is also asked about several seats at once, which on a GPU takes as long as one."""

    def together(self, questions: Sequence[tuple[int, NDArray[np.int64]]]) -> list[NDArray[np.float32]]:
        """The outputs for each seat and what it sees; the thread's next questions reuse them."""
        ...


class Memory(NamedTuple):
    """Answers, each at the place that its question's key says; a newer one replaces an older one."""

    keys: NDArray[np.uint64]  # [places] 0 where there is none
    seen: NDArray[np.int64]  # [places, 32]
    outputs: NDArray[np.float32]  # [places, 476]
    asked: NDArray[np.int64]  # [places] which of the questions under way will lie here ...
    call: NDArray[np.int64]  # [places] ... if they belong to the call with this number


def memory(places: int) -> Memory:
    """Memory for so many answers, a power of 2."""
    return Memory(
        np.zeros(places, np.uint64),
        np.zeros((places, SEEN), np.int64),
        np.zeros((places, OUTPUTS), np.float32),
        np.zeros(places, np.int64),
        np.zeros(places, np.int64),
    )


class Questions(NamedTuple):
    """What one call has to ask, seat by seat."""

    seen: NDArray[np.int64]  # [rows, 32] a seat's questions begin at ``first``
    place: NDArray[np.int64]  # [rows] of each question's answer in memory, or _NOWHERE
    row: NDArray[np.int64]  # [rows] the question that answers a row, or _KNOWN
    first: NDArray[np.int64]  # [seats]
    asked: NDArray[np.int64]  # [seats] how many there are


def questions(rows: int) -> Questions:
    """Scratch for so many rows."""
    return Questions(
        np.empty((rows, SEEN), np.int64),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.zeros(SEATS, np.int64),
        np.zeros(SEATS, np.int64),
    )


class Asking:
    """Fills rows with an evaluator's answers; it belongs to one thread."""

    def __init__(self, evaluate: Evaluate, places: int = LEAST) -> None:
        self.evaluate, self._memory, self._calls = evaluate, memory(places), 0
        self._at_once = evaluate.together if isinstance(evaluate, Together) else None
        self._scratch = questions(0)  # large arrays that come and go cost the system's time
        self.rows = self.asked = 0  # that waited, and what was asked

    def grow(self, places: int) -> None:
        """Make room for more answers, at most ``MOST``; those it has are forgotten then."""
        wanted = min(1 << (max(places, 1) - 1).bit_length(), MOST)
        if wanted > len(self._memory.keys):
            self._memory = memory(wanted)

    def forget(self) -> None:
        """Forget all answers: rounding depends on the batch that a question was in, so history would show."""
        self._memory.keys[:] = 0

    def fill(self, asks: NDArray[np.int8], seen: NDArray[np.int64], outputs: NDArray[np.float32]) -> bool:
        """Fill ``outputs[rows, 476]`` where ``asks[rows]`` is a seat; return whether there was any.

        ``seen[rows, 32]`` is what the seats see.
        """
        self._calls += 1
        if len(self._scratch.row) < len(asks):
            self._scratch = questions(len(asks))
        own = self._scratch
        waiting = recall(self._memory, asks, seen, outputs, own, self._calls)
        parts = [
            (seat, own.seen[first : first + count])
            for seat, (first, count) in enumerate(zip(own.first.tolist(), own.asked.tolist(), strict=True))
            if count
        ]
        if self._at_once is not None and parts:
            answers = self._at_once(parts)
            for (seat, _), answer in zip(parts, answers, strict=True):
                take(self._memory, asks, outputs, own, seat, answer)
        else:
            for seat, part in parts:
                take(self._memory, asks, outputs, own, seat, self.evaluate(seat, part))
        self.rows, self.asked = self.rows + waiting, self.asked + sum(len(part) for _, part in parts)
        return bool(waiting > 0)


@piece
def key_of(seat, seen):
    """A hash of a question, not 0."""
    key = np.uint64(seat)
    for word in range(len(seen)):
        key = mix(key, seen[word])
    return key | _1


@piece
def equal(one, other):
    """Whether two questions of a seat are the same."""
    different = np.int64(0)
    for word in range(len(one)):
        different |= one[word] ^ other[word]
    return different == 0


@piece
def copy(outputs, row, answers, place):
    """Copy one answer to a row."""
    for output in range(answers.shape[1]):
        outputs[row, output] = answers[place, output]


@kernel
def recall(memory, asks, seen, outputs, own, call):
    """Fill the ``outputs`` that are in memory, lay all other questions into ``own``; return how many rows wait."""
    waiting, last = 0, np.uint64(len(memory.keys) - 1)
    own.asked[:] = 0
    for row in range(len(asks)):
        if asks[row] != NOBODY:
            own.asked[asks[row]] += 1
    for seat in range(SEATS):
        own.first[seat] = waiting
        waiting += own.asked[seat]
    own.asked[:] = 0
    for row in range(len(asks)):
        own.row[row] = _KNOWN
        asker = np.int64(asks[row])
        if asker == NOBODY:
            continue
        key = key_of(asker, seen[row])
        place = np.int64((key >> _1) & last)
        if memory.keys[place] == key and equal(memory.seen[place], seen[row]):
            copy(outputs, row, memory.outputs, place)
            continue
        taken, other = memory.call[place] == call, memory.asked[place]
        new = own.first[asker] + own.asked[asker]
        if taken and own.first[asker] <= other < new and equal(own.seen[other], seen[row]):
            own.row[row] = other
            continue
        own.asked[asker] += 1
        own.row[row] = new
        own.place[new] = _NOWHERE if taken else place
        if not taken:
            memory.call[place], memory.asked[place] = call, new
        for word in range(seen.shape[1]):
            own.seen[new, word] = seen[row, word]
    return waiting


@kernel
def take(memory, asks, outputs, own, seat, answers):
    """Keep the ``answers[questions, 476]`` to a seat's questions, and fill the ``outputs`` of the rows that wait."""
    first = own.first[seat]
    for number in range(own.asked[seat]):
        place = own.place[first + number]
        if place == _NOWHERE:
            continue
        memory.keys[place] = key_of(seat, own.seen[first + number])
        for word in range(own.seen.shape[1]):
            memory.seen[place, word] = own.seen[first + number, word]
        copy(memory.outputs, place, answers, number)
    for row in range(len(asks)):
        if asks[row] == seat and own.row[row] != _KNOWN:
            copy(outputs, row, answers, own.row[row] - first)
