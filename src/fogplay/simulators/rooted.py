"""A tree whose episodes begin at one infoset: each in a node drawn by how likely chance makes it.

This is how a search determinises: the acting player knows the infoset, and every node of it is a world that the player
cannot tell from the real one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.games.game import CHANCE
from fogplay.jit import kernel
from fogplay.simulators import questions
from fogplay.simulators.streams import uniform


class RootedTree(NamedTuple):
    """A tree and the worlds that its episodes begin in."""

    inner: Any  # a TreeGame
    worlds: NDArray[np.int64]  # [worlds] nodes of the infoset
    passed: NDArray[np.float64]  # [worlds] sums of their probabilities


@kernel
def chance_reach(tree, reach):
    """Fill ``reach[nodes]`` with the probability that chance's moves lead there."""
    reach[0] = 1.0
    for node in range(len(reach)):
        first = tree.first_child[node]
        for child in range(first, first + tree.num_children[node]):
            reach[child] = reach[node] * (tree.probability[child] if tree.player[node] == CHANCE else 1.0)


@questions.deal.register(RootedTree)
def _deal(game, rng):
    return 0


@questions.start.register(RootedTree)
def _start(game, signals, rng):
    last = len(game.passed) - 1
    left = uniform(rng) * game.passed[last]
    world = np.searchsorted(game.passed, left, side="right")
    return game.worlds[min(world, last)]


@questions.name_infoset.register(RootedTree)
def _name_infoset(game, node, signals):
    return


questions.forward(
    RootedTree,
    questions.is_terminal,
    questions.player_of,
    questions.num_actions,
    questions.slot_of,
    questions.key_of,
    questions.advance,
    questions.payoff,
)
