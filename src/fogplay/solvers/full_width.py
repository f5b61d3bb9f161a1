"""The CFR family as a learner."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.checks import number
from fogplay.errors import FogplayError
from fogplay.kernels.cfr import Scratch, Tables, Weighting, iterate
from fogplay.simulators import simulator_for
from fogplay.simulators.interface import require_tree
from fogplay.trees import FlatGame

INFINITY = math.inf
WEIGHTINGS = {
    "cfr": Weighting(alpha=INFINITY, beta=INFINITY, gamma=0.0, predictive=False, alternating=True),
    "cfr+": Weighting(alpha=INFINITY, beta=-INFINITY, gamma=1.0, predictive=False, alternating=True),
    "lcfr": Weighting(alpha=1.0, beta=1.0, gamma=1.0, predictive=False, alternating=True),
    "dcfr": Weighting(alpha=1.5, beta=0.0, gamma=2.0, predictive=False, alternating=True),
    "pcfr+": Weighting(alpha=INFINITY, beta=-INFINITY, gamma=2.0, predictive=True, alternating=True),
}


class FullWidth:
    """Regrets and averages over the whole tree, updated one iteration at a time."""

    elsewhere, threads = False, 1
    stopped: str | None = None

    def __init__(self, game: Any, algorithm: str, parameters: dict[str, Any]) -> None:
        self.flat: FlatGame = require_tree(simulator_for(game), algorithm)
        flat = self.flat
        self.weighting = weighting_of(algorithm, parameters)
        slots, sequences = flat.num_slots, int(flat.sequences.sequence_range[-1])
        self.learned = Tables(*(np.zeros(slots) for _ in Tables._fields))
        self.scratch = Scratch(np.zeros(slots), np.zeros(slots), np.zeros(sequences), np.zeros(sequences))

    @property
    def parameters(self) -> dict[str, Any]:
        return self.weighting._asdict()

    def tables(self) -> dict[str, NDArray[Any]]:
        return self.learned._asdict()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        for name, table in self.tables().items():
            table[...] = arrays[name]

    def advance(self, first: int, count: int) -> int:
        iterate(self.flat.sequences, self.weighting, self.learned, self.scratch, first, count)
        return count

    def average(self) -> NDArray[np.float64]:
        return self.flat.shares(self.learned.average)

    def kept(self) -> dict[str, NDArray[Any]]:
        return {"weights": self.learned.average}


def weighting_of(algorithm: str, parameters: dict[str, Any]) -> Weighting:
    """The algorithm's weighting with the user's changes applied; refuses invalid values."""
    weighting = WEIGHTINGS[algorithm]
    for name, value in parameters.items():
        if name in ("predictive", "alternating"):
            if not isinstance(value, bool):
                raise FogplayError(f"{name} must be true or false, not {value!r}")
        elif name == "gamma" or value not in (math.inf, -math.inf):
            number(name, value, 0 if name == "gamma" else -20, 20)
    changed: dict[str, Any] = {name: type(getattr(weighting, name))(value) for name, value in parameters.items()}
    return weighting._replace(**changed)
