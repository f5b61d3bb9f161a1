"""The loop around every learner: short stretches of compiled work, with reports, measurements and checkpoints between.

The division into stretches never changes what is learned, so a run that is watched, or is interrupted and resumed,
gives the same bits as an undisturbed one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fogplay import storage
from fogplay.errors import FogplayError
from fogplay.evaluate.measures import measures_of, nash_conv
from fogplay.interrupts import stopping
from fogplay.solvers.checkpoints import set_aside
from fogplay.trees import FlatGame

STRETCH_SECONDS = 0.1
SHOW_SECONDS = 1.0
CHECKPOINT_SECONDS = 10.0
LARGE = 500_000_000  # bytes of a checkpoint that are announced before they are written


class Learner(Protocol):
    """An algorithm at work on one game."""

    @property
    def flat(self) -> FlatGame | None: ...  # the whole game, if it fits in memory

    @property
    def parameters(self) -> dict[str, Any]: ...  # all of them, defaults included

    @property
    def threads(self) -> int: ...  # the number of threads that share its tables

    @property
    def elsewhere(self) -> bool: ...  # whether it learns on another device, which leaves the CPU free

    @property
    def stopped(self) -> str | None: ...  # why it cannot continue, in one line; None if it can

    def tables(self) -> dict[str, NDArray[Any]]: ...  # everything learned

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None: ...  # continue from the result of ``tables``

    def advance(
        self, first: int, count: int
    ) -> int: ...  # run iterations first ... first + count - 1, from 1; the number run

    def average(self) -> NDArray[np.float64]: ...  # [slots] the average strategy

    def kept(self) -> dict[str, NDArray[Any]]: ...  # [slots] the source of a strategy: visits and total, or weights


@dataclass(frozen=True)
class CurvePoint:
    """One measurement of the average strategy."""

    iteration: int
    seconds: float  # of learning, without measuring
    values: dict[str, float]  # by the name of the measure

    @property
    def nash_conv(self) -> float:
        return self.values["nash_conv"]


@dataclass(frozen=True)
class Progress:
    """The progress of a run."""

    iteration: int
    iterations: int
    seconds: float
    nash_conv: float | None
    time_limit: float | None = None  # in seconds of learning, if there is one


@dataclass
class Run:
    """A learner, its progress, and its measurements so far."""

    learner: Learner
    iterations: int
    identity: dict[str, Any]  # must match for a checkpoint to continue this run
    measures: tuple[str, ...] = ("nash_conv",)  # the curve's measures
    time_limit: float | None = None  # in seconds of learning
    iteration: int = 0
    seconds: float = 0.0
    curve: list[CurvePoint] = field(default_factory=list)
    interrupted: bool = False
    trouble: str | None = None  # why the last checkpoint could not be written
    shown: float | None = None  # the last nash_conv measured
    note: Callable[[str], None] | None = None  # called with lines for the user
    own: bool = False  # whether the checkpoint on disk is this run's own
    announced: int = 0  # the largest checkpoint that was announced, in bytes
    measured: Callable[[CurvePoint], None] | None = None  # called with every new point of the curve

    def go(
        self,
        measure_at: list[int],
        progress: Callable[[Progress], None] | None = None,
        checkpoint: Path | None = None,
        checkpoint_seconds: float = CHECKPOINT_SECONDS,
        watch: bool = True,
        snapshot: Callable[[], Callable[[], None]] | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        """Learn until the end, a signal, ``stop``, or until the learner cannot continue; all keep what was learned.

        ``snapshot`` is called at every point of the curve, and returns a function that delivers the result.
        """
        points = [point for point in measure_at if self.iteration < point <= self.iterations]
        show_at, save_at, stretch = 0.0, time.monotonic() + checkpoint_seconds, 1
        flat = self.learner.flat
        if progress is not None:
            progress(self._now(None))
        with stopping(stop) as stopped, _Aside(self.learner.elsewhere) as aside:
            with stopped.at_once():
                self.learner.advance(self.iteration + 1, 0)  # compiles, if necessary, before the clock starts
            while not self.done and not stopped.is_set():
                goal = points[0] if points else self.iterations
                count = min(stretch, goal - self.iteration)
                began = time.perf_counter()
                made = self.learner.advance(self.iteration + 1, count)
                took = time.perf_counter() - began
                self.iteration += made
                self.seconds += took
                stretch = max(1, min(4 * stretch, int(count * STRETCH_SECONDS / max(took, 1e-9))))
                if points and self.iteration == points[0]:
                    points.pop(0)
                    if snapshot is not None:
                        aside.do(snapshot())
                    if flat is not None and flat.recall_lost is None:
                        aside.do(self._measuring(flat))
                if progress is not None:
                    now = time.monotonic()
                    due = watch and (now >= show_at or self.done)
                    if due and flat is not None and flat.recall_lost is None:
                        self.shown = nash_conv(flat, self.learner.average())
                        cost = time.monotonic() - now
                        show_at = now + max(SHOW_SECONDS, 20 * cost)  # watching costs at most a twentieth
                    progress(self._now(self.shown))
                if checkpoint is not None and time.monotonic() >= save_at:
                    aside.wait()
                    began = time.monotonic()
                    self.try_to_save(checkpoint)
                    now = time.monotonic()
                    save_at = now + max(checkpoint_seconds, 10 * (now - began))  # saving costs at most a tenth
            self.interrupted = not self.done or self.learner.stopped is not None
            aside.wait()
            if checkpoint is not None and self.iteration > 0:
                self.try_to_save(checkpoint)

    @property
    def done(self) -> bool:
        """Whether the iterations are done, the time is up, or the learner cannot continue."""
        late = self.time_limit is not None and self.seconds >= self.time_limit
        return late or self.iteration >= self.iterations or self.learner.stopped is not None

    def _now(self, nash_conv: float | None) -> Progress:
        return Progress(self.iteration, self.iterations, self.seconds, nash_conv, self.time_limit)

    def _measuring(self, flat: FlatGame) -> Callable[[], None]:
        """A function that measures the current strategy."""
        iteration, seconds, strategy = self.iteration, self.seconds, self.learner.average()

        def measure() -> None:
            known = measures_of(flat)
            values = {name: known[name](flat, strategy) for name in self.measures}
            self.curve.append(CurvePoint(iteration, seconds, values))
            self.shown = values.get("nash_conv", self.shown)
            if self.measured is not None:
                self.measured(self.curve[-1])

        return measure

    def try_to_save(self, path: Path) -> None:
        """Save, but let the run continue if that fails: what was learned is worth more than the checkpoint."""
        try:
            self.save(path)
            self.trouble = None
        except FogplayError as error:
            self.trouble = str(error)

    def save(self, path: Path) -> None:
        """Write everything needed to continue, atomically and without the zeros of tables that are mostly zero."""
        curve = np.array([[p.iteration, p.seconds, *p.values.values()] for p in self.curve], np.float64)
        about = {"identity": self.identity, "iteration": self.iteration, "seconds": self.seconds}
        curve = curve.reshape(-1, 2 + len(self.measures))
        made = storage.prepare({**self.learner.tables(), "curve": curve}, sparse=True)
        storage.require_space(path, made.nbytes, "a checkpoint")
        if made.nbytes >= max(LARGE, 2 * self.announced):
            self._tell(f"writing a checkpoint of {storage.in_bytes(made.nbytes)} to {path}")
            self.announced = made.nbytes
        if not self.own:
            self._tell(set_aside(path))
            self.own = True
        made.write(path, "checkpoint", about)

    def _tell(self, line: str | None) -> None:
        if self.note is not None and line is not None:
            self.note(line)

    def restore(self, path: Path) -> None:
        """Continue from a checkpoint of the same run."""
        arrays, about = storage.read(path, "checkpoint")
        for name, wanted in self.identity.items():
            found = about["identity"].get(name)
            if found != wanted:
                raise FogplayError(
                    f"{path} is a checkpoint of a run with {name} {found!r}, not {wanted!r}; "
                    "repeat the run's own settings, or start afresh without --resume"
                )
        curve = arrays.pop("curve")
        self.learner.restore(arrays)
        self.own = True
        self.iteration, self.seconds = about["iteration"], about["seconds"]
        for iteration, seconds, *values in curve.tolist():
            self.curve.append(CurvePoint(int(iteration), seconds, dict(zip(self.measures, values, strict=True))))


class _Aside:
    """Runs work at once; if the learner is on another device, one job at a time in parallel with it."""

    def __init__(self, elsewhere: bool) -> None:
        self.pool = ThreadPoolExecutor(1) if elsewhere else None
        self.under_way: Future[None] | None = None

    def __enter__(self) -> _Aside:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.wait()
        finally:
            if self.pool is not None:
                self.pool.shutdown()

    def do(self, work: Callable[[], None]) -> None:
        if self.pool is None:
            work()
        else:
            self.wait()  # at most one copy of the tables exists at a time
            self.under_way = self.pool.submit(work)

    def wait(self) -> None:
        """Wait until all work is done; raises the exceptions of that work."""
        if self.under_way is not None:
            self.under_way.result()
            self.under_way = None


def log_spaced(last: int, per_decade: int) -> list[int]:
    """Whole numbers from 1 to ``last`` inclusive, ``per_decade`` per decade, evenly spaced on a logarithmic axis."""
    if per_decade <= 0:
        return []
    decades = np.log10(last)
    grid = 10 ** (np.arange(int(decades * per_decade) + 1) / per_decade)
    return sorted({round(float(number)) for number in grid if number <= last} | {last})
