"""A flattened game as a simulator."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.games.game import CHANCE, TERMINAL
from fogplay.jit import kernel, piece, record
from fogplay.simulators import waist
from fogplay.simulators.random import below, uniform
from fogplay.trees import FlatGame

# One record a node, so that a step of an episode reads one line of memory.
NODE = record(
    [
        ("first_child", np.int32),
        ("slot", np.int32),  # first slot at a decision, row of payoffs at a terminal, 1 at chance if it is uneven
        ("count", np.int32),  # of children
        ("player", np.int32),
    ]
)
ROOT = 0
EVEN = 1e-15  # chances that differ by less are taken as even


class TreeGame(NamedTuple):
    """What an episode needs of a tree. Chance is drawn by Walker's alias method."""

    nodes: NDArray[Any]  # [nodes] NODE
    payoffs: NDArray[np.float64]  # [terminals, players]
    keep: NDArray[np.float64]  # [nodes] chance keeps a child it drew with this probability ...
    instead: NDArray[np.int32]  # [nodes] ... and takes this one instead otherwise
    exploration: NDArray[np.float64]  # [slots] by the first slot of an infoset
    calling: NDArray[np.int32]  # [slots] by the first slot of an infoset; -1 where no action calls


def simulate_tree(
    flat: FlatGame, exploration: NDArray[np.float64] | None = None, calling: NDArray[np.int32] | None = None
) -> TreeGame:
    """The simulator of a flattened game; ``exploration`` and ``calling`` are by infoset."""
    tree = flat.tree
    nodes = np.zeros(flat.num_nodes, NODE)
    nodes["first_child"], nodes["count"], nodes["player"] = tree.first_child, tree.num_children, tree.player
    nodes["slot"] = tree.row
    nodes["slot"][tree.player >= 0] = tree.infoset_start[tree.row[tree.player >= 0]]
    keep, instead = np.ones(flat.num_nodes), np.arange(flat.num_nodes, dtype=np.int32)
    widest = int(tree.num_children.max(initial=1))
    _fill_alias(tree, nodes, keep, instead, np.zeros(widest, np.int32), np.zeros(widest))
    starts = tree.infoset_start[:-1]
    by_slot = np.zeros(flat.num_slots)
    by_slot[starts] = 0.0 if exploration is None else exploration
    calls = np.full(flat.num_slots, -1, np.int32)
    calls[starts] = -1 if calling is None else calling
    return TreeGame(nodes, tree.payoffs, keep, instead, by_slot, calls)


@kernel
def _fill_alias(tree, nodes, keep, instead, waiting, left):  # type: ignore[no-untyped-def]
    """Make the tables of every chance node and mark the uneven ones in ``nodes``; the last two are scratch."""
    for node in range(len(nodes)):
        if tree.player[node] != CHANCE:
            continue
        first, count = tree.first_child[node], tree.num_children[node]
        low = high = tree.probability[first]
        for child in range(first, first + count):
            low, high = min(low, tree.probability[child]), max(high, tree.probability[child])
        nodes[node].slot = high - low > EVEN
        if high - low > EVEN:
            alias(tree.probability, first, count, keep, instead, waiting, left)


@kernel
def alias(probability, first, count, keep, instead, waiting, left):  # type: ignore[no-untyped-def]
    """Walker's tables for ``probability[first ...]``: draw one evenly, keep it with ``keep``, else take ``instead``.

    ``waiting[count]`` and ``left[count]`` are scratch: what has less than its even share waits at the beginning of
    ``waiting``, what has more at its end.
    """
    poor, rich = 0, count
    for number in range(count):
        left[number] = probability[first + number] * count
        if left[number] < 1.0:
            waiting[poor] = number
            poor += 1
        else:
            rich -= 1
            waiting[rich] = number
    while poor > 0 and rich < count:
        poor -= 1
        lacking, giving = waiting[poor], waiting[rich]
        keep[first + lacking], instead[first + lacking] = left[lacking], first + giving
        left[giving] -= 1.0 - left[lacking]
        if left[giving] < 1.0:
            rich += 1
            waiting[poor] = giving
            poor += 1


@piece
def after_chance(game, node, rng):  # type: ignore[no-untyped-def]
    """Move on from ``node`` until it is not chance's turn."""
    while game.nodes[node].player == CHANCE:
        here = game.nodes[node]
        child = here.first_child + below(rng, here.count)
        if here.slot == 1 and uniform(rng) >= game.keep[child]:
            child = np.int64(game.instead[child])
        node = child
    return node


@waist.deal.register(TreeGame)
def _deal(game, rng):  # type: ignore[no-untyped-def]
    return 0


@waist.start.register(TreeGame)
def _start(game, signals, rng):  # type: ignore[no-untyped-def]
    return after_chance(game, np.int64(ROOT), rng)


@waist.is_terminal.register(TreeGame)
def _is_terminal(game, node):  # type: ignore[no-untyped-def]
    return game.nodes[node].player == TERMINAL


@waist.player_of.register(TreeGame)
def _player_of(game, node):  # type: ignore[no-untyped-def]
    return np.int64(game.nodes[node].player)


@waist.num_actions.register(TreeGame)
def _num_actions(game, node):  # type: ignore[no-untyped-def]
    return np.int64(game.nodes[node].count)


@waist.slot_of.register(TreeGame)
def _slot_of(game, node, signals):  # type: ignore[no-untyped-def]
    return np.int64(game.nodes[node].slot)


@waist.advance.register(TreeGame)
def _advance(game, node, action, signals, rng):  # type: ignore[no-untyped-def]
    return after_chance(game, np.int64(game.nodes[node].first_child + action), rng)


@waist.payoff.register(TreeGame)
def _payoff(game, node, signals, player):  # type: ignore[no-untyped-def]
    return game.payoffs[game.nodes[node].slot, player]


@waist.exploration.register(TreeGame)
def _exploration(game, node, signals):  # type: ignore[no-untyped-def]
    return game.exploration[game.nodes[node].slot]


@waist.calling_action.register(TreeGame)
def _calling_action(game, node, signals):  # type: ignore[no-untyped-def]
    return np.int64(game.calling[game.nodes[node].slot])
