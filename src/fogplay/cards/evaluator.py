"""Hand evaluation: the best five of five, six or seven cards as a number from 0 to 7461; higher is better.

Hands of equal strength have equal numbers, and hands of different sizes can be compared.

A card is one 64-bit word: the low bits hold its rank's key, the high bits a counter for its suit. The sum of the words
decides the hand: it shows whether a suit has five cards (then seven cards cannot also make four of a kind or a full
house), and otherwise which ranks there are, since the keys (from Kenneth Shackleton's SpecialKEval) give every multiset
of ranks of the same size a different sum. A perfect hash maps a sum to its number: 8,192 rows, one per value of the
sum's low bits, overlap in one array without collisions. A lookup is two loads from 116 kB, which stay in the L2 cache.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.deck import CARDS, cards_name, parse_cards
from fogplay.errors import FogplayError
from fogplay.jit import kernel, piece

RANK_KEYS = (0, 1, 5, 22, 98, 453, 2031, 8698, 22854, 83661, 262349, 636345, 1479181)
SIZES = (5, 6, 7)
STRENGTHS = 7462
CATEGORIES = (
    "high card", "one pair", "two pair", "three of a kind", "straight", "flush", "full house", "four of a kind",
    "straight flush",
)  # fmt: skip
_CATEGORY_ENDS = np.cumsum((1277, 2860, 858, 858, 10, 1277, 156, 156, 10))  # how many distinct hands each has

_1, _63, _ALL = np.uint64(1), np.uint64(63), np.uint64(2**64 - 1)
_ROWS = 1 << 13
_ROW_BITS = np.uint64(13)
_ROW_MASK = np.uint64(_ROWS - 1)
_RANKS = np.uint64((1 << 32) - 1)  # the part of a word that holds the ranks' keys
_SUITS = 32  # where the suits' counters begin, 4 bits each
_THREE_EACH = np.uint64(0x3333 << _SUITS)  # a counter that starts at 3 has its highest bit set at 5 cards
_FIVE = np.uint64(0x8888 << _SUITS)
_SUIT_SHIFTS = tuple(np.uint64(_SUITS + 4 * suit + 3) for suit in range(4))


class Evaluator(NamedTuple):
    """The tables from which a kernel evaluates hands."""

    word: NDArray[np.uint64]  # [52] a card's key and suit
    flush: NDArray[np.uint16]  # [8192] the number of a flush, by the ranks (bits) of its suit
    row5: NDArray[np.uint16]  # [8192] where each row begins in ...
    number5: NDArray[np.uint16]  # [...] the numbers of hands of five cards without a flush
    row6: NDArray[np.uint16]
    number6: NDArray[np.uint16]
    row7: NDArray[np.uint16]
    number7: NDArray[np.uint16]


@functools.cache
def evaluator() -> Evaluator:
    """The tables, built on the first call (in a fraction of a second)."""
    word = np.zeros(CARDS, np.uint64)
    for card in range(CARDS):
        word[card] = RANK_KEYS[card // 4] + (1 << (_SUITS + 4 * (card % 4)))
    keys = np.array(RANK_KEYS, np.int64)
    counts, packed_flush = np.zeros(13, np.int64), np.zeros(1 << 13, np.int64)
    _pack_flushes(packed_flush)
    plain = {}
    for size in SIZES:
        found = np.zeros((_multisets(size, counts, keys, np.zeros((0, 2), np.int64)), 2), np.int64)
        _multisets(size, counts, keys, found)
        plain[size] = found[np.argsort(found[:, 0])]
    fives = [bits for bits in range(1 << 13) if bits.bit_count() == 5]
    order = np.unique(np.concatenate([plain[5][:, 1], packed_flush[fives]]))
    tables: list[NDArray[np.uint16]] = []
    for size in SIZES:
        numbers = np.searchsorted(order, plain[size][:, 1]).astype(np.uint16)
        tables += _overlap_rows(plain[size][:, 0], numbers)
    return Evaluator(word, np.searchsorted(order, packed_flush).astype(np.uint16), *tables)


def evaluate(cards: Sequence[int] | str) -> int:
    """The number of one hand of five to seven cards, given by names or numbers."""
    hand = parse_cards(cards) if isinstance(cards, str) else tuple(int(card) for card in cards)
    if len(hand) not in SIZES or len(set(hand)) < len(hand):
        raise FogplayError(f"'{cards_name(hand)}' cannot be evaluated; give five to seven different cards")
    strength = np.zeros(1, np.uint16)
    evaluate_hands(evaluator(), np.array([hand], np.uint8), strength)
    return int(strength[0])


def category(strength: int) -> str:
    """The name of a hand's category, such as ``full house``."""
    return CATEGORIES[int(np.searchsorted(_CATEGORY_ENDS, strength, side="right"))]


