"""The cards of limit hold'em as a simulator deals them: in buckets, as they are, or partly known.

A player's knowledge on a round is one number: the bucket of its hand or, with small decks, the index of its cards and
the board. Deals are looked up in batches (``cards/deals.py``): batched lookups overlap, which hides memory latency.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.buckets import Signals
from fogplay.cards.deals import deals_buffer, look_up_batch
from fogplay.cards.deck import draw_cards
from fogplay.cards.evaluator import Evaluator
from fogplay.dispatch import by_type
from fogplay.errors import FogplayError
from fogplay.games.holdem import EXACT, MOST_CARDS, Holdem, hand_strength
from fogplay.jit import kernel, piece
from fogplay.simulators.interface import per_worker
from fogplay.simulators.streams import below, uniform

MOST_SITUATIONS = 50_000_000  # of exact cards


class Bucketed(NamedTuple):
    """Cards seen as buckets of hand strength."""

    signals: Signals
    evaluator: Evaluator


class Exact(NamedTuple):
    """Cards seen as they are: a situation is the set of hole cards and the set turned up before each round."""

    hole: int
    board: NDArray[np.int64]  # [rounds] cards turned up before each
    choose: NDArray[np.int64]  # [8, cards + 1] binomials: sets of k of n cards
    strength: NDArray[np.uint16]  # [situations of the last round] compares as hands do at showdown


class Known(NamedTuple):
    """Cards of which some are known: the rest are drawn from the cards that one player has not seen.

    Every other deal may draw the player's own cards as well, as somebody who does not see them.
    """

    buckets: Bucketed
    open: NDArray[np.int64]  # [cards drawn] their places in ``Deals.cards``
    open_in_doubt: NDArray[np.int64]  # [cards drawn] the same for every other deal ...
    deck_in_doubt: NDArray[np.uint8]  # ... and the cards to draw from


class ExactDeals(NamedTuple):
    """The counterpart of ``cards.deals.Deals`` for exact cards."""

    bucket: NDArray[np.uint32]  # [deals, players, rounds] the situation
    strength: NDArray[np.uint16]  # [deals, players] at showdown


@per_worker
class Batch(NamedTuple):
    """A worker's deals that wait to be played; with its random numbers, all that a run must save to continue."""

    next: NDArray[np.int64]  # [1] the next deal to hand out
    deck: NDArray[np.uint8]  # [cards] a permutation
    deals: Any  # cards.deals.Deals or ExactDeals


def new_batch(rules: Holdem, size: int) -> Batch:
    """Room for so many deals, all to be dealt."""
    deals = (
        deals_buffer(size, rules.players)
        if rules.grid != EXACT
        else ExactDeals(
            np.zeros((size, rules.players, rules.rounds), np.uint32), np.zeros((size, rules.players), np.uint16)
        )
    )
    return Batch(np.full(1, size, np.int64), np.arange(rules.num_cards(), dtype=np.uint8), deals)


# ---- Deals


@by_type
def deal_batch(cards, batch, rng):
    """Deal and look up a whole batch; ``batch`` and ``rng`` are mutated."""


@deal_batch.register(Bucketed)
def _deal_buckets(cards, batch, rng):
    dealt = batch.deals.cards
    for deal in range(dealt.shape[0]):
        for first in range(0, dealt.shape[1], 3):
            draw_cards(batch.deck, first, 3, uniform(rng))
        for place in range(dealt.shape[1]):
            dealt[deal, place] = batch.deck[place]
    look_up_batch(cards.signals, cards.evaluator, batch.deals)


@deal_batch.register(Known)
def _deal_known(cards, batch, rng):
    dealt = batch.deals.cards
    for deal in range(dealt.shape[0]):
        if deal % 2 == 0:
            draw_unseen(dealt[deal], cards.open, batch.deck, rng)
        else:
            draw_unseen(dealt[deal], cards.open_in_doubt, cards.deck_in_doubt, rng)
    look_up_batch(cards.buckets.signals, cards.buckets.evaluator, batch.deals)


