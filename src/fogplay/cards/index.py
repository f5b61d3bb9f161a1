"""Boards up to suit isomorphism: the canonical board of each board, and the permutation of suits that leads to it.

A board is a set of three, four or five cards. Suits are interchangeable: of all boards that a permutation of suits
turns into each other, the one with the smallest number is canonical. There are 1,755 canonical flops, 16,432 turns and
134,459 rivers. An *entry* is one 32-bit number that holds both answers: the number of the canonical board above the low
eight bits, and in these, two bits per suit, the suit that replaces it. A fact about hands is then a table
[canonical boards, 1326], read at the hole cards with their suits replaced. The index needs no search and no
comparison: a lookup costs a sorting network, a load and a few shifts.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.deck import CARDS, FLOPS, HOLES, RIVERS, TURNS, flop_number, pair_number, river_number, turn_number
from fogplay.jit import kernel, piece

CANONICAL = {3: 1755, 4: 16432, 5: 134459}  # by the number of cards on the board
NUMBER_OF_BOARDS = {3: FLOPS, 4: TURNS, 5: RIVERS}
PREFLOP_CLASSES = 169

_1, _2, _3, _8 = (np.uint64(number) for number in (1, 2, 3, 8))
_SUITS_MASK = np.uint64(255)
_NONE = np.uint32(0xFFFFFFFF)


class Index(NamedTuple):
    """The entries of all boards, by their numbers."""

    flop: NDArray[np.uint32]  # [22,100]
    turn: NDArray[np.uint32]  # [270,725]
    river: NDArray[np.uint32]  # [2,598,960]


class Boards(NamedTuple):
    """The canonical boards of one round."""

    cards: NDArray[np.uint8]  # [boards, 3 to 5] ascending
    weight: NDArray[np.int64]  # [boards] how many boards are equal to this one up to a permutation of suits


@functools.cache
def _permutations() -> NDArray[np.int64]:
    """[24] all permutations of suits, two bits per suit; the identity first."""
    codes = [sum(image << 2 * suit for suit, image in enumerate(each)) for each in itertools.permutations(range(4))]
    return np.array(codes, np.int64)


@functools.cache
def boards(size: int) -> tuple[Boards, NDArray[np.uint32]]:
    """The canonical boards of ``size`` cards, and the entries of all boards (0.1 s for rivers)."""
    entries = np.full(NUMBER_OF_BOARDS[size], _NONE, np.uint32)
    found = Boards(np.zeros((CANONICAL[size], size), np.uint8), np.zeros(CANONICAL[size], np.int64))
    cards, image = np.zeros(6, np.int64), np.zeros(5, np.int64)
    count = _enter(size, entries, found, _permutations(), cards, image)
    if count != CANONICAL[size]:
        raise AssertionError(f"{count} canonical boards of {size} cards")
    return found, entries


@functools.cache
def index() -> Index:
    """The index of all three rounds (11.6 MB), built on the first call."""
    return Index(*(boards(size)[1] for size in (3, 4, 5)))


def count_classes(size: int) -> int:
    """How many pairs (hole cards, board of ``size`` cards) there are up to a permutation of suits."""
    if size == 0:
        return PREFLOP_CLASSES
    return int(_count_classes(boards(size)[0].cards, _permutations()))


@piece
def flop_entry(index, a, b, c):
    """The entry of a flop, its cards in any order."""
    return np.uint64(index.flop[flop_number(a, b, c)])


@piece
def turn_entry(index, a, b, c, d):
    """The entry of the four cards on the turn."""
    return np.uint64(index.turn[turn_number(a, b, c, d)])


@piece
def river_entry(index, a, b, c, d, e):
    """The entry of the five cards on the river."""
    return np.uint64(index.river[river_number(a, b, c, d, e)])


@piece
def canonical_board(entry):
    """The number of the canonical board."""
    return entry >> _8


@piece
def canonical_hole(entry, first, second):
    """The number (below 1,326) of the hole cards after the board's permutation of suits."""
    return pair_number(replace_suit(entry, first), replace_suit(entry, second))


