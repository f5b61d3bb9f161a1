"""Worlds of hold'em: cards that nobody has seen, dealt as others' moves make them likely, and played to their ends.

A seat's own moves depend on its own cards only. What the others hold is therefore drawn seat by seat from the weights
of all 1,326 hands (``ranges``), again and again until no card is held twice: worlds then weigh the same, however
unlikely the moves before them were.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.buckets import buckets_of_hands
from fogplay.cards.deals import BOARD, Deals, look_up_deals
from fogplay.cards.deck import CARDS, HANDS
from fogplay.cards.evaluator import evaluator
from fogplay.games.game import TERMINAL
from fogplay.games.limit import STEPS
from fogplay.jit import kernel, piece
from fogplay.simulators.holdem_duplicate import SIXTHS, SMALLEST_GRID, choose, winnings
from fogplay.simulators.streams import uniform
from fogplay.strategies.packing import WHOLE
from fogplay.strategies.policy import BLIND, BettingPolicy, signals_of
from fogplay.trees.betting import Betting, child_after

DEEPEST = 128  # nodes that wait while a subtree is walked: fewer than two for each decision of a hand


class Way(NamedTuple):
    """The others' moves on the way to a decision."""

    node: NDArray[np.int64]  # [moves]
    place: NDArray[np.int64]  # [moves] of the action taken


def way_to(betting: Betting, rounds: tuple[str, ...], seat: int) -> tuple[Way, int]:
    """The moves so far of all but ``seat``, and the node that the betting leads to."""
    nodes, places, node = [], [], 0
    for letter in "".join(rounds):
        if int(betting.nodes[node]["player"]) != seat:
            nodes.append(node)
            places.append(int(betting.nodes[node]["calling"]) + STEPS[letter])
        node = child_after(betting, node, letter)
    return Way(np.array(nodes, np.int64), np.array(places, np.int64)), node


def look_up(policy: BettingPolicy, deals: Deals) -> NDArray[np.uint16]:
    """``bucket[deals, seats, rounds]`` as the policy sees the cards; the deals' strengths are filled too."""
    look_up_deals(signals_of(policy.grid if policy.grid != BLIND else SMALLEST_GRID), evaluator(), deals)
    return np.zeros_like(deals.bucket) if policy.grid == BLIND else deals.bucket


def ranges(
    policy: BettingPolicy, way: Way, players: int, known: tuple[int, ...], board: tuple[int, ...], doubt: float
) -> NDArray[np.float64]:
    """``weights[players, 1326]``: how likely each seat made its moves of the way with each hand; 0 with known cards."""
    free = ~np.isin(HANDS, np.array(known, np.uint8)).any(axis=1)
    weights = np.tile(free.astype(np.float64), (players, 1))
    blind = policy.grid == BLIND
    bucket = np.zeros((len(HANDS), 4), np.uint16) if blind else buckets_of_hands(signals_of(policy.grid), board)
    for node, place in zip(way.node.tolist(), way.place.tolist(), strict=True):
        here = policy.betting.nodes[node]
        first = policy.slot[node] + bucket[:, int(here.street)].astype(np.int64) * policy.stride[node]
        taken = policy.share[first[free] + place] / WHOLE
        weights[int(here.player), free] *= (1 - doubt) * taken + doubt / int(here.count)
    return weights


@kernel
def deal_worlds(holes, board, seat, hands, sums, rng, cards, chance):
    """Fill ``cards[worlds, 5 + 2 * seats]``, the board first, and ``chance[worlds, decisions]``.

    ``seat`` holds ``holes[world % holes]`` and ``board[known]`` lies on the table; every other seat's hand is drawn
    from ``hands[1326, 2]`` by ``sums[seats, 1326]``, the weights added up. ``rng`` is mutated.
    """
    seats, last = sums.shape[0], hands.shape[0] - 1
    for world in range(cards.shape[0]):
        hole = world % holes.shape[0]
        known = np.int64(1) << np.int64(holes[hole, 0]) | np.int64(1) << np.int64(holes[hole, 1])
        for place in range(len(board)):
            cards[world, place] = board[place]
            known |= np.int64(1) << np.int64(board[place])
        taken, other = known, 0
        while other < seats:
            at = BOARD + 2 * other
            if other == seat:
                cards[world, at], cards[world, at + 1] = holes[hole, 0], holes[hole, 1]
                other += 1
                continue
            drawn = min(np.searchsorted(sums[other], uniform(rng) * sums[other, last], side="right"), last)
            held = np.int64(1) << np.int64(hands[drawn, 0]) | np.int64(1) << np.int64(hands[drawn, 1])
            if held & taken:
                taken, other = known, 0  # all anew, or the first seats would be drawn too often
                continue
            cards[world, at], cards[world, at + 1] = hands[drawn, 0], hands[drawn, 1]
            taken |= held
            other += 1
        for place in range(len(board), BOARD):
            card = np.int64(uniform(rng) * CARDS)
            while taken >> card & 1:
                card = np.int64(uniform(rng) * CARDS)
            cards[world, place] = card
            taken |= np.int64(1) << card
        for decision in range(chance.shape[1]):
            chance[world, decision] = uniform(rng)


@kernel
def play_worlds(nodes, slot, stride, share, bucket, strength, chance, node, seat, results):
    """Fill ``results[worlds, options]``, chips from ``node`` on: every move is drawn by the numbers in ``chance``."""
    for world in range(len(results)):
        for option in range(results.shape[1]):
            at, decision = nodes[np.uint64(node)].first_child + option, 0
            while nodes[np.uint64(at)].player != TERMINAL:
                here = nodes[np.uint64(at)]
                first = slot[at] + np.int64(bucket[world, here.player, here.street]) * stride[at]
                at = here.first_child + choose(share, first, here.count, chance[world, decision])
                decision += 1
            results[world, option] = winnings(nodes[np.uint64(at)], strength, world, seat) / SIXTHS


@kernel
def expect_worlds(nodes, slot, stride, share, bucket, strength, node, seat, waiting, reach, results):
    """The same in expectation over all moves; ``waiting[DEEPEST]`` and ``reach[DEEPEST]`` are scratch."""
    for world in range(len(results)):
        for option in range(results.shape[1]):
            start = nodes[np.uint64(node)].first_child + option
            results[world, option] = _expected(
                nodes, slot, stride, share, bucket, strength, world, start, seat, waiting, reach
            )


@piece
def _expected(nodes, slot, stride, share, bucket, strength, world, start, seat, waiting, reach):
    total, count = 0.0, 1
    waiting[0], reach[0] = start, 1.0
    while count:
        count -= 1
        at, arrives = waiting[count], reach[count]
        here = nodes[np.uint64(at)]
        if here.player == TERMINAL:
            total += arrives * winnings(here, strength, world, seat)
            continue
        first = slot[at] + np.int64(bucket[world, here.player, here.street]) * stride[at]
        for action in range(here.count):
            played = share[np.uint64(first + action)]
            if played > 0:
                waiting[count], reach[count] = here.first_child + action, arrives * played / WHOLE
                count += 1
    return total / SIXTHS
