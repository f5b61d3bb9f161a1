"""The categories of moves in Doudizhu and the 309 heads: a *head* is a category with its length, and a rank.

A move is a head and its *kickers*, the solos or pairs that go with trios and fours: 333444 with 5 and 6 has the head
"two trios with solos from 3" and the kickers 56. Which move beats which depends on heads alone. The reading of the
rules is RLCard's: 27,472 moves in all, each set of cards has one reading.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fogplay.games.doudizhu_cards import (
    CHAIN_RANKS,
    CHAIN_TOP,
    RANKS,
    first_rank,
    has_rocket,
    having,
    having_2,
    having_3,
    having_4,
    num_cards,
    rank_bit,
    span,
)
from fogplay.jit import kernel, piece

NO_KICKERS, SOLOS, PAIRS = range(3)


class Category(NamedTuple):
    """A kind of move: ``copies`` cards of each of ``length`` adjacent ranks, with ``number`` kickers of a kind."""

    name: str
    copies: int
    length: int = 1
    kickers: int = NO_KICKERS
    number: int = 0


def _chains(name: str, copies: int, lengths: range, kickers: int = NO_KICKERS) -> list[Category]:
    return [Category(f"{name} × {length}", copies, length, kickers, length if kickers else 0) for length in lengths]


CATEGORIES = (
    Category("pass", 0),
    Category("solo", 1),
    *_chains("chain of solos", 1, range(5, 13)),
    Category("pair", 2),
    *_chains("chain of pairs", 2, range(3, 11)),
    Category("trio", 3),
    *_chains("chain of trios", 3, range(2, 7)),
    Category("trio with solo", 3, 1, SOLOS, 1),
    *_chains("chain of trios with solos", 3, range(2, 6), SOLOS),
    Category("trio with pair", 3, 1, PAIRS, 1),
    *_chains("chain of trios with pairs", 3, range(2, 5), PAIRS),
    Category("four with two solos", 4, 1, SOLOS, 2),
    Category("four with two pairs", 4, 1, PAIRS, 2),
    Category("bomb", 4),
    Category("rocket", 1, 2),
)
NUM_CATEGORIES = len(CATEGORIES)
_NAMES = [category.name for category in CATEGORIES]
PASS, SOLO, PAIR, TRIO, TRIO_SOLO, TRIO_PAIR, FOUR_SOLOS, FOUR_PAIRS, BOMB, ROCKET = (
    _NAMES.index(name)
    for name in (
        "pass", "solo", "pair", "trio", "trio with solo", "trio with pair", "four with two solos",
        "four with two pairs", "bomb", "rocket",
    )
)  # fmt: skip
# What a category whose chain has length n is: add n, for n at least the shortest length.
SOLO_CHAIN, PAIR_CHAIN, TRIO_CHAIN = SOLO + 1 - 5, PAIR + 1 - 3, TRIO + 1 - 2
SOLO_PLANE, PAIR_PLANE = TRIO_SOLO + 1 - 2, TRIO_PAIR + 1 - 2

COPIES = np.array([category.copies for category in CATEGORIES], np.int64)
LENGTH = np.array([category.length for category in CATEGORIES], np.int64)
KICKERS = np.array([category.kickers for category in CATEGORIES], np.int64)
NUM_KICKERS = np.array([category.number for category in CATEGORIES], np.int64)
SIZE = COPIES * LENGTH + KICKERS * NUM_KICKERS  # [categories] cards of a move


def _starts(number: int) -> range:
    """The ranks at which a category's moves can begin."""
    category = CATEGORIES[number]
    if number == PASS:
        return range(1)
    if number == ROCKET:
        return range(13, 14)
    if number == SOLO:
        return range(15)
    return range(13) if category.length == 1 else range(CHAIN_TOP + 2 - category.length)


_HEADS = [(number, rank) for number in range(NUM_CATEGORIES) for rank in _starts(number)]
NUM_HEADS = len(_HEADS)  # 309
HEAD_CATEGORY = np.array([number for number, _ in _HEADS], np.int64)
HEAD_RANK = np.array([rank for _, rank in _HEADS], np.int64)
# [categories] the head of a category that begins at rank r is this plus r
FIRST_HEAD = np.array(
    [_HEADS.index((number, _starts(number)[0])) - _starts(number)[0] for number in range(NUM_CATEGORIES)], np.int64
)
LEAD = 0  # in place of the head to beat where there is none: the head of a pass
ROCKET_HEAD = NUM_HEADS - 1
FIRST_BOMB = int(FIRST_HEAD[BOMB])