@piece
def replace_suit(entry, card):
    """The card after the entry's permutation of suits."""
    card = np.uint64(card)
    suit = card & _3
    return (card ^ suit) | ((entry >> (suit << _1)) & _3)


@piece
def preflop_class(first, second):
    """One of 169 for two hole cards: 13 x 13 by ranks, suited hands above the diagonal (as in charts).

    A pair of rank r is 14 r; ranks h > l are 13 h + l suited and 13 l + h offsuit.
    """
    first, second = np.int64(first), np.int64(second)
    high, low = max(first, second) >> 2, min(first, second) >> 2
    if (first ^ second) & 3 == 0:
        return 13 * high + low
    return 13 * low + high


@piece
def next_set(cards, size):
    """Change ``cards[: size + 1]`` to the set with the next number; the last entry is a sentinel."""
    at = 0
    while cards[at] + 1 == cards[at + 1]:
        cards[at] = at
        at += 1
    cards[at] += 1


@piece
def board_number(cards, size):
    """The number of the set in ``cards[:size]``."""
    if size == 3:
        return flop_number(cards[0], cards[1], cards[2])
    if size == 4:
        return turn_number(cards[0], cards[1], cards[2], cards[3])
    return river_number(cards[0], cards[1], cards[2], cards[3], cards[4])


@kernel
def _enter(size, entries, found, permutations, cards, image):
    """Fill ``entries[boards of this size]`` (all NONE) and ``found``; return how many boards are canonical.

    Boards come in the order of their numbers, so the first of each class is canonical. ``cards[6]`` and ``image[5]``
    are scratch.
    """
    count = 0
    for place in range(size):
        cards[place] = place
    cards[size] = CARDS + 1
    for number in range(len(entries)):
        if entries[number] == _NONE:
            for permutation in permutations:
                inverse = 0
                for suit in range(4):
                    inverse |= suit << (2 * (permutation >> (2 * suit) & 3))
                for place in range(size):
                    image[place] = replace_suit(np.uint64(permutation), cards[place])
                other = board_number(image, size)
                if entries[other] == _NONE:
                    entries[other] = count << 8 | inverse
                    found.weight[count] += 1
            for place in range(size):
                found.cards[count, place] = cards[place]
            count += 1
        next_set(cards, size)
    return count


@kernel
def _count_classes(boards, permutations):
    """Count, over canonical ``boards[n, size]``, the hole cards that are the smallest of their class.

    A class is what the permutations of suits that leave the board unchanged turn into each other.
    """
    size = boards.shape[1]
    count = 0
    for board in range(len(boards)):
        on_board, keeping = 0, 0
        for place in range(size):
            on_board |= 1 << int(boards[board, place])
        for number in range(len(permutations)):
            image = 0
            for place in range(size):
                image |= 1 << int(replace_suit(np.uint64(permutations[number]), boards[board, place]))
            keeping |= int(image == on_board) << number
        for second in range(1, CARDS):
            for first in range(second):
                if (on_board >> first | on_board >> second) & 1:
                    continue
                hole, smallest = pair_number(first, second), True
                for number in range(len(permutations)):
                    if keeping >> number & 1:
                        other = canonical_hole(np.uint64(permutations[number]), first, second)
                        smallest = smallest and other >= hole
                count += smallest
    return count


def entry_of(board: Sequence[int]) -> np.uint64:
    """The entry of one board of three to five cards."""
    return np.uint64(boards(len(board))[1][board_number(np.array(board, np.int64), len(board))])


def hole_cards() -> NDArray[np.uint8]:
    """[1326, 2] the two cards of every hole number, the lower first."""
    pairs = [(first, second) for second in range(1, CARDS) for first in range(second)]
    holes = np.array(pairs, np.uint8)
    assert len(holes) == HOLES
    return holes
