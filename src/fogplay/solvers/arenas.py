"""Arenas: what a sampler must know of a game to learn it, whether the game is a tree or only a simulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.simulators import simulate_tree
from fogplay.solvers.run import shares
from fogplay.trees import FlatGame, flatten


@dataclass(frozen=True)
class Exploring:
    """The exploration parameter of UCB: ``c``, one a player, or with ``k`` what equation 3 of 2015 makes of the pot."""

    c: tuple[float, ...]
    k: float | None = None
    cap: float = np.inf


class Arena:
    """A game to play episodes of. A *slot* is one action of one infoset."""

    flat: FlatGame | None  # the whole game, where it fits; else nothing about it can be measured exactly
    name: str  # its spec
    game: str  # the same without what players may be bound to
    digest: str  # a number that changes with anything about it
    num_players: int
    num_slots: int
    widest: int  # the most actions of any infoset
    deepest: int  # the most moves of any history
    decisions: int  # the most decisions that a traversal of all players' moves can meet
    payoff_range: float
    calls: bool  # whether some action checks or calls
    has_pot: bool  # whether exploration can follow the pot

    def simulators(self, exploring: Exploring | None, workers: int) -> list[Any]:
        """What kernels play on, one a worker."""
        raise NotImplementedError

    def under_way(self, simulators: list[Any]) -> dict[str, NDArray[Any]]:
        """What a checkpoint must hold of the simulators."""
        return {}

    def shares(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """[slots] probabilities in proportion to ``weights[slots]``."""
        raise NotImplementedError


class TreeArena(Arena):
    """A flattened game."""

    def __init__(self, flat: FlatGame) -> None:
        self.flat = self.whole = flat
        self.name, self.game, self.digest = flat.name, flat.game, flat.digest
        self.num_players, self.num_slots = flat.num_players, flat.num_slots
        self.widest, self.deepest, self.payoff_range = flat.widest, flat.deepest, flat.payoff_range
        self.decisions = int((flat.tree.player >= 0).sum())
        self.calls, self.has_pot = flat.calling is not None, flat.outlook is not None

    def simulators(self, exploring: Exploring | None, workers: int) -> list[Any]:
        explored = None if exploring is None else self._exploration(exploring)
        return [simulate_tree(self.whole, explored, self.whole.calling)] * workers

    def _exploration(self, exploring: Exploring) -> NDArray[np.float64]:
        """[infosets] the exploration parameter."""
        if exploring.k is not None and self.whole.outlook is not None:
            pot, to_come = self.whole.outlook.T
            explored: NDArray[np.float64] = np.minimum(exploring.cap, pot + exploring.k * to_come)
            return explored
        by_player = np.array(exploring.c, np.float64)
        return by_player[self.whole.tree.infoset_player]

    def shares(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        return shares(self.whole, weights.astype(np.float64))


def arena_of(game: Any) -> Arena:
    """Where episodes of a game are played."""
    return game if isinstance(game, Arena) else TreeArena(flatten(game))


def require_tree(arena: Arena, what: str) -> FlatGame:
    """The whole game, which ``what`` needs."""
    if arena.flat is None:
        raise FogplayError(f"{what} needs the whole tree, and {arena.name} has none: use smooth-uct, uct or os-mccfr")
    return arena.flat
