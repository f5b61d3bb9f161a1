"""``fogplay reproduce``: the papers' figures and tables, each from one command, published beside measured numbers.

An experiment has two halves. ``run`` makes rows, the raw points of all runs; ``report`` judges and draws, from rows
alone, so that tables and pictures can be made again without the runs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from fogplay import storage
from fogplay.checks import one_of
from fogplay.errors import FogplayError, did_you_mean
from fogplay.experiments.rows import Row, Rows, write_rows_of
from fogplay.experiments.runner import Runner
from fogplay.experiments.verdicts import Finding
from fogplay.solvers.solve import DEVICES
from fogplay.version import VERSION

SCALES = ("quick", "medium", "paper")  # seconds; several training runs, minutes on one core; the paper's own budget
WIRE_SCALES = ("wire", "wire-paper")  # where players can meet over HTTP: with short clocks, with the paper's own


@dataclass(frozen=True)
class Outcome:
    """What rows say: findings, the first of which is the headline, pictures, and numbers for the text around them."""

    findings: tuple[Finding, ...]
    files: tuple[Path, ...] = ()
    numbers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """A figure or table of a paper."""

    id: str
    title: str
    run: Callable[[Runner, str], list[Row]]  # runner and scale
    report: Callable[[Rows, Path], Outcome]  # rows and the folder for pictures
    device: bool = True  # whether a GPU can do some of its runs
    scales: tuple[str, ...] = SCALES


@dataclass(frozen=True)
class Made:
    """An experiment that has been run."""

    outcome: Outcome
    folder: Path  # with the rows, the pictures and the report
    seconds: float
    cpu_seconds: float  # of this process and those that it started


def experiments() -> dict[str, Experiment]:
    """Every experiment by its id, ``paper/item``."""
    from fogplay.experiments import (
        concurrency,
        deltadou_2019,
        general_game_playing,
        learned_models_2011,
        responses_2009,
        responses_2011,
        sampling_equilibria_2011,
        selfplay_mcts_2014,
        smooth_uct_2015,
        strength,
        uct_vs_cfr_2009,
        winnings_2011,
        winnings_2014,
        winnings_2015,
    )

    papers = (
        smooth_uct_2015,
        winnings_2015,
        selfplay_mcts_2014,
        winnings_2014,
        sampling_equilibria_2011,
        winnings_2011,
        learned_models_2011,
        responses_2011,
        uct_vs_cfr_2009,
        responses_2009,
        general_game_playing,
        deltadou_2019,
    )
    return {each.id: each for group in (*papers, concurrency, strength) for each in group.EXPERIMENTS}


def experiment_called(name: str) -> Experiment:
    """The experiment of this id; the error for an unknown id suggests a similar one."""
    known = experiments()
    if name not in known:
        raise FogplayError(
            f"no experiment is called {name!r}; {did_you_mean(name, known)}`fogplay reproduce` lists them"
        )
    return known[name]


def reproduce(
    name: str,
    scale: str = "quick",
    out: Path | None = None,
    *,
    engine: str = "loky",
    workers: int = 0,
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
) -> Made:
    """Run one experiment, or what is left of it, and report on it."""
    experiment = experiment_called(name)
    if scale not in experiment.scales:
        raise FogplayError(f"scale must be {' or '.join(experiment.scales)}, not {scale!r}")
    if one_of("device", device, DEVICES) != "cpu" and not experiment.device:
        raise FogplayError(f"{name} runs only on the CPU; use --device cpu")
    folder = (out or Path("reproduced")) / name / scale
    shared = folder.parents[1] / "jobs"  # shared by the paper's experiments, some of which train the same players
    runner = Runner(folder, engine, workers, device, shared, progress)
    began, worked = time.perf_counter(), _cpu_seconds()
    rows = experiment.run(runner, scale)
    seconds, cpu_seconds = time.perf_counter() - began, _cpu_seconds() - worked
    write_rows_of(folder / "points.csv", rows)
    made = Made(experiment.report(Rows(rows), folder), folder, seconds, cpu_seconds)
    about: dict[str, Any] = {"id": name, "scale": scale, "device": device, "version": VERSION}
    about |= {"seconds": round(seconds, 1), "cpu_seconds": round(cpu_seconds, 3)}
    _write_report(folder, experiment.title, about, made.outcome)
    return made


def _cpu_seconds() -> float:
    """Processor time so far, of this process and of its children, whether they have ended or not."""
    mine = psutil.Process()
    spent = time.process_time() + sum(mine.cpu_times()[2:4])
    for child in mine.children(recursive=True):
        try:
            spent += sum(child.cpu_times()[:2])
        except psutil.Error:  # it has just ended
            continue
    return float(spent)


def tables_of(findings: tuple[Finding, ...]) -> list[str]:
    """Findings in Markdown: a table per group, with the claims before what was measured beside them."""
    lines: list[str] = []
    for group in dict.fromkeys(each.group for each in findings):
        mine = [each for each in findings if each.group == group]
        claims, beside = [each for each in mine if each.published], [each for each in mine if not each.published]
        if group:
            lines += [f"**{group}**", ""]
        if claims:
            lines += ["| | published | measured | |", "|---|---|---|---|"]
            lines += [f"| {each.what} | {each.published} | {each.measured} | {each.verdict} |" for each in claims]
            lines.append("")
        if beside:
            lines += ["| beside it | measured |" if claims else "| | measured |", "|---|---|"]
            lines += [f"| {each.what} | {each.measured} |" for each in beside]
            lines.append("")
    return lines[:-1]


def _write_report(folder: Path, title: str, about: dict[str, Any], outcome: Outcome) -> None:
    lines = [f"# {about['id']}: {title}", "", f"Scale: {about['scale']}. fogplay {VERSION}.", ""]
    lines += tables_of(outcome.findings)
    lines += ["", *(f"![{file.stem}]({file.name})" for file in outcome.files if file.suffix == ".png")]
    storage.write_text(folder / "report.md", "\n".join(lines).rstrip() + "\n")
    storage.write_text(folder / "report.json", json.dumps(about | {"findings": told(outcome)}, indent=1) + "\n")


def told(outcome: Outcome) -> list[dict[str, str]]:
    """Findings as plain data."""
    return [
        {"what": each.whole, "published": each.published, "measured": each.measured, "verdict": each.verdict}
        for each in outcome.findings
    ]
