"""``Trainings``: solvers at work beside the server, each in a process and a folder of its own.

A folder holds what was asked (``asked.json``), the measurements so far (``curve.json``), a checkpoint and the newest
strategy (``snapshot.safetensors``), so that a run is found again after the server was stopped.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fogplay.errors import FogplayError
from fogplay.solvers.algorithms import algorithm_called

MOST_RUNS = 2  # at the same time
MOST_ITERATIONS = 10**12
STOP_SECONDS = 20.0


@dataclass
class Training:
    """One run. Its fields change as reports come in."""

    name: str
    folder: Path
    game: str
    algorithm: str  # empty: one that suits the game
    iterations: int
    iteration: int = 0
    seconds: float = 0.0
    nash_conv: float | None = None
    error: str = ""
    done: bool = False
    curve: list[tuple[float, float]] = field(default_factory=list)
    process: subprocess.Popen[str] | None = None

    @property
    def snapshot(self) -> Path | None:
        """The newest strategy, if there is one."""
        path = self.folder / "snapshot.safetensors"
        return path if path.exists() else None

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def words(self) -> str:
        """Where it stands."""
        if self.error:
            return self.error
        rate = self.iteration / self.seconds if self.seconds > 0 else 0.0
        left = f", {(self.iterations - self.iteration) / rate:,.0f} s left" if rate and self.running else ""
        quality = "" if self.nash_conv is None else f", nash_conv {self.nash_conv:.3g}"
        state = "running" if self.running else "finished" if self.done else "stopped"
        return f"{state}: iteration {self.iteration:,} of {self.iterations:,}, {rate:,.0f} per second{left}{quality}"


class Trainings:
    """All runs of a server, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs: dict[str, Training] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.glob("*/asked.json")):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                self._found(path.parent)

    def start(self, game: str, algorithm: str, iterations: int) -> Training:
        """Begin a new run; the game must be checked already."""
        if algorithm:
            algorithm_called(algorithm)
        if not 1 <= iterations <= MOST_ITERATIONS:
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
        run.error = ""
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
                self._heard(run, json.loads(line))
        if process.wait() not in (0, 2) and not run.error:
            run.error = f"the solver ended with code {process.returncode}"
        with contextlib.suppress(OSError):
            (run.folder / "curve.json").write_text(json.dumps([run.iteration, run.seconds, run.nash_conv, run.curve]))

    def _heard(self, run: Training, told: dict[str, Any]) -> None:
        run.error = told.get("error", run.error)
        run.iteration = told.get("iteration", run.iteration)
        run.seconds = told.get("seconds", run.seconds)
        measured = told.get("nash_conv")
        if measured is not None:
            if not run.curve or (measured != run.nash_conv and run.iteration > run.curve[-1][0]):
                run.curve.append((run.iteration, measured))
            run.nash_conv = measured
        if told.get("curve"):
            points = dict(run.curve) | {point[0]: point[1] for point in told["curve"]}
            run.curve = sorted(points.items())
        run.algorithm = told.get("algorithm", run.algorithm)
        run.done = told.get("done", run.done)

    def _found(self, folder: Path) -> None:
        """A run of an earlier server."""
        asked = json.loads((folder / "asked.json").read_text())
        run = Training(folder.name, folder, asked["game"], asked["algorithm"], int(asked["iterations"]))
        with contextlib.suppress(OSError, ValueError):
            told = json.loads((folder / "curve.json").read_text())
            run.iteration, run.seconds, run.nash_conv = told[:3]
            run.curve = [(point[0], point[1]) for point in told[3]]
            run.done = run.iteration >= run.iterations
        self.runs[run.name] = run