@kernel
def evaluate_hands(tables, hands, strength):
    """Write the number of each of ``hands[n, 5 to 7]`` (cards) to ``strength[n]``."""
    size = hands.shape[1]
    for number in range(hands.shape[0]):
        total = _THREE_EACH
        for place in range(size):
            total += tables.word[hands[number, place]]
        suit = flush_suit(total)
        if suit >= 0:
            bits = _1 - _1
            for place in range(size):
                bits |= rank_bit(hands[number, place], suit)
            strength[number] = tables.flush[bits]
        elif size == 7:
            strength[number] = look_up(tables.row7, tables.number7, total)
        elif size == 6:
            strength[number] = look_up(tables.row6, tables.number6, total)
        else:
            strength[number] = look_up(tables.row5, tables.number5, total)


@piece
def evaluate7(tables, a, b, c, d, e, f, g):
    """The number of a hand of seven cards."""
    word = tables.word
    total = _THREE_EACH + word[np.uint64(a)] + word[np.uint64(b)] + word[np.uint64(c)] + word[np.uint64(d)]
    total += word[np.uint64(e)] + word[np.uint64(f)] + word[np.uint64(g)]
    suit = flush_suit(total)
    if suit >= 0:
        bits = rank_bit(a, suit) | rank_bit(b, suit) | rank_bit(c, suit) | rank_bit(d, suit)
        bits |= rank_bit(e, suit) | rank_bit(f, suit) | rank_bit(g, suit)
        return tables.flush[bits]
    return look_up(tables.row7, tables.number7, total)


@piece
def board_total(tables, a, b, c, d, e):
    """The sum over a board's words, to which the words of hole cards are added."""
    word = tables.word
    total = _THREE_EACH + word[np.uint64(a)] + word[np.uint64(b)] + word[np.uint64(c)]
    return total + word[np.uint64(d)] + word[np.uint64(e)]


@piece
def look_up(row, number, total):
    """The number of a hand without a flush, from the sum over its words."""
    key = total & _RANKS
    return number[np.uint64(row[key & _ROW_MASK]) + (key >> _ROW_BITS)]


@piece
def flush_suit(total):
    """The suit that has five cards or more, or -1; ``total`` is the sum over the words and ``_THREE_EACH``."""
    if total & _FIVE == 0:
        return -1
    suit = 0
    while (total >> _SUIT_SHIFTS[suit]) & _1 == 0:
        suit += 1
    return suit


@piece
def rank_bit(card, suit):
    """The bit of the card's rank if it is of this suit, else 0."""
    return np.uint64((card & 3) == suit) << np.uint64(card >> 2)


# ---- Building the tables: hands packed into numbers that compare as the hands do.


@kernel
def _multisets(size, counts, keys, found):
    """Count the multisets of ``size`` cards of 13 ranks, at most 4 of each; ``counts[13]`` is scratch.

    Writes each one's key and its best five cards, packed, to ``found[n, 2]``; an empty ``found`` only counts.
    """
    for rank in range(13):
        counts[rank] = 0
    rank, left, number = 0, size, 0
    counts[0] = -1
    # An odometer over the ranks: raise the count of ``rank``, then distribute what is left over the ranks after it.
    while rank >= 0:
        if counts[rank] < min(left, 4):
            counts[rank] += 1
            if rank < 12:
                left -= counts[rank]
                rank += 1
                counts[rank] = -1
                continue
            if counts[12] == left:
                if number < len(found):
                    key = 0
                    for each in range(13):
                        key += counts[each] * keys[each]
                    found[number, 0] = key
                    found[number, 1] = _pack_plain(counts)
                number += 1
            continue
        rank -= 1
        if rank >= 0:
            left += counts[rank]
    return number


