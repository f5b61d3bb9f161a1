"""Public chance sampling and CFR-BR as learners: an iteration deals what everybody sees, and all hands learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.checks import whole
from fogplay.errors import FogplayError
from fogplay.jit import num_cores
from fogplay.simulators import simulator_for
from fogplay.simulators.interface import require_tree
from fogplay.solvers.sampling import MOST_THREADS

ORDER = "order"  # of the tables, among them in a checkpoint
ANSWERED = "cfr-br"  # the algorithm whose opponents answer best


class PublicSampling:
    """Counterfactual regrets with linear weights: iteration t counts t times, in regrets and in the average."""

    stopped: str | None = None
    threads = 1  # that share a table: threads divide the tables, so what is learned does not depend on their number

    def __init__(self, game: Any, algorithm: str, parameters: dict[str, Any]) -> None:
        self.simulator = simulator_for(game)
        self.flat = self.simulator.flat
        settings = dict(parameters)
        self.seed = settings.pop("seed")
        device = settings.pop("device", "cpu")
        self.elsewhere = device != "cpu"
        threads = settings.pop("threads", None)
        threads = num_cores() if threads is None else whole("threads", threads, 1, MOST_THREADS)
        rival = None
        if algorithm == ANSWERED:
            settings = {"opponent": None} | settings
            rival = self.simulator.name if settings["opponent"] is None else str(settings["opponent"])
        made = self.simulator.public_game(rival, threads, device)
        if made is None:
            raise FogplayError(
                f"{algorithm} deals public cards apart from the players' own, for two players with a grid of buckets, "
                f"which {self.simulator.game} does not have; use es-mccfr"
            )
        self.game, self.parameters = made, settings

    def advance(self, first: int, count: int) -> int:
        if count == 0:
            self.game.compile()
        for iteration in range(first, first + count):
            self.game.learn(iteration, self.seed)
        return count

    def tables(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = self.game.tables() | {ORDER: self.game.order()}
        return found

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        if ORDER not in arrays or not np.array_equal(arrays[ORDER], self.game.order()):
            raise FogplayError(
                "the checkpoint is of another version of fogplay, whose tables have another order; "
                "start afresh without --resume"
            )
        self.game.restore(arrays)

    def average(self) -> NDArray[np.float64]:
        return require_tree(self.simulator, "an average strategy").shares(self.kept()["weights"])

    def kept(self) -> dict[str, NDArray[Any]]:
        return {"weights": self.game.weights()}
