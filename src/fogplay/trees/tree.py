"""``Tree``: a game as arrays, which is all that a kernel ever reads."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.games.game import CHANCE
from fogplay.jit import kernel
from fogplay.trees.sequences import sequence_form

ROOT = 0
TINY = 1e-300  # weights that add up to less count as none: one over it is infinite


class Tree(NamedTuple):
    """An explicit game tree: children after parents, siblings side by side, a subtree's nodes close together.

    A *slot* is one action of one infoset; tables of regrets, visits and probabilities are indexed by slot.
    Infosets are numbered player by player, and a player's infoset after every one that can come before it.
    Where a COIN decides whether a player is free or FORCED to follow a model, both of its children have the same
    children: the probabilities of those are the model's, and only the forced one reads them.
    """

    player: NDArray[np.int8]  # [nodes] who acts, or CHANCE, or TERMINAL
    row: NDArray[np.int32]  # [nodes] the infoset of a decision, the row of payoffs of a terminal, below 0 at chance
    first_child: NDArray[np.int32]  # [nodes] child a of a node is first_child + a; 0 at a terminal
    num_children: NDArray[np.int32]  # [nodes]
    probability: NDArray[np.float64]  # [nodes] of chance's move into this node; 1 below a player's
    payoffs: NDArray[np.float64]  # [terminals, players]
    infoset_player: NDArray[np.int8]  # [infosets]
    infoset_start: NDArray[np.int32]  # [infosets + 1] the first slot of each infoset


@dataclass(frozen=True, eq=False)
class Restriction:
    """Which game this was before the others were bound to a model."""

    origin: FlatGame
    responder: int
    model: NDArray[np.float64]  # [slots]


@dataclass(frozen=True, eq=False)
class FlatGame:
    """A tree with the names that belong to it: what every solver and every measure works on."""

    name: str  # the spec of the game it was made from
    tree: Tree
    infosets: tuple[str, ...]  # [infosets] each infoset's string
    actions: tuple[str, ...]  # [slots] each action's name
    recall_lost: str | None  # None under perfect recall; else one sentence that shows where it is lost
    root: Any  # the state it was flattened from, kept to name histories
    calling: NDArray[np.int32] | None = None  # [infosets] which action checks or calls, where the game says so
    outlook: NDArray[np.float64] | None = None  # [infosets, 2] pot and betting to come at the round's beginning
    restriction: Restriction | None = None  # of a game made by ``restrict.py``
    calibration: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # parameters by algorithm, as published

    @property
    def game(self) -> str:
        """The spec of the game itself, whatever the others may be bound to."""
        return self.restriction.origin.name if self.restriction else self.name

    @property
    def num_players(self) -> int:
        return int(self.tree.payoffs.shape[1])

    @property
    def num_nodes(self) -> int:
        return len(self.tree.player)

    @property
    def num_infosets(self) -> int:
        return len(self.infosets)

    @property
    def num_slots(self) -> int:
        return len(self.actions)

    @property
    def nbytes(self) -> int:
        """Bytes of the tree's arrays."""
        return sum(array.nbytes for array in self.tree)

    @functools.cached_property
    def sequences(self) -> Any:
        """The same game by sequences, for solvers and measures that visit all of it."""
        return sequence_form(self.tree)

    @functools.cached_property
    def digest(self) -> str:
        """A number that changes with anything about the tree: its shape, chance, payoffs and infosets."""
        digest = hashlib.sha256()
        for array in self.tree:
            digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
        return digest.hexdigest()[:16]

    @functools.cached_property
    def constant_sum(self) -> float | None:
        """What every terminal's payoffs add up to, or None where they differ."""
        totals = self.tree.payoffs.sum(axis=1)
        spread = float(np.abs(self.tree.payoffs).max(initial=0.0))
        return float(totals[0]) if np.ptp(totals) <= 1e-9 * spread else None

    @functools.cached_property
    def payoff_range(self) -> float:
        """The largest difference that any player can see between two endings."""
        return float(np.ptp(self.tree.payoffs, axis=0).max())

    @functools.cached_property
    def deepest(self) -> int:
        """The most moves of any history."""
        return int(_deepest(self.tree, np.zeros(self.num_nodes, np.int32)))

    @property
    def widest(self) -> int:
        """The most actions of any infoset."""
        return int(np.diff(self.tree.infoset_start).max(initial=1))

    def slots(self, infoset: int) -> slice:
        """Where an infoset's actions lie in a table."""
        return slice(int(self.tree.infoset_start[infoset]), int(self.tree.infoset_start[infoset + 1]))

    def slots_of(self, player: int) -> slice:
        """Where a player's actions lie in a table: infosets are numbered player by player."""
        first, end = np.searchsorted(self.tree.infoset_player, [player, player + 1])
        return slice(int(self.tree.infoset_start[first]), int(self.tree.infoset_start[end]))

    def uniform(self) -> NDArray[np.float64]:
        """[slots] the strategy that takes every action with equal probability."""
        counts = np.diff(self.tree.infoset_start)
        return np.repeat(1.0 / counts, counts)

    def shares(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """[slots] every infoset's weights as probabilities; uniform where there are none."""
        return shares(weights, self.tree.infoset_start)

    def history(self, node: int) -> str:
        """The moves from the root to a node, by name."""
        path: list[int] = []
        first, count = self.tree.first_child, self.tree.num_children
        while node != ROOT:
            parent = int(np.flatnonzero((first <= node) & (node < first + count))[0])
            path.append(node - int(first[parent]))
            node = parent
        return name_path(self.root, path[::-1])


def shares(weights: NDArray[Any], infoset_start: NDArray[np.int32]) -> NDArray[np.float64]:
    """[slots] every infoset's ``weights[slots]`` as probabilities; uniform where there are none."""
    strategy = np.empty(len(weights))
    _shares(weights.astype(np.float64), infoset_start, strategy)
    return strategy


def name_path(state: Any, path: list[int]) -> str:
    """The names of the moves that take child ``path[0]`` of ``state``, then child ``path[1]`` of that, and so on."""
    names = []
    for choice in path:
        player = state.current_player()
        outcomes = state.chance_outcomes() if player == CHANCE else None
        action = outcomes[choice][0] if outcomes is not None else state.legal_actions()[choice]
        names.append(str(state.action_to_string(player, action)))
        state = state.child(action)
    return ", ".join(names) if names else "the start of the game"


@kernel
def _shares(weights, infoset_start, strategy):
    """Fill ``strategy[slots]`` with each infoset's share of the positive ``weights[slots]``."""
    for infoset in range(len(infoset_start) - 1):
        first, end = infoset_start[infoset], infoset_start[infoset + 1]
        total = 0.0
        for slot in range(first, end):
            total += max(weights[slot], 0.0)
        known = total > TINY
        scale, even = (1.0 / total, 0.0) if known else (0.0, 1.0 / (end - first))
        for slot in range(first, end):
            strategy[slot] = max(weights[slot], 0.0) * scale + even


@kernel
def _deepest(tree, depth):
    """The largest depth of a node; ``depth[nodes]``, zeroed, is filled."""
    deepest = 0
    for node in range(len(depth)):
        for action in range(tree.num_children[node]):
            depth[tree.first_child[node] + action] = depth[node] + 1
            deepest = max(deepest, depth[node] + 1)
    return deepest
