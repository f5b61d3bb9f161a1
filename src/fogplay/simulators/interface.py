"""``Simulator``: a game that kernels can play, whether it is a tree or far too large for one.

A simulator has the sizes of the learner's tables, arrays for each worker that plays episodes, and methods that turn
what was learned into a strategy. Kernels never see it: they see one worker's arrays, through ``questions``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.strategies.strategy import Situation
from fogplay.trees import FlatGame

BATCH = 64  # deals prepared at once, in games with deals
NONE: Mapping[str, Any] = MappingProxyType({})
PER_WORKER: set[type] = set()
Learned = Mapping[str, NDArray[Any]]  # [slots] visits and total of UCT, or the weights of CFR


def per_worker(kind: type) -> type:
    """Mark a tuple of arrays as a worker's own; all other arrays of a game are shared by its workers."""
    PER_WORKER.add(kind)
    return kind


@dataclass(frozen=True)
class Failure:
    """Why the episodes of a run ended."""

    line: str
    unplayed: int  # episodes requested but not completed


class Simulator:
    """A game to play episodes of. A *slot* is one action of one infoset."""

    flat: FlatGame | None = None  # the whole game; None if it is too large, and then nothing can be measured exactly
    name: str  # its spec
    game: str  # the same without a model that players are bound to
    digest: str  # changes with anything about the game: a checkpoint belongs to one digest
    num_players: int
    num_slots: int
    widest: int  # the most actions of any infoset
    deepest: int  # the most moves of any history
    decisions: int  # the most decisions in one traversal of all players' moves; below 0: unknown
    mean_actions: float | None = None  # of an infoset, about; None if infosets are numbered in advance
    payoff_range: float  # the largest difference between two payoffs of a player
    compiled: bool = True  # whether kernels play it without Python, so that a GPU can
    note: str | None = None  # a remark to print before it is played
    public_kernels: tuple[Any, ...] = ()  # of ``public_game``
    defaults: Mapping[str, Any] = NONE  # of UCT's parameters, where the game asks for its own
    calibration: Mapping[str, Mapping[str, Any]] = NONE  # parameters by algorithm, as the papers calibrated them

    def worker(self, batch: int = BATCH) -> Any:
        """The game as one worker plays it: a tuple of arrays; games with deals prepare ``batch`` of them at a time."""
        raise NotImplementedError

    def actions_per_infoset(self) -> int:
        """About how many actions an infoset has, rounded up: the memory that a search reserves for each."""
        return self.widest

    def rooted(self, view: Situation, rng: np.random.Generator, doubt: bool = False) -> Any:
        """The game as one worker plays it from what the view's seat knows: every episode begins at its decision.

        Each episode begins in a world drawn at random among those that the seat cannot tell from the real one, by the
        probabilities of chance and of others who choose uniformly. With ``doubt``, half of the episodes begin in a
        world that another player holds possible in such a world, where that is easy to draw: otherwise the others would
        learn to play as if they knew what the seat knows.
        """
        raise FogplayError(f"{self.name} cannot be searched: its simulator cannot start from what one player knows")

    def workers(self, count: int, batch: int = BATCH, writing: Any = None) -> list[Any]:
        """The game for each of the workers of one run; ``writing`` is how they write to shared arrays of the game."""
        return [self.worker(batch) for _ in range(count)]

    def index_of(self, worker: Any) -> Any:
        """The ``hashed.Index`` of a run's workers; None if infosets are numbered in advance."""
        return None

    def in_progress(self, workers: Sequence[Any]) -> dict[str, NDArray[Any]]:
        """The workers' state that a checkpoint must hold."""
        return {}

    def resume(self, workers: Sequence[Any], arrays: Learned) -> None:
        """Restore the workers' state from the result of ``in_progress``."""
        for name, table in self.in_progress(workers).items():
            table[...] = arrays[name]

    def failure(self, workers: Sequence[Any]) -> Failure | None:
        """The error that stopped the game while it was played, if any."""
        return None

    def exploration(self, k: float, cap: float) -> Any:
        """Exploration that follows the pot, min(cap, pot + k * betting to come); None if there is no pot."""
        return None

    def public_game(self, opponent: str | None, threads: int, device: str = "cpu") -> Any:
        """What learns from one deal of public cards with all private ones at once; None if they cannot be told apart.

        With an ``opponent``, a spec or grid by which it sees the cards, each player learns against one that answers
        best in the last round.
        """
        return None

    def calls(self) -> Any:
        """Which action checks or calls, for rollouts that call down; None if the game has no such action."""
        return None

    def strategy(self, learned: Learned, method: str, greedy: bool, **about: Any) -> Any:
        """The strategy that was learned: the average, or the ``greedy`` one."""
        raise NotImplementedError

    def strategy_by_key(
        self,
        keys: NDArray[np.uint64],
        first: NDArray[np.int64],
        learned: Learned,
        method: str,
        greedy: bool,
        **about: Any,
    ) -> Any:
        """The same for tables with infosets found by key: ``keys[infosets]``, with first slots ``first[infosets]``."""
        raise NotImplementedError

    def model(self, to: Any) -> NDArray[np.float64]:
        """[slots] the probabilities of a strategy of this game."""
        raise NotImplementedError

    def joined(self, strategies: Sequence[Any], method: str, **about: Any) -> Any:
        """One strategy that plays at every seat like the one listed for it."""
        raise NotImplementedError


def require_tree(simulator: Simulator, what: str) -> FlatGame:
    """The whole game, which ``what`` needs."""
    if simulator.flat is None:
        raise FogplayError(
            f"{what} needs the whole tree, and {simulator.game} is too large for one; use smooth-uct, uct, os-mccfr or "
            "es-mccfr"
        )
    return simulator.flat
