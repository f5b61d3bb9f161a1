"""Whether concurrent episodes train as strong a hold'em player as the same number of sequential ones.

Runs that differ only in the seed differ in strength, greedy ones by several mb/h. A match between one run of each
kind would show little, so several runs of each kind play, all against all.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fogplay.experiments.concurrency import ALONE
from fogplay.experiments.holdem import HoldemTable, quick, training
from fogplay.experiments.reproduce import Experiment, Outcome
from fogplay.experiments.rows import Row, Rows
from fogplay.experiments.runner import Job, Runner
from fogplay.experiments.verdicts import Finding
from fogplay.experiments.winnings_2015 import TWO
from fogplay.strategies.policy import BettingPolicy

RUNS = {"greedy": 8, "average": 6}  # fewer of averages, which differ less
MANY: dict[str, tuple[str, dict[str, Any]]] = {"cpu": ("four CPU threads", {"threads": 4}), "cuda": ("a GPU", {})}


def run_strength(runner: Runner, scale: str) -> list[Row]:
    """Two-player hold'em: Smooth UCT trained with many threads against Smooth UCT trained with one, all runs."""
    large = scale == "paper"
    episodes, hands = (1_000_000_000, 2_500_000) if large else (quick(1_000_000), quick(100_000))
    many, threads = MANY[runner.device]
    table, rows = HoldemTable.for_players(2), list[Row]()

    def trained(where: Runner, jobs: list[Job]) -> list[BettingPolicy]:
        where.run(jobs)
        return [table.trained(where, job) for job in jobs]

    for kind, runs in RUNS.items():
        seeds = range(1, (runs if large else 3) + 1)
        there = trained(
            runner, [training(many, TWO, "smooth-uct", episodes, kind, seed=seed, **threads) for seed in seeds]
        )
        here = trained(
            replace(runner, device="cpu"),
            [training(ALONE, TWO, "smooth-uct", episodes, kind, seed=seed, threads=1) for seed in seeds],
        )
        rows += table.duels(f"{many}, {kind}", there, f"{ALONE}, {kind}", here, hands, episodes)
        rows += table.duels(f"{ALONE}, {kind}", here, f"{ALONE}, {kind}", here, hands, episodes)
    return rows


def strength(rows: Rows, folder: Path) -> Outcome:
    """What many threads win from one, and how much runs differ that differ only in the seed."""
    findings = []
    for kind in RUNS:
        others = f"{ALONE}, {kind}"
        for many, _ in MANY.values():
            found = rows.duel(f"{many}, {kind}", others)
            if found.runs:
                findings.append(Finding(f"{kind}, {many} against {ALONE}", "", found.show(1, "mb/h")))
        pairs = [row for row in rows.all if row.label == others and not row.measure.endswith(f"#{row.run}")]
        most = max((abs(row.value) for row in pairs), default=0.0)
        findings.append(Finding(f"{kind}, {ALONE} against other seeds", "", f"up to {most:.1f} mb/h"))
    return Outcome(tuple(findings))


EXPERIMENTS = (Experiment("beyond/strength", "Hold'em: as strong as one CPU thread?", run_strength, strength),)
