"""``solve``: a game, an algorithm, and back comes a strategy with the record of how it was found."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fogplay.errors import FogplayError
from fogplay.evaluate import equilibrium, measure
from fogplay.solvers.algorithms import Algorithm, algorithm_called, check_parameters
from fogplay.solvers.run import CHECKPOINT_SECONDS, CurvePoint, Progress, Run, log_spaced
from fogplay.strategy import Strategy
from fogplay.trees import FlatGame, flatten

MAX_ITERATIONS = 2**62


@dataclass(frozen=True)
class Result:
    """A strategy, the curve measured on the way, and all that is needed to repeat the run."""

    strategy: Strategy
    curve: tuple[CurvePoint, ...]  # empty unless points were asked for
    algorithm: str
    parameters: Mapping[str, Any]
    iterations: int  # done
    seconds: float  # of learning
    seed: int
    nash_conv: float | None  # None under imperfect recall
    exploitability: float | None
    interrupted: bool


def solve(
    game: Any,
    algorithm: str = "cfr+",
    iterations: int | None = None,
    *,
    seed: int = 0,
    points_per_decade: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    progress: Callable[[Progress], None] | None = None,
    **parameters: Any,
) -> Result:
    """Solve a game: a spec, an object with the Game protocol, or a flattened game.

    ``points_per_decade`` asks for a learning curve, measured at log-spaced iterations without disturbing the run.
    With ``checkpoint`` the run is saved there now and then, and ``resume`` goes on from what is there, if anything.
    Ctrl-C ends the run early and keeps what was learned.
    """
    chosen = algorithm_called(algorithm)
    check_parameters(chosen, parameters)
    iterations = chosen.iterations if iterations is None else iterations
    if isinstance(iterations, bool) or not isinstance(iterations, int) or not 1 <= iterations <= MAX_ITERATIONS:
        raise FogplayError(f"iterations must be a whole number from 1 to 2**62, not {iterations!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise FogplayError(f"seed must be a whole number from 0 to 2**63 - 1, not {seed!r}")
    flat = flatten(game)
    if chosen.make is None:
        return _linear_program(flat, chosen)
    learner = chosen.make(flat, algorithm, parameters | ({"seed": seed} if chosen.seeded else {}))
    identity = {
        "game": flat.name,
        "infosets": flat.num_infosets,
        "nodes": flat.num_nodes,
        "algorithm": algorithm,
        "seed": seed if chosen.seeded else None,
        **{f"parameter {name}": repr(value) for name, value in learner.parameters.items()},
    }
    run = Run(learner, iterations, identity)
    path = Path(checkpoint) if checkpoint is not None else None
    if resume and path is not None and path.exists():
        run.restore(path)
        if run.iteration > iterations:
            raise FogplayError(
                f"{path} is already at iteration {run.iteration:,}; ask for more than that, not {iterations:,}"
            )
    run.go(log_spaced(iterations, points_per_decade), progress, path, checkpoint_seconds)
    probabilities = learner.average()
    quality = measure(flat, probabilities) if flat.recall_lost is None else None
    strategy = Strategy.of(
        flat,
        probabilities,
        algorithm,
        parameters=learner.parameters,
        iterations=run.iteration,
        seed=seed if chosen.seeded else None,
        **learner.details(),
    )
    return Result(
        strategy=strategy,
        curve=tuple(run.curve),
        algorithm=algorithm,
        parameters=learner.parameters,
        iterations=run.iteration,
        seconds=run.seconds,
        seed=seed,
        nash_conv=quality.nash_conv if quality else None,
        exploitability=quality.exploitability if quality else None,
        interrupted=run.interrupted,
    )


def _linear_program(flat: FlatGame, algorithm: Algorithm) -> Result:
    began = time.perf_counter()
    _, probabilities = equilibrium(flat)
    seconds = time.perf_counter() - began
    quality = measure(flat, probabilities)
    strategy = Strategy.of(flat, probabilities, algorithm.name, iterations=1)
    return Result(
        strategy, (), algorithm.name, {}, 1, seconds, 0, quality.nash_conv, quality.exploitability, interrupted=False
    )
