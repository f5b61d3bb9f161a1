"""A flattened game as a simulator."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.games.game import CHANCE, TERMINAL
from fogplay.jit import piece, record
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
    for node in np.flatnonzero(tree.player == CHANCE):
        children = slice(tree.first_child[node], tree.first_child[node] + tree.num_children[node])
        shares = tree.probability[children]
        uneven = np.ptp(shares) > 1e-15
        nodes["slot"][node] = uneven
        if uneven:
            keep[children], instead[children] = _alias(shares, children.start)
    starts = tree.infoset_start[:-1]
    by_slot = np.zeros(flat.num_slots)
    by_slot[starts] = 0.0 if exploration is None else exploration
    calls = np.full(flat.num_slots, -1, np.int32)
    calls[starts] = -1 if calling is None else calling
    return TreeGame(nodes, tree.payoffs, keep, instead, by_slot, calls)


def _alias(shares: NDArray[np.float64], first: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Walker's tables: draw a child evenly, keep it with ``keep``, else take ``instead``."""
    count = len(shares)
    left = shares * count
    keep, instead = np.ones(count), first + np.arange(count, dtype=np.int32)
    small, large = [k for k in range(count) if left[k] < 1], [k for k in range(count) if left[k] >= 1]
    while small and large:
        poor, rich = small.pop(), large[-1]
        keep[poor], instead[poor] = left[poor], first + rich
        left[rich] -= 1 - left[poor]
        if left[rich] < 1:
            small.append(large.pop())
    return keep, instead


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
