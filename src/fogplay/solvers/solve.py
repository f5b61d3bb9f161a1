"""``solve``: a game, an algorithm, and back comes a strategy with the record of how it was found."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fogplay import checks
from fogplay.checks import one_of, whole
from fogplay.errors import FogplayError
from fogplay.evaluate import equilibrium, measure
from fogplay.evaluate.measures import MEASURES
from fogplay.simulators import simulator_for
from fogplay.simulators.interface import require_tree
from fogplay.solvers.algorithms import Algorithm, algorithm_called, check_parameters
from fogplay.solvers.run import CHECKPOINT_SECONDS, CurvePoint, Progress, Run, log_spaced
from fogplay.strategies import TabularStrategy
from fogplay.trees import FlatGame

MAX_ITERATIONS = 2**62
DEVICES = ("cpu", "cuda")


@dataclass(frozen=True)
class Result:
    """A strategy, the curve measured on the way, and all that is needed to repeat the run."""

    strategy: Any  # a Strategy
    curve: tuple[CurvePoint, ...]  # empty unless points were asked for
    algorithm: str
    parameters: Mapping[str, Any]
    iterations: int  # done
    seconds: float  # of learning
    seed: int
    nash_conv: float | None  # None under imperfect recall
    exploitability: float | None
    interrupted: bool
    trouble: str | None = None  # why the last checkpoint could not be written, if it could not


def solve(
    game: Any,
    algorithm: str = "smooth-uct",
    iterations: int | None = None,
    *,
    seed: int = 0,
    threads: int | None = None,
    device: str = "cpu",
    curve: int | Sequence[int] = 0,
    measures: Sequence[str] = ("nash_conv",),
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    progress: Callable[[Progress], None] | None = None,
    watch: bool = True,
    greedy: bool = False,
    snapshot: Callable[[int, Any], None] | None = None,
    stop: threading.Event | None = None,
    **parameters: Any,
) -> Result:
    """Solve a game: a spec, an object with the Game protocol, a flattened game, or an simulator.

    ``curve`` asks for a learning curve, measured without disturbing the run: so many points a decade, evenly spaced on
    a logarithmic axis, or at the iterations listed; ``measures`` names what is measured. ``threads`` lets that many
    share the tables of a sampling algorithm; with one thread, the default, the same seed gives the same bits.
    ``device="cuda"`` runs a sampling algorithm on a GPU, where ``threads`` is how many episodes are played at once.
    With ``checkpoint`` the run is saved there now and then, and ``resume`` goes on from what is there, if anything;
    without ``resume`` what is there is kept aside under ``.previous``.
    ``progress`` is called about ten times a second, with a fresh ``nash_conv`` every second or so unless ``watch`` is
    off. Ctrl-C, or ``stop`` once it is set, ends the run early and keeps what was learned. ``greedy`` returns the
    strategy that always takes the best action instead of the average one. ``snapshot`` is called with the iteration and
    the strategy at every point of the curve.
    """
    chosen = algorithm_called(algorithm)
    check_parameters(chosen, parameters)
    iterations = chosen.iterations if iterations is None else iterations
    iterations, seed = whole("iterations", iterations, 1, MAX_ITERATIONS), checks.seed(seed)
    points = _points(curve, iterations)
    require_device(device, algorithm)
    simulator = simulator_for(game)
    if threads not in (None, 1) and not chosen.seeded:
        raise FogplayError(f"{algorithm} runs on one thread; threads are for sampling algorithms such as smooth-uct")
    if chosen.make is None:
        return _linear_program(require_tree(simulator, algorithm), chosen, greedy)
    workers = {"seed": seed, "threads": threads, "device": device} if chosen.seeded else {}
    learner = chosen.make(simulator, algorithm, parameters | workers)
    identity = {
        "game": simulator.name,
        "tree": simulator.digest,
        "algorithm": algorithm,
        "seed": seed if chosen.seeded else None,
        "threads": learner.threads,
        "device": device,
        "measures": list(measures),
        **{f"parameter {name}": repr(value) for name, value in learner.parameters.items()},
    }
    run = Run(learner, iterations, identity, tuple(one_of("measures", name, MEASURES) for name in measures))
    path = Path(checkpoint) if checkpoint is not None else None
    if path is not None and path.exists() and not resume:
        path.replace(path.with_name(f"{path.name}.previous"))  # another run's: kept, once
    if resume and path is not None and path.exists():
        run.restore(path)
        if run.iteration > iterations:
            raise FogplayError(
                f"{path} is already at iteration {run.iteration:,}; ask for more than that, not {iterations:,}"
            )

    def strategy_of(learned: Mapping[str, Any], iteration: int) -> Any:
        about = {"parameters": learner.parameters, "iterations": iteration}
        return simulator.strategy(learned, algorithm, greedy, seed=seed if chosen.seeded else None, **about)

    made: dict[int, Any] = {}  # the newest strategy, by its iteration: of three players one takes seconds to make

    def take() -> Callable[[], None]:
        learned, iteration = learner.kept(), run.iteration

        def keep() -> None:
            assert snapshot is not None
            made.clear()
            made[iteration] = strategy_of(learned, iteration)
            snapshot(iteration, made[iteration])

        return keep

    run.go(points, progress, path, checkpoint_seconds, watch, take if snapshot is not None else None, stop)
    strategy = made[run.iteration] if run.iteration in made else strategy_of(learner.kept(), run.iteration)
    flat = simulator.flat
    quality = measure(flat, strategy.probabilities) if flat is not None and flat.recall_lost is None else None
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
        trouble=run.trouble,
    )


def require_device(device: str, algorithm: str) -> None:
    """Refuse a device that is not there, or not for this algorithm."""
    if one_of("device", device, DEVICES) == "cpu":
        return
    if not algorithm_called(algorithm).seeded:
        raise FogplayError(f"{algorithm} runs on the CPU; a GPU is for sampling algorithms such as smooth-uct")
    from fogplay.kernels.cuda import require_gpu

    require_gpu()


def _points(curve: Any, iterations: int) -> list[int]:
    """The iterations to measure at: so many a decade, or those listed."""
    try:
        if isinstance(curve, Iterable):
            return sorted({whole("curve", point, 1, MAX_ITERATIONS) for point in curve})
        return log_spaced(iterations, whole("curve", curve, 0, 10_000))
    except FogplayError as error:
        raise FogplayError(f"{error}: so many points a decade, or a list of iterations") from error


def _linear_program(flat: FlatGame, algorithm: Algorithm, greedy: bool) -> Result:
    began = time.perf_counter()
    _, probabilities = equilibrium(flat)
    seconds = time.perf_counter() - began
    strategy = TabularStrategy.of(flat, probabilities, algorithm.name, iterations=1)
    strategy = strategy.greedy() if greedy else strategy
    quality = measure(flat, strategy.probabilities)
    return Result(
        strategy, (), algorithm.name, {}, 1, seconds, 0, quality.nash_conv, quality.exploitability, interrupted=False
    )
