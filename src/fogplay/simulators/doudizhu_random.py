"""Random games of Doudizhu in compiled code: every player draws one of its legal moves, all equally likely.

A game depends on a seed and its number only, so a CPU and a GPU play the same games in any order. Each game has a
checksum over its deal and its moves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fogplay.games.doudizhu_cards import rank_bit
from fogplay.games.doudizhu_heads import LEAD, is_bomb
from fogplay.games.doudizhu_moves import count_moves, follow, nth_move
from fogplay.jit import kernel, piece
from fogplay.simulators.streams import below, mix

CARDS, HAND = 54, 17


@piece
def seed_game(seed, number, rng):
    """Put the random stream of game ``number`` into ``rng[:2]``."""
    rng[0] = mix(np.uint64(seed), np.uint64(2 * number + 1))
    rng[1] = mix(rng[0], np.uint64(2 * number + 2))


@piece
def deal_cards(rng):
    """Three hands of 17 cards, and the three cards that are left; all deals are equally likely.

    Card by card, each place in a hand that is still free has the same chance to get it.
    """
    first = second = third = shown = np.uint64(0)
    free_first = free_second = free_third = HAND
    for card in range(CARDS):
        rank = card >> 2 if card < 52 else card - 39
        bit = rank_bit(rank)
        place = below(rng, CARDS - card)
        if place < free_first:
            first += bit
            free_first -= 1
        elif place < free_first + free_second:
            second += bit
            free_second -= 1
        elif place < free_first + free_second + free_third:
            third += bit
            free_third -= 1
        else:
            shown += bit
    return first, second, third, shown


@kernel
def random_game(seed, number, rng):
    """Play one game: its checksum, the points of the landlord's team (1, doubled by bombs), and the number of moves.

    ``rng[:2]`` is mutated.
    """
    seed_game(seed, number, rng)
    mine, after, before, shown = deal_cards(rng)
    mine += shown
    checksum = mix(mix(mix(np.uint64(number), mine), after), before)
    to_beat, passes, moves, points = np.int64(LEAD), np.int64(0), np.int64(0), np.int64(1)
    while True:
        head, cards = nth_move(mine, to_beat, below(rng, count_moves(mine, to_beat)))
        mine -= cards
        checksum = mix(checksum, cards)
        moves += 1
        if is_bomb(head):
            points *= 2
        if mine == 0:
            break
        to_beat, passes = follow(to_beat, passes, head)
        mine, after, before = after, before, mine
    return checksum, points if moves % 3 == 1 else -points, moves


@kernel
def _play(seed, first, rng, checksums, points, moves):
    for place in range(len(checksums)):
        checksums[place], points[place], moves[place] = random_game(seed, first + place, rng)


def random_games(
    seed: int, first: int, count: int, device: str = "cpu"
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32]]:
    """Games ``first``, ``first + 1``, … of a seed: ``[count]`` checksums, points of the landlord's team, and moves."""
    results = np.zeros(count, np.uint64), np.zeros(count, np.int32), np.zeros(count, np.int32)
    if device == "cpu":
        _play(seed, first, np.zeros(2, np.uint64), *results)
        return results
    from fogplay.simulators.doudizhu_gpu import RandomGamesOnGpu

    return RandomGamesOnGpu(count).play(seed, first)
