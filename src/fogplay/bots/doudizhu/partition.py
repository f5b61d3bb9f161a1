"""Splitting a hand into moves: the partition with the highest total worth, found by dynamic programming.

The lowest card of a hand belongs to some group: a solo, a pair, a trio, a bomb, or a chain that begins there. Trying
each of them and splitting what is left gives every partition; what is left is often the same, so a memo of hands makes
it fast. The worth of a group depends on its head alone and includes the turn that it takes to play it. A trio has a
*slot* for a kicker and a four has two; a solo or a pair that fills a slot needs no turn of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.games.doudizhu_cards import (
    CHAIN_TOP,
    JOKERS,
    copies_of,
    first_rank,
    having_1,
    having_3,
    having_4,
    num_in,
    rank_bit,
    span,
)
from fogplay.games.doudizhu_heads import (
    BOMB,
    COPIES,
    FIRST_HEAD,
    FOUR_SOLOS,
    LENGTH,
    NUM_HEADS,
    PAIR,
    PAIR_CHAIN,
    PAIR_PLANE,
    ROCKET_HEAD,
    SOLO,
    SOLO_CHAIN,
    SOLO_PLANE,
    TRIO,
    TRIO_CHAIN,
    TRIO_PAIR,
    TRIO_SOLO,
    are_kickers,
    cards_of_head,
    category_of,
    rank_of,
)
from fogplay.jit import kernel, piece

IMPOSSIBLE = -1e9
MEMO_BITS = 18  # of the number of hands that a memo holds
MOST_GROUPS = 24
KICKER = 512  # choices from here on are kickers: this plus the number of cards
MOST_SLOTS = 6
_1, _4, _60 = np.uint64(1), np.uint64(4), np.uint64(60)
_SCATTER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(64 - MEMO_BITS)


class Memo(NamedTuple):
    """What hands are worth, by one set of worths."""

    worth: NDArray[np.float64]  # [309] of a group by its head, without kickers
    kicker: NDArray[np.float64]  # [3, 15] of 1 or 2 cards of a rank as a kicker
    keys: NDArray[np.uint64]  # [2^18] a hand, with the open slots in the highest four bits
    values: NDArray[np.float64]  # [2^18]
    choices: NDArray[np.int64]  # [2^18] the group of the lowest card


class Groups(NamedTuple):
    """A worker's scratch: a partition."""

    heads: NDArray[np.int64]  # [24]
    cards: NDArray[np.uint64]  # [24] with kickers
    loose: NDArray[np.int64]  # [2, 24] how many cards, and of which rank, each kicker is


def memo(worth: NDArray[np.float64], kicker: NDArray[np.float64]) -> Memo:
    """An empty memo for these worths."""
    size = 1 << MEMO_BITS
    return Memo(worth, kicker, np.zeros(size, np.uint64), np.zeros(size), np.zeros(size, np.int64))


def groups() -> Groups:
    """Scratch for ``split``."""
    return Groups(np.zeros(MOST_GROUPS, np.int64), np.zeros(MOST_GROUPS, np.uint64), np.zeros((2, MOST_GROUPS), np.int64))


@piece
def run_from(hand, rank, copies):
    """How many adjacent ranks from ``rank`` up to the ace have at least ``copies`` cards."""
    length = 0
    while rank + length <= CHAIN_TOP and copies_of(hand, rank + length) >= copies:
        length += 1
    return length


@kernel
def best(hand, slots, memo):
    """What a hand is worth at most where ``slots`` slots for kickers are open (below 0: missing), and its first group.

    The group of the lowest card is a head, or ``KICKER`` plus the number of cards of a kicker.
    """
    if hand == 0:
        return (0.0, 0) if slots >= 0 else (IMPOSSIBLE, 0)
    if slots < 0 and -slots > num_in(having_3(hand)) + num_in(having_4(hand)):
        return IMPOSSIBLE, 0
    slots = min(slots, MOST_SLOTS)
    key = hand | np.uint64(slots + 8) << _60
    place = (key * _SCATTER) >> _SHIFT
    if memo.keys[place] == key:
        return memo.values[place], memo.choices[place]
    rank = first_rank(having_1(hand))
    count, bit = copies_of(hand, rank), rank_bit(rank)
    top, choice = IMPOSSIBLE, 0
    for copies in range(1, min(count, 3) + 1):
        head = FIRST_HEAD[SOLO if copies == 1 else PAIR if copies == 2 else TRIO] + rank
        cards = bit * np.uint64(copies)
        value = memo.worth[head] + best(hand - cards, slots + (copies == 3), memo)[0]
        if value > top:
            top, choice = value, head
        if copies <= 2:
            value = memo.kicker[copies, rank] + best(hand - cards, slots - 1, memo)[0]
            if value > top:
                top, choice = value, KICKER + copies
        if rank <= CHAIN_TOP:
            shortest = 5 if copies == 1 else 3 if copies == 2 else 2
            category = SOLO_CHAIN if copies == 1 else PAIR_CHAIN if copies == 2 else TRIO_CHAIN
            for length in range(shortest, run_from(hand, rank, copies) + 1):
                if length * copies > 20:
                    break
                head = FIRST_HEAD[category + length] + rank
                cards = span(rank, length) * np.uint64(copies)
                gained = length if copies == 3 and length <= 5 else 0
                value = memo.worth[head] + best(hand - cards, slots + gained, memo)[0]
                if value > top:
                    top, choice = value, head
    if count == 4:
        for category in (BOMB, FOUR_SOLOS):
            head = FIRST_HEAD[category] + rank
            value = memo.worth[head] + best(hand - bit * _4, slots + (2 if category == FOUR_SOLOS else 0), memo)[0]
            if value > top:
                top, choice = value, head
    if hand & JOKERS == JOKERS and rank == 13:
        if memo.worth[ROCKET_HEAD] > top and slots >= 0:
            top, choice = memo.worth[ROCKET_HEAD], ROCKET_HEAD
    memo.keys[place], memo.values[place], memo.choices[place] = key, top, choice
    return top, choice


