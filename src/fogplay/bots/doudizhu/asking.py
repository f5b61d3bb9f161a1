"""Asking an evaluator what searches and inference wait for: each different question once, and none a second time.

Rows that wait for the same seat's network are asked in one batch. Many of them ask the same: several worlds of a search
give a player the same hand, and the next search of a game begins where this one has been. Questions lie on a desk; an
evaluator that attends to desks answers without a word of Python (``fogplay/desks.py``), any other one is called.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.desks import Attendant, Desk, exchange, new_desk
from fogplay.jit import kernel, piece
from fogplay.simulators.doudizhu_features import SEEN
from fogplay.simulators.doudizhu_policy import OUTPUTS
from fogplay.simulators.streams import mix

Evaluate = Callable[[int, NDArray[np.int64]], NDArray[np.float32]]  # (seat, seen[rows, 32]) -> outputs[rows, 476]
NOBODY = -1  # whom a row asks that waits for nothing
SEATS = 3
LEAST, MOST = 1 << 14, 1 << 17  # answers kept; 2.2 kB each
_KNOWN = -1  # the question of a row that was answered from memory, or asks nobody
_NOWHERE = -1  # the place of an answer that is not kept
_1 = np.uint64(1)


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


class Notes(NamedTuple):
    """Which rows the questions on the desk answer."""

    place: NDArray[np.int64]  # [rows] of each question's answer in memory, or _NOWHERE
    key: NDArray[np.uint64]  # [rows] of each question
    row: NDArray[np.int64]  # [rows] the question that answers a row, or _KNOWN
    calls: NDArray[np.int64]  # [1] how often was asked
    total: NDArray[np.int64]  # [2] how many rows waited, and how many questions were asked


def notes(rows: int, calls: NDArray[np.int64], total: NDArray[np.int64]) -> Notes:
    """Memory for so many rows."""
    return Notes(np.empty(rows, np.int64), np.empty(rows, np.uint64), np.empty(rows, np.int64), calls, total)


class Table(NamedTuple):
    """What it takes to ask, for kernels."""

    memory: Memory
    desk: Desk
    notes: Notes


class Asking:
    """Fills rows with an evaluator's answers; it belongs to one thread."""

    def __init__(self, evaluate: Evaluate, places: int = LEAST) -> None:
        self.evaluate = evaluate
        self.attendant = evaluate if isinstance(evaluate, Attendant) else None
        self._memory, self._notes = memory(places), notes(0, np.zeros(1, np.int64), np.zeros(2, np.int64))
        self._desk: Desk | None = None
        self._return: Any = None

    @property
    def rows(self) -> int:
        """How many rows waited so far."""
        return int(self._notes.total[0])

    @property
    def asked(self) -> int:
        """How many questions were asked so far."""
        return int(self._notes.total[1])

    def grow(self, places: int) -> None:
        """Make room for more answers, at most ``MOST``; those it has are forgotten then."""
        wanted = min(1 << (max(places, 1) - 1).bit_length(), MOST)
        if wanted > len(self._memory.keys):
            self._memory = memory(wanted)

    def forget(self) -> None:
        """Forget all answers: rounding depends on the batch that a question was in, so history would show."""
        self._memory.keys[:] = 0

    def table(self, rows: int) -> Table:
        """Memory, a desk and notes for so many rows."""
        if self._desk is None or len(self._notes.row) < rows:
            self._notes = notes(rows, self._notes.calls, self._notes.total)
            if self._return is not None:
                self._return()
            if self.attendant is None:
                self._desk = new_desk(rows, SEEN, OUTPUTS, SEATS)
            else:
                self._desk = self.attendant.desk(rows)
                self._return = weakref.finalize(self, self.attendant.give_back, self._desk)
                self._return.atexit = False
        return Table(self._memory, self._desk, self._notes)

    def attended(self) -> Any:
        """A context in which kernels may wait at the desk, if the evaluator attends to it."""
        return contextlib.nullcontext() if self.attendant is None else self.attendant.attend()

    def answer(self) -> None:
        """Answer what lies on the desk."""
        desk = self._desk
        assert desk is not None
        if self.attendant is not None:
            if not exchange(desk):
                raise self.failure()
            return
        for seat, (first, count) in enumerate(zip(desk.first.tolist(), desk.asked.tolist(), strict=True)):
            if count:
                desk.answers[first : first + count] = self.evaluate(seat, desk.questions[first : first + count])

    def failure(self) -> Exception:
        """Why the evaluator did not answer what lies on the desk."""
        assert self.attendant is not None
        assert self._desk is not None
        return self.attendant.failure(self._desk)

    def fill(self, asks: NDArray[np.int8], seen: NDArray[np.int64], outputs: NDArray[np.float32]) -> bool:
        """Fill ``outputs[rows, 476]`` where ``asks[rows]`` is a seat; return whether there was any.

        ``seen[rows, 32]`` is what the seats see.
        """
        table = self.table(len(asks))
        waiting = recall(table, asks, seen, outputs)
        if table.desk.asked.any():
            with self.attended():
                self.answer()
        take(table, asks, outputs)
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
def recall(table, asks, seen, outputs):
    """Fill the ``outputs`` that are in memory, lay all other questions on the desk; return how many rows wait."""
    memory, desk, notes = table.memory, table.desk, table.notes
    waiting, last = 0, np.uint64(len(memory.keys) - 1)
    notes.calls[0] += 1
    call = notes.calls[0]
    desk.asked[:] = 0
    for row in range(len(asks)):
        if asks[row] != NOBODY:
            desk.asked[asks[row]] += 1
    for seat in range(SEATS):
        desk.first[seat] = waiting
        waiting += desk.asked[seat]
    desk.asked[:] = 0
    for row in range(len(asks)):
        notes.row[row] = _KNOWN
        asker = np.int64(asks[row])
        if asker == NOBODY:
            continue
        key = key_of(asker, seen[row])
        place = np.int64((key >> _1) & last)
        if memory.keys[place] == key and equal(memory.seen[place], seen[row]):
            copy(outputs, row, memory.outputs, place)
            continue
        taken, other = memory.call[place] == call, memory.asked[place]
        new = desk.first[asker] + desk.asked[asker]
        if taken and desk.first[asker] <= other < new and equal(desk.questions[other], seen[row]):
            notes.row[row] = other
            continue
        desk.asked[asker] += 1
        notes.row[row], notes.key[new] = new, key
        notes.place[new] = _NOWHERE if taken else place
        if not taken:
            memory.call[place], memory.asked[place] = call, new
        for word in range(seen.shape[1]):
            desk.questions[new, word] = seen[row, word]
    notes.total[0] += waiting
    for seat in range(SEATS):
        notes.total[1] += desk.asked[seat]
    return waiting


@piece
def lies_there(desk):
    """Whether there is a question on a desk."""
    asked = 0
    for seat in range(SEATS):
        asked += desk.asked[seat]
    return asked > 0


@kernel
def take(table, asks, outputs):
    """Keep the answers that lie on the desk, and fill the ``outputs`` of the rows that wait for them."""
    memory, desk, notes = table.memory, table.desk, table.notes
    for seat in range(SEATS):
        for question in range(desk.first[seat], desk.first[seat] + desk.asked[seat]):
            place = notes.place[question]
            if place == _NOWHERE:
                continue
            memory.keys[place] = notes.key[question]
            for word in range(desk.questions.shape[1]):
                memory.seen[place, word] = desk.questions[question, word]
            copy(memory.outputs, place, desk.answers, question)
    for row in range(len(asks)):
        if notes.row[row] != _KNOWN:
            copy(outputs, row, desk.answers, notes.row[row])
