"""The numbers a learning curve can be drawn of, by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.evaluate.exact import best_response, measure
from fogplay.evaluate.kuhn import dominated_error, squared_error
from fogplay.evaluate.responses import against_model
from fogplay.trees import FlatGame
from fogplay.trees.tree import Restriction


def nash_conv(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    """What all players together could gain by best responses."""
    return measure(flat, probabilities).nash_conv


def winnings(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    """What the responder of a restricted game earns when all others follow the model throughout."""
    bound = _restriction(flat)
    return against_model(bound.origin, probabilities, bound.model).winnings[bound.responder]


def risk(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    """What the other player could earn, if it were free, against the responder of a restricted game."""
    bound = _restriction(flat)
    if flat.num_players != 2:
        raise FogplayError(f"risk is measured on games for two players; {flat.name} has {flat.num_players}")
    return best_response(bound.origin, probabilities, 1 - bound.responder)[0]


def _restriction(flat: FlatGame) -> Restriction:
    if flat.restriction is None:
        raise FogplayError(f"winnings and risk are measured on restricted games; {flat.name} is none")
    return flat.restriction


MEASURES: dict[str, Callable[[FlatGame, NDArray[np.float64]], float]] = {
    "nash_conv": nash_conv,
    "squared_error": squared_error,
    "dominated_error": dominated_error,
    "winnings": winnings,
    "risk": risk,
}
