"""``Tree``: a game as arrays that kernels read."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE, Measure
from fogplay.jit import kernel
from fogplay.pictures import as_facts
from fogplay.trees.sequences import sequence_form

ROOT = 0
TINY = 1e-300  # a smaller sum of weights counts as zero, since its reciprocal is infinite


class Tree(NamedTuple):
    """An explicit game tree: children after parents, siblings adjacent, a subtree's nodes close together.

    A *slot* is one action of one infoset; tables of regrets, visits and probabilities are indexed by slot.
    Infosets are numbered player by player, earlier infosets of a player before later ones.
    Where a COIN decides whether a player is free or FORCED to follow a model, both of its children have the same
    children, whose probabilities are the model's; only the forced node uses them.
    """

    player: NDArray[np.int8]  # [nodes] who acts, or CHANCE, or TERMINAL
    row: NDArray[np.int32]  # [nodes] a decision's infoset, a terminal's row of payoffs, negative at chance nodes
    first_child: NDArray[np.int32]  # [nodes] child a of a node is first_child + a; 0 at terminals
    num_children: NDArray[np.int32]  # [nodes]
    probability: NDArray[np.float64]  # [nodes] of chance's move into this node; 1 after a player's move
    payoffs: NDArray[np.float64]  # [terminals, players]
    infoset_player: NDArray[np.int8]  # [infosets]
    infoset_start: NDArray[np.int32]  # [infosets + 1] the first slot of each infoset


@dataclass(frozen=True, eq=False)
class Restriction:
    """The original of a restricted game, and the model that binds the other players."""

    origin: FlatGame
    responder: int
    model: NDArray[np.float64]  # [slots]


@dataclass(frozen=True, eq=False)
class FlatGame:
    """A tree and its names: what every solver and every measure works on."""

    name: str  # the spec of its game
    tree: Tree
    infosets: tuple[str, ...]  # [infosets] each infoset's string
    actions: tuple[str, ...]  # [slots] each action's name
    recall_lost: str | None  # None under perfect recall; otherwise one sentence with an example
    root: Any  # the state it was flattened from, kept to name histories
    calling: NDArray[np.int32] | None = None  # [infosets] which action checks or calls, if the game defines it
    outlook: NDArray[np.float64] | None = (
        None  # [infosets, 2] the pot and the betting to come at the start of the round
    )
    restriction: Restriction | None = None  # of a game built by ``restrict.py``
    calibration: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # published parameters by algorithm
    measures: Mapping[str, Measure] = field(default_factory=dict)  # that only this game has, by name

    @property
    def game(self) -> str:
        """The spec of the game, or of the original of a restricted game."""
        return self.restriction.origin.name if self.restriction else self.name

    def _repr_html_(self) -> str:
        sizes = {"players": self.num_players, "nodes": f"{self.num_nodes:,}", "infosets": f"{self.num_infosets:,}"}
        return as_facts(sizes | {"perfect recall": self.recall_lost or "yes"}, self.name)

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
        """The sequence form, for solvers and measures that visit the whole game."""
        return sequence_form(self.tree)

    @functools.cached_property
    def digest(self) -> str:
        """A hash of the whole tree: its shape, chance, payoffs and infosets."""
        digest = hashlib.sha256()
        for array in self.tree:
            digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
        return digest.hexdigest()[:16]

    @functools.cached_property
    def constant_sum(self) -> float | None:
        """The sum of the payoffs, if it is the same at every terminal; else None."""
        totals = self.tree.payoffs.sum(axis=1)
        spread = float(np.abs(self.tree.payoffs).max(initial=0.0))
        return float(totals[0]) if np.ptp(totals) <= 1e-9 * spread else None

    @functools.cached_property
    def payoff_range(self) -> float:
        """The largest difference between two payoffs of the same player."""
        return float(np.ptp(self.tree.payoffs, axis=0).max())

    @functools.cached_property
    def deepest(self) -> int:
        """The most moves of any history."""
        return int(_deepest(self.tree, np.zeros(self.num_nodes, np.int32)))

    @property
    def widest(self) -> int:
        """The most actions of any infoset."""
        return int(np.diff(self.tree.infoset_start).max(initial=1))

    @functools.cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.infosets)}

    def infoset_number(self, name: str) -> int:
        """The number of the infoset with this string."""
        if name not in self._numbers:
            raise FogplayError(f"{self.name} has no infoset {name!r}; they look like {self.infosets[:1]}")
        return self._numbers[name]

    def slots(self, infoset: int) -> slice:
        """The slots of an infoset's actions."""
        return slice(int(self.tree.infoset_start[infoset]), int(self.tree.infoset_start[infoset + 1]))

    def slots_of(self, player: int) -> slice:
        """The slots of a player's actions, which are adjacent: infosets are numbered player by player."""
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
        """The names of the moves from the root to a node."""
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
