"""Duplicate matches at betting games: the same cards and the same luck once for every seating of the players.

What a player draws for its k-th decision of a deal is part of the deal, like the cards. So players who play alike get
exactly as much as each other, and what remains of a difference is due to how they play.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.deck import draw_cards
from fogplay.games.game import TERMINAL
from fogplay.jit import kernel, piece
from fogplay.simulators.streams import uniform
from fogplay.trees.betting import paid_by

SIXTHS = 6  # of a chip: pots shared by one, two or three come out whole
WHOLE = 255


class Player(NamedTuple):
    """One player's strategy, and what it knows of the cards."""

    slot: NDArray[np.int64]  # [nodes] of the first action in bucket 0
    stride: NDArray[np.int32]  # [nodes] slots from one bucket to the next
    share: NDArray[np.uint8]  # [slots] probabilities in 255ths
    bucket: NDArray[np.uint16]  # [deals, seats, rounds] by whose cards, as this player would see them


@kernel
def deal_block(deck, rng, cards, chance):
    """Fill ``cards[deals, 5 + 2 * seats]`` and ``chance[deals, decisions]``; ``deck[52]`` and ``rng`` are mutated.

    The deck is put in order first, so that a block of deals depends on its random numbers alone.
    """
    for card in range(len(deck)):
        deck[card] = card
    for deal in range(cards.shape[0]):
        for first in range(0, cards.shape[1], 3):
            draw_cards(deck, first, 3, uniform(rng))
        for place in range(cards.shape[1]):
            cards[deal, place] = deck[place]
        for decision in range(chance.shape[1]):
            chance[deal, decision] = uniform(rng)


@kernel
def play_block(nodes, players, seating, strength, chance, count, won, ends):
    """Play ``count`` deals, each once for every row of ``seating[seatings, seats]``, which says who sits where.

    ``won[deals, players]`` is filled with winnings over all seatings, in sixths of a chip, and
    ``ends[deals, seatings]`` with terminal nodes. ``strength[deals, seats]`` decides showdowns.
    """
    for deal in range(count):
        for player in range(seating.shape[1]):
            won[deal, player] = 0
        for turn in range(seating.shape[0]):
            node, decision = np.int64(0), 0
            while nodes[np.uint64(node)].player != TERMINAL:
                here = nodes[np.uint64(node)]
                player = players[seating[turn, here.player]]
                bucket = player.bucket[deal, here.player, here.street]
                first = player.slot[node] + np.int64(bucket) * player.stride[node]
                node = here.first_child + choose(player.share, first, here.count, chance[deal, decision])
                decision += 1
            ends[deal, turn] = node
            for seat in range(seating.shape[1]):
                won[deal, seating[turn, seat]] += winnings(nodes[np.uint64(node)], strength, deal, seat)


@piece
def choose(share, first, count, chance):
    """The action that a chance from [0, 1) means, out of the 255ths ``share[first ...]``."""
    left = np.int64(chance * WHOLE)
    choice = np.int64(0)
    for action in range(count - 1):
        left -= np.int64(share[np.uint64(first + action)])
        choice += left >= 0
    return choice


@piece
def winnings(end, strength, deal, seat):
    """What a seat wins at a terminal node, in sixths of a chip."""
    mine = paid_by(end.slot, seat)
    if not end.in_hand >> seat & 1:
        return -SIXTHS * mine
    pot, winners, beaten = 0, 0, False
    for other in range(strength.shape[1]):
        pot += paid_by(end.slot, other)
        if end.in_hand >> other & 1:
            winners += strength[deal, other] == strength[deal, seat]
            beaten = beaten or strength[deal, other] > strength[deal, seat]
    if beaten:
        return -SIXTHS * mine
    return pot * SIXTHS // winners - SIXTHS * mine
