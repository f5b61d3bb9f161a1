"""Worlds in Doudizhu: how the cards that a player has not seen may be held by the two others.

The deals of 54 different cards that agree with everything the player saw are equally likely. Of each rank, a split of
the unseen cards between two hands is therefore weighted by the number of sets of cards that it stands for. Cards that
were played must have been dealt to the player who played them; the shown cards are the landlord's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.games.doudizhu_cards import FULL_DECK, NUM_RANKS, copies_of, rank_bit
from fogplay.games.doudizhu_kickers import choose
from fogplay.jit import kernel, piece

HAND = 17  # cards dealt to each player
MOST = 20  # cards of a hand


def ways_buffer() -> NDArray[np.float64]:
    """Scratch for ``draw_split``."""
    return np.zeros((NUM_RANKS + 1, MOST + 1))


@kernel
def draw_split(pool, least, most, size, numbers, ways):
    """``size`` cards of ``pool``, at least ``least`` and at most ``most``, every set of cards equally likely.

    ``numbers[15]`` are random numbers from [0, 1), ``ways`` is scratch: ``ways[r, n]`` becomes the number of sets of n
    cards of the ranks from r on. Returns the cards, and whether there are any such sets.
    """
    pool, least, most = np.uint64(pool), np.uint64(least), np.uint64(most)
    for left in range(size + 1):
        ways[NUM_RANKS, left] = 1.0 if left == 0 else 0.0
    for rank in range(NUM_RANKS - 1, -1, -1):
        there, low, high = copies_of(pool, rank), copies_of(least, rank), copies_of(most, rank)
        for left in range(size + 1):
            total = 0.0
            for taken in range(low, min(high, left) + 1):
                total += choose(there, taken) * ways[rank + 1, left - taken]
            ways[rank, left] = total
    if ways[0, size] == 0.0:
        return np.uint64(0), False
    drawn, left = np.uint64(0), size
    for rank in range(NUM_RANKS):
        there, low, high = copies_of(pool, rank), copies_of(least, rank), min(copies_of(most, rank), left)
        number = numbers[rank] * ways[rank, left]
        taken = low
        while taken < high:
            number -= choose(there, taken) * ways[rank + 1, left - taken]
            if number < 0.0:
                break
            taken += 1
        while taken > low and ways[rank + 1, left - taken] == 0.0:  # rounding led beyond the last possible number
            taken -= 1
        drawn += rank_bit(rank) * np.uint64(taken)
        left -= taken
    return drawn, True


@piece
def without(cards, others):
    """``cards`` without ``others``, as far as they are there: the compiled twin of ``less``."""
    left = np.uint64(0)
    for rank in range(NUM_RANKS):
        left += rank_bit(rank) * np.uint64(max(copies_of(cards, rank) - copies_of(others, rank), 0))
    return left


@kernel
def draw_others(hands, seat, played, shown, numbers, ways):
    """Fill what the two others hold into ``hands[3]``, given ``hands[seat]`` and ``played[3]``; seat 0 is the landlord.

    The compiled twin of ``draw_hands``; ``numbers`` and ``ways`` are as in ``draw_split``.
    """
    first, second = (seat + 1) % 3, (seat + 2) % 3
    pool = FULL_DECK - hands[seat] - played[seat]
    shown_to_first = shown if first == 0 else np.uint64(0)
    shown_to_second = shown if second == 0 else np.uint64(0)
    pool -= shown_to_first + shown_to_second
    least = without(played[first], shown_to_first)
    most = pool - without(played[second], shown_to_second)
    drawn, _ = draw_split(pool, least, most, HAND, numbers, ways)
    hands[first] = drawn + shown_to_first - played[first]
    hands[second] = pool - drawn + shown_to_second - played[second]


def less(cards: int, others: int) -> int:
    """``cards`` without ``others``, as far as they are there: of each rank the difference, or none."""
    return sum(max((cards >> 4 * rank & 15) - (others >> 4 * rank & 15), 0) << 4 * rank for rank in range(NUM_RANKS))


def split_bounds(own: int, shown: int, played: tuple[int, int], landlord: tuple[bool, bool]) -> tuple[int, int, int]:
    """What ``draw_split`` needs for the first of two other hands: the pool, at least, at most.

    ``own`` are all cards that a player was dealt, with the shown ones if it is the landlord; ``played`` is what each of
    the others has played, and ``landlord`` says whether it is that one.
    """
    mine = own if not any(landlord) else own + shown
    pool = int(FULL_DECK) - mine
    least = [less(cards, shown) if is_landlord else cards for cards, is_landlord in zip(played, landlord, strict=True)]
    if less(least[0], pool) or less(least[1], less(pool, least[0])):
        raise FogplayError("these cards cannot be: more cards of a rank were played than the deck has left")
    return pool, least[0], pool - least[1]


def draw_hands(
    own: int, shown: int, played: tuple[int, int], landlord: tuple[bool, bool], rng: np.random.Generator
) -> tuple[int, int]:
    """What two other players hold now, drawn at random; the arguments are those of ``split_bounds``."""
    pool, least, most = split_bounds(own, shown, played, landlord)
    bounds = (np.uint64(pool), np.uint64(least), np.uint64(most))
    drawn, possible = draw_split(*bounds, HAND, rng.random(NUM_RANKS), ways_buffer())
    if not possible:
        raise FogplayError("these cards cannot be: no deal agrees with what was played")
    dealt = int(drawn), pool - int(drawn)
    first, second = (
        cards + (shown if is_landlord else 0) - gone
        for cards, is_landlord, gone in zip(dealt, landlord, played, strict=True)
    )
    return first, second
