"""Batches of deals: every player's bucket on every round and strength at showdown, looked up before play begins.

A bucket on the turn or river is one number out of 44 or 357 MB, which no cache holds, so an episode that looks it up
waits for memory twice: for the board's entry, then for the hand. Deals are independent. In a batch, short loops with
one kind of load each keep dozens of loads in flight, which hides memory latency: looking up everything in batches
costs less than looking up the river alone deal by deal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.buckets import FLOP, PREFLOP, RIVER, TURN, bucket_at, place_of, preflop_bucket
from fogplay.cards.deck import flop_number, river_number, turn_number
from fogplay.cards.evaluator import evaluate7
from fogplay.errors import FogplayError
from fogplay.jit import kernel, piece

BOARD = 5

_1, _5 = np.uint64(1), np.uint64(BOARD)


class Deals(NamedTuple):
    """Buffers for a batch of deals: the caller fills ``cards``, ``look_up_batch`` writes the rest."""

    cards: NDArray[
        np.uint8
    ]  # [deals, 5 + 2 * players] the board in the order it is dealt, then each player's hole cards
    bucket: NDArray[np.uint16]  # [deals, players, 4] on every round
    strength: NDArray[np.uint16]  # [deals, players] at showdown
    entry: NDArray[np.uint32]  # [deals, 4] scratch: by round, the board's number, then its entry in the index
    place: NDArray[np.uint32]  # [deals, players, 4] scratch: the position in the round's table


def deals_buffer(deals: int, players: int) -> Deals:
    """Buffers for a batch of ``deals``; batches of 64 or more hide the memory latency."""
    if deals < 1 or not 1 <= players <= 23:
        raise FogplayError(f"cannot deal {deals} times to {players} players: deal at least once, to 1 to 23 players")
    return Deals(
        np.zeros((deals, BOARD + 2 * players), np.uint8),
        np.zeros((deals, players, 4), np.uint16),
        np.zeros((deals, players), np.uint16),
        np.zeros((deals, 4), np.uint32),
        np.zeros((deals, players, 4), np.uint32),
    )


@kernel
def look_up_deals(signals, evaluator, deals):
    """``look_up_batch`` for callers outside compiled code."""
    look_up_batch(signals, evaluator, deals)


@piece
def look_up_batch(signals, evaluator, deals):
    """Write every player's buckets and strength for all of ``deals.cards``."""
    cards, entry, place, bucket = deals.cards, deals.entry, deals.place, deals.bucket
    count, players = np.uint64(bucket.shape[0]), np.uint64(bucket.shape[1])
    for deal in range(count):
        a, b, c, d, e = cards[deal, 0], cards[deal, 1], cards[deal, 2], cards[deal, 3], cards[deal, 4]
        entry[deal, FLOP] = flop_number(a, b, c)
        entry[deal, TURN] = turn_number(a, b, c, d)
        entry[deal, RIVER] = river_number(a, b, c, d, e)
    for deal in range(count):
        entry[deal, FLOP] = signals.boards.flop[entry[deal, FLOP]]
        entry[deal, TURN] = signals.boards.turn[entry[deal, TURN]]
        entry[deal, RIVER] = signals.boards.river[entry[deal, RIVER]]
    for deal in range(count):
        for player in range(players):
            first, second = cards[deal, _5 + player + player], cards[deal, _5 + player + player + _1]
            bucket[deal, player, PREFLOP] = preflop_bucket(signals, first, second)
            place[deal, player, FLOP] = place_of(np.uint64(entry[deal, FLOP]), first, second)
            place[deal, player, TURN] = place_of(np.uint64(entry[deal, TURN]), first, second)
            place[deal, player, RIVER] = place_of(np.uint64(entry[deal, RIVER]), first, second)
    for deal in range(count):
        for player in range(players):
            bucket[deal, player, FLOP] = bucket_at(signals, FLOP, place[deal, player, FLOP])
            bucket[deal, player, TURN] = bucket_at(signals, TURN, place[deal, player, TURN])
            bucket[deal, player, RIVER] = bucket_at(signals, RIVER, place[deal, player, RIVER])
    for deal in range(count):
        a, b, c, d, e = cards[deal, 0], cards[deal, 1], cards[deal, 2], cards[deal, 3], cards[deal, 4]
        for player in range(players):
            first, second = cards[deal, _5 + player + player], cards[deal, _5 + player + player + _1]
            deals.strength[deal, player] = evaluate7(evaluator, a, b, c, d, e, first, second)
