"""``Strategy``: what to do in every situation of a game, where it came from, and how to keep it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from fogplay import storage
from fogplay.errors import FogplayError
from fogplay.pictures import Picture

_KINDS: dict[str, type[Strategy]] = {}


class Situation(Protocol):
    """What a strategy needs to know in order to act; ``play.View`` is one."""

    @property
    def seat(self) -> int: ...  # whose decision it is

    @property
    def legal(self) -> Sequence[int]: ...  # the actions, as the rules number them

    @property
    def infoset(self) -> str: ...  # the game's string for all that the acting player knows

    @property
    def observation(self) -> Any: ...  # the same as the game's own object, if it has one

    @property
    def luck(self) -> float: ...  # a random number from [0, 1) to draw the action with


class Strategy:
    """Action probabilities for all players of a game. Each kind is one class and one kind of file."""

    kind_of_file: ClassVar[str]

    game: str  # the spec of the game
    method: str  # what made it
    parameters: Mapping[str, Any]
    iterations: int
    seed: int | None
    version: str

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        _KINDS[cls.kind_of_file] = cls

    def act(self, view: Situation) -> int:
        """One of ``view.legal``, drawn with ``view.luck``: a strategy is an agent."""
        raise NotImplementedError

    def distribution(self, view: Situation) -> list[float]:
        """The probability of each of ``view.legal``."""
        raise NotImplementedError

    @property
    def infoset_visits(self) -> NDArray[np.int64] | None:
        """[infosets] how often each was visited while the strategy was learned; None if that was not recorded."""
        return None

    def plot(self) -> Picture:
        """Its probabilities as a picture, which notebooks show and ``save`` writes as SVG."""
        raise NotImplementedError

    def require_game(self, rules: Any) -> None:
        """Refuse the rules of a game that it cannot play."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to one file, whole or not at all."""
        raise NotImplementedError

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Strategy:
        """Read a file of this kind."""
        raise NotImplementedError

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Strategy:
        """Read a saved strategy of any kind; refuses files that are damaged, foreign or of a newer format."""
        kind = storage.kind_of(path)
        if kind is not None and kind not in _KINDS:
            raise FogplayError(f"{path} holds a {kind}, not a strategy")
        return _KINDS[kind or next(iter(_KINDS))].read(path)

    def about(self) -> dict[str, Any]:
        """Where it came from, as files hold it."""
        return {
            "game": self.game,
            "method": self.method,
            "parameters": dict(self.parameters),
            "iterations": self.iterations,
            "seed": self.seed,
            "version": self.version,
        }


def drawn(probabilities: Sequence[float], luck: float, choices: Sequence[int]) -> int:
    """The choice that ``luck`` from [0, 1) selects; the same arithmetic as ``simulators.streams.draw``."""
    choice = 0
    for probability in probabilities[:-1]:
        luck -= probability
        choice += luck >= 0.0
    return choices[choice]
