"""Agents and matches that several tests of play need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.play import MatchResult, View, match
from fogplay.strategies import TabularStrategy
from fogplay.trees import FlatGame


class Plain:
    """An agent that no compiled loop knows: its hands are played at a table."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    def act(self, view: View) -> int:
        return int(self.agent.act(view))


def strategies_of(flat: FlatGame, arrays: Sequence[NDArray[np.float64]]) -> list[TabularStrategy]:
    """``arrays[slots]`` as strategies of a game."""
    return [TabularStrategy.of(flat, array, "given") for array in arrays]


def match_of(flat: FlatGame, arrays: Sequence[NDArray[np.float64]], hands: int, **options: Any) -> MatchResult:
    """A compiled match between strategies ``[slots]``."""
    return match(flat, strategies_of(flat, arrays), hands, **options)
