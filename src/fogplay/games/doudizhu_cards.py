"""Cards of Doudizhu as one 64-bit word: a nibble per rank, from 3 in the lowest to the red joker in the fifteenth.

A hand, a move's cards and the cards played so far are all such words: adding words adds cards. A *mask* has the lowest
bit of a nibble set for every rank that it names, so that shifting by one nibble moves every rank to its neighbour.
Compiled code passes words as ``np.uint64``, plain Python also as ints; ranks and counts are whole numbers. The compiled
functions are scalar and use no arrays, so the same source serves CPUs and GPUs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from fogplay.errors import FogplayError
from fogplay.jit import piece

RANKS = "3456789TJQKA2BR"  # B: the black joker, R: the red one
NUM_RANKS = 15
TWO, BLACK_JOKER, RED_JOKER = 12, 13, 14
CHAIN_TOP = 11  # chains end at the ace

_0, _1, _2, _3, _4, _56, _60 = (np.uint64(number) for number in (0, 1, 2, 3, 4, 56, 60))
LOWEST_BITS = np.uint64(0x111111111111111)  # one bit per rank
CHAIN_RANKS = np.uint64(0x111111111111)  # from 3 to the ace
JOKERS = np.uint64(0x110000000000000)
FULL_DECK = np.uint64(0x114444444444444)
NO_CARDS = np.uint64(0)
_CARRIES = tuple(np.uint64((8 - copies) * 0x111111111111111) for copies in range(5))
_REACH_1, _REACH_2, _REACH_3, _REACH_4 = _CARRIES[1:]
_ALL_NIBBLES = np.uint64(0x1111111111111111)
_LOW_NIBBLES, _ALL_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@piece
def having_1(cards):
    """The mask of ranks with at least one card: adding 7 carries into a nibble's highest bit."""
    return ((np.uint64(cards) + _REACH_1) >> _3) & LOWEST_BITS


@piece
def having_2(cards):
    """The mask of ranks with at least two cards."""
    return ((np.uint64(cards) + _REACH_2) >> _3) & LOWEST_BITS


@piece
def having_3(cards):
    """The mask of ranks with at least three cards."""
    return ((np.uint64(cards) + _REACH_3) >> _3) & LOWEST_BITS


@piece
def having_4(cards):
    """The mask of ranks with four cards."""
    return ((np.uint64(cards) + _REACH_4) >> _3) & LOWEST_BITS


@piece
def having(cards, copies):
    """The mask of ranks with at least ``copies`` cards, 1 to 4."""
    return ((np.uint64(cards) + np.uint64(8 - copies) * LOWEST_BITS) >> _3) & LOWEST_BITS


@piece
def num_in(mask):
    """How many ranks a mask names: the product adds all its nibbles in the highest one."""
    return np.int64((np.uint64(mask) * _ALL_NIBBLES) >> _60)


@piece
def num_cards(cards):
    """How many cards a word holds."""
    cards = np.uint64(cards)
    by_byte = (cards & _LOW_NIBBLES) + ((cards >> _4) & _LOW_NIBBLES)
    return np.int64((by_byte * _ALL_BYTES) >> _56)


@piece
def rank_bit(rank):
    """The mask of one rank: also the word with one card of it."""
    return _1 << np.uint64(4 * rank)


@piece
def copies_of(cards, rank):
    """How many cards of a rank a word holds."""
    return np.int64((np.uint64(cards) >> np.uint64(4 * rank)) & np.uint64(15))


@piece
def from_rank(rank):
    """The mask of this rank and all above."""
    return LOWEST_BITS & ~(rank_bit(rank) - _1)


@piece
def first_rank(mask):
    """The lowest rank of a mask that is not empty."""
    mask = np.uint64(mask)
    return num_in(((mask & (~mask + _1)) - _1) & LOWEST_BITS)


@piece
def nth_rank(mask, number):
    """The rank at place ``number``, counted from 0, in a mask with more ranks than that."""
    mask = np.uint64(mask)
    for _ in range(number):
        mask &= mask - _1
    return first_rank(mask)


@piece
def span(rank, length):
    """The mask of ``length`` ranks from ``rank`` upwards."""
    return ((_1 << np.uint64(4 * length)) - _1 & LOWEST_BITS) << np.uint64(4 * rank)


@piece
def contains(hand, cards):
    """Whether a hand holds all of these cards: with a spare bit set in every nibble, no subtraction borrows from it."""
    spare = LOWEST_BITS << _3
    return ((np.uint64(hand) | spare) - np.uint64(cards)) & spare == spare


@piece
def has_rocket(hand):
    """Whether a hand holds both jokers."""
    return np.uint64(hand) & JOKERS == JOKERS


# ---- For plain Python


def pack(ranks: Iterable[int]) -> int:
    """The word of cards that are given by rank, each from 0 (a three) to 14 (the red joker).

    No more cards of a rank than the deck has.
    """
    word = 0
    for rank in ranks:
        word += 1 << 4 * rank
    if any(word >> 4 * rank & 15 > deck_copies(rank) for rank in range(NUM_RANKS)):
        raise FogplayError(f"more cards of a rank than the deck has: {show(word)}")
    return word


def unpack(word: int) -> list[int]:
    """The ranks of all cards of a word in ascending order."""
    word = int(word)
    return [rank for rank in range(NUM_RANKS) for _ in range(word >> 4 * rank & 15)]


def deck_copies(rank: int) -> int:
    """How many cards of a rank the deck has."""
    return 1 if rank >= BLACK_JOKER else 4


def show(word: int) -> str:
    """Cards as people write them, in ascending order: ``33345BR``."""
    return "".join(RANKS[rank] for rank in unpack(word))


def counts_of(word: int) -> Sequence[int]:
    """[15] how many cards of each rank a word holds."""
    word = int(word)
    return [word >> 4 * rank & 15 for rank in range(NUM_RANKS)]
