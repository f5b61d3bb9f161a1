"""The legal moves of Doudizhu: counted without listing them, found by number, and listed.

Moves are in the order of their heads, then of their kickers, whatever the hand. The move at place n of the whole deck
is therefore *move number* n, 0 (pass) to 27,471, and the moves of a hand in order have ascending numbers.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from fogplay.games.doudizhu_cards import (
    CHAIN_RANKS,
    FULL_DECK,
    first_rank,
    from_rank,
    has_rocket,
    having_1,
    having_2,
    having_3,
    having_4,
    nth_rank,
    num_cards,
    num_in,
)
from fogplay.games.doudizhu_heads import (
    BOMB,
    FIRST_HEAD,
    KICKERS,
    LEAD,
    LENGTH,
    NO_KICKERS,
    NUM_CATEGORIES,
    NUM_HEADS,
    PAIR_PLANE,
    PASS,
    ROCKET,
    ROCKET_HEAD,
    SOLO,
    SOLO_PLANE,
    cards_of_head,
    category_of,
    rank_of,
    starts_in,
)
from fogplay.games.doudizhu_kickers import choose, count_kickers, nth_kickers
from fogplay.jit import kernel, piece

NUM_MOVES = 27_472
MOST_CARDS = 20  # of a hand
# Room for the legal moves of at most 20 cards. The most are 519, with 3456789TJJJQQQKKKAAA for example: more cards take
# no move away, so only hands of 20 need be counted, and a test counts all 153,009,740 of them.
WIDEST = 1024
_1, _4 = np.uint64(1), np.uint64(4)


@piece
def count_runs(run, length, longest):
    """How many chains there are of ``length`` to ``longest`` ranks; ``run`` has the starts of the shortest."""
    ways = np.int64(0)
    while run != 0 and length <= longest:
        ways += num_in(run)
        run &= run >> _4
        length += 1
    return ways


@piece
def count_planes(hand, run):
    """How many chains of two trios or more with kickers there are; ``run`` has the starts of two adjacent trios."""
    ways = np.int64(0)
    length = 2
    while run != 0 and length <= 5:
        starts = run
        while starts != 0:
            rank = first_rank(starts)
            starts &= starts - _1
            ways += count_kickers(hand, SOLO_PLANE + length, rank)
            if length <= 4:
                ways += count_kickers(hand, PAIR_PLANE + length, rank)
        run &= run >> _4
        length += 1
    return ways


@piece
def count_leads(hand):
    """How many moves a hand has when it leads."""
    one, two, three = having_1(hand), having_2(hand), having_3(hand)
    solos, pairs, trios = num_in(one), num_in(two), num_in(three)
    rocket = np.int64(has_rocket(hand))
    ways = solos + pairs + rocket
    run = one & CHAIN_RANKS
    run &= run >> _4
    run &= run >> np.uint64(8)
    ways += count_runs(run & run >> _4, 5, 12)
    run = two & CHAIN_RANKS
    run &= run >> _4
    ways += count_runs(run & run >> _4, 3, 10)
    if trios > 0:
        ways += trios * (1 + solos - 1 + pairs - 1)
        run = three & CHAIN_RANKS
        run &= run >> _4
        if run != 0:
            ways += count_runs(run, 2, 6) + count_planes(hand, run)
        fours = num_in(having_4(hand))
        ways += fours * (1 + choose(solos - 1, 2) + pairs - 1 - rocket + choose(pairs - 1, 2))
    return ways


@kernel
def count_category(hand, category, starts):
    """How many moves of a category a hand has that begin at one of ``starts``."""
    if KICKERS[np.uint64(category)] == NO_KICKERS:
        return num_in(starts)
    ways = np.int64(0)
    while starts != 0:
        ways += count_kickers(hand, category, first_rank(starts))
        starts &= starts - _1
    return ways


@piece
def starts_above(hand, to_beat):
    """The mask of the ranks at which a hand has a head of the same category that beats ``to_beat``."""
    return starts_in(hand, category_of(to_beat)) & from_rank(rank_of(to_beat) + 1)


@kernel
def count_moves(hand, to_beat):
    """How many legal moves a hand has after a move with head ``to_beat`` (LEAD: none), a pass included."""
    hand = np.uint64(hand)
    if to_beat == LEAD:
        return count_leads(hand)
    if to_beat == ROCKET_HEAD:
        return np.int64(1)
    category = category_of(to_beat)
    ways = 1 + count_category(hand, category, starts_above(hand, to_beat)) + np.int64(has_rocket(hand))
    return ways if category == BOMB else ways + num_in(having_4(hand))


@kernel
def nth_in_category(hand, category, starts, place):
    """The head and the cards of the move at ``place`` among a category's that begin at one of ``starts``."""
    if KICKERS[np.uint64(category)] == NO_KICKERS:
        rank = nth_rank(starts, place)
        return FIRST_HEAD[np.uint64(category)] + rank, cards_of_head(category, rank)
    while True:
        rank = first_rank(starts)
        starts &= starts - _1
        ways = count_kickers(hand, category, rank)
        if place < ways or starts == 0:
            break
        place -= ways
    cards = cards_of_head(category, rank) + nth_kickers(hand, category, rank, place)
    return FIRST_HEAD[np.uint64(category)] + rank, cards


