"""``fogplay reproduce``: the papers' figures and tables, each from one command, published beside measured numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from fogplay import storage
from fogplay.checks import one_of
from fogplay.errors import FogplayError, did_you_mean
from fogplay.experiments.runner import Mean, Runner
from fogplay.solvers.solve import DEVICES
from fogplay.version import VERSION

SCALES = ("quick", "paper")


@dataclass(frozen=True)
class Finding:
    """One published statement and what was measured."""

    what: str
    published: str
    measured: str
    holds: bool | None = None  # None: shown for comparison only


@dataclass(frozen=True)
class Outcome:
    """What an experiment found, and the files it wrote besides its data."""

    findings: tuple[Finding, ...]
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """A figure or table of a paper."""

    id: str
    title: str
    run: Callable[[Runner, str], Outcome]  # runner and scale
    device: bool = True  # whether a GPU can do some of its runs


def experiments() -> dict[str, Experiment]:
    """Every experiment by its id, ``paper/item``."""
    from fogplay.experiments import (
        concurrency,
        deltadou_2019,
        general_game_playing,
        limit_holdem,
        sampling_equilibria_2011,
        selfplay_mcts_2014,
        smooth_uct_2015,
        strength,
        uct_vs_cfr_2009,
    )

    papers = (
        smooth_uct_2015,
        selfplay_mcts_2014,
        sampling_equilibria_2011,
        uct_vs_cfr_2009,
        general_game_playing,
        limit_holdem,
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
) -> tuple[Outcome, Path]:
    """Run one experiment, or what is left of it; return its outcome and the folder with data and pictures."""
    experiment = experiment_called(name)
    if scale not in SCALES:
        raise FogplayError(f"scale must be {' or '.join(SCALES)}, not {scale!r}")
    if one_of("device", device, DEVICES) != "cpu" and not experiment.device:
        raise FogplayError(f"{name} runs only on the CPU; use --device cpu")
    folder = (out or Path("reproduced")) / name / scale
    shared = folder.parents[1] / "jobs"  # shared by the paper's experiments, some of which train the same players
    outcome = experiment.run(Runner(folder, engine, workers, device, shared, progress), scale)
    _write_report(folder, experiment, scale, outcome)
    return outcome, folder


def _write_report(folder: Path, experiment: Experiment, scale: str, outcome: Outcome) -> None:
    lines = [f"# {experiment.id}: {experiment.title}", "", f"Scale: {scale}. fogplay {VERSION}.", ""]
    lines += ["| | published | measured | |", "|---|---|---|---|"]
    verdict = {True: "holds", False: "differs", None: ""}
    lines += [f"| {f.what} | {f.published} | {f.measured} | {verdict[f.holds]} |" for f in outcome.findings]
    lines += ["", *(f"- {note}" for note in outcome.notes)]
    lines += ["", *(f"![{file.stem}]({file.name})" for file in outcome.files if file.suffix == ".png")]
    storage.write_text(folder / "report.md", "\n".join(lines).rstrip() + "\n")
    findings = [asdict(finding) for finding in outcome.findings]
    facts = {"id": experiment.id, "scale": scale, "version": VERSION, "findings": findings, "notes": outcome.notes}
    storage.write_text(folder / "report.json", json.dumps(facts, indent=1) + "\n")


def value_at(means: Sequence[Mean], label: str, measure: str, iteration: int) -> Mean:
    """The mean of a label at a measured iteration."""
    return next(m for m in means if (m.label, m.measure, m.iteration) == (label, measure, iteration))


def final(means: Sequence[Mean], label: str, measure: str) -> Mean:
    """The last mean of a label."""
    return max((m for m in means if (m.label, m.measure) == (label, measure)), key=lambda mean: mean.iteration)


def better_from(means: Sequence[Mean], good: str, bad: str, measure: str) -> int | None:
    """The first measured iteration from which ``good`` stays below ``bad`` to the end."""
    of = {
        label: {m.iteration: m.mean for m in means if (m.label, m.measure) == (label, measure)} for label in (good, bad)
    }
    shared = sorted(of[good].keys() & of[bad].keys())
    behind = [iteration for iteration in shared if of[good][iteration] >= of[bad][iteration]]
    after = [iteration for iteration in shared if not behind or iteration > behind[-1]]
    return after[0] if after else None


def show(mean: Mean, digits: int = 3) -> str:
    """A mean with its standard error."""
    return f"{mean.mean:.{digits}g} ± {mean.standard_error:.1g} ({mean.runs} runs)"
