"""The numbers a learning curve can be drawn of, by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.evaluate.exact import best_response, measure
from fogplay.evaluate.kuhn import dominated_error, squared_error
from fogplay.trees import FlatGame


def nash_conv(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    """What all players together could gain by best responses."""
    return measure(flat, probabilities).nash_conv


def risk(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    """What the other player could earn, if it were free, against the responder of a restricted game."""
    if flat.restriction is None or flat.num_players != 2:
        raise FogplayError(f"risk is measured on restricted games for two players; {flat.name} is none")
    other = 1 - flat.restriction.responder
    return best_response(flat.restriction.origin, probabilities, other)[0]


MEASURES: dict[str, Callable[[FlatGame, NDArray[np.float64]], float]] = {
    "nash_conv": nash_conv,
    "risk": risk,
    "squared_error": squared_error,
    "dominated_error": dominated_error,
}