@piece
def value_of(hand, memo):
    """What a hand is worth."""
    return best(hand, 0, memo)[0]


@kernel
def split(hand, memo, groups):
    """Write the best partition of a hand to ``groups``, with kickers on their trios; return the number of groups."""
    filled, loose, slots = 0, 0, 0
    while hand != 0:
        choice = best(hand, slots, memo)[1]
        if choice >= KICKER:
            rank, copies = first_rank(having_1(hand)), choice - KICKER
            groups.loose[0, loose], groups.loose[1, loose] = copies, rank
            loose += 1
            slots -= 1
            hand -= rank_bit(rank) * np.uint64(copies)
            continue
        category = category_of(choice)
        groups.heads[filled], groups.cards[filled] = choice, cards_of_head(category, rank_of(choice))
        hand -= groups.cards[filled]
        filled += 1
        if COPIES[category] == 3 and LENGTH[category] <= 5:
            slots += LENGTH[category]
        elif category == FOUR_SOLOS:
            slots += 2
    return _attach(filled, loose, groups)


@kernel
def _attach(filled, loose, groups):
    """Put loose cards on groups with slots, the longest first; those that fit nowhere become groups of their own."""
    for wanted in range(5, 0, -1):
        for place in range(filled):
            category = category_of(groups.heads[place])
            fits = (COPIES[category] == 3 and LENGTH[category] == wanted) or (category == FOUR_SOLOS and wanted == 2)
            if fits and loose > 0:
                loose = _fill(place, wanted, loose, groups)
    for place in range(filled):
        if category_of(groups.heads[place]) == FOUR_SOLOS and groups.cards[place] & (groups.cards[place] - _1) == 0:
            groups.heads[place] += FIRST_HEAD[BOMB] - FIRST_HEAD[FOUR_SOLOS]
    for place in range(loose):
        copies, rank = groups.loose[0, place], groups.loose[1, place]
        groups.heads[filled] = FIRST_HEAD[SOLO if copies == 1 else PAIR] + rank
        groups.cards[filled] = rank_bit(rank) * np.uint64(copies)
        filled += 1
    return filled


@kernel
def _fill(place, wanted, loose, groups):
    """Put ``wanted`` solos, or else pairs, on a group; return how many loose cards are left."""
    head = groups.heads[place]
    category, rank = category_of(head), rank_of(head)
    for copies in range(1, 3):
        if copies == 2 and wanted == 5:
            continue
        taken, cards = 0, np.uint64(0)
        for each in range(loose):
            if groups.loose[0, each] == copies and taken < wanted:
                cards += rank_bit(groups.loose[1, each]) * np.uint64(copies)
                taken += 1
        if category == FOUR_SOLOS:
            made = FOUR_SOLOS if copies == 1 else FOUR_SOLOS + 1
        elif copies == 1:
            made = TRIO_SOLO if wanted == 1 else SOLO_PLANE + wanted
        else:
            made = TRIO_PAIR if wanted == 1 else PAIR_PLANE + wanted
        if taken < wanted or not are_kickers(cards, made, rank):
            continue
        groups.heads[place] = FIRST_HEAD[made] + rank
        groups.cards[place] += cards
        kept, taken = 0, 0
        for each in range(loose):
            if groups.loose[0, each] == copies and taken < wanted:
                taken += 1
                continue
            groups.loose[0, kept], groups.loose[1, kept] = groups.loose[0, each], groups.loose[1, each]
            kept += 1
        return kept
    return loose


def worths(by_category: dict[int, tuple[float, float]], turn: float) -> NDArray[np.float64]:
    """[309] worths from a base and a slope by rank for each category, less ``turn`` for the turn it takes."""
    found = np.zeros(NUM_HEADS)
    for head in range(1, NUM_HEADS):
        base, slope = by_category[int(category_of(head))]
        found[head] = base + slope * int(rank_of(head)) - turn
    return found
