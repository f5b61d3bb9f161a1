"""From a network's outputs to a move of Doudizhu: a head by softmax, then its kickers, compiled for CPU and GPU.

The outputs are 309 scores of heads and 90 scores of kickers: one for every rank, for each of six kinds of heads (a
trio, a chain of trios or a four, with solos or with pairs); then the expected result and points, and 75 scores of what
the next player may hold. The probability of a set of kickers is proportional to the exponential of the sum of its
scores. The sum over all sets is counted rank by rank, as ``doudizhu_kickers`` counts sets.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fogplay.games.doudizhu_cards import (
    BLACK_JOKER,
    NUM_RANKS,
    RED_JOKER,
    copies_of,
    having_2,
    rank_bit,
    span,
)
from fogplay.games.doudizhu_heads import (
    CATEGORIES,
    KICKERS,
    LENGTH,
    NO_KICKERS,
    NUM_HEADS,
    NUM_KICKERS,
    PAIRS,
    cards_of_head,
    category_of,
    rank_of,
)
from fogplay.games.doudizhu_kickers import pool_for
from fogplay.jit import kernel, piece
from fogplay.simulators.streams import uniform

KICKER_KINDS = 6
KICKER_SCORES = NUM_HEADS  # where they begin among the outputs
WIN = KICKER_SCORES + KICKER_KINDS * NUM_RANKS  # the expected result of the own side, from -1 to 1
POINTS = WIN + 1  # the expected points of the own side: the result, doubled by bombs
BELIEF = POINTS + 1  # for each rank the scores of 0 to 4 cards in the hand of the next player
COUNTS = 5
OUTPUTS = BELIEF + NUM_RANKS * COUNTS
MOST_KICKERS = 5


def _kind(number: int) -> int:
    category = CATEGORIES[number]
    if category.kickers == NO_KICKERS:
        return -1
    shape = 2 if category.copies == 4 else int(category.length > 1)
    return shape + 3 * int(category.kickers == PAIRS)


KICKER_KIND = np.array([_kind(number) for number in range(len(CATEGORIES))], np.int64)  # [categories]


def ways_buffer() -> NDArray[np.float32]:
    """Scratch for ``weigh_kickers``."""
    return np.zeros((NUM_RANKS + 1, MOST_KICKERS + 1), np.float32)


@piece
def kicker_pool(hand, category, rank):
    """How many kickers of each rank a head may take, as a word: solos up to three cards, pairs as one."""
    length = LENGTH[np.uint64(category)]
    if KICKERS[np.uint64(category)] == PAIRS:
        return having_2(hand) & ~span(rank, length)
    pool = pool_for(hand, rank, length)
    return pool.one + pool.two + pool.three


@kernel
def weigh_kickers(pool, number, scores, at, heat, ways):
    """Fill ``ways[r, n]`` with the weight of all sets of n kickers of the ranks from r on; return the highest score.

    A set's weight is the exponential of its scores, less the highest one for each kicker, divided by ``heat``. The two
    jokers never go together.
    """
    top = np.float32(-np.inf)
    for rank in range(NUM_RANKS):
        if copies_of(pool, rank) > 0:
            top = max(top, scores[at + rank])
    for count in range(number + 1):
        ways[NUM_RANKS, count] = np.float32(1.0 if count == 0 else 0.0)
    for rank in range(NUM_RANKS - 1, -1, -1):
        copies, after = copies_of(pool, rank), rank + 1 if rank != BLACK_JOKER else NUM_RANKS
        weight = math.exp((scores[at + rank] - top) / heat) if copies > 0 else 0.0
        for count in range(number + 1):
            total, power = np.float64(ways[rank + 1, count]), weight
            for taken in range(1, min(copies, count) + 1):
                total += power * ways[after, count - taken]
                power *= weight
            ways[rank, count] = total
    return top


@kernel
def draw_kickers(pool, number, scores, at, heat, ways, rng):
    """A set of kickers drawn by its weight, as a word, and the logarithm of its probability; ``ways`` is scratch."""
    top = weigh_kickers(pool, number, scores, at, heat, ways)
    left = number
    found = np.uint64(0)
    logarithm = -math.log(ways[0, number])
    for rank in range(NUM_RANKS):
        copies, after = min(copies_of(pool, rank), left), rank + 1 if rank != BLACK_JOKER else NUM_RANKS
        if copies == 0:
            continue
        score = (scores[at + rank] - top) / heat
        weight = math.exp(score)
        rest = uniform(rng) * ways[rank, left] - ways[rank + 1, left]
        taken, power = 0, weight
        while rest >= 0.0 and taken < copies:
            taken += 1
            rest -= power * ways[after, left - taken]
            power *= weight
        while taken > 0 and ways[after, left - taken] == 0.0:
            taken -= 1  # rounding led beyond the last possible number
        found += rank_bit(rank) * np.uint64(taken)
        logarithm += taken * score
        left -= taken
        if left == 0:
            break
    return found, logarithm


@kernel
def best_kickers(pool, number, scores, at):
    """The set of kickers with the highest sum of scores, as a word."""
    found = np.uint64(0)
    for _ in range(number):
        chosen = -1
        for rank in range(NUM_RANKS):
            if copies_of(pool, rank) <= copies_of(found, rank):
                continue
            if rank == RED_JOKER and copies_of(found, BLACK_JOKER) > 0:
                continue
            if rank == BLACK_JOKER and copies_of(found, RED_JOKER) > 0:
                continue
            if chosen < 0 or scores[at + rank] > scores[at + chosen]:
                chosen = rank
        found += rank_bit(chosen)
    return found


@kernel
def set_probability(pool, number, kickers, scores, at, heat, ways):
    """The logarithm of the probability of a set of kickers."""
    top = weigh_kickers(pool, number, scores, at, heat, ways)
    logarithm = -math.log(ways[0, number])
    for rank in range(NUM_RANKS):
        logarithm += copies_of(kickers, rank) * ((scores[at + rank] - top) / heat)
    return logarithm


@piece
def next_head(legal, head):
    """The next legal head after ``head``, or -1; ``legal[5]`` are int64 words."""
    head += 1
    while head < NUM_HEADS:
        rest = np.uint64(legal[head >> 6]) >> np.uint64(head & 63)
        if rest == 0:
            head = ((head >> 6) + 1) << 6
            continue
        while rest & np.uint64(1) == 0:
            rest >>= np.uint64(1)
            head += 1
        return head
    return -1


@kernel
def best_head(outputs, legal):
    """The legal head with the highest score."""
    best = head = next_head(legal, -1)
    while head >= 0:
        if outputs[head] > outputs[best]:
            best = head
        head = next_head(legal, head)
    return best


@kernel
def weigh_heads(outputs, legal, heat):
    """The highest score of the legal heads, and the sum of their weights, exp((score - highest) / heat)."""
    top, total = outputs[best_head(outputs, legal)], 0.0
    head = next_head(legal, -1)
    while head >= 0:
        total += math.exp((outputs[head] - top) / heat)
        head = next_head(legal, head)
    return top, total


@kernel
def draw_head(outputs, legal, heat, rng):
    """A legal head drawn by softmax, and the logarithm of its probability; ``heat`` 0 takes the best."""
    if heat == 0.0:
        return best_head(outputs, legal), 0.0
    top, total = weigh_heads(outputs, legal, heat)
    rest, chosen = uniform(rng) * total, -1
    head = next_head(legal, -1)
    while head >= 0:
        chosen = head
        rest -= math.exp((outputs[head] - top) / heat)
        if rest < 0.0:
            break
        head = next_head(legal, head)
    return chosen, (outputs[chosen] - top) / heat - math.log(total)


@kernel
def draw_move(outputs, legal, hand, heat, ways, rng):
    """A move drawn from a network's outputs: head, kickers, and the logarithm of its probability.

    ``outputs[476]`` are float32, ``legal[5]`` int64; ``heat`` is the temperature, 0 for the best move; ``ways`` is
    scratch, ``rng[:2]`` is mutated.
    """
    head, logarithm = draw_head(outputs, legal, heat, rng)
    category, rank = category_of(head), rank_of(head)
    kind = KICKER_KIND[np.uint64(category)]
    if kind < 0:
        return head, np.uint64(0), logarithm
    at, number = KICKER_SCORES + NUM_RANKS * kind, NUM_KICKERS[np.uint64(category)]
    pool = kicker_pool(hand, category, rank)
    if heat == 0.0:
        return head, best_kickers(pool, number, outputs, at), 0.0
    kickers, more = draw_kickers(pool, number, outputs, at, heat, ways, rng)
    return head, kickers, logarithm + more


@piece
def cards_of_move(head, kickers):
    """All cards of a move; the kickers are a word with one per pair where they are pairs."""
    category = category_of(head)
    if KICKERS[np.uint64(category)] == PAIRS:
        kickers *= np.uint64(2)
    return cards_of_head(category, rank_of(head)) + kickers


@kernel
def move_probability(outputs, legal, hand, head, cards, heat, ways):
    """The logarithm of the probability of a legal move, given by its head and all its cards."""
    top, total = weigh_heads(outputs, legal, heat)
    logarithm = (outputs[head] - top) / heat - math.log(total)
    category, rank = category_of(head), rank_of(head)
    kind = KICKER_KIND[np.uint64(category)]
    if kind < 0:
        return logarithm
    kickers = cards - cards_of_head(category, rank)
    if KICKERS[np.uint64(category)] == PAIRS:
        kickers = having_2(kickers)
    at, number = KICKER_SCORES + NUM_RANKS * kind, NUM_KICKERS[np.uint64(category)]
    pool = kicker_pool(hand, category, rank)
    return logarithm + set_probability(pool, number, kickers, outputs, at, heat, ways)
