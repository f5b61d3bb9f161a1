"""``View``: all that a seat may know when it has to act, and nothing more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from fogplay.errors import FogplayError

Answer = TypeVar("Answer")
Memory = tuple[tuple[str, int], ...]  # infosets and actions of a seat's own earlier decisions


def _nothing() -> None:
    return None


def _no_memory() -> Memory:
    return ()


def _no_world(_rng: np.random.Generator, _doubt: bool) -> Any:
    raise FogplayError("no world can be drawn from this view: it was made of a line of text, not at a table")


class View:
    """What one seat sees of a table at its own decision.

    The table passes in functions for values that are slow to compute, so that they are computed only when needed and
    an agent never holds the state itself.
    """

    __slots__ = (
        "_blamed",
        "_infoset",
        "_memory",
        "_names",
        "_observation",
        "_world",
        "deadline",
        "game",
        "legal",
        "luck",
        "seat",
    )

    def __init__(
        self,
        *,
        seat: int,
        legal: tuple[int, ...],
        luck: float,
        infoset: Callable[[], str],
        names: Callable[[], tuple[str, ...]],
        observation: Callable[[], Any] = _nothing,
        memory: Callable[[], Memory] = _no_memory,
        world: Callable[[np.random.Generator, bool], Any] = _no_world,
        game: Any = None,
        deadline: float | None = None,
        blamed: Callable[[Exception], FogplayError] | None = None,
    ) -> None:
        """``blamed`` turns an exception of these functions, which is one of the game's own code, into one line."""
        self.seat = seat
        self.legal = legal  # the actions, as the rules number them
        self.luck = luck  # a random number from [0, 1) to draw the action with
        self.game = game  # the rules
        self.deadline = deadline  # by time.monotonic(), or None
        self._infoset, self._names, self._observation = infoset, names, observation
        self._memory, self._world, self._blamed = memory, world, blamed

    @property
    def names(self) -> tuple[str, ...]:
        """The game's name for each of ``legal``."""
        return self._ask(self._names)

    @property
    def infoset(self) -> str:
        """The game's string for everything that this seat knows."""
        return self._ask(self._infoset)

    @property
    def observation(self) -> Any:
        """The same knowledge as the game's own object, or None if it has none."""
        return self._ask(self._observation)

    @property
    def memory(self) -> Memory:
        """This seat's earlier decisions in this hand: the infoset and the action of each."""
        return self._ask(self._memory)

    def world(self, rng: np.random.Generator, doubt: bool = False) -> Any:
        """A state drawn at random among those that this seat cannot tell from the real one (``play.worlds``).

        With ``doubt``, among those that another player could take such a state for.
        """
        return self._ask(self._world, rng, doubt)

    def _ask(self, answer: Callable[..., Answer], *given: Any) -> Answer:
        try:
            return answer(*given)
        except FogplayError:
            raise
        except Exception as error:
            if self._blamed is None:
                raise
            raise self._blamed(error) from error

    def __repr__(self) -> str:
        return f"<view of seat {self.seat}: {', '.join(self.names)}>"
