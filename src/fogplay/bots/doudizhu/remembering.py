"""An evaluator that remembers its answers, since a search asks many of its questions more than once.

Several worlds of a search give a player the same hand, and the next search of a game begins where this one has been.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu.asking import Evaluate, Together
from fogplay.jit import kernel, piece
from fogplay.simulators.doudizhu_features import SEEN
from fogplay.simulators.doudizhu_policy import OUTPUTS
from fogplay.simulators.streams import mix

SEATS = 3
LEAST, MOST = 1 << 14, 1 << 16  # answers kept; 2.2 kB each
_SAME = -1  # the source of a row that was answered from memory
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


class Part(NamedTuple):
    """What one call asks about one seat."""

    seat: int
    seen: NDArray[np.int64]  # [rows, 32]
    outputs: NDArray[np.float32]  # [rows, 476] to be filled
    source: NDArray[np.int64]  # [rows] the question that answers a row, or _SAME
    new: NDArray[np.int64]  # [questions, 32] what is not in memory, each once
    places: NDArray[np.int64]  # [questions] where their answers will lie, or _NOWHERE


def _part(rows: int) -> Part:
    return Part(
        0,
        np.empty((rows, SEEN), np.int64),
        np.empty((rows, OUTPUTS), np.float32),
        np.empty(rows, np.int64),
        np.empty((rows, SEEN), np.int64),
        np.empty(rows, np.int64),
    )


class Remembering:
    """Answers like another evaluator, which it asks only about what it has not been asked before.

    It belongs to one thread. The next call reuses what it returns.
    """

    def __init__(self, evaluate: Evaluate, places: int = LEAST) -> None:
        self.evaluate, self._memory, self._calls = evaluate, memory(places), 0
        self._scratch = [_part(0) for _ in range(SEATS)]  # large arrays that come and go cost the system's time
        self.rows = self.asked = 0  # what it was asked, and what it had to ask

    def grow(self, places: int) -> None:
        """Make room for more answers, at most ``MOST``; those it has are forgotten then."""
        wanted = min(1 << (max(places, 1) - 1).bit_length(), MOST)
        if wanted > len(self._memory.keys):
            self._memory = memory(wanted)

    def forget(self) -> None:
        """Forget all answers: rounding depends on the batch that a question was in, so history would show."""
        self._memory.keys[:] = 0

    def __call__(self, seat: int, seen: NDArray[np.int64]) -> NDArray[np.float32]:
        return self.together([(seat, seen)])[0]

    def together(self, questions: Sequence[tuple[int, NDArray[np.int64]]]) -> list[NDArray[np.float32]]:
        """The outputs for several seats, each named once, and what they see."""
        parts = [self._recall(seat, seen) for seat, seen in questions]
        left = [part for part in parts if len(part.new)]
        if isinstance(self.evaluate, Together):
            answers = self.evaluate.together([(part.seat, part.new) for part in left])
            for part, answer in zip(left, answers, strict=True):
                store(self._memory, part, answer)
        else:
            for part in left:
                store(self._memory, part, self.evaluate(part.seat, part.new))
        return [part.outputs for part in parts]

    def _recall(self, seat: int, seen: NDArray[np.int64]) -> Part:
        rows, self._calls = len(seen), self._calls + 1
        if len(self._scratch[seat].source) < rows:
            self._scratch[seat] = _part(rows)
        own, seen = self._scratch[seat], np.ascontiguousarray(seen)
        part = Part(seat, seen, own.outputs[:rows], own.source[:rows], own.new[:rows], own.places[:rows])
        count = recall(self._memory, part, self._calls)
        self.rows, self.asked = self.rows + rows, self.asked + count
        return part._replace(new=part.new[:count], places=part.places[:count])


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


@kernel
def recall(memory, part, call):
    """Fill ``part.outputs`` where the answer is known, and ``source``, ``new`` and ``places``; return their number."""
    count, last = 0, np.uint64(len(memory.keys) - 1)
    for row in range(len(part.seen)):
        seen = part.seen[row]
        key = key_of(part.seat, seen)
        place = np.int64((key >> _1) & last)
        if memory.keys[place] == key and equal(memory.seen[place], seen):
            part.source[row] = _SAME
            for output in range(memory.outputs.shape[1]):
                part.outputs[row, output] = memory.outputs[place, output]
            continue
        taken = memory.call[place] == call
        if taken and equal(part.new[memory.asked[place]], seen):
            part.source[row] = memory.asked[place]
            continue
        part.source[row] = count
        part.places[count] = _NOWHERE if taken else place
        if not taken:
            memory.call[place], memory.asked[place] = call, count
        for word in range(len(seen)):
            part.new[count, word] = seen[word]
        count += 1
    return count


@kernel
def store(memory, part, answers):
    """Keep the answers ``[questions, 476]``, and give them to the rows that wait for them."""
    for question in range(len(part.places)):
        place = part.places[question]
        if place == _NOWHERE:
            continue
        memory.keys[place] = key_of(part.seat, part.new[question])
        for word in range(part.new.shape[1]):
            memory.seen[place, word] = part.new[question, word]
        for output in range(answers.shape[1]):
            memory.outputs[place, output] = answers[question, output]
    for row in range(len(part.source)):
        if part.source[row] != _SAME:
            for output in range(answers.shape[1]):
                part.outputs[row, output] = answers[part.source[row], output]
