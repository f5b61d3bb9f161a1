"""What each option of a hold'em decision earns, by thousands of rollouts in compiled code.

Worlds agree with what the acting seat sees: its own cards and the board are fixed, the rest is drawn. A world weighs
as much as the policy is likely to have made the others' moves in it, with some doubt. All options are played to the
end in the same worlds with the same random numbers, so that their differences are less noisy than they are themselves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.deals import BOARD, deals_buffer, look_up_deals
from fogplay.cards.deck import CARDS, draw_cards
from fogplay.cards.evaluator import evaluator
from fogplay.games.game import TERMINAL
from fogplay.games.holdem import Holdem
from fogplay.games.limit import STEPS
from fogplay.jit import kernel
from fogplay.simulators.holdem_duplicate import SIXTHS, SMALLEST_GRID, choose, winnings
from fogplay.simulators.streams import uniform
from fogplay.strategies.betting import BettingStrategy
from fogplay.strategies.packing import WHOLE
from fogplay.strategies.policy import BLIND, BettingPolicy, signals_of
from fogplay.trees.betting import Betting, child_after

WORLDS, MOST_BLOCKS = 1 << 15, 8  # a block takes about 25 milliseconds
ERROR = 0.04  # big blinds: the standard error that suffices


class Way(NamedTuple):
    """The others' moves on the way to a decision."""

    node: NDArray[np.int64]  # [moves]
    place: NDArray[np.int64]  # [moves] of the action taken


def option_results(
    rules: Holdem, reference: Any, view: Any, rng: np.random.Generator, doubt: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """``weights[worlds]`` and ``results[worlds, options]`` in chips; None if the reference is not a betting policy.

    Blocks of worlds are played until the standard errors of all differences are small, or there are enough of them.
    """
    policy = reference.policy if isinstance(reference, BettingStrategy) else reference
    if not isinstance(policy, BettingPolicy) or not rules.is_full():
        return None
    weights, results = np.empty(0), np.empty((0, len(view.legal)))
    for _ in range(MOST_BLOCKS):
        more = _block(rules, policy, view, rng, doubt)
        weights, results = np.concatenate([weights, more[0]]), np.concatenate([results, more[1]])
        if _largest_error(weights, results) <= ERROR * max(rules.blinds):
            break
    return weights, results


def _block(
    rules: Holdem, policy: BettingPolicy, view: Any, rng: np.random.Generator, doubt: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    seen = view.observation
    way, node = _way(policy.betting, seen.betting, view.seat)
    deals = deals_buffer(WORLDS, rules.players)
    chance = np.empty((WORLDS, rules.most_actions()))
    known = [*seen.hole, *seen.board]
    deck = np.array([*known, *(card for card in range(CARDS) if card not in known)], np.uint8)
    stream = np.frombuffer(rng.bytes(16), np.uint64).copy()
    deal_worlds(deck, len(known), view.seat, stream, deals.cards, chance)
    look_up_deals(signals_of(policy.grid if policy.grid != BLIND else SMALLEST_GRID), evaluator(), deals)
    bucket = np.zeros_like(deals.bucket) if policy.grid == BLIND else deals.bucket
    weights, results = np.empty(WORLDS), np.empty((WORLDS, len(view.legal)))
    arrays = (np.ascontiguousarray(policy.slot), np.ascontiguousarray(policy.stride), policy.share)
    play_worlds(
        policy.betting.nodes, *arrays, bucket, deals.strength, chance, *way, doubt, node, view.seat, weights, results
    )
    return weights, results


def _largest_error(weights: NDArray[np.float64], results: NDArray[np.float64]) -> float:
    """The largest standard error of what an option earns less than the best one."""
    shares = weights / weights.sum()
    means = shares @ results
    less = results - results[:, [int(np.argmax(means))]]
    return float(np.sqrt((shares**2) @ (less - shares @ less) ** 2).max())


def _way(betting: Betting, rounds: tuple[str, ...], seat: int) -> tuple[Way, int]:
    """The others' moves so far, and the node that they lead to."""
    nodes, places, node = [], [], 0
    for letter in "".join(rounds):
        if int(betting.nodes[node]["player"]) != seat:
            nodes.append(node)
            places.append(int(betting.nodes[node]["calling"]) + STEPS[letter])
        node = child_after(betting, node, letter)
    return Way(np.array(nodes, np.int64), np.array(places, np.int64)), node


@kernel
def deal_worlds(deck, known, seat, rng, cards, chance):
    """Fill ``cards[worlds, 5 + 2 * seats]``, the board first, and ``chance[worlds, decisions]``.

    ``deck[52]`` begins with ``known`` cards: the two of ``seat``, then the board so far. ``deck`` and ``rng`` are
    mutated.
    """
    board, drawn = known - 2, cards.shape[1] - known
    for world in range(cards.shape[0]):
        for first in range(0, drawn, 3):
            draw_cards(deck, known + first, min(3, drawn - first), uniform(rng))
        for place in range(board):
            cards[world, place] = deck[2 + place]
        at = known
        for place in range(board, BOARD):
            cards[world, place] = deck[at]
            at += 1
        for place in range(BOARD, cards.shape[1]):
            if (place - BOARD) // 2 == seat:
                cards[world, place] = deck[(place - BOARD) % 2]
            else:
                cards[world, place] = deck[at]
                at += 1
        for decision in range(chance.shape[1]):
            chance[world, decision] = uniform(rng)


@kernel
def play_worlds(nodes, slot, stride, share, bucket, strength, chance, way, place, doubt, node, seat, weights, results):
    """Fill ``weights[worlds]`` by the moves ``way`` and ``place``, and ``results[worlds, options]`` from ``node``."""
    for world in range(len(weights)):
        weight = 1.0
        for move in range(len(way)):
            here = nodes[np.uint64(way[move])]
            first = slot[way[move]] + np.int64(bucket[world, here.player, here.street]) * stride[way[move]]
            taken = share[np.uint64(first + place[move])] / WHOLE
            weight *= (1 - doubt) * taken + doubt / here.count
        weights[world] = weight
        for option in range(results.shape[1]):
            at, decision = nodes[np.uint64(node)].first_child + option, 0
            while nodes[np.uint64(at)].player != TERMINAL:
                here = nodes[np.uint64(at)]
                first = slot[at] + np.int64(bucket[world, here.player, here.street]) * stride[at]
                at = here.first_child + choose(share, first, here.count, chance[world, decision])
                decision += 1
            results[world, option] = winnings(nodes[np.uint64(at)], strength, world, seat) / SIXTHS
