"""A training run from its start, or from its folder, to its end: play, learn, log, judge, save.

The folder holds the state (``runs.py``), ``log.jsonl`` with a line per round of play and learning, and ``curve.jsonl``
with a line per judgement. A killed run loses what it did since the last save, and both files are cut back to that.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch

from fogplay import storage
from fogplay.errors import FogplayError
from fogplay.nets import runs
from fogplay.nets.imitation import Evaluator
from fogplay.nets.ppo import SEATS, Learner, Settings
from fogplay.scalars import CURVE, LOG, Row, add_scalars, read_rows, scalars_in
from fogplay.strategies.network import Network

Judge = Callable[[Evaluator], Row]


# What a setting may be, and whether it is whole. Two numbers: what it falls from and to.
Limits = Mapping[str, tuple[float, float, bool]]
LIMITS: Limits = {
    "size": (1, 1 << 20, True), "steps": (3, 3 << 10, True), "batch": (1, 1 << 24, True), "epochs": (1, 100, True),
    "width": (8, 1 << 14, True), "blocks": (1, 64, True), "warm": (1, 1e9, True),
    "rate": (1e-9, 1, False), "entropy": (1e-9, 10, False), "decay": (0, 1, False), "clip": (0.001, 10, False),
    "points": (0, 100, False), "value": (0, 100, False), "belief": (0, 100, False), "norm": (1e-9, 1e9, False),
    "average": (0, 0.999999, False), "decisions": (1, 1e15, False),
}  # fmt: skip
PAIRS = ("rate", "entropy")


def within(limits: Limits, pairs: tuple[str, ...], chosen: Mapping[str, Any]) -> Row:
    """Settings by name, each of its type and within its limits; ``pairs`` are those of two numbers."""
    found: Row = {}
    for name, value in chosen.items():
        if name not in limits:
            raise FogplayError(f"there is no setting '{name}'; there are {', '.join(limits)}")
        least, most, whole = limits[name]
        numbers = list(value) if isinstance(value, list | tuple) else [value]
        fits = all(isinstance(each, int | float) and least <= each <= most for each in numbers)
        fits = fits and (not whole or all(each == int(each) for each in numbers))
        if not fits or len(numbers) != (2 if name in pairs else 1):
            what = "two numbers" if name in pairs else "a whole number" if whole else "a number"
            raise FogplayError(f"{name} must be {what} from {least:g} to {most:g}, not {value!r}")
        found[name] = tuple(map(float, numbers)) if name in pairs else int(numbers[0]) if whole else float(numbers[0])
    return found


def checked(chosen: Mapping[str, Any]) -> Row:
    """The settings of ``ppo.Settings``, and width and blocks."""
    found = within(LIMITS, PAIRS, chosen)
    usual = Settings()
    steps, size, batch = (int(found.get(name, getattr(usual, name))) for name in ("steps", "size", "batch"))
    if steps % SEATS:
        raise FogplayError(f"steps must be a multiple of {SEATS}, not {steps}")
    if steps * size % batch:
        raise FogplayError(f"batch must divide steps times size, {steps * size:,}; {batch:,} does not")
    return found


def begin(device: str, seed: int) -> None:
    """Seed torch, and refuse a device that is not there."""
    if device not in ("cpu", "cuda"):
        raise FogplayError(f"there is no device '{device}'; there are cpu and cuda")
    if device == "cuda" and not torch.cuda.is_available():
        raise FogplayError("device cuda needs an NVIDIA GPU and a build of torch for it; use --device cpu")
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(seed)


class Plan(NamedTuple):
    """When a run ends, and how often it does what."""

    decisions: int  # of all seats, those before a resumption included
    minutes: float  # of this call
    save_minutes: float = 2.0
    judge_minutes: float = 2.0


class Training:
    """A learner with its folder; ``names`` are those of the seats' networks, then the critic's."""

    def __init__(self, learner: Learner, names: tuple[str, ...], folder: Path, about: Row) -> None:
        self.learner, self.names, self.folder, self.about = learner, names, folder, about
        self.scalars: Any = None

    def resume(self) -> None:
        """Go on from the folder's state."""
        index = runs.resume(self.folder, self.learner, self.names)
        if index.get("game") != self.about.get("game"):
            raise FogplayError(f"the run in {self.folder} is of {index.get('game')}, not of {self.about.get('game')}")
        for file in (LOG, CURVE):
            kept = [row for row in read_rows(self.folder / file) if row["decisions"] <= self.learner.decisions]
            storage.write_text(self.folder / file, "".join(json.dumps(row) + "\n" for row in kept))

    def log_to_tensorboard(self, folder: Path) -> None:
        """Write the logs as TensorBoard's scalars too."""
        self.scalars = scalars_in(folder)

    def run(self, plan: Plan, judge: Judge, report: Callable[[Row], None], stopped: Callable[[], bool]) -> Row:
        """Learn until the plan is fulfilled or ``stopped()``; return the last judgement."""
        began = saved = judged = time.monotonic()
        before = self.learner.decisions
        judgement: Row = {}
        while self.learner.decisions < plan.decisions and not stopped():
            self.learner.play()
            row = self.learner.learn()
            now = time.monotonic()
            row["rate"] = (self.learner.decisions - before) / (now - began)
            self._write(LOG, row)
            report(row)
            if now - judged > 60 * plan.judge_minutes:
                judgement = self._judge(judge, report)
                judged = time.monotonic()
            if now - saved > 60 * plan.save_minutes:
                self.save()
                saved = time.monotonic()
            if now - began > 60 * plan.minutes:
                break
        if not stopped():
            judgement = self._judge(judge, report)
        self.save()
        return judgement

    def save(self) -> None:
        """Write the state, and the seats' networks as files that can play."""
        runs.save(self.folder, self.learner, self.names, self.about)
        for name, network in self.networks().items():
            network.save(self.folder / f"{name}.safetensors")

    def networks(self) -> dict[str, Network]:
        """The seats' networks for play."""
        actors, about = self.learner.players, {**self.about, "decisions": self.learner.decisions}
        return {
            name: runs.exported(actors, copy, {**about, "name": name})
            for copy, name in enumerate(self.names[: actors.copies])
        }

    def _judge(self, judge: Judge, report: Callable[[Row], None]) -> Row:
        own = list(self.networks().values())
        row = {"decisions": self.learner.decisions, **judge(lambda seat, seen: own[seat].outputs(seen))}
        self._write(CURVE, row)
        report(row)
        return row

    def _write(self, file: str, row: Row) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / file, "a") as log:
            log.write(json.dumps(row) + "\n")
        add_scalars(self.scalars, row, self.names, row["decisions"])
