"""Hand strength, exactly: HS on the river, and before it the expectation of HS and of HS² over the cards to come.

HS is the probability of winning plus half that of a tie against one hand drawn uniformly from the other cards. On the
river it is a number of half-wins out of 2 x 990, which is what the table stores. One river table serves both measures:

- ``ehs2`` is E[HS²] (Zinkevich et al. 2007, as used by Heinrich & Silver 2014 and 2015): HS² on the river.
- ``ehs`` is Billings's effective hand strength HS (1 - Npot) + (1 - HS) Ppot, looking ahead to the river. With his
  definitions of the potentials this is E[HS], the probability of winning plus half that of a tie at showdown
  (docs/cards.md has the derivation; a test compares with his own program), so it needs no second river table.

All sums are integers, so the tables have the same bits however the work is divided.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.deck import CARDS, HOLES, flop_number, pair_number
from fogplay.cards.evaluator import STRENGTHS, board_total, evaluator, flush_suit, look_up, rank_bit
from fogplay.cards.index import PREFLOP_CLASSES, board_number, boards, canonical_board, canonical_hole, replace_suit
from fogplay.jit import kernel, num_cores, piece

MEASURES = ("ehs2", "ehs")
FULL_SCORE = 2 * math.comb(45, 2)  # half-wins against every one of 990 hands
STEPS = 1 << 16  # a stored value is a number of 65536ths

Progress = Callable[[int, int], None]  # (done, total)

_1 = np.uint64(1)
_RIVERS_PER_TASK = 512
_TURNS_PER_TASK = 64
_FLOPS_PER_TASK = 64
_TURN_COST = 8  # the cost of a turn or a flop in rivers, so that progress is even


class Strength(NamedTuple):
    """One measure of every hand before the river; 0 for hole cards that are on the board."""

    preflop: NDArray[np.uint16]  # [169]
    flop: NDArray[np.uint16]  # [1755, 1326]
    turn: NDArray[np.uint16]  # [16432, 1326]


def build(
    progress: Progress | None = None, threads: int | None = None
) -> tuple[NDArray[np.uint16], dict[str, Strength]]:
    """The scores on the river, [134459, 1326] half-wins out of 1980, and the measures before it."""
    work = Work(progress, threads or num_cores())
    rivers, turns, flops = (boards(size)[0].cards for size in (5, 4, 3))
    work.total = len(rivers) + len(MEASURES) * _TURN_COST * (len(turns) + len(flops))
    scores = np.zeros((len(rivers), HOLES), np.uint16)
    work.share(len(rivers), _RIVERS_PER_TASK, 1, lambda first, last: score(rivers, scores, first, last))
    measures = {}
    for measure in MEASURES:
        squared = measure == "ehs2"
        turn = np.zeros((len(turns), HOLES), np.uint32)  # at most 46 x 1980²
        flop = np.zeros((len(flops), HOLES), np.uint64)
        add = _adder(turns, scores, squared, turn)
        work.share(len(turns), _TURNS_PER_TASK, _TURN_COST, add)
        add = _adder(flops, turn, False, flop)
        work.share(len(flops), _FLOPS_PER_TASK, _TURN_COST, add)
        preflop = np.zeros(PREFLOP_CLASSES, np.uint64)
        _add_flops(boards(3)[1], flop, preflop)
        certain = FULL_SCORE**2 if squared else FULL_SCORE
        measures[measure] = Strength(
            fractions(preflop, math.comb(50, 3) * 47 * 46 * certain),
            fractions(flop, 47 * 46 * certain),
            fractions(turn, 46 * certain),
        )
    return scores, measures


def fractions(sums: NDArray[Any], certain: int) -> NDArray[np.uint16]:
    """``sums / certain`` in 65536ths, rounded up, so that k/n stays in the k-th of n buckets; 1 is kept as 65535."""
    wide = sums.astype(np.uint64)
    wide *= np.uint64(STEPS)
    wide += np.uint64(certain - 1)
    wide //= np.uint64(certain)
    return np.minimum(wide, STEPS - 1).astype(np.uint16)


def score(rivers: NDArray[np.uint8], scores: NDArray[np.uint16], first: int, last: int) -> None:
    """Write ``scores[first:last]`` for the boards ``rivers[first:last]``."""
    _score(
        evaluator(),
        rivers,
        first,
        last,
        scores,
        *(np.zeros(size, np.int64) for size in (HOLES, HOLES, STRENGTHS + 1, CARDS)),
    )


def _adder(
    shorter: NDArray[np.uint8], table: NDArray[Any], squared: bool, sums: NDArray[Any]
) -> Callable[[int, int], None]:
    """A task that fills ``sums`` for boards one card shorter than those of ``table``."""
    entries = boards(shorter.shape[1] + 1)[1]

    def add(first: int, last: int) -> None:
        add_next_card(
            entries, shorter, table, squared, first, last, sums, np.zeros(5, np.int64), np.zeros(CARDS, np.uint64)
        )

    return add


class Work:
    """Runs ranges of boards on several threads and reports progress from the calling one."""

    def __init__(self, progress: Progress | None, threads: int) -> None:
        self.progress, self.threads = progress, threads
        self.done, self.total = 0, 0

    def share(self, count: int, step: int, cost: int, task: Callable[[int, int], None]) -> None:
        with ThreadPoolExecutor(self.threads) as pool:
            waiting = {
                pool.submit(task, first, min(first + step, count)): min(step, count - first)
                for first in range(0, count, step)
            }
            try:
                while waiting:
                    finished, _ = wait(waiting, timeout=0.1, return_when=FIRST_EXCEPTION)
                    for future in finished:
                        future.result()
                        self.done += cost * waiting.pop(future)
                    if self.progress is not None:
                        self.progress(self.done, self.total)
            except BaseException:  # Ctrl-C too: running tasks end within a fraction of a second
                pool.shutdown(wait=False, cancel_futures=True)
                raise


@piece
def _value(tables, total, a, b, c, d, e, low, high):
    """The number of the hand of hole cards ``low`` and ``high`` on the board ``a ... e``, whose sum is ``total``."""
    sum_of_all = total + tables.word[np.uint64(low)] + tables.word[np.uint64(high)]
    suit = flush_suit(sum_of_all)
    if suit < 0:
        return np.int64(look_up(tables.row7, tables.number7, sum_of_all))
    bits = rank_bit(a, suit) | rank_bit(b, suit) | rank_bit(c, suit) | rank_bit(d, suit)
    bits |= rank_bit(e, suit) | rank_bit(low, suit) | rank_bit(high, suit)
    return np.int64(tables.flush[bits])


@kernel
def _score(tables, rivers, first, last, scores, strength, order, ends, below):
    """Score every hand on the boards ``rivers[first:last]`` into ``scores[first:last]``.

    Hands are sorted by strength. Going up, ``below[52]`` counts the hands passed that hold each card, so that hands
    which share a card can be subtracted. ``strength[1326]``, ``order[1326]`` and ``ends[7463]`` are scratch.
    """
    for board in range(first, last):
        a, b, c = int(rivers[board, 0]), int(rivers[board, 1]), int(rivers[board, 2])
        d, e = int(rivers[board, 3]), int(rivers[board, 4])
        on_board = 1 << a | 1 << b | 1 << c | 1 << d | 1 << e
        total = board_total(tables, a, b, c, d, e)
        for number in range(len(ends)):
            ends[number] = 0
        for card in range(CARDS):
            below[card] = 0
        # Strengths, and how many hands are weaker than each.
        for high in range(1, CARDS):
            if on_board >> high & 1:
                continue
            for low in range(high):
                if on_board >> low & 1:
                    continue
                value = _value(tables, total, a, b, c, d, e, low, high)
                strength[pair_number(low, high)] = value
                ends[np.uint64(value + 1)] += 1
        for number in range(1, len(ends)):
            ends[number] += ends[number - 1]
        count = ends[len(ends) - 1]
        for high in range(1, CARDS):
            if on_board >> high & 1:
                continue
            for low in range(high):
                if on_board >> low & 1:
                    continue
                hole = pair_number(low, high)
                place = ends[np.uint64(strength[hole])]
                ends[np.uint64(strength[hole])] = place + 1
                order[np.uint64(place)] = low | high << 8 | np.int64(hole) << 16
        # One strength at a time: count the hands below before adding this strength, those not above after.
        begin = 0
        while begin < count:
            value = strength[order[begin] >> 16]
            end = ends[value]
            for number in range(begin, end):
                low, high, hole = order[number] & 255, order[number] >> 8 & 255, order[number] >> 16
                scores[board, hole] = begin - below[low] - below[high]
            for number in range(begin, end):
                below[order[number] & 255] += 1
                below[order[number] >> 8 & 255] += 1
            for number in range(begin, end):
                low, high, hole = order[number] & 255, order[number] >> 8 & 255, order[number] >> 16
                # ``end`` counts the hand itself once, ``below`` once per card: one too many is subtracted.
                scores[board, hole] += end - below[low] - below[high] + 1
            begin = end


@kernel
def add_next_card(entries, shorter, table, squared, first, last, sums, cards, replaced):
    """Write to ``sums[first:last, 1326]`` the sums of ``table`` (or its squares) over every next card.

    ``entries`` and ``table`` belong to boards with one card more than ``shorter``; ``cards[5]`` and ``replaced[52]``
    are scratch.
    """
    size = shorter.shape[1]
    for board in range(first, last):
        on_board = 0
        for place in range(size):
            cards[place] = shorter[board, place]
            on_board |= 1 << cards[place]
        for card in range(CARDS):
            if on_board >> card & 1:
                continue
            cards[size] = card
            entry = np.uint64(entries[board_number(cards, size + 1)])
            row = canonical_board(entry)
            for each in range(CARDS):
                replaced[each] = replace_suit(entry, each)
            gone = on_board | 1 << card
            for high in range(1, CARDS):
                if gone >> high & 1:
                    continue
                above = replaced[high]
                start = pair_number(0, high)
                for low in range(high):
                    if gone >> low & 1:
                        continue
                    value = np.uint64(table[row, pair_number(replaced[low], above)])
                    if squared:
                        value *= value
                    sums[board, start + np.uint64(low)] += value


@kernel
def _add_flops(entries, flop, sums):
    """Write to ``sums[169]`` the sums of ``flop[1755, 1326]`` over all flops; suits 0 and 1 represent all others."""
    for upper in range(13):
        for lower in range(upper + 1):
            for suited in range(2):
                if upper == lower and suited:
                    continue
                high, low = 4 * upper, 4 * lower + 1 - suited
                total = _1 - _1
                for c in range(2, CARDS):
                    for b in range(1, c):
                        for a in range(b):
                            if high in (a, b, c) or low in (a, b, c):
                                continue
                            entry = np.uint64(entries[flop_number(a, b, c)])
                            total += flop[canonical_board(entry), canonical_hole(entry, low, high)]
                sums[13 * upper + lower if suited or upper == lower else 13 * lower + upper] = total
