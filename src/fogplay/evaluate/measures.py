"""The numbers a learning curve can be drawn of, by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fogplay.evaluate.exact import measure
from fogplay.evaluate.kuhn import dominated_error, squared_error
from fogplay.trees import FlatGame


def nash_conv(flat: FlatGame, probabilities: NDArray[np.float64]) -> float:
    """What all players together could gain by best responses."""
    return measure(flat, probabilities).nash_conv


MEASURES: dict[str, Callable[[FlatGame, NDArray[np.float64]], float]] = {
    "nash_conv": nash_conv,
    "squared_error": squared_error,
    "dominated_error": dominated_error,
}
