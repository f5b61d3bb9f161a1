"""Several algorithms on one game: learning curves over seeds, by iterations and by time."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fogplay.errors import FogplayError
from fogplay.experiments.pictures import Band
from fogplay.experiments.runner import Point
from fogplay.solvers import ALGORITHMS, Progress, solve
from fogplay.solvers.algorithms import algorithm_called
from fogplay.solvers.solve import require_amount
from fogplay.starting import STOPPED

PER_DECADE = 10  # points of a curve
LEAST = 1e-15  # a smaller nash_conv is rounding
MEASURE = "nash_conv"
ITERATIONS, SECONDS = "iterations", "seconds of learning"


@dataclass(frozen=True)
class Plan:
    """What is compared: every algorithm ``runs`` times, for ``minutes`` or ``iterations`` each."""

    game: str
    algorithms: tuple[str, ...]
    minutes: float | None
    iterations: int | None
    runs: int

    def __post_init__(self) -> None:
        require_amount(self.iterations, self.minutes, 0)
        for name in self.algorithms:
            algorithm_called(name)
        if len(set(self.algorithms)) != len(self.algorithms):
            raise FogplayError("compare takes every algorithm once; name different ones (`fogplay algorithms`)")
        if self.runs < 1:
            raise FogplayError(f"runs must be at least 1, not {self.runs}")

    def tasks(self) -> list[tuple[str, int]]:
        """The algorithm and the seed of every run; algorithms without randomness run once."""
        seeds = {name: self.runs if ALGORITHMS[name].seeded else 1 for name in self.algorithms}
        return [(name, seed) for name in self.algorithms for seed in range(seeds[name])]


@dataclass(frozen=True)
class BandPoint:
    """One point of one algorithm's mean curve, as the file of means holds it."""

    algorithm: str
    across: str  # what ``x`` counts
    x: float
    runs: int
    mean: float
    deviation: float


def compare(plan: Plan, workers: int = 0, progress: Callable[[int, int], None] | None = None) -> Iterator[list[Point]]:
    """The points of every run, as the runs end; ``workers`` processes, 0: one per core."""
    import joblib

    tasks = plan.tasks()
    if progress is not None:
        progress(0, len(tasks))
    if workers == 1:
        found: Any = (one_run(plan, *task) for task in tasks)
    else:
        pool = joblib.Parallel(n_jobs=workers or -1, batch_size=1, return_as="generator")
        found = pool(joblib.delayed(one_run)(plan, *task, os.getpid()) for task in tasks)
    for number, points in enumerate(found, 1):
        if progress is not None:
            progress(number, len(tasks))
        yield points


def one_run(plan: Plan, algorithm: str, seed: int, parent: int | None = None) -> list[Point]:
    """The curve of one run; in a process of its own it ends when its ``parent`` was killed."""

    def look(_: Progress) -> None:
        if parent is not None and os.getppid() != parent:
            os._exit(STOPPED)  # nobody is there to take an answer

    asked = {"curve": PER_DECADE, "watch": False, "seed": seed, "progress": look}
    result = solve(plan.game, algorithm, plan.iterations, minutes=plan.minutes, **asked)  # type: ignore[arg-type]
    if result.interrupted:
        raise KeyboardInterrupt
    if result.nash_conv is None:
        raise FogplayError(f"{plan.game} cannot be measured exactly, so there are no learning curves to compare")
    return [
        Point(algorithm, plan.game, algorithm, "{}", seed, at.iteration, at.seconds, MEASURE, at.nash_conv)
        for at in result.points()
    ]


def bands(points: Sequence[Point]) -> dict[str, list[Band]]:
    """The mean curve of every algorithm with its spread over seeds, by iterations and by seconds."""
    curves: dict[str, dict[int, list[Point]]] = {}
    for point in points:
        curves.setdefault(point.algorithm, {}).setdefault(point.seed, []).append(point)
    ways = {ITERATIONS: lambda point: float(point.iteration), SECONDS: lambda point: max(point.seconds, 1e-9)}
    return {
        across: [_band(name, list(runs.values()), place) for name, runs in curves.items()]
        for across, place in ways.items()
    }


def _band(name: str, runs: list[list[Point]], place: Callable[[Point], float]) -> Band:
    """Mean and deviation where all runs were measured, between their points along straight lines on log axes."""
    lines = [[(math.log(place(p)), math.log(max(p.value, LEAST))) for p in sorted(run, key=place)] for run in runs]
    first, last = max(line[0][0] for line in lines), min(line[-1][0] for line in lines)
    longest = max(lines, key=len)
    grid = sorted({x for x, _ in longest if first <= x <= last} | {first, max(first, last)})
    values = np.exp([np.interp(grid, [x for x, _ in line], [y for _, y in line]) for line in lines])
    spread = values.std(axis=0, ddof=1) if len(lines) > 1 else np.zeros(len(grid))
    x = tuple(float(f"{math.exp(each):.12g}") for each in grid)  # whole iterations stay whole
    return Band(name, x, tuple(values.mean(axis=0).tolist()), tuple(spread.tolist()))


def band_points(found: dict[str, list[Band]], points: Sequence[Point]) -> list[BandPoint]:
    """The rows of the file of means."""
    runs = {name: len({p.seed for p in points if p.algorithm == name}) for name in {p.algorithm for p in points}}
    return [
        BandPoint(band.label, across, x, runs[band.label], mean, deviation)
        for across, lines in found.items()
        for band in lines
        for x, mean, deviation in zip(band.x, band.mean, band.deviation, strict=True)
    ]
