"""``Strategy``: what to do at every infoset, where it came from, and how to keep it."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay import storage
from fogplay.errors import FogplayError
from fogplay.trees import FlatGame
from fogplay.version import VERSION


@dataclass(frozen=True, eq=False)
class Strategy:
    """Action probabilities at every infoset of a game, for all its players.

    ``values`` and ``visits`` are there if the method kept them: what each action earned and how often it was taken.
    """

    game: str  # the spec of the game
    infosets: tuple[str, ...]  # [infosets]
    actions: tuple[str, ...]  # [slots]
    infoset_player: NDArray[np.int8]  # [infosets]
    infoset_start: NDArray[np.int32]  # [infosets + 1]
    probabilities: NDArray[np.float64]  # [slots]
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    iterations: int = 0
    seed: int | None = None
    version: str = VERSION
    values: NDArray[np.float64] | None = None  # [slots]
    visits: NDArray[np.int64] | None = None  # [slots]

    @staticmethod
    def of(flat: FlatGame, probabilities: NDArray[np.float64], method: str, **about: Any) -> Strategy:
        """A strategy of a flattened game."""
        tree = flat.tree
        return Strategy(
            flat.name,
            flat.infosets,
            flat.actions,
            tree.infoset_player,
            tree.infoset_start,
            probabilities,
            method,
            **about,
        )

    @functools.cached_property
    def _index(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.infosets)}

    def find(self, infoset: str) -> int:
        """The number of the infoset with this string."""
        if infoset not in self._index:
            like = f"its infosets look like {self.infosets[0]!r}" if self.infosets else "it has none at all"
            raise FogplayError(f"{self.game} has no infoset {infoset!r}; {like}")
        return self._index[infoset]

    def slots(self, infoset: str) -> slice:
        """Where an infoset's actions lie in ``probabilities``."""
        number = self.find(infoset)
        return slice(int(self.infoset_start[number]), int(self.infoset_start[number + 1]))

    def __getitem__(self, infoset: str) -> dict[str, float]:
        """The probability of every action at an infoset."""
        where = self.slots(infoset)
        return dict(zip(self.actions[where], self.probabilities[where].tolist(), strict=True))

    def greedy(self) -> Strategy:
        """The strategy that always takes the best action: by learned value where there is one, else by probability."""
        chosen = np.zeros(len(self.probabilities))
        worth = self.probabilities if self.values is None else self.values
        for first, end in zip(self.infoset_start[:-1].tolist(), self.infoset_start[1:].tolist(), strict=True):
            tried = worth[first:end]
            if self.visits is not None and self.visits[first:end].any():
                tried = np.where(self.visits[first:end] > 0, tried, -np.inf)
            chosen[first + int(np.argmax(tried))] = 1.0
        return dataclasses.replace(self, probabilities=chosen, method=f"{self.method}, greedy")

    def on(self, flat: FlatGame) -> NDArray[np.float64]:
        """[slots] its probabilities in the order of a flattened game, which must be the game it was made for."""
        if self.infosets == flat.infosets and self.actions == flat.actions:
            return np.ascontiguousarray(self.probabilities)
        if set(self.infosets) != set(flat.infosets):
            missing = next(iter(set(flat.infosets) ^ set(self.infosets)))
            raise FogplayError(
                f"this strategy is for {self.game}, not for {flat.name}: infoset {missing!r} is in one of them only"
            )
        out = np.empty(flat.num_slots)
        for number, name in enumerate(flat.infosets):
            here, there = flat.slots(number), self.slots(name)
            if self.actions[there] != flat.actions[here]:
                raise FogplayError(f"this strategy is for {self.game}, not for {flat.name}: they differ at {name!r}")
            out[here] = self.probabilities[there]
        return out

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to one file, atomically."""
        arrays: dict[str, NDArray[Any]] = {
            "probabilities": self.probabilities,
            "infoset_player": self.infoset_player,
            "infoset_start": self.infoset_start,
            "infosets": storage.pack_text(self.infosets),
            "actions": storage.pack_text(self.actions),
        }
        for name, optional in (("values", self.values), ("visits", self.visits)):
            if optional is not None:
                arrays[name] = optional
        about = {
            "game": self.game,
            "method": self.method,
            "parameters": dict(self.parameters),
            "iterations": self.iterations,
            "seed": self.seed,
            "version": self.version,
        }
        storage.write(path, "strategy", arrays, about)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Strategy:
        """Read a strategy back; refuses a file that is damaged, or of another kind or a newer format."""
        arrays, about = storage.read(path, "strategy")
        infosets, actions = storage.unpack_text(arrays.pop("infosets")), storage.unpack_text(arrays.pop("actions"))
        rest: dict[str, Any] = {**arrays, **about}
        return Strategy(infosets=infosets, actions=actions, **rest)
