"""Training in episodes: games with search, a reservoir of their decisions, learning, a judgement (DeltaDou, 5.1).

The state of a run is its networks, how many episodes it has made, and the games of the last episodes, one file each:
an interrupted episode goes on with its games, and the reservoir is filled from those before it. Episodes whose file is
missing are left out, so the files need not be moved with the networks. Episode 0 is the bootstrap: decisions of a
heuristic.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fogplay import storage
from fogplay.errors import FogplayError
from fogplay.nets import runs
from fogplay.nets.answers import Answers
from fogplay.nets.imitation import Imitator
from fogplay.nets.training import Judge, Limits
from fogplay.scalars import CURVE, Row, add_scalars, read_rows, scalars_in

Decisions = Mapping[str, NDArray[Any]]  # by the names of ``Imitator.loss``, and "seat"
Evaluate = Callable[[int, NDArray[np.int64]], NDArray[np.float32]]
Stopped = Callable[[], bool]
FILES = 4  # files of games that are kept: what fits into a reservoir of the usual size


class Games(Protocol):
    """The games of a run's episodes."""

    def play(
        self, episode: int, evaluate: Evaluate | None, heat: float, file: Path, stopped: Stopped
    ) -> tuple[Decisions, Row] | None:
        """All decisions of an episode and facts about it, or None if stopped; the file holds what was played so far."""
        ...

    def again(self, episode: int, file: Path) -> Decisions:
        """The decisions of an episode that was played."""
        ...


class EpisodePlan(NamedTuple):
    """What an episode is made of."""

    bootstrap: int = 200_000  # games of the heuristic before the first episode
    games: int = 8000
    playouts: int = 400
    capacity: int = 300_000  # decisions per seat in the reservoir, besides the heuristic's
    bootstrap_passes: float = 4.0  # how often each of the heuristic's decisions is learned from
    passes: float = 8.0  # how often any other one is, as long as it is kept
    heat: tuple[float, float] = (1.0, 0.3)  # of the moves: it falls from the first to the second
    cooled: int = 20  # episodes until then
    judged: int = 100  # playouts of the search that is judged beside the networks alone; 0: none


# What a setting may be, and whether it is whole.
LIMITS: Limits = {
    "bootstrap": (3, 1e9, True), "games": (1, 1e9, True), "playouts": (1, 100_000, True), "capacity": (1, 1e9, True),
    "bootstrap_passes": (1e-6, 1e6, False), "passes": (1e-6, 1e6, False), "heat": (0, 10, False),
    "cooled": (0, 1e6, True), "judged": (0, 100_000, True),
    "width": (8, 1 << 12, True), "blocks": (1, 64, True), "rate": (1e-9, 1, False), "batch": (1, 1 << 20, True),
    "expected": (0, 1, False), "average": (0, 0.999999, False),
}  # fmt: skip


class Reservoir:
    """The newest decisions of every seat, on the device where networks learn."""

    def __init__(self, seats: int, device: str) -> None:
        self.seats, self.device = seats, device
        self.kept: list[dict[str, Tensor]] = [{} for _ in range(seats)]

    def add(self, decisions: Decisions, capacity: int | None = None) -> None:
        """Add decisions of all seats; the oldest beyond the capacity per seat are dropped."""
        for seat in range(self.seats):
            rows = np.flatnonzero(decisions["seat"] == seat)
            for name, array in decisions.items():
                if name == "seat":
                    continue
                new = torch.from_numpy(array[rows]).to(self.device)
                old = self.kept[seat].get(name)
                self.kept[seat][name] = (new if old is None else torch.cat([old, new]))[-(capacity or 0) :]

    def clear(self) -> None:
        """Forget everything."""
        self.kept = [{} for _ in range(self.seats)]


