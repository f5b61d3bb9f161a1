"""``Trainings``: solvers at work beside the server, each in a process and a folder of its own.

A folder holds what was asked (``asked.json``), the measurements so far (``curve.json``), a checkpoint and the newest
strategy, so that a run is found again after the server was stopped.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from fogplay.errors import FogplayError
from fogplay.rooms.learner import snapshot_in
from fogplay.solvers.algorithms import algorithm_called
from fogplay.storage import write_text

MOST_RUNS = 2  # at the same time
MOST_ITERATIONS = 10**12
STOP_SECONDS = 20.0
CLOSE = 1.05  # points of a curve are at least this factor of iterations apart
KEPT = ("iteration", "iterations", "seconds", "measure", "error", "algorithm", "done")


class Point(NamedTuple):
    """A measurement of a run."""

    iteration: float
    seconds: float
    value: float


@dataclass
class Training:
    """One run. Its fields change as reports come in."""

    name: str
    folder: Path
    game: str
    algorithm: str  # empty: one that suits the game
    iterations: int | None  # None: as many as suit the game, until the solver says how many
    iteration: int = 0
    seconds: float = 0.0
    measure: str = ""  # what is measured: nash_conv, or a score against a bot
    error: float = 0.0  # the standard error of the last point, of a score
    trouble: str = ""  # why it ended, if it failed
    done: bool = False
    curve: list[Point] = field(default_factory=list)
    process: subprocess.Popen[str] | None = None

    @property
    def short(self) -> str:
        """``run-3``, without what makes the name unique."""
        return self.name.rpartition("-")[0]

    @property
    def snapshot(self) -> Path | None:
        """The newest strategy, if there is one."""
        path = snapshot_in(self.folder)
        return path if path.exists() else None

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def words(self) -> str:
        """Where it stands."""
        if self.trouble:
            return self.trouble
        rate = self.iteration / self.seconds if self.seconds > 0 else 0.0
        state = "running" if self.running else "finished" if self.done else "stopped"
        whole = "" if self.iterations is None else f" of {self.iterations:,}"
        left = ""
        if rate and self.running and self.iterations is not None:
            left = f", {(self.iterations - self.iteration) / rate:,.0f} s left"
        return f"{state}: iteration {self.iteration:,}{whole}, {rate:,.0f} per second{left}{self._quality}"

    @property
    def _quality(self) -> str:
        if not self.curve:
            return ""
        if not self.error:
            return f", {self.measure} {self.curve[-1].value:.3g}"
        return f", {self.curve[-1].value:+,.0f} ± {self.error:,.0f} {self.measure}"

    def heard(self, told: Mapping[str, Any]) -> None:
        """Take a report of the solver."""
        for name in ("iteration", "iterations", "seconds", "measure", "trouble", "algorithm", "done"):
            setattr(self, name, told.get(name, getattr(self, name)))
        if "point" in told:
            self.error = told.get("error", 0.0)
            self._add(Point(*told["point"]))

    def _add(self, point: Point) -> None:
        """A point after the others; the last one is replaced if it is hardly older, so that long runs stay short."""
        while self.curve and self.curve[-1].iteration >= point.iteration:
            self.curve.pop()
        if len(self.curve) > 1 and self.curve[-1].iteration < CLOSE * self.curve[-2].iteration:
            self.curve.pop()
        self.curve.append(point)

    def keep(self) -> None:
        """Write what a later server must know."""
        kept = {name: getattr(self, name) for name in KEPT} | {"curve": self.curve}
        with contextlib.suppress(OSError):
            write_text(self.folder / "curve.json", json.dumps(kept))

    @staticmethod
    def found(folder: Path) -> Training:
        """A run of an earlier server."""
        asked = json.loads((folder / "asked.json").read_text())
        run = Training(folder.name, folder, asked["game"], asked["algorithm"], asked["iterations"])
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            kept = json.loads((folder / "curve.json").read_text())
            curve = [Point(*point) for point in kept["curve"]]
            for name in KEPT:
                setattr(run, name, kept[name])
            run.curve = curve
        return run


class Trainings:
    """All runs of a server, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs: dict[str, Training] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.glob("*/asked.json")):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                self.runs[path.parent.name] = Training.found(path.parent)

    def start(self, game: str, algorithm: str, iterations: int | None) -> Training:
        """Begin a new run; the game must be checked already."""
        if algorithm:
            algorithm_called(algorithm)
        if iterations is not None and not 1 <= iterations <= MOST_ITERATIONS:
            raise FogplayError(f"iterations must be a whole number from 1 to {MOST_ITERATIONS:,}, not {iterations:,}")
        name = f"run-{len(self.runs) + 1}-{secrets.token_hex(3)}"
        made = Training(name, self.folder / name, game, algorithm, iterations)
        self._require_room()
        made.folder.mkdir()
        asked = {"game": game, "algorithm": algorithm, "iterations": iterations}
        (made.folder / "asked.json").write_text(json.dumps(asked))
        self.runs[name] = made
        self._launch(made, resume=False)
        return made

    def resume(self, name: str) -> None:
        """Go on with a run that was stopped."""
        found = self._run(name)
        if found.running or found.done:
            raise FogplayError(f"{name} is {'running' if found.running else 'finished'} already")
        self._require_room()
        self._launch(found, resume=True)

    def stop(self, name: str) -> None:
        """Ask a run to stop; it saves what it has."""
        found = self._run(name)
        if found.process is not None and found.process.stdin is not None:
            with contextlib.suppress(OSError):
                found.process.stdin.close()

    def stop_all(self) -> None:
        """Stop all runs and wait for them."""
        for name in self.runs:
            self.stop(name)
        for run in self.runs.values():
            if run.process is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    run.process.wait(STOP_SECONDS)

    def _require_room(self) -> None:
        if sum(run.running for run in self.runs.values()) >= MOST_RUNS:
            raise FogplayError(f"{MOST_RUNS} runs are at work already; stop one first")

    def _run(self, name: str) -> Training:
        if name not in self.runs:
            raise FogplayError(f"there is no run {name!r}")
        return self.runs[name]

    def _launch(self, run: Training, resume: bool) -> None:
        asked = {
            "game": run.game,
            "algorithm": run.algorithm,
            "iterations": run.iterations,
            "folder": str(run.folder),
            "resume": resume,
        }
        run.trouble = ""
        run.process = subprocess.Popen(
            [sys.executable, "-m", "fogplay.rooms.learner", json.dumps(asked)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C is the server's matter
        )
        threading.Thread(target=self._listen, args=(run, run.process), daemon=True).start()

    def _listen(self, run: Training, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            with contextlib.suppress(ValueError):
                told = json.loads(line)
                run.heard(told)
                if "point" in told or "done" in told:
                    run.keep()
        if process.wait() not in (0, 2) and not run.trouble:
            run.trouble = f"the solver ended with code {process.returncode}"
        run.keep()
