"""Kickers in Doudizhu, counted without listing them, and found by number.

The solos that may go with a head are a multiset of ranks, with at most as many cards of a rank as the hand has, three
at most, two next to a chain of trios, and not both jokers. How many there are depends on three numbers only: the ranks
with at least one, two and three such cards. Kickers are in lexicographic order, those with more low cards first; the
order does not depend on the hand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fogplay.games.doudizhu_cards import (
    BLACK_JOKER,
    JOKERS,
    first_rank,
    from_rank,
    having_1,
    having_2,
    having_3,
    num_in,
    rank_bit,
    span,
)
from fogplay.games.doudizhu_heads import KICKERS, LENGTH, NO_KICKERS, NUM_KICKERS, PAIRS, SOLOS, neighbours
from fogplay.jit import kernel, piece

_1 = np.uint64(1)


class Pool(NamedTuple):
    """The cards that kickers may be taken from: masks of the ranks with at least one, two and three of them."""

    one: np.uint64
    two: np.uint64
    three: np.uint64


@piece
def choose(things, number):
    """The number of sets of ``number`` things, at most 5."""
    if number == 0:
        return np.int64(1)
    if number == 1:
        return things
    if number == 2:
        return things * (things - 1) // 2
    if number == 3:
        return things * (things - 1) * (things - 2) // 6
    if number == 4:
        return things * (things - 1) * (things - 2) * (things - 3) // 24
    return things * (things - 1) * (things - 2) * (things - 3) * (things - 4) // 120


@kernel
def multisets(one, two, three, number):
    """How many multisets of ``number`` cards there are, where so many ranks have at least 1, 2 and 3 cards.

    The terms are the ways to split the number: all different; a pair; two pairs; a trio; a trio and a pair.
    """
    ways = choose(one, number)
    if number >= 2:
        ways += two * choose(one - 1, number - 2)
    if number >= 4:
        ways += choose(two, 2) * choose(one - 2, number - 4)
    if number >= 3:
        ways += three * choose(one - 1, number - 3)
    if number == 5:
        ways += three * (two - 1)
    return ways


@kernel
def count_solos(pool, number):
    """How many kickers of ``number`` solos a pool has: all multisets, less those with both jokers."""
    one, two, three = num_in(pool.one), num_in(pool.two), num_in(pool.three)
    ways = multisets(one, two, three, number)
    if number >= 2 and pool.one & JOKERS == JOKERS:
        ways -= multisets(one - 2, two, three, number - 2)
    return ways


@piece
def pool_for(hand, rank, length):
    """What a hand has left for kickers of a chain of ``length`` trios, or of a four, from ``rank`` on."""
    outside = ~span(rank, length)
    return Pool(
        having_1(hand) & outside,
        having_2(hand) & outside,
        having_3(hand) & outside & ~neighbours(rank, length),
    )


@kernel
def count_kickers(hand, category, rank):
    """How many choices of kickers a hand has for a head that it holds; 1 if the category has none."""
    kind = KICKERS[np.uint64(category)]
    if kind == NO_KICKERS:
        return np.int64(1)
    number, length = NUM_KICKERS[np.uint64(category)], LENGTH[np.uint64(category)]
    if kind == PAIRS:
        return choose(num_in(having_2(hand) & ~span(rank, length)), number)
    return count_solos(pool_for(hand, rank, length), number)


@kernel
def nth_kickers(hand, category, rank, place):
    """The cards of the kickers at ``place`` among all that a hand has for a head, from 0."""
    kind = KICKERS[np.uint64(category)]
    number, length = NUM_KICKERS[np.uint64(category)], LENGTH[np.uint64(category)]
    if kind == SOLOS:
        return nth_solos(pool_for(hand, rank, length), number, place)
    if kind == PAIRS:
        return nth_set(having_2(hand) & ~span(rank, length), number, place) * np.uint64(2)
    return np.uint64(0)


@piece
def nth_set(mask, number, place):
    """The set of ``number`` ranks of a mask at ``place``, as a mask."""
    found = np.uint64(0)
    left = num_in(mask)
    while number > 0:
        low = mask & (~mask + _1)
        mask ^= low
        left -= 1
        with_it = choose(left, number - 1)
        if place < with_it:
            found |= low
            number -= 1
        else:
            place -= with_it
    return found


@kernel
def nth_solos(pool, number, place):
    """The multiset of ``number`` solos of a pool at ``place``, as cards: rank by rank, more cards of it first."""
    found = np.uint64(0)
    one, two, three = pool.one, pool.two, pool.three
    while number > 0:
        rank = first_rank(one)
        bit, above = rank_bit(rank), from_rank(rank + 1)
        copies = min(number, 1 + np.int64(two & bit != 0) + np.int64(three & bit != 0))
        one &= above
        two &= above
        three &= above
        while copies > 0:
            rest = one if rank != BLACK_JOKER else np.uint64(0)  # the red joker never goes with the black one
            ways = count_solos(Pool(rest, two, three), number - copies)
            if place < ways:
                break
            place -= ways
            copies -= 1
        found += bit * np.uint64(copies)
        number -= copies
    return found
