"""Whether concurrent episodes train as strong a hold'em player as the same number of sequential ones.

Runs that differ only in the seed differ in strength, greedy ones by several mb/h. A match between one run of each
kind would show little, so several runs of each kind play, all against all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from fogplay.experiments.concurrency import ALONE
from fogplay.experiments.holdem import HoldemTable, Won, training, write_winnings
from fogplay.experiments.limit_holdem import TWO, quick
from fogplay.experiments.reproduce import Experiment, Finding, Outcome
from fogplay.experiments.runner import Job, Runner
from fogplay.strategies.policy import BettingPolicy

RUNS = {"greedy": 8, "average": 6}  # fewer of averages, which differ less
Player = tuple[str, BettingPolicy]  # with its name
MANY: dict[str, tuple[str, dict[str, Any]]] = {"cpu": ("four CPU threads", {"threads": 4}), "cuda": ("a GPU", {})}


def strength(runner: Runner, scale: str) -> Outcome:
    """Two-player hold'em: Smooth UCT trained with many threads against Smooth UCT trained with one."""
    episodes, hands = (1_000_000_000, 2_500_000) if scale == "paper" else (quick(1_000_000), quick(100_000))
    many, threads = MANY[runner.device]
    table, rows, findings = HoldemTable.for_players(2), list[Won](), list[Finding]()

    def play(pairs: Iterable[tuple[Player, Player]]) -> list[Won]:
        found = [
            table.match(name, policy, other, [against], hands, seed=seed)
            for seed, ((name, policy), (other, against)) in enumerate(
                pairs, 1
            )  # different cards in every match of a set
        ]
        rows.extend(found)
        return found

    def trained(where: Runner, jobs: list[Job]) -> list[Player]:
        where.run(jobs)
        return [(f"{job.label}, {job.keep}, seed {job.seed}", table.trained(where, job)) for job in jobs]

    for kind, runs in RUNS.items():
        seeds = range(1, (runs if scale == "paper" else 2) + 1)
        together = [training(many, TWO, "smooth-uct", episodes, kind, seed=seed, **threads) for seed in seeds]
        one_by_one = [training(ALONE, TWO, "smooth-uct", episodes, kind, seed=seed, threads=1) for seed in seeds]
        there, here = trained(runner, together), trained(replace(runner, device="cpu"), one_by_one)
        matches = play(itertools.product(there, here))
        won = np.array([match.mean for match in matches]).reshape(len(seeds), len(seeds))
        mean = won.mean()
        # The sampled runs are random, like the cards: combine the errors of both sides' means over their opponents.
        error = np.sqrt(sum(won.mean(axis).var(ddof=1) for axis in (0, 1)) / len(seeds))
        measured = f"{mean:z.1f} ± {error:.1f} mb/h ({len(matches)} matches, {matches[0].standard_error:.1f} each)"
        judged = bool(abs(mean) <= 2 * error) if scale == "paper" else None
        findings.append(Finding(f"{kind}, {many} against {ALONE}", "", measured, judged))
        others = play(itertools.combinations(here, 2))
        most = max(abs(match.mean) for match in others)
        findings.append(Finding(f"{kind}, {ALONE} against other seeds", "", f"up to {most:.1f} mb/h"))
    write_winnings(runner, rows)
    notes = (f"{episodes:,} episodes; {hands:,} hands per match.",)
    return Outcome(tuple(findings), notes=notes)


EXPERIMENTS = (Experiment("beyond/strength", "Hold'em: as strong as one CPU thread?", strength),)
