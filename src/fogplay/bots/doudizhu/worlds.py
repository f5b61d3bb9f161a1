"""What the two others may hold, drawn rank by rank: evenly among all deals, or as a network's belief has it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fogplay.games.doudizhu_cards import FULL_DECK, NUM_RANKS, copies_of, rank_bit
from fogplay.games.doudizhu_kickers import choose
from fogplay.games.doudizhu_worlds import HAND, without
from fogplay.jit import kernel, piece
from fogplay.simulators.doudizhu_features import HANDS, PLAYED, SHOWN
from fogplay.simulators.doudizhu_policy import COUNTS
from fogplay.simulators.streams import uniform


class Bounds(NamedTuple):
    """How the cards that a player has not seen were dealt: what the next player got is to be drawn."""

    pool: np.uint64  # the cards
    least: np.uint64  # that the next player surely got
    most: np.uint64
    gain: np.uint64  # the shown cards, if the next player is the landlord
    loss: np.uint64  # what the next player has played


@piece
def bounds_of(words, seat):
    """How the hidden cards may be split between the two others, as ``draw_others`` has it."""
    first, second = (seat + 1) % 3, (seat + 2) % 3
    shown = words[SHOWN]
    to_first = shown if first == 0 else np.uint64(0)
    to_second = shown if second == 0 else np.uint64(0)
    pool = FULL_DECK - words[HANDS + seat] - words[PLAYED + seat] - to_first - to_second
    least = without(words[PLAYED + first], to_first)
    most = pool - without(words[PLAYED + second], to_second)
    return Bounds(pool, least, most, to_first, words[PLAYED + first])


@piece
def world_of(words, seat, bounds, drawn, hands):
    """Fill ``hands[3]`` with what all hold now if the next player was dealt ``drawn``."""
    first, second = (seat + 1) % 3, (seat + 2) % 3
    hands[seat] = words[HANDS + seat]
    hands[first] = drawn + bounds.gain - bounds.loss
    hands[second] = FULL_DECK - hands[seat] - hands[first] - words[PLAYED] - words[PLAYED + 1] - words[PLAYED + 2]


@kernel
def weigh_counts(bounds, scores, trust, weights):
    """Fill ``weights[15, 5]``: of every number of cards of a rank dealt to the next player, out of those possible.

    ``scores[75]`` are a belief's, of the numbers in the hand now. With ``trust`` 0 a number weighs as many sets of
    cards as it stands for.
    """
    for rank in range(NUM_RANKS):
        there, low, high = copies_of(bounds.pool, rank), copies_of(bounds.least, rank), copies_of(bounds.most, rank)
        change, top = copies_of(bounds.gain, rank) - copies_of(bounds.loss, rank), -np.inf
        for count in range(COUNTS):
            weights[rank, count] = -np.inf
            if low <= count <= high:
                score = (1.0 - trust) * math.log(choose(there, count))
                if trust > 0.0:
                    score += trust * scores[rank * COUNTS + count + change]
                weights[rank, count] = score
                top = max(top, score)
        for count in range(COUNTS):
            weights[rank, count] = math.exp(weights[rank, count] - top)


@kernel
def add_ways(weights, ways):
    """Fill ``ways[r, n]`` with the weight of all sets of n cards of the ranks from r on."""
    for left in range(HAND + 1):
        ways[NUM_RANKS, left] = 1.0 if left == 0 else 0.0
    for rank in range(NUM_RANKS - 1, -1, -1):
        for left in range(HAND + 1):
            total = 0.0
            for taken in range(min(COUNTS - 1, left) + 1):
                total += weights[rank, taken] * ways[rank + 1, left - taken]
            ways[rank, left] = total


@kernel
def draw_cards(weights, ways, rng):
    """17 cards for the next player, drawn by their weight."""
    drawn, left = np.uint64(0), HAND
    for rank in range(NUM_RANKS):
        number, taken = uniform(rng) * ways[rank, left], 0
        most = min(COUNTS - 1, left)
        while taken < most:
            number -= weights[rank, taken] * ways[rank + 1, left - taken]
            if number < 0.0:
                break
            taken += 1
        while weights[rank, taken] * ways[rank + 1, left - taken] == 0.0:  # rounding led beyond the last possible
            taken -= 1
        drawn += rank_bit(rank) * np.uint64(taken)
        left -= taken
    return drawn


@kernel
def weight_of(drawn, weights):
    """The logarithm of the weight of the next player's cards."""
    found = 0.0
    for rank in range(NUM_RANKS):
        found += math.log(weights[rank, copies_of(drawn, rank)])
    return found


@kernel
def prior_of(drawn, pool):
    """The logarithm of the number of sets of cards that the next player's cards stand for."""
    found = 0.0
    for rank in range(NUM_RANKS):
        found += math.log(choose(copies_of(pool, rank), copies_of(drawn, rank)))
    return found


@kernel
def draw_evenly(words, seat, hands, count, weights, ways, rng):
    """Fill ``hands[count, 3]`` with worlds, every deal equally likely; ``weights[15, 5]`` and ``ways`` are scratch."""
    bounds = bounds_of(words, seat)
    weigh_counts(bounds, weights[0], 0.0, weights)
    add_ways(weights, ways)
    for world in range(count):
        world_of(words, seat, bounds, draw_cards(weights, ways, rng), hands[world])


@kernel
def propose(words, seat, scores, trust, belief, proposals, hands, logarithms, weights, ways, rng):
    """Draw different worlds into ``hands[different, 3]``; return how many.

    ``logarithms`` become those of a world's probability before any move (to the power 1 - ``belief``, times that of the
    belief to the power ``belief``), divided by the probability that it is among the worlds drawn (Horvitz & Thompson
    1952): so a sum over them estimates a sum over all worlds, and is exact once every world was drawn.
    """
    bounds = bounds_of(words, seat)
    weigh_counts(bounds, scores, trust, weights)
    add_ways(weights, ways)
    first, count, tries = (seat + 1) % 3, 0, 0
    while tries < proposals and count < len(hands):
        tries += 1
        drawn = draw_cards(weights, ways, rng)
        held = drawn + bounds.gain - bounds.loss
        place = 0
        while place < count and hands[place, first] != held:
            place += 1
        if place == count:
            world_of(words, seat, bounds, drawn, hands[count])
            count += 1
    whole = math.log(ways[0, HAND])
    for place in range(count):
        drawn = hands[place, first] - bounds.gain + bounds.loss
        believed = weight_of(drawn, weights) - whole
        drawn_once = -math.expm1(tries * math.log1p(-min(math.exp(believed), 1.0 - 1e-12)))
        logarithms[place] = (1.0 - belief) * prior_of(drawn, bounds.pool) + belief * believed - math.log(drawn_once)
    return count
