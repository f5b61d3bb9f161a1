"""``TabularStrategy``: probabilities at every named infoset of a game."""

from __future__ import annotations

import dataclasses
import functools
import html
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fogplay import storage
from fogplay.errors import FogplayError
from fogplay.frames import Columns, Tabulated
from fogplay.games.game import fits_in_tree, spec_of
from fogplay.games.registry import registered
from fogplay.pictures import Picture, draw_bars
from fogplay.strategies.strategy import Situation, Strategy, drawn
from fogplay.trees import FlatGame
from fogplay.version import VERSION

MOST_BARS = 24  # of a picture


@dataclass(frozen=True, eq=False, repr=False)
class TabularStrategy(Strategy, Tabulated, Mapping[str, dict[str, float]]):
    """Action probabilities at every infoset of a game, for all players: a mapping from infosets.

    ``action_values`` and ``visits`` are there if the method kept them: what each action earned, how often it was taken.
    """

    kind_of_file: ClassVar[str] = "strategy"

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
    action_values: NDArray[np.float64] | None = None  # [slots]
    visits: NDArray[np.int64] | None = None  # [slots]
    source: FlatGame | None = None  # the game it was just learned on; not saved

    @staticmethod
    def of(flat: FlatGame, probabilities: NDArray[np.float64], method: str, **about: Any) -> TabularStrategy:
        """A strategy of a flattened game, which it remembers."""
        tree = flat.tree
        return TabularStrategy(
            flat.name,
            flat.infosets,
            flat.actions,
            tree.infoset_player,
            tree.infoset_start,
            probabilities,
            method,
            source=flat,
            **about,
        )

    @staticmethod
    def learned(
        flat: FlatGame, learned: Mapping[str, NDArray[Any]], method: str, greedy: bool, **about: Any
    ) -> TabularStrategy:
        """What a solver learned: ``visits`` and ``total`` of UCT, or ``weights`` of CFR, [slots] each."""
        if "visits" in learned:
            visits = learned["visits"].copy()
            about |= {"visits": visits, "action_values": learned["total"] / np.maximum(visits, 1)}
        weights = learned["weights"] if "weights" in learned else learned["visits"]
        average = TabularStrategy.of(flat, flat.shares(weights), method, **about)
        return average.greedy() if greedy else average

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

    def __contains__(self, infoset: object) -> bool:
        return infoset in self._index

    def __iter__(self) -> Iterator[str]:
        return iter(self.infosets)

    def __len__(self) -> int:
        return len(self.infosets)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        made = f"{self.method}, {self.iterations:,} iterations"
        return f"<strategy of {self.game}: {len(self.infosets):,} infosets, by {made}>"

    def plot(self, infosets: Sequence[str] | None = None) -> Picture:
        """A bar of action probabilities per infoset: of these, or of the first few."""
        chosen = tuple(infosets) if infosets is not None else self.infosets[:MOST_BARS]
        more = f", the first {MOST_BARS}" if infosets is None and len(self.infosets) > MOST_BARS else ""
        heading = f"{self.game}: {self.method}, {len(self.infosets):,} infosets{more}"
        return Picture(draw_bars({name: self[name] for name in chosen}, heading))

    def _repr_html_(self) -> str:
        return self.plot().svg if self.infosets else html.escape(repr(self))

    def columns(self) -> Columns:
        """One row per infoset and action: player, infoset, action, probability, and visits and values where kept."""
        counts = np.diff(self.infoset_start)
        columns: dict[str, Any] = {
            "player": np.repeat(self.infoset_player, counts),
            "infoset": np.repeat(np.array(self.infosets, object), counts),
            "action": np.array(self.actions, object),
            "probability": np.asarray(self.probabilities),
        }
        for name, array in (("visits", self.visits), ("value", self.action_values)):
            if array is not None:
                columns[name] = np.asarray(array)
        return columns

    def distribution(self, view: Situation) -> list[float]:
        """The probability of each of ``view.legal``: even at an infoset that was never met."""
        name = view.infoset if view.infoset in self._index else at_seat(view.infoset, view.seat)
        if name not in self._index:
            return [1.0 / len(view.legal)] * len(view.legal)
        shares: list[float] = self.probabilities[self.slots(name)].tolist()
        return shares

    @property
    def infoset_visits(self) -> NDArray[np.int64] | None:
        """[infosets] how often each was visited; None if the method does not count."""
        if self.visits is None or not self.infosets:
            return None
        counted: NDArray[np.int64] = np.add.reduceat(self.visits, self.infoset_start[:-1])
        return counted

    def require_game(self, rules: Any) -> None:
        """Refuse another registered game; other differences appear at an infoset (``on``, ``find``)."""
        spec = spec_of(rules)
        families = [each.partition("(")[0] for each in (self.game, spec)]
        if families[0] != families[1] and all(family in registered() for family in families):
            raise FogplayError(f"this strategy is for {self.game}, not for {spec}")
        if not fits_in_tree(rules):
            raise FogplayError(f"this strategy is for {self.game}, not for {spec}: that game has no named infosets")

    def act(self, view: Situation) -> int:
        return drawn(self.distribution(view), view.luck, view.legal)

    def greedy(self) -> TabularStrategy:
        """The strategy that always takes the best action: by learned value where there is one, else by probability."""
        chosen = np.zeros(len(self.probabilities))
        worth = self.probabilities if self.action_values is None else self.action_values
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
        arrays: dict[str, NDArray[Any]] = {
            "probabilities": self.probabilities,
            "infoset_player": self.infoset_player,
            "infoset_start": self.infoset_start,
            "infosets": storage.pack_text(self.infosets),
            "actions": storage.pack_text(self.actions),
        }
        for name, optional in (("values", self.action_values), ("visits", self.visits)):
            if optional is not None:
                arrays[name] = optional
        storage.write(path, self.kind_of_file, arrays, self.about())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> TabularStrategy:
        arrays, about = storage.read(path, cls.kind_of_file)
        infosets, actions = storage.unpack_text(arrays.pop("infosets")), storage.unpack_text(arrays.pop("actions"))
        rest: dict[str, Any] = {**arrays, **about}
        rest["action_values"] = rest.pop("values", None)
        return TabularStrategy(infosets=infosets, actions=actions, **rest)


def at_seat(infoset: str, player: int) -> str:
    """The name of an infoset in a game where several players have one with the same string."""
    return f"{infoset} (player {player})"


def require_tabular(strategy: Any, game: str) -> TabularStrategy:
    """Refuse a strategy of another kind than a game with named infosets needs."""
    if not isinstance(strategy, TabularStrategy):
        raise FogplayError(f"a model of players of {game} must be a strategy of that game, not of {strategy.game}")
    return strategy
