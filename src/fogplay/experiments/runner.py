"""Parallel runs over seeds and parameter values: every raw point is kept, and stopped experiments can be continued.

A job writes a checkpoint while it runs, and its points to its own file when it is done, so a stopped experiment
continues where it was. The engine is joblib's: local processes (``loky``) by default, a cluster with ``ray``.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import hashlib
import json
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fogplay import storage
from fogplay.engines import require_engine, spread
from fogplay.errors import FogplayError
from fogplay.experiments.sources import digest
from fogplay.games.game import fits_in_tree
from fogplay.games.registry import load

POLL_SECONDS = 0.5
GPU_RUNS = 16  # concurrent runs of small games, each of which uses a small part of a GPU


@dataclass(frozen=True)
class Bound:
    """The restricted game of a response to a model in a file."""

    model: str  # the file
    responder: int
    confidence: float
    kind: str = "rnr"  # or dbr, with the same confidence at every infoset


@dataclass(frozen=True)
class Job:
    """One run of one algorithm; repetitions share a label."""

    label: str
    game: str
    algorithm: str
    iterations: int
    seed: int
    curve: tuple[int, ...]  # the iterations to measure at
    measures: tuple[str, ...] = ("nash_conv",)
    parameters: dict[str, Any] = field(default_factory=dict)
    bound: Bound | None = None  # None: the game itself
    keep: str | None = None  # average or greedy: the strategy to keep in a file at every point of the curve

    @property
    def key(self) -> str:
        """A name that changes with the job's settings and with the code that its results depend on."""
        plain = [("bound", None), ("keep", None)]
        asked = {name: value for name, value in asdict(self).items() if (name, value) not in plain}
        settings = json.dumps({**asked, "code": digest()}, sort_keys=True)
        return hashlib.sha256(settings.encode()).hexdigest()[:16]


def repeat(
    label: str,
    game: str,
    algorithm: str,
    iterations: int,
    runs: int,
    curve: Sequence[int],
    measures: tuple[str, ...],
    **parameters: Any,
) -> list[Job]:
    """The same run with seeds 1 to ``runs``."""
    return [
        Job(label, game, algorithm, iterations, seed, tuple(curve), measures, parameters) for seed in range(1, runs + 1)
    ]


@dataclass(frozen=True)
class Point:
    """One measurement of one job."""

    label: str
    game: str
    algorithm: str
    parameters: str  # as JSON
    seed: int
    iteration: int
    seconds: float
    measure: str
    value: float


@dataclass(frozen=True)
class Mean:
    """One point of the curve, over all repetitions of a label."""

    label: str
    measure: str
    iteration: float
    runs: int
    mean: float
    standard_error: float  # NaN with a single run


@dataclass
class Runner:
    """Runs jobs and keeps their results."""

    folder: Path
    engine: str = "loky"
    workers: int = 0  # 0: one per core
    device: str = "cpu"  # or cuda, for sampling algorithms
    shared: Path | None = None  # the folder of the jobs' files, if several experiments share it; else in ``folder``
    progress: Callable[[int, int], None] | None = None  # iterations done and in total, over all jobs

    def __post_init__(self) -> None:
        require_engine(self.engine)
        try:
            for folder in (self.folder, self._jobs):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FogplayError(f"cannot create the folder {self.folder}: {error.strerror}") from error

    def run(self, jobs: Sequence[Job]) -> list[Point]:
        """All points of all jobs, in the order of the jobs; finished jobs are read, not run again."""
        left = [job for job in jobs if not self._done(job)]
        with self._progress(jobs):
            self._run(left)
        return [point for job in jobs for point in read_points(self._file(job))]

    def _run(self, jobs: Sequence[Job]) -> None:
        there = [job for job in jobs if self._device_of(job) != "cpu"]
        if there:
            from fogplay.solvers.solve import require_device

            require_device(self.device, there[0].algorithm)
            self._share_device(there)
        self._share_processor([job for job in jobs if job not in there])

    def _share_processor(self, jobs: Sequence[Job]) -> None:
        if not jobs:
            return
        files = [str(self._file(job).absolute()) for job in jobs]
        spread(run_job, zip(jobs, files, strict=True), self.engine, self.workers)

    def _share_device(self, jobs: Sequence[Job]) -> None:
        """Run jobs in threads of this process, whose kernels run concurrently; one large game fills a GPU alone."""
        alone = self.engine == "sequential" or not all(fits_in_tree(load(job.game)) for job in jobs)
        stop = threading.Event()
        with ThreadPoolExecutor(1 if alone else self.workers or GPU_RUNS) as pool:
            runs = [pool.submit(run_job, job, str(self._file(job).absolute()), self.device, stop) for job in jobs]
            try:
                for run in as_completed(runs):
                    run.result()
            finally:  # after success nothing is left to stop
                stop.set()
                pool.shutdown(cancel_futures=True)

    def strategy_file(self, job: Job, iteration: int) -> Path:
        """The file of a job's strategy at some iteration."""
        return _strategy_file(self._file(job), iteration)

    def _file(self, job: Job) -> Path:
        device = self._device_of(job)
        return self._jobs / f"{job.key}{'' if device == 'cpu' else f'-{device}'}.csv"

    @property
    def _jobs(self) -> Path:
        return self.shared or self.folder / "jobs"

    def _device_of(self, job: Job) -> str:
        from fogplay.solvers import ALGORITHMS

        return self.device if ALGORITHMS[job.algorithm].on_gpu else "cpu"

    def _done(self, job: Job) -> bool:
        return self._file(job).exists()

    @contextlib.contextmanager
    def _progress(self, jobs: Sequence[Job]) -> Iterator[None]:
        """Report the sum of the jobs' progress files twice per second."""
        report = self.progress
        if report is None:
            yield
            return
        total, over = sum(job.iterations for job in jobs), threading.Event()

        reached = dict.fromkeys((job.key for job in jobs), 0)  # a file may be incomplete or just removed

        def report_sum() -> None:
            for job in jobs:
                now = job.iterations if self._done(job) else _so_far(self._file(job))
                reached[job.key] = max(reached[job.key], now)
            report(sum(reached[job.key] for job in jobs), total)

        def watch() -> None:
            while not over.wait(POLL_SECONDS):
                report_sum()

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
        report_sum()


