"""``solve``: run an algorithm on a game, and return a strategy with a record of the run."""

from __future__ import annotations

import functools
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fogplay import checks
from fogplay.checks import number, one_of, whole
from fogplay.errors import FogplayError
from fogplay.evaluate import equilibrium, measure
from fogplay.evaluate.measures import measures_of
from fogplay.frames import Columns, Tabulated
from fogplay.games.game import spec_of
from fogplay.games.registry import load
from fogplay.pictures import as_facts
from fogplay.pictures.charts import draw_lines
from fogplay.simulators import Simulator, simulator_for
from fogplay.simulators.find import MOST_INFOSETS, known_slots
from fogplay.simulators.interface import require_tree
from fogplay.solvers.algorithms import (
    AUTO,
    Algorithm,
    algorithm_called,
    check_parameters,
    default_iterations,
    suited,
    suited_parameters,
)
from fogplay.solvers.run import CHECKPOINT_SECONDS, CurvePoint, Progress, Run, log_spaced
from fogplay.solvers.sampling import MOST_GPU_THREADS, MOST_THREADS
from fogplay.strategies import TabularStrategy
from fogplay.trees import FlatGame

MAX_ITERATIONS = 2**62
MOST_MINUTES = 60 * 24 * 365 * 100
DEVICES = ("cpu", "cuda")


@dataclass(frozen=True)
class Result(Tabulated):
    """A strategy, its learning curve, and everything needed to repeat the run; as a table, the curve."""

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
    stopped: str | None = None  # why it could not continue, if something other than Ctrl-C ended it early

    def _repr_html_(self) -> str:
        facts = {
            "game": self.strategy.game,
            "algorithm": self.algorithm,
            "iterations": f"{self.iterations:,}",
            "seconds": f"{self.seconds:.2f}",
            "seed": self.seed,
            "nash_conv": "not measured" if self.nash_conv is None else f"{self.nash_conv:.6g}",
            "exploitability": "not measured" if self.exploitability is None else f"{self.exploitability:.6g}",
        }
        lines = {self.algorithm: [(float(at.iteration), at.nash_conv) for at in self.curve if "nash_conv" in at.values]}
        drawn = draw_lines(lines, "iterations", "nash_conv") if self.curve else ""
        return f"<div>{as_facts(facts)}{drawn}</div>"

    def points(self) -> list[CurvePoint]:
        """The learning curve, up to the end of the run where that was measured."""
        done = bool(self.curve) and self.curve[-1].iteration == self.iterations
        if done or self.nash_conv is None or self.strategy.method != self.algorithm:  # the curve is not of greedy ones
            return list(self.curve)
        return [*self.curve, CurvePoint(self.iterations, self.seconds, {"nash_conv": self.nash_conv})]

    def columns(self) -> Columns:
        """One row per point of the curve: algorithm, seed, iteration, seconds, and one column per measure."""
        points = self.points()
        names = list(dict.fromkeys(name for point in points for name in point.values))
        return {
            "algorithm": [self.algorithm] * len(points),
            "seed": [self.seed] * len(points),
            "iteration": [point.iteration for point in points],
            "seconds": [point.seconds for point in points],
            **{name: [point.values.get(name, math.nan) for point in points] for name in names},
        }