class Episodes:
    """A run with its folder; ``names`` are those of the seats' networks."""

    def __init__(
        self, imitator: Imitator, names: tuple[str, ...], folder: Path, about: Row, plan: EpisodePlan, games: Games
    ) -> None:
        self.learner, self.names, self.folder, self.about, self.plan = imitator, names, folder, about, plan
        self.games, self.done = games, 0
        self.unjudged: Row | None = None  # the row of an episode that was learned from, and not judged yet
        self.scalars: Any = None
        self.reservoir = Reservoir(len(names), imitator.device)

    def resume(self) -> None:
        """Go on from the folder's state."""
        index = runs.resume(self.folder, self.learner, self.names)
        if index.get("game") != self.about.get("game") or "episodes" not in index:
            raise FogplayError(f"the run in {self.folder} is not one of {self.about.get('game')} in episodes")
        self.done, self.unjudged = int(index["episodes"]), index.get("unjudged")
        rows = read_rows(self.folder / CURVE)
        kept = [row for row in rows if row["episode"] < self.done - (self.unjudged is not None)]
        storage.write_text(self.folder / CURVE, "".join(json.dumps(row) + "\n" for row in kept))
        for episode in range(max(self.done - FILES, 1), self.done):
            if self.file(episode).exists():
                self.reservoir.add(self.games.again(episode, self.file(episode)), self.plan.capacity)

    def log_to_tensorboard(self, folder: Path) -> None:
        """Write the curve as TensorBoard's scalars too."""
        self.scalars = scalars_in(folder)

    def run(self, episodes: int, minutes: float, judge: Judge, report: Callable[[Row], None], stopped: Stopped) -> Row:
        """Make episodes until there are so many besides the bootstrap, time is up or ``stopped()``; the last row.

        A judgement cannot be interrupted: it is left for later where the last one took longer than there is time.
        """
        end, row, judging = time.monotonic() + 60 * minutes, Row(), 0.0

        def over() -> bool:
            return stopped() or time.monotonic() > end

        while not over() and (self.done <= episodes or self.unjudged is not None):
            if self.unjudged is not None or self.learn(over):
                began = time.monotonic()
                if judging > max(end - began, 0.0):
                    break
                row = self.judge(judge)
                judging = time.monotonic() - began
                report(row)
        return row

    def learn(self, stopped: Stopped) -> bool:
        """Play an episode, or what is left of it, learn from it and save; return whether it was not stopped before."""
        plan, began, first = self.plan, time.monotonic(), self.done == 0
        evaluate = None if first else self.learner.evaluator()
        asked = asked_of(evaluate)
        found = self.games.play(self.done, evaluate, self.heat(), self.file(self.done), stopped)
        if found is None:
            return False
        (decisions, facts), played = found, time.monotonic()
        if self.done == 1:
            self.reservoir.clear()  # what the heuristic did
        self.reservoir.add(decisions, None if first else plan.capacity)
        self.learner.decisions += len(decisions["seat"])
        torch.manual_seed(self.about["seed"] + self.done)  # so that an interruption does not change what is drawn
        wanted = (plan.bootstrap_passes if first else plan.passes) * len(decisions["seat"]) / len(self.names)
        steps = math.ceil(wanted / self.learner.rates.batch)
        learned = {"steps": steps, **self.learner.learn(self.reservoir.kept, steps)}
        row: Row = {"decisions": self.learner.decisions, "episode": self.done, **facts, **learned}
        row["play_seconds"] = row.get("play_seconds", 0.0) + played - began
        row["learn_seconds"] = time.monotonic() - played
        if asked is not None and (now := asked_of(evaluate)) is not None:
            row |= {name: now[name] - asked[name] for name in now}
        self.done, self.unjudged = self.done + 1, row
        self.save()
        return True

    def judge(self, judge: Judge) -> Row:
        """Judge the networks of the episode that was learned from; write its row and save."""
        row: Row = {**(self.unjudged or {}), **judge(self.learner.evaluator())}
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / CURVE, "a") as curve:
            curve.write(json.dumps(row) + "\n")
        add_scalars(self.scalars, row, self.names, row["episode"])
        self.unjudged = None
        self.save()
        return row

    def file(self, episode: int) -> Path:
        """Where the games of an episode are kept."""
        return self.folder / f"games_{episode}.safetensors"

    def heat(self) -> float:
        """The temperature of this episode's moves."""
        hot, cold = self.plan.heat
        return float(hot + (cold - hot) * min(max(self.done - 1, 0) / max(self.plan.cooled, 1), 1.0))

    def save(self) -> None:
        """Write the state, and the seats' networks as files that can play."""
        about = {**self.about, "episodes": self.done}
        runs.save(self.folder, self.learner, self.names, {**about, "unjudged": self.unjudged})
        self.file(self.done - 1 - FILES).unlink(missing_ok=True)
        for name, network in self.networks().items():
            network.save(self.folder / f"{name}.safetensors")

    def networks(self) -> dict[str, Any]:
        """The seats' networks as they are."""
        about = {**self.about, "decisions": self.learner.decisions, "episodes": self.done}
        return {
            name: runs.exported(self.learner.players, copy, {**about, "name": name})
            for copy, name in enumerate(self.names)
        }


def asked_of(evaluate: Any) -> dict[str, float] | None:
    """How many rows an evaluator on a GPU has answered, in how many batches and seconds; nothing is known of others."""
    if not isinstance(evaluate, Answers):
        return None
    return {"evaluations": evaluate.rows, "batches": evaluate.batches, "network_seconds": evaluate.seconds()}