def run_job(job: Job, file: str, device: str = "cpu", stop: threading.Event | None = None) -> None:
    """Run one job, or what is left of it, and write its points to ``file``; setting ``stop`` ends it early."""
    from fogplay.solvers import Progress, solve

    path = Path(file)
    checkpoint, so_far = path.with_suffix(".checkpoint"), path.with_suffix(".progress")

    def note(now: Progress) -> None:
        with contextlib.suppress(OSError):
            so_far.write_text(str(now.iteration))

    def keep(iteration: int, strategy: Any) -> None:
        strategy.save(_strategy_file(path, iteration))

    result = solve(
        _game_of(job),
        job.algorithm,
        job.iterations,
        seed=job.seed,
        device=device,
        curve=job.curve,
        measures=job.measures,
        checkpoint=checkpoint,
        resume=True,
        progress=note,
        watch=False,
        greedy=job.keep == "greedy",
        snapshot=keep if job.keep else None,
        stop=stop,
        **job.parameters,
    )
    if result.interrupted:
        raise KeyboardInterrupt
    settings = json.dumps(job.parameters, sort_keys=True)
    points = [
        Point(job.label, job.game, job.algorithm, settings, job.seed, at.iteration, at.seconds, name, value)
        for at in result.curve
        for name, value in at.values.items()
    ]
    write_rows(path, points)
    for scrap in (checkpoint, so_far):
        scrap.unlink(missing_ok=True)


def _strategy_file(path: Path, iteration: int) -> Path:
    return path.with_name(f"{path.stem}.{iteration}.safetensors")


def _game_of(job: Job) -> Any:
    if job.bound is None:
        return job.game
    from fogplay import strategies
    from fogplay.solvers.respond import bound

    how = job.bound
    return bound(_simulator_of(job.game), strategies.load(how.model), how.confidence, how.kind, 0.0)(how.responder)


@functools.lru_cache(maxsize=1)
def _simulator_of(game: str) -> Any:
    """The game that a response restricts; the last one is kept, since a large tree takes half a minute to build."""
    from fogplay.simulators import simulator_for

    return simulator_for(game)


def _so_far(file: Path) -> int:
    try:
        return int(file.with_suffix(".progress").read_text())
    except (OSError, ValueError):
        return 0


def means(points: Sequence[Point]) -> list[Mean]:
    """Mean and standard error over the repetitions of every label, measure and iteration."""
    groups: dict[tuple[str, str, int], list[float]] = {}
    for point in points:
        groups.setdefault((point.label, point.measure, point.iteration), []).append(point.value)
    return [Mean(*key, len(values), *_mean_and_error(values)) for key, values in groups.items()]


def _mean_and_error(values: list[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, math.nan
    spread = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, math.sqrt(spread / len(values))


def write_rows(path: Path, rows: Sequence[Any]) -> None:
    """Write dataclasses as CSV, atomically; a tuple takes one column per entry."""
    with storage.atomically(path) as temporary, open(temporary, "w", newline="") as file:
        if rows:
            lines = [_columns(row) for row in rows]
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)


def _columns(row: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name, value in asdict(row).items():
        columns |= {f"{name}_{k}": v for k, v in enumerate(value)} if isinstance(value, tuple) else {name: value}
    return columns


def read_points(path: Path) -> list[Point]:
    """The points that ``write_rows`` wrote."""
    kinds: dict[str, Callable[[str], Any]] = {"seed": int, "iteration": int, "seconds": float, "value": float}
    with open(path, newline="") as file:
        rows = [{name: kinds.get(name, str)(text) for name, text in row.items()} for row in csv.DictReader(file)]
    return [Point(**row) for row in rows]