def solve(
    game: Any,
    algorithm: str = AUTO,
    iterations: int | None = None,
    *,
    minutes: float | None = None,
    infosets: int | None = None,
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
    measured: Callable[[CurvePoint], None] | None = None,
    stop: threading.Event | None = None,
    note: Callable[[str], None] | None = None,
    **parameters: Any,
) -> Result:
    """Solve a game: a spec, an object with the Game protocol, a flattened game, or a simulator.

    Without an ``algorithm``, one that suits the game is chosen: CFR+ if its tree fits in memory, else sampling.
    The run ends after ``iterations``, or after ``minutes`` of learning if they are given, whichever comes first. A game
    too large for a tree is played by its own rules, with tables for at most ``infosets`` infosets; if more are met, the
    run ends early and ``Result.stopped`` says so.
    ``curve`` asks for a learning curve, measured without disturbing the run: a number of points per decade, evenly
    spaced on a logarithmic axis, or a list of iterations; ``measures`` names the measures. ``threads`` is the number of
    threads that share the tables of a sampling algorithm; with one, the default, the same seed gives the same bits.
    ``device="cuda"`` runs a sampling algorithm on a GPU, where ``threads`` is the number of concurrent episodes.
    With ``checkpoint`` the run is saved there at intervals, and ``resume`` continues from an existing file; without
    ``resume`` an existing file is renamed with the suffix ``.previous`` as soon as there is something to save.
    ``progress`` is called about ten times per second, with a fresh ``nash_conv`` about every second unless ``watch`` is
    off. Ctrl-C, or setting ``stop``, ends the run early and keeps what was learned. ``greedy`` returns the strategy
    that always takes the best action instead of the average one. ``snapshot`` is called with the iteration and the
    strategy at every point of the curve, and ``measured`` with every point of it as soon as it is known (in a thread of
    its own if the learner is on a GPU). ``note`` is called with lines for the user, about checkpoints for example.
    """
    require_amount(iterations, minutes, seed, threads, infosets, device)
    seed, iterations = int(seed), None if iterations is None else int(iterations)
    if algorithm != AUTO:
        check_parameters(algorithm_called(algorithm), parameters)
    require_device(device, algorithm)
    points = _points(curve, iterations or MAX_ITERATIONS) if isinstance(curve, Iterable) else []
    if algorithm == AUTO and device == "cpu" and isinstance(game, str):
        game = load(game, suited=True)
    check = functools.partial(
        require_countable, algorithm=algorithm, iterations=iterations, minutes=minutes, device=device
    )
    simulator = simulator_for(game, infosets=infosets, check=check)
    if algorithm == AUTO:
        algorithm, _ = suited(simulator, device, threads)
        check_parameters(algorithm_called(algorithm), parameters)
        parameters = suited_parameters(algorithm, simulator) | parameters
    chosen = algorithm_called(algorithm)
    iterations = planned_iterations(algorithm, simulator, iterations, minutes) or MAX_ITERATIONS
    require_countable(simulator, algorithm, iterations, minutes, device)
    points = points or _points(curve, iterations)
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
    wanted = tuple(one_of("measures", name, measures_of(simulator.flat)) for name in measures)
    limit = None if minutes is None else 60 * minutes
    run = Run(learner, iterations, identity, wanted, limit, note=note, measured=measured)
    path = _begin(run, checkpoint, resume)
    made = _Strategies(simulator, run, algorithm, greedy, seed if chosen.seeded else None)
    take = functools.partial(made.take, snapshot) if snapshot is not None else None
    run.go(points, progress, path, checkpoint_seconds, watch, take, stop)
    if learner.stopped is not None and run.iteration == 0:
        raise FogplayError(learner.stopped)
    return _result(run, simulator, made.last(), algorithm, seed)


class _Strategies:
    """The strategies that a run has found so far."""

    def __init__(self, simulator: Simulator, run: Run, algorithm: str, greedy: bool, seed: int | None) -> None:
        self.simulator, self.run, self.algorithm, self.greedy, self.seed = simulator, run, algorithm, greedy, seed
        self.newest: tuple[int, Any] | None = None  # cached by iteration: a three-player strategy takes seconds to make

    def take(self, snapshot: Callable[[int, Any], None]) -> Callable[[], None]:
        """Copy what is known now; the function returned may run while the learner continues, and delivers it."""
        learned, iteration = self.run.learner.kept(), self.run.iteration

        def keep() -> None:
            self.newest = None  # free it first: never hold two
            self.newest = iteration, self._strategy(learned, iteration)
            snapshot(*self.newest)

        return keep

    def last(self) -> Any:
        """The strategy at the end of the run."""
        if self.newest is not None and self.newest[0] == self.run.iteration:
            return self.newest[1]
        return self._strategy(self.run.learner.kept(), self.run.iteration)

    def _strategy(self, learned: Mapping[str, Any], iteration: int) -> Any:
        about = {"parameters": self.run.learner.parameters, "iterations": iteration, "seed": self.seed}
        return self.simulator.strategy(learned, self.algorithm, self.greedy, **about)


