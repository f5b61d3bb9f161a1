"""Whether many episodes at once make as strong a player of hold'em as one at a time, for as many episodes.

Runs that differ in nothing but the seed differ in strength, greedy ones by several mb/h. So one run of each kind
against the other says little: several of each play, all against all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from fogplay.experiments.concurrency import ALONE
from fogplay.experiments.holdem import Table, Won, training, write_winnings
from fogplay.experiments.lab import Job, Lab
from fogplay.experiments.limit_holdem import TWO, quick
from fogplay.experiments.reproduce import Experiment, Finding, Outcome

RUNS = {"greedy": 8, "average": 6}  # of averages fewer: they differ less
MANY: dict[str, tuple[str, dict[str, Any]]] = {"cpu": ("four CPU threads", {"threads": 4}), "cuda": ("a GPU", {})}


def strength(lab: Lab, scale: str) -> Outcome:
    """Two-player hold'em: what Smooth UCT learns many at once against what one CPU thread learns."""
    episodes, hands = (1_000_000_000, 2_500_000) if scale == "paper" else (quick(1_000_000), quick(100_000))
    name, threads = MANY[lab.device]
    one, table, rows, findings = replace(lab, device="cpu"), Table.for_players(2), list[Won](), list[Finding]()

    def play(pairs: Iterable[tuple[tuple[Lab, Job], tuple[Lab, Job]]]) -> list[Won]:
        found = [
            table.match(
                _called(player[1]), table.trained(*player), _called(other[1]), [table.trained(*other)], hands, seed=seed
            )
            for seed, (player, other) in enumerate(pairs, 1)  # other cards in every match of a set
        ]
        rows.extend(found)
        return found

    for kind, runs in RUNS.items():
        seeds = range(1, (runs if scale == "paper" else 2) + 1)
        many = [training(name, TWO, "smooth-uct", episodes, kind, seed=seed, **threads) for seed in seeds]
        alone = [training(ALONE, TWO, "smooth-uct", episodes, kind, seed=seed, threads=1) for seed in seeds]
        lab.run(many)
        one.run(alone)
        there, here = [(lab, job) for job in many], [(one, job) for job in alone]
        matches = play(itertools.product(there, here))
        won = np.array([match.mean for match in matches]).reshape(len(seeds), len(seeds))
        mean = won.mean()
        # Which runs met is chance as the cards are: the errors of both sides' means over their opponents.
        error = np.sqrt(sum(won.mean(axis).var(ddof=1) for axis in (0, 1)) / len(seeds))
        told = f"{mean:.1f} ± {error:.1f} mb/h ({len(matches)} matches, {matches[0].standard_error:.1f} each)"
        judged = bool(abs(mean) <= 2 * error) if scale == "paper" else None
        findings.append(Finding(f"{kind}, {name} against {ALONE}", "", told, judged))
        others = play(itertools.combinations(here, 2))
        most = max(abs(match.mean) for match in others)
        findings.append(Finding(f"{kind}, {ALONE} against others of other seeds", "", f"up to {most:.1f} mb/h"))
    write_winnings(lab, rows)
    notes = (f"{episodes:,} episodes; {hands:,} hands a match.",)
    return Outcome(tuple(findings), notes=notes)


def _called(job: Job) -> str:
    return f"{job.label}, {job.keep}, seed {job.seed}"


EXPERIMENTS = (Experiment("beyond/strength", "Hold'em: as strong as one CPU thread?", strength),)