@piece
def _pack_plain(counts):
    """The best five cards of ``counts[13]`` without a flush: category, then ranks by importance."""
    four, three, second_three, pair, second_pair = -1, -1, -1, -1, -1
    bits = 0
    for rank in range(12, -1, -1):
        if counts[rank] > 0:
            bits |= 1 << rank
        if counts[rank] == 4 and four < 0:
            four = rank
        elif counts[rank] == 3:
            if three < 0:
                three = rank
            elif second_three < 0:
                second_three = rank
        elif counts[rank] == 2:
            if pair < 0:
                pair = rank
            elif second_pair < 0:
                second_pair = rank
    if four >= 0:
        return (((7 << 4) | four) << 16) | _top(bits & ~(1 << four), 1) << 12
    if three >= 0 and max(second_three, pair) >= 0:
        return (((6 << 4) | three) << 16) | max(second_three, pair) << 12
    straight = _straight(bits)
    if straight >= 0:
        return ((4 << 4) | straight) << 16
    if three >= 0:
        return (((3 << 4) | three) << 16) | _top(bits & ~(1 << three), 2) << 8
    if second_pair >= 0:
        rest = bits & ~(1 << pair) & ~(1 << second_pair)
        return (((2 << 4) | pair) << 16) | second_pair << 12 | _top(rest, 1) << 8
    if pair >= 0:
        return (((1 << 4) | pair) << 16) | _top(bits & ~(1 << pair), 3) << 4
    return _top(bits, 5)


@kernel
def _pack_flushes(packed):
    """The same for flushes: fill ``packed[8192]``, by the ranks of the suit; 0 for fewer than five."""
    for bits in range(len(packed)):
        count = 0
        for rank in range(13):
            count += bits >> rank & 1
        if count >= 5:
            straight = _straight(bits)
            packed[bits] = ((8 << 4) | straight) << 16 if straight >= 0 else (5 << 20) | _top(bits, 5)


@piece
def _top(bits, count):
    """The ``count`` highest ranks, 4 bits each, the highest first."""
    packed, taken = 0, 0
    for rank in range(12, -1, -1):
        if taken < count and bits >> rank & 1:
            packed = packed << 4 | rank
            taken += 1
    return packed


@piece
def _straight(bits):
    """The highest rank of the best straight, or -1; the ace also counts below the deuce."""
    for high in range(12, 3, -1):
        if bits >> (high - 4) & 31 == 31:
            return high
    if bits & 15 == 15 and bits >> 12 & 1:
        return 3
    return -1


def _overlap_rows(
    keys: NDArray[np.int64], numbers: NDArray[np.uint16]
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """The start of each row, and the numbers, each at its row's start plus the high bits of its key."""
    rows, columns = keys & (_ROWS - 1), keys >> int(_ROW_BITS)
    by_row = np.lexsort((columns, rows))
    ends = np.searchsorted(rows[by_row], np.arange(_ROWS + 1))
    longest_first = np.argsort(-np.diff(ends), kind="stable")
    begin, table = np.zeros(_ROWS, np.uint16), np.zeros(1 << 16, np.uint16)
    taken = np.zeros(len(table) // 64 + 2, np.uint64)
    length = _place(columns[by_row], numbers[by_row], ends, longest_first, begin, taken, table)
    if length < 0:
        raise AssertionError("two hands have the same key, or the rows do not fit")
    return begin, table[:length].copy()


@kernel
def _place(columns, numbers, ends, order, begin, taken, table):
    """Put each row, in ``order``, at the first position without a collision, testing 64 positions at a time.

    Fills ``begin[rows]``, ``taken`` (one bit per entry of ``table``) and ``table[n]``. Returns the length used, or -1
    if the rows do not fit.
    """
    length, free = 0, 0  # everything before ``free`` is taken
    for row in order:
        if ends[row] == ends[row + 1]:
            continue
        while _window(taken, free) & _1:
            free += 1
        start = max(free - columns[ends[row]], 0)
        blocked = _ALL
        while blocked == _ALL:
            if start + columns[ends[row + 1] - 1] + 64 >= len(table):
                return -1
            blocked = _1 - _1
            for at in range(ends[row], ends[row + 1]):
                blocked |= _window(taken, start + columns[at])
            if blocked == _ALL:
                start += 64
        while blocked & _1:
            blocked >>= _1
            start += 1
        begin[row] = start
        for at in range(ends[row], ends[row + 1]):
            place = start + columns[at]
            if _window(taken, place) & _1:
                return -1
            taken[place >> 6] |= _1 << np.uint64(place & 63)
            table[place] = numbers[at]
            length = max(length, place + 1)
    return length


@piece
def _window(bits, at):
    """The 64 bits from ``at`` on; shifted twice, because a shift by 64 is undefined."""
    word, shift = at >> 6, np.uint64(at & 63)
    return (bits[word] >> shift) | ((bits[word + 1] << _1) << (_63 - shift))