@piece
def category_of(head):
    """The category of a head."""
    return HEAD_CATEGORY[np.uint64(head)]


@piece
def rank_of(head):
    """The rank of a head: the lowest of its chain."""
    return HEAD_RANK[np.uint64(head)]


@piece
def is_bomb(head):
    """Whether a head is a bomb or the rocket, which double the score."""
    return head >= FIRST_BOMB


@piece
def cards_of_head(category, rank):
    """The cards of a move without its kickers."""
    if category == PASS:
        return np.uint64(0)
    return span(rank, LENGTH[np.uint64(category)]) * np.uint64(COPIES[np.uint64(category)])


@piece
def runs(mask, length):
    """The mask of the ranks at which ``length`` adjacent ranks of a mask begin."""
    for _ in range(length - 1):
        mask &= mask >> np.uint64(4)
    return mask


@piece
def starts_in(hand, category):
    """The mask of the ranks at which a hand has the cards of a category's head; kickers are not looked at."""
    if category == PASS:
        return np.uint64(1)
    if category == ROCKET:
        return rank_bit(13) if has_rocket(hand) else np.uint64(0)
    mask = having(hand, COPIES[np.uint64(category)])
    length = LENGTH[np.uint64(category)]
    if length == 1:
        return mask
    return runs(mask & CHAIN_RANKS, length)


@piece
def neighbours(rank, length):
    """The mask of the ranks next to a chain of trios: three cards of such a rank would make the chain longer.

    A two never does, so it is no neighbour. A single trio and a four have neighbours too, with too few kickers for
    them to matter.
    """
    chain = span(rank, length)
    return ((chain << np.uint64(4)) | (chain >> np.uint64(4))) & ~chain & CHAIN_RANKS


@piece
def are_kickers(cards, category, rank):
    """Whether ``cards`` may be the kickers of a category's move that begins at ``rank``, if their number is right.

    Solos are not of the chain's ranks, not four alike, not three alike next to the chain, not both jokers; pairs are
    of different ranks.
    """
    length = LENGTH[np.uint64(category)]
    kind = KICKERS[np.uint64(category)]
    if kind == NO_KICKERS:
        return cards == 0
    if cards & (span(rank, length) * np.uint64(15)) != 0:
        return False
    if kind == PAIRS:
        return cards == having_2(cards) * np.uint64(2)
    too_many = having_4(cards) | (having_3(cards) & neighbours(rank, length))
    return too_many == 0 and not has_rocket(cards)


@kernel
def head_of(cards):
    """The head of the move that these cards are, or -1 if they are not a move; no cards are a pass."""
    cards = np.uint64(cards)
    size = num_cards(cards)
    for category in range(NUM_CATEGORIES):
        if SIZE[category] != size:
            continue
        starts = starts_in(cards, category)
        while starts != 0:
            rank = first_rank(starts)
            starts &= starts - np.uint64(1)
            if are_kickers(cards - cards_of_head(category, rank), category, rank):
                return FIRST_HEAD[category] + rank
    return np.int64(-1)


@piece
def beats(head, to_beat):
    """Whether a move with ``head`` may follow one with ``to_beat``; who leads may make every move but a pass."""
    if head == LEAD or to_beat == ROCKET_HEAD:
        return False
    if to_beat == LEAD or head == ROCKET_HEAD:
        return True
    if category_of(head) == category_of(to_beat):
        return head > to_beat
    return category_of(head) == BOMB


def describe(head: int) -> str:
    """A head in words: ``chain of trios with solos × 2 from 3``."""
    category: Category = CATEGORIES[HEAD_CATEGORY[head]]
    if category.copies == 0 or head == ROCKET_HEAD:
        return category.name
    return f"{category.name} {'from' if category.length > 1 else 'of'} {RANKS[HEAD_RANK[head]]}"