@kernel
def nth_lead(hand, place):
    """The head and the cards of the move at ``place`` of a hand that leads."""
    category, above = SOLO, False
    while True:
        starts = starts_in(hand, category)
        ways = count_category(hand, category, starts)
        above = place >= ways
        if not above or category == ROCKET:
            break
        place -= ways
        category += 1
        if starts == 0 and LENGTH[np.uint64(category - 1)] > 1:  # then there are no longer chains either
            while LENGTH[np.uint64(category)] > 1 and category < ROCKET:
                category += 1
    return nth_in_category(hand, category, starts, place)


@kernel
def nth_move(hand, to_beat, place):
    """The head and the cards of the legal move at ``place``, from 0 to ``count_moves(hand, to_beat) - 1``."""
    hand = np.uint64(hand)
    if to_beat == LEAD:
        return nth_lead(hand, place)
    if place == 0:
        return np.int64(PASS), np.uint64(0)
    place -= 1
    category = category_of(to_beat)
    starts = starts_above(hand, to_beat)
    ways = count_category(hand, category, starts)
    if place < ways:
        return nth_in_category(hand, category, starts, place)
    place -= ways
    bombs = having_4(hand) if category != BOMB else np.uint64(0)
    if place < num_in(bombs):
        return nth_in_category(hand, BOMB, bombs, place)
    return np.int64(ROCKET_HEAD), cards_of_head(ROCKET, 13)


@piece
def follow(to_beat, passes, head):
    """What is to beat, and how many passes in a row there are, after a move with ``head``; two passes end a round."""
    if head != PASS:
        return np.int64(head), np.int64(0)
    if passes == 1:
        return np.int64(LEAD), np.int64(0)
    return np.int64(to_beat), np.int64(passes + 1)


@kernel
def _list_category(hand, category, starts, heads, cards, filled):
    """Append a category's moves to the lists; return how many these hold then."""
    while starts != 0:
        rank = first_rank(starts)
        starts &= starts - _1
        base = cards_of_head(category, rank)
        for place in range(count_kickers(hand, category, rank)):
            heads[filled] = FIRST_HEAD[np.uint64(category)] + rank
            cards[filled] = base + nth_kickers(hand, category, rank, place)
            filled += 1
    return filled


@kernel
def list_moves(hand, to_beat, heads, cards):
    """Write all legal moves in order to ``heads`` and ``cards``, which must be long enough; return how many."""
    hand = np.uint64(hand)
    filled = 0
    if to_beat == LEAD:
        for category in range(SOLO, NUM_CATEGORIES):
            filled = _list_category(hand, category, starts_in(hand, category), heads, cards, filled)
        return filled
    heads[0], cards[0] = PASS, 0
    if to_beat == ROCKET_HEAD:
        return 1
    category = category_of(to_beat)
    filled = _list_category(hand, category, starts_above(hand, to_beat), heads, cards, 1)
    if category != BOMB:
        filled = _list_category(hand, BOMB, having_4(hand), heads, cards, filled)
    if has_rocket(hand):
        filled = _list_category(hand, ROCKET, starts_in(hand, ROCKET), heads, cards, filled)
    return filled


@kernel
def count_by_head(hand, to_beat, counts):
    """Write the number of legal moves of each head to ``counts[309]``; return the total. Legal heads are not 0."""
    hand = np.uint64(hand)
    counts[:] = 0
    if to_beat != LEAD:
        counts[PASS] = 1
    total = counts[PASS]
    for category in range(SOLO, NUM_CATEGORIES):
        starts = starts_in(hand, category)
        if to_beat != LEAD:
            if category == category_of(to_beat):
                starts = starts_above(hand, to_beat)
            elif category < BOMB or to_beat == ROCKET_HEAD:
                continue
        while starts != 0:
            rank = first_rank(starts)
            starts &= starts - _1
            ways = count_kickers(hand, category, rank)
            counts[FIRST_HEAD[category] + rank] = ways
            total += ways
    return total


# ---- For plain Python


class Moves:
    """Every move by its number, and every number by the move's cards."""

    def __init__(self) -> None:
        self.heads = np.zeros(NUM_MOVES, np.int64)
        self.cards = np.zeros(NUM_MOVES, np.uint64)
        found = list_moves(FULL_DECK, LEAD, self.heads[1:], self.cards[1:])
        assert found == NUM_MOVES - 1
        self.number = {int(cards): number for number, cards in enumerate(self.cards)}


@functools.cache
def all_moves() -> Moves:
    """The 27,472 moves."""
    return Moves()


def legal_moves(hand: int, to_beat: int = LEAD) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """[moves] the heads and the cards of a hand's legal moves after a move with head ``to_beat``, in order."""
    word = np.uint64(hand)
    size = WIDEST if num_cards(word) <= MOST_CARDS else NUM_MOVES
    heads, cards = np.empty(size, np.int64), np.empty(size, np.uint64)
    found = list_moves(word, to_beat, heads, cards)
    return heads[:found], cards[:found]


def legal_heads(hand: int, to_beat: int = LEAD) -> NDArray[np.int64]:
    """[309] how many legal moves a hand has with each head, after a move with head ``to_beat``."""
    counts = np.zeros(NUM_HEADS, np.int64)
    count_by_head(np.uint64(hand), to_beat, counts)
    return counts