def _begin(run: Run, checkpoint: str | os.PathLike[str] | None, resume: bool) -> Path | None:
    """The path of the run's checkpoint; continues from what is there if asked to."""
    path = Path(checkpoint) if checkpoint is not None else None
    if path is None or not path.exists() or not resume:
        return path
    run.restore(path)
    if run.iteration > run.iterations:
        raise FogplayError(
            f"{path} is already at iteration {run.iteration:,}; ask for more than that, not {run.iterations:,}"
        )
    return path


def _result(run: Run, simulator: Simulator, strategy: Any, algorithm: str, seed: int) -> Result:
    flat = simulator.flat
    quality = measure(flat, strategy.probabilities) if flat is not None and flat.recall_lost is None else None
    return Result(
        strategy=strategy,
        curve=tuple(run.curve),
        algorithm=algorithm,
        parameters=run.learner.parameters,
        iterations=run.iteration,
        seconds=run.seconds,
        seed=seed,
        nash_conv=quality.nash_conv if quality else None,
        exploitability=quality.exploitability if quality else None,
        interrupted=run.interrupted,
        trouble=run.trouble,
        stopped=run.learner.stopped,
    )


def require_amount(
    iterations: int | None,
    minutes: float | None,
    seed: int,
    threads: int | None = None,
    infosets: int | None = None,
    device: str = "cpu",
) -> None:
    """Refuse invalid amounts of work, seeds and sizes, before anything is built."""
    if iterations is not None:
        whole("iterations", iterations, 1, MAX_ITERATIONS)
    if minutes is not None:
        number("minutes", minutes, 0.001, MOST_MINUTES)
    checks.seed(seed)
    if threads is not None:
        whole("threads", threads, 1, MOST_THREADS if device == "cpu" else MOST_GPU_THREADS)
    if infosets is not None:
        whole("infosets", infosets, 1, MOST_INFOSETS)


def require_countable(
    game: Any, algorithm: str, iterations: int | None, minutes: float | None, device: str = "cpu"
) -> None:
    """Refuse more iterations than the tables can count; ``game`` is a simulator, or rules before one is built.

    A run that the clock ends is not refused: it stops where its tables are full.
    """
    count = algorithm_called(algorithm).countable if algorithm != AUTO else None
    built = isinstance(game, Simulator)
    slots, name = (game.num_slots, game.name) if built else (known_slots(game), spec_of(game))
    most = count(slots, device) if count is not None and slots is not None else None
    if most is not None and minutes is None and iterations is not None and iterations > most:
        raise FogplayError(
            f"{algorithm} on {name} can count {most:,} iterations on a CPU, not {iterations:,}: ask for fewer "
            "with -n, or use --device cuda"
        )


def planned_iterations(
    algorithm: str, simulator: Simulator, iterations: int | None, minutes: float | None
) -> int | None:
    """The iterations after which a run ends; None if only the clock ends it."""
    if iterations is not None or minutes is not None:
        return iterations
    return default_iterations(algorithm_called(algorithm), simulator)


def require_device(device: str, algorithm: str) -> None:
    """Refuse a device that is missing or does not support this algorithm."""
    if one_of("device", device, DEVICES) == "cpu":
        return
    if algorithm != AUTO and not algorithm_called(algorithm).on_gpu:
        raise FogplayError(f"{algorithm} runs on the CPU; a GPU is for sampling algorithms such as smooth-uct")
    if algorithm != AUTO and algorithm_called(algorithm).by_tensors:
        return  # whoever makes the game looks for a GPU
    from fogplay.kernels.cuda import require_gpu

    require_gpu()


def _points(curve: Any, iterations: int) -> list[int]:
    """The iterations to measure at: a number of points per decade, or those listed."""
    try:
        if isinstance(curve, Iterable):
            return sorted({whole("curve", point, 1, MAX_ITERATIONS) for point in curve})
        return log_spaced(iterations, whole("curve", curve, 0, 10_000))
    except FogplayError as error:
        raise FogplayError(f"{error}: a number of points per decade, or a list of iterations") from error


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
