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
)
from fogplay.games.doudizhu_heads import (
    BOMB,
    COPIES,
    FIRST_HEAD,
    FOUR_SOLOS,
    LENGTH,
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
from fogplay.jit import kernel, piece, record

IMPOSSIBLE = -1e9
MEMO_BITS = 18  # of the number of hands that a memo holds
MOST_GROUPS = 24
KICKER = 512  # choices from here on are kickers: this plus the number of cards
MOST_SLOTS = 6
FRAME = record(
    [
        ("hand", "u8"),
        ("slots", "i8"),
        ("cursor", "i8"),
        ("top", "f8"),
        ("choice", "i8"),
        ("worth", "f8"),
        ("group", "i8"),
    ]
)
_1, _60 = np.uint64(1), np.uint64(60)
_SCATTER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(64 - MEMO_BITS)


class Memo(NamedTuple):
    """What hands are worth, by one set of worths."""

    worth: NDArray[np.float64]  # [309] of a group by its head, without kickers
    kicker: NDArray[np.float64]  # [3, 15] of 1 or 2 cards of a rank as a kicker
    keys: NDArray[np.uint64]  # [2^18] a hand, with the open slots in the highest four bits
    values: NDArray[np.float64]  # [2^18]
    choices: NDArray[np.int64]  # [2^18] the group of the lowest card
    stack: NDArray[np.void]  # [24] scratch: the hands on the way


class Groups(NamedTuple):
    """A worker's scratch: a partition."""

    heads: NDArray[np.int64]  # [24]
    cards: NDArray[np.uint64]  # [24] with kickers
    loose: NDArray[np.int64]  # [2, 24] how many cards, and of which rank, each kicker is


def memo(worth: NDArray[np.float64], kicker: NDArray[np.float64]) -> Memo:
    """An empty memo for these worths."""
    size = 1 << MEMO_BITS
    keys, choices = np.zeros(size, np.uint64), np.zeros(size, np.int64)
    return Memo(worth, kicker, keys, np.zeros(size), choices, np.zeros(MOST_GROUPS, FRAME))


def groups() -> Groups:
    """Scratch for ``split``."""
    return Groups(
        np.zeros(MOST_GROUPS, np.int64), np.zeros(MOST_GROUPS, np.uint64), np.zeros((2, MOST_GROUPS), np.int64)
    )


@piece
def run_from(hand, rank, copies):
    """How many adjacent ranks from ``rank`` up to the ace have at least ``copies`` cards."""
    length = 0
    while rank + length <= CHAIN_TOP and copies_of(hand, rank + length) >= copies:
        length += 1
    return length


@piece
def slots_of(category):
    """How many kickers go with a group."""
    if category == FOUR_SOLOS:
        return 2
    return LENGTH[np.uint64(category)] if COPIES[np.uint64(category)] == 3 and LENGTH[np.uint64(category)] <= 5 else 0


@kernel
def option(hand, cursor):
    """The next group, from ``cursor`` on, that the lowest card of a hand may belong to, and the cursor after it.

    A cursor is 16 times the number of cards per rank, plus 0 for a group of one rank, 1 for a kicker, and from 2 on for
    chains, the shortest first. A group is a head, or ``KICKER`` plus its number of cards; -1 if there are no more.
    """
    rank = first_rank(having_1(hand))
    count = copies_of(hand, rank)
    while cursor < 64:
        copies, variant = cursor >> 4, cursor & 15
        cursor += 1
        if copies > count:
            break
        if variant == 0:
            return FIRST_HEAD[SOLO if copies == 1 else PAIR if copies == 2 else TRIO] + rank, cursor
        if variant == 1:
            if copies <= 2:
                return np.int64(KICKER + copies), cursor
            continue
        length = variant - 2 + (5 if copies == 1 else 3 if copies == 2 else 2)
        if rank <= CHAIN_TOP and length * copies <= 20 and run_from(hand, rank, copies) >= length:
            category = SOLO_CHAIN if copies == 1 else PAIR_CHAIN if copies == 2 else TRIO_CHAIN
            return FIRST_HEAD[category + length] + rank, cursor
        cursor = (copies + 1) << 4
    if cursor <= 64 and count == 4:
        return FIRST_HEAD[BOMB] + rank, np.int64(66)
    if cursor == 66:
        return FIRST_HEAD[FOUR_SOLOS] + rank, np.int64(67)
    if cursor < 67 and rank == 13 and hand & JOKERS == JOKERS:
        return np.int64(ROCKET_HEAD), np.int64(67)
    return np.int64(-1), np.int64(67)


@piece
def known(hand, slots, memo):
    """Whether it is known what a hand is worth with so many open slots, its worth, and its first group."""
    if hand == 0:
        return True, 0.0 if slots >= 0 else IMPOSSIBLE, np.int64(0)
    if slots < 0 and -slots > num_in(having_3(hand)) + num_in(having_4(hand)):
        return True, IMPOSSIBLE, np.int64(0)
    place = ((hand | np.uint64(slots + 8) << _60) * _SCATTER) >> _SHIFT
    return memo.keys[place] == hand | np.uint64(slots + 8) << _60, memo.values[place], memo.choices[place]


@piece
def best(hand, slots, memo):
    """What a hand is worth at most where ``slots`` slots for kickers are open (below 0: missing), and its first group.

    The group of the lowest card is a head, or ``KICKER`` plus the number of cards of a kicker.
    """
    found, value, choice = known(hand, slots, memo)
    if found:
        return value, choice
    return work_out(hand, slots, memo)


@kernel
def work_out(hand, slots, memo):
    """``best`` for a hand that is not known: a loop over a stack of hands, each smaller than the one before."""
    stack, depth = memo.stack, 0
    push(stack[0], hand, slots)
    while True:
        frame = stack[depth]
        group, frame.cursor = option(frame.hand, frame.cursor)
        if group >= 0:
            rest, open_slots, frame.worth = after_group(frame.hand, frame.slots, group, memo)
            frame.group = group
            found, value, _ = known(rest, open_slots, memo)
            if not found:
                depth += 1
                push(stack[depth], rest, open_slots)
                continue
        else:
            key = frame.hand | np.uint64(frame.slots + 8) << _60
            place = (key * _SCATTER) >> _SHIFT
            value, choice = frame.top, frame.choice
            memo.keys[place], memo.values[place], memo.choices[place] = key, value, choice
            if depth == 0:
                return value, choice
            depth -= 1
            frame = stack[depth]
        if frame.worth + value > frame.top:
            frame.top, frame.choice = frame.worth + value, frame.group


@piece
def push(frame, hand, slots):
    """Begin with a hand."""
    frame.hand, frame.slots, frame.cursor = hand, slots, 16
    frame.top, frame.choice = IMPOSSIBLE, 0


@piece
def after_group(hand, slots, group, memo):
    """What is left of a hand without the group of its lowest card, the slots open then, and what the group is worth."""
    if group >= KICKER:
        rank, copies = first_rank(having_1(hand)), group - KICKER
        return hand - rank_bit(rank) * np.uint64(copies), slots - 1, memo.kicker[copies, rank]
    category = category_of(group)
    slots = min(slots + slots_of(category), MOST_SLOTS)
    return hand - cards_of_head(category, rank_of(group)), slots, memo.worth[group]


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
        slots = min(slots + slots_of(category), MOST_SLOTS)
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
