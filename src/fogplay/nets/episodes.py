"""Training in episodes: games with search, a reservoir of their decisions, learning, a judgement (DeltaDou, 5.1).

The state of a run is its networks and how many episodes it has made; the reservoir is filled anew after a resumption.
Episode 0 is the bootstrap: decisions of a heuristic.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fogplay import storage
from fogplay.errors import FogplayError
from fogplay.nets import runs
from fogplay.nets.answers import Answers
from fogplay.nets.imitation import Imitator
from fogplay.nets.training import CURVE, Judge, Limits, Row, add_scalars, read_rows
from fogplay.scalars import scalars_in

Decisions = Mapping[str, NDArray[Any]]  # by the names of ``Imitator.loss``, and "seat"
Evaluate = Callable[[int, NDArray[np.int64]], NDArray[np.float32]]
Play = Callable[[int, Evaluate | None, float], tuple[Decisions, Row]]  # (episode, evaluator, temperature)


class EpisodePlan(NamedTuple):
    """What an episode is made of."""

    bootstrap: int = 200_000  # games of the heuristic before the first episode
    games: int = 8000
    playouts: int = 400
    capacity: int = 300_000  # decisions per seat in the reservoir, besides the heuristic's
    bootstrap_steps: int = 3000  # of the optimiser
    steps: int = 80  # of the optimiser, per episode: many more, and networks know the games of the reservoir by heart
    heat: tuple[float, float] = (1.0, 0.3)  # of the moves: it falls from the first to the second
    cooled: int = 20  # episodes until then
    judged: int = 100  # playouts of the search that is judged beside the networks alone; 0: none


# What a setting may be, and whether it is whole.
LIMITS: Limits = {
    "bootstrap": (3, 1e9, True), "games": (1, 1e9, True), "playouts": (1, 100_000, True), "capacity": (1, 1e9, True),
    "bootstrap_steps": (1, 1e9, True), "steps": (1, 1e9, True), "heat": (0, 10, False), "cooled": (0, 1e6, True),
    "judged": (0, 100_000, True),
    "width": (8, 1 << 12, True), "blocks": (1, 64, True), "rate": (1e-9, 1, False), "batch": (1, 1 << 20, True),
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
        self, imitator: Imitator, names: tuple[str, ...], folder: Path, about: Row, plan: EpisodePlan, play: Play
    ) -> None:
        self.learner, self.names, self.folder, self.about, self.plan = imitator, names, folder, about, plan
        self.play, self.done = play, 0
        self.scalars: Any = None
        self.reservoir = Reservoir(len(names), imitator.device)

    def resume(self) -> None:
        """Go on from the folder's state."""
        index = runs.resume(self.folder, self.learner, self.names)
        if index.get("game") != self.about.get("game") or "episodes" not in index:
            raise FogplayError(f"the run in {self.folder} is not one of {self.about.get('game')} in episodes")
        self.done = int(index["episodes"])
        kept = [row for row in read_rows(self.folder / CURVE) if row["episode"] < self.done]
        storage.write_text(self.folder / CURVE, "".join(json.dumps(row) + "\n" for row in kept))

    def log_to_tensorboard(self, folder: Path) -> None:
        """Write the curve as TensorBoard's scalars too."""
        self.scalars = scalars_in(folder)

    def run(
        self, episodes: int, minutes: float, judge: Judge, report: Callable[[Row], None], stopped: Callable[[], bool]
    ) -> Row:
        """Make episodes until there are so many besides the bootstrap, time is up or ``stopped()``; the last row."""
        began, row = time.monotonic(), Row()
        while self.done <= episodes and not stopped() and time.monotonic() - began < 60 * minutes:
            row = self.episode(judge)
            report(row)
        return row

    def episode(self, judge: Judge) -> Row:
        """Play, learn, judge and save once."""
        plan, began = self.plan, time.monotonic()
        first = self.done == 0
        evaluate = None if first else self.learner.evaluator()
        asked = asked_of(evaluate)
        decisions, facts = self.play(self.done, evaluate, self.heat())
        played = time.monotonic()
        if self.done == 1:
            self.reservoir.clear()  # what the heuristic did
        self.reservoir.add(decisions, None if first else plan.capacity)
        self.learner.decisions += len(decisions["seat"])
        learned = self.learner.learn(self.reservoir.kept, plan.bootstrap_steps if first else plan.steps)
        row: Row = {
            "decisions": self.learner.decisions, "episode": self.done, **facts, **learned,
            "play_seconds": played - began, "learn_seconds": time.monotonic() - played,
        }  # fmt: skip
        if asked is not None and (now := asked_of(evaluate)) is not None:
            row |= {"evaluations": now[0] - asked[0], "network_seconds": now[1] - asked[1]}
        row |= judge(self.learner.evaluator())
        self.done += 1
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / CURVE, "a") as curve:
            curve.write(json.dumps(row) + "\n")
        add_scalars(self.scalars, row, self.names, row["episode"])
        self.save()
        return row

    def heat(self) -> float:
        """The temperature of this episode's moves."""
        hot, cold = self.plan.heat
        return float(hot + (cold - hot) * min(max(self.done - 1, 0) / max(self.plan.cooled, 1), 1.0))

    def save(self) -> None:
        """Write the state, and the seats' networks as files that can play."""
        runs.save(self.folder, self.learner, self.names, {**self.about, "episodes": self.done})
        for name, network in self.networks().items():
            network.save(self.folder / f"{name}.safetensors")

    def networks(self) -> dict[str, Any]:
        """The seats' networks as they are."""
        about = {**self.about, "decisions": self.learner.decisions, "episodes": self.done}
        return {
            name: runs.exported(self.learner.actors, copy, {**about, "name": name})
            for copy, name in enumerate(self.names)
        }


def asked_of(evaluate: Any) -> tuple[int, float] | None:
    """How many rows an evaluator on a GPU has answered, and in how many seconds; nothing is known of others."""
    return (evaluate.rows, evaluate.seconds()) if isinstance(evaluate, Answers) else None