@piece
def draw_unseen(dealt, places, deck, rng):
    """Draw a card from ``deck`` for each of ``places`` in ``dealt``; both arrays change."""
    for number in range(len(places)):
        other = number + below(rng, len(deck) - number)
        deck[number], deck[other] = deck[other], deck[number]
        dealt[places[number]] = deck[number]


@deal_batch.register(Exact)
def _deal_situations(cards, batch, rng):
    deck, deals = batch.deck, batch.deals
    players, rounds = deals.bucket.shape[1], deals.bucket.shape[2]
    needed = players * cards.hole
    for round_ in range(rounds):
        needed += cards.board[round_]
    for deal in range(deals.bucket.shape[0]):
        for place in range(needed):
            other = place + below(rng, len(deck) - place)
            deck[place], deck[other] = deck[other], deck[place]
        look_up_exact(cards, deck, deals, deal)


@piece
def look_up_exact(cards, deck, deals, deal):
    """Look up deal number ``deal``, which is on top of the deck: hole cards by seat, then the board."""
    players, rounds = deals.bucket.shape[1], deals.bucket.shape[2]
    for player in range(players):
        situation = set_number(cards.choose, deck, player * cards.hole, cards.hole)
        begin = players * cards.hole
        for round_ in range(rounds):
            count = cards.board[round_]
            situation *= cards.choose[count, len(deck)]
            situation += set_number(cards.choose, deck, begin, count)
            begin += count
            deals.bucket[deal, player, round_] = situation
        deals.strength[deal, player] = cards.strength[situation]


@piece
def set_number(choose, cards, begin, count):
    """The number of the set ``cards[begin : begin + count]`` in colexicographic order, as in ``cards/deck.py``."""
    number = 0
    for place in range(begin, begin + count):
        not_above = 0
        for other in range(begin, begin + count):
            not_above += cards[other] <= cards[place]
        number += choose[not_above, cards[place]]
    return number


@kernel
def deal_anew(cards, batch, rng):
    """Deal a whole batch; not inlined, so that its code is not repeated in every kernel: it runs once per batch."""
    deal_batch(cards, batch, rng)


# ---- Exact cards


def exact_cards(rules: Holdem) -> Exact:
    """The tables of a small deck."""
    situations = rules.buckets()[-1]
    if situations > MOST_SITUATIONS:
        raise FogplayError(
            f"{rules} has {situations:,} situations of exact cards, over {MOST_SITUATIONS:,}: choose a smaller deck, "
            "or buckets (grid) with the whole deck"
        )
    cards = rules.num_cards()
    choose = np.array([[math.comb(n, size) for n in range(cards + 1)] for size in range(MOST_CARDS + 1)], np.int64)
    return Exact(rules.hole, np.array(rules.board, np.int64), choose, _strengths(rules))


def _strengths(rules: Holdem) -> NDArray[np.uint16]:
    """[situations of the last round] the order of hands at showdown; 0 where a card would appear twice."""
    hands = np.zeros((1, 0), np.int64)
    for size in (rules.hole, *rules.board):
        by_number = sorted(itertools.combinations(range(rules.num_cards()), size), key=lambda each: each[::-1])
        sets = np.array(by_number, np.int64).reshape(len(by_number), size)
        hands = np.hstack([np.repeat(hands, len(sets), axis=0), np.tile(sets, (len(hands), 1))])
    hands = np.sort(hands, axis=1)
    possible = (np.diff(hands, axis=1) > 0).all(axis=1)
    different, which = np.unique(hands[possible], axis=0, return_inverse=True)
    values = [hand_strength(rules, tuple(map(int, hand))) for hand in different]
    order = {value: number for number, value in enumerate(sorted(set(values)))}
    strength = np.zeros(len(hands), np.uint16)
    strength[possible] = np.array([order[value] for value in values], np.uint16)[which.reshape(-1)]
    return strength
