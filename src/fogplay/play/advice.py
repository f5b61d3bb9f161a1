"""Advice: what an agent would do in a situation, and why. An agent that can say it has ``explain(view)``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """A move that an agent thought of."""

    action: int
    name: str
    win_rate: float | None  # None if the agent does not estimate it
    playouts: int  # how often it was tried
    reason: str
    mean: float | None = None  # the mean result, in the game's points


@dataclass(frozen=True)
class Guess:
    """What an agent takes another player to hold."""

    who: str
    text: str  # in words
    numbers: Mapping[str, float]  # how many of each kind of card, on average


@dataclass(frozen=True)
class Advice:
    """What an agent would do, the moves that it compared, the best first, and what it takes the others to hold."""

    action: int
    candidates: tuple[Candidate, ...]
    guesses: tuple[Guess, ...] = ()
