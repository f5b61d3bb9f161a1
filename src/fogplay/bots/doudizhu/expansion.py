"""The nodes of a search for Doudizhu: their value and their moves, from what a network says."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fogplay.bots.doudizhu.asking import NOBODY
from fogplay.games.doudizhu_cards import BLACK_JOKER, NUM_RANKS, RED_JOKER, copies_of, rank_bit
from fogplay.games.doudizhu_heads import NUM_KICKERS, category_of, rank_of
from fogplay.jit import kernel, piece
from fogplay.search.trees import add_edge, begin_edges, clear
from fogplay.simulators.doudizhu_features import BOMBS, HANDS, SEAT
from fogplay.simulators.doudizhu_lanes import MOST_DOUBLINGS
from fogplay.simulators.doudizhu_policy import (
    KICKER_KIND,
    KICKER_SCORES,
    POINTS,
    WIN,
    best_kickers,
    cards_of_move,
    kicker_pool,
    next_head,
    set_probability,
    weigh_heads,
)

FREE = 0  # the state of a simulation that has not begun


class Weights(NamedTuple):
    """How moves and results are judged."""

    points: float  # how much a point counts beside a won game
    heat: float  # the temperature of the others' moves
    prior_heat: float  # the temperature of the priors
    root_heat: float  # the same at roots, where networks that are too sure of themselves should be doubted


@piece
def expand(own, root, node, outputs, legal, hand, at_root, weights):
    """Give a node its value and its moves: every head with its best kickers, at a root with its two best sets of them.

    A move that plays all cards wins; nothing else is looked at then.
    """
    trees = own.trees
    begin_edges(trees, root, node)
    heat = weights.root_heat if at_root else weights.prior_heat
    scale = math.pow(0.5, min(own.facts[root, BOMBS], MOST_DOUBLINGS))
    trees.value[root, node] = (outputs[WIN] + weights.points * scale * outputs[POINTS]) / (1.0 + weights.points)
    trees.win[root, node] = outputs[WIN]
    top, total = weigh_heads(outputs, legal, heat)
    head = next_head(legal, -1)
    while head >= 0:
        prior = math.exp((outputs[head] - top) / heat) / total
        if add_moves(own, root, node, head, prior, outputs, hand, at_root, heat):
            return
        head = next_head(legal, head)


@piece
def add_moves(own, root, node, head, prior, outputs, hand, two_sets, heat):
    """Add the moves of a head to a node; return whether one of them plays all cards."""
    category, rank = category_of(head), rank_of(head)
    kind = KICKER_KIND[np.uint64(category)]
    if kind < 0:
        return add_move(own, root, node, head, cards_of_move(head, np.uint64(0)), prior, hand)
    at, number = KICKER_SCORES + NUM_RANKS * kind, NUM_KICKERS[np.uint64(category)]
    pool = kicker_pool(hand, category, rank)
    first = best_kickers(pool, number, outputs, at)
    if not two_sets:
        return add_move(own, root, node, head, cards_of_move(head, first), prior, hand)
    second = next_kickers(pool, number, first, outputs, at)
    if second == first:
        return add_move(own, root, node, head, cards_of_move(head, first), prior, hand)
    less = set_probability(pool, number, second, outputs, at, heat, own.ways)
    more = set_probability(pool, number, first, outputs, at, heat, own.ways)
    share = 1.0 / (1.0 + math.exp(less - more))
    add_move(own, root, node, head, cards_of_move(head, second), prior * (1.0 - share), hand)
    return add_move(own, root, node, head, cards_of_move(head, first), prior * share, hand)


@piece
def add_move(own, root, node, head, cards, prior, hand):
    """Add a move to a node if it is among the likeliest; return whether it plays all cards, and is alone then."""
    wins = cards == hand
    if wins:
        begin_edges(own.trees, root, node)
        prior = 1.0
    place = add_edge(own.trees, root, node, prior)
    if place >= 0:
        own.heads[root, node, place], own.cards[root, node, place] = head, cards
    return wins


@kernel
def next_kickers(pool, number, first, scores, at):
    """The best set of kickers that differs from the best one, ``first``, by one card; ``first`` if there is none."""
    found, highest = first, -np.inf
    for out in range(NUM_RANKS):
        if copies_of(first, out) == 0:
            continue
        rest = first - rank_bit(out)
        for into in range(NUM_RANKS):
            if into == out or copies_of(pool, into) <= copies_of(rest, into):
                continue
            if (into == RED_JOKER and copies_of(rest, BLACK_JOKER) > 0) or (
                into == BLACK_JOKER and copies_of(rest, RED_JOKER) > 0
            ):
                continue
            gain = scores[at + into] - scores[at + out]
            if gain > highest:
                found, highest = rest + rank_bit(into), gain
    return found


@kernel
def plant(own, root, outputs, legal, weights):
    """Begin a tree: expand its root by ``outputs[476]`` for ``legal[5]``; simulations start anew."""
    clear(own.trees, root)
    own.begun[root] = 0
    for lane in range(own.state.shape[1]):
        own.state[root, lane], own.asks[root, lane] = FREE, NOBODY
    seat = own.facts[root, SEAT]
    expand(own, root, 0, outputs, legal, own.words[root, HANDS + seat], True, weights)
