"""What a learning curve can measure, by name: general measures, and those that a game brings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.evaluate.exact import best_response, measure
from fogplay.evaluate.responses import against_model
from fogplay.games.game import Measure
from fogplay.trees import FlatGame
from fogplay.trees.tree import Restriction

MeasureOfTree = Callable[[FlatGame, NDArray[np.float64]], float]  # of a game and [slots] probabilities


def nash_conv(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    """The sum of what each player could gain by a best response."""
    return measure(flat, probabilities).nash_conv


def winnings(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    """What the responder of a restricted game earns when all others follow the model throughout."""
    bound = _restriction(flat)
    return against_model(bound.origin, probabilities, bound.model).winnings[bound.responder]


def risk(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    """What the other player could earn against the responder of a restricted game if it were free."""
    bound = _restriction(flat)
    if flat.num_players != 2:
        raise FogplayError(f"risk needs a game for two players; {flat.name} has {flat.num_players}")
    return best_response(bound.origin, probabilities, 1 - bound.responder)[0]


def _restriction(flat: FlatGame) -> Restriction:
    if flat.restriction is None:
        raise FogplayError(f"winnings and risk need a restricted game, which {flat.name} is not; measure nash_conv")
    return flat.restriction


MEASURES: dict[str, MeasureOfTree] = {"nash_conv": nash_conv, "winnings": winnings, "risk": risk}


def measures_of(flat: FlatGame | None) -> dict[str, MeasureOfTree]:
    """All measures of a game by name; of a game without a tree, the general ones."""
    own = flat.measures if flat is not None else {}
    return MEASURES | {name: _on_tree(function) for name, function in own.items()}


def _on_tree(function: Measure) -> MeasureOfTree:
    return lambda flat, probabilities: function(flat.infosets, probabilities)
