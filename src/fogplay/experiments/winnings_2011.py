"""Ponsen, de Jong & Lanctot (2011) in limit hold'em: figure 4 (right) and table 1."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fogplay.experiments.holdem import SMALL_BET, STAND_IN, HoldemTable, quick, training
from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import Experiment, Outcome
from fogplay.experiments.rows import Estimate, Row, Rows, mean_of
from fogplay.experiments.runner import Job, Mean, Runner
from fogplay.experiments.verdicts import Finding, Positive

TEN, HUNDRED = "holdem(grid=ehs:10/10/10/10)", "holdem(grid=ehs:100/100/100/100)"
MCTS, MCCFR = "MCTS", "MCCFR"
MCTS_C = 170.0  # the paper's 17 small bets, in chips
FIGURE_4_RIGHT = {1: (-0.308, -0.502), 10: (-0.187, -0.261), 50: (-0.154, -0.202), 90: (-0.162, -0.113)}  # millions
SHORT_END = 90e6  # iterations: the paper's
ON_GPU = " on a GPU"  # as long as the paper's runs: to see whether concurrent episodes change anything
PLACES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90)  # of 90ths of a run
TABLE_1 = {"rules": (0.077, 0.059, 0.191), "sparring": (-0.103, -0.091, 0.046)}
TEN_LINEAR = "external sampling, 10 buckets, linear averaging"
HUNDRED_LINEAR = "external sampling, 100 buckets, linear averaging"
EXTERNAL = {  # the test of whether outcome sampling has converged: another sampling on the same abstractions
    "external sampling, 10 buckets, even averaging": (TEN, "even"),
    TEN_LINEAR: (TEN, "linear"),
    HUNDRED_LINEAR: (HUNDRED, "linear"),
}
AGAINST = "against sparring"  # the near-equilibrium of figure 4


@dataclass(frozen=True)
class Size:
    """Iterations with 10 and with 100 buckets, of responses with each, runs, models to respond to, hands of a match."""

    ten: int
    hundred: int
    response_ten: int
    response_hundred: int
    runs: int
    models: int
    hands: int


def size_of(scale: str) -> Size:
    if scale == "paper":
        return Size(90_000_000, 400_000_000, 90_000_000, 400_000_000, 8, 8, 400_000)
    if scale == "medium":
        return Size(90_000_000, 90_000_000, 20_000_000, 10_000_000, 8, 3, 100_000)
    return Size(quick(2_700_000), quick(2_700_000), quick(3_000_000), quick(2_000_000), 3, 3, quick(50_000))


def trained(runner: Runner, size: Size, names: Sequence[str] = (MCTS, MCCFR)) -> dict[str, list[Job]]:
    """MCTS and MCCFR with 10 buckets, or one of them, with the snapshots of figure 4."""
    points, seeds = [size.ten * each // PLACES[-1] for each in PLACES], range(1, size.runs + 1)
    jobs = {
        MCTS: [training(MCTS, TEN, "uct", size.ten, "average", points, seed, c=MCTS_C, growth="all") for seed in seeds],
        MCCFR: [training(MCCFR, TEN, "os-mccfr", size.ten, "average", points, seed, epsilon=0.6) for seed in seeds],
    }
    runner.run([job for name in names for job in jobs[name]])
    return {name: jobs[name] for name in names}


def run_figure_4_right(runner: Runner, scale: str) -> list[Row]:
    """MCTS and MCCFR with 10 buckets, against a precomputed near-equilibrium with as many."""
    size = size_of(scale)
    jobs, table = trained(runner, size), HoldemTable.for_players(2)
    sparring = [table.bot("sparring")]
    return [
        table.play((name, job.seed), table.trained(runner, job, at), "sparring", sparring, size.hands, at, job.seed)
        for name, each in jobs.items()
        for job in each
        for at in job.curve
    ]


def figure_4_right(rows: Rows, folder: Path) -> Outcome:
    """MCTS is ahead early, MCCFR at the end."""
    measure = AGAINST
    drawn = [
        Mean(mean.label, "won", mean.iteration, mean.runs, mean.mean * SMALL_BET, mean.standard_error * SMALL_BET)
        for name in (MCTS, MCCFR)
        for mean in rows.curve(name, measure)
    ]
    panel = Panel("won", "Against a near-equilibrium with 10 buckets", "sb/h", "iterations", log_y=False)
    pictures = draw_curves(folder / "fig4-right", drawn, [panel])
    places = rows.places(MCTS, measure)
    early = [at for at in places if at <= max(10_000_000, places[0]) and at < places[-1]]
    lead = _lead(rows, MCTS, MCCFR, early)
    findings = [
        Finding(
            f"MCTS's lead over the first {early[-1]:,.0f} iterations", "MCTS is ahead", in_bets(lead), Positive(lead)
        )
    ]
    for end in sorted({rows.settled(measure, MCTS, MCCFR), *(at for at in (SHORT_END,) if at in places)}):
        before = max((at for at in places if at <= end / 2), default=places[0])
        late, tail = _lead(rows, MCCFR, MCTS, [end]), _lead(rows, MCCFR, MCCFR, [end], [before])
        flat = _lead(rows, MCTS, MCTS, [end], [before])
        ahead = Positive(late) if end >= SHORT_END else None
        group = f"After {end:,.0f} iterations"
        findings += [
            Finding("MCCFR's lead", "MCCFR is ahead after 90 million", in_bets(late), ahead, group),
            Finding(f"MCCFR's gain since {before:,.0f}", "keeps improving", in_bets(tail), Positive(tail), group),
            Finding(f"MCTS's gain since {before:,.0f}", "", in_bets(flat), None, group),
        ]
    for million, published in FIGURE_4_RIGHT.items():
        for name, value in zip((MCTS, MCCFR), published, strict=True):
            found = rows.estimate(name, measure, million * 1e6)
            if found.runs:
                what, claim = f"{name} after {million} million", f"{value:g} sb/h (another equilibrium)"
                findings.append(Finding(what, claim, in_bets(found), None, "The paper's places"))
    longer = [at for at in places if at > SHORT_END]
    findings += [
        Finding(f"{name} after {at:,.0f}", "", in_bets(rows.estimate(name, measure, at)), None, "Longer runs")
        for name in (MCTS, MCCFR)
        for at in longer
        if rows.estimate(name, measure, at).runs
    ]
    for name in (MCTS, MCCFR):
        found = rows.estimate(f"{name}{ON_GPU}", measure)
        if found.runs:
            findings.append(Finding(f"{name} after 90,000,000{ON_GPU}", "", in_bets(found), None, "Longer runs"))
    return Outcome(tuple(findings), tuple(pictures))


def in_bets(estimate: Estimate) -> str:
    return estimate.show(3, "sb/h", SMALL_BET)


def _lead(
    rows: Rows, one: str, other: str, places: Sequence[float], other_places: Sequence[float] | None = None
) -> Estimate:
    """By how much one label wins more than another from the near-equilibrium, on average over places, run by run."""

    def means(label: str, where: Sequence[float]) -> dict[int, float]:
        by_run: dict[int, list[float]] = {}
        for at in where:
            for row in rows.of(label, AGAINST, at):
                by_run.setdefault(row.run, []).append(row.value)
        return {run: sum(values) / len(values) for run, values in by_run.items()}

    mine, theirs = means(one, places), means(other, places if other_places is None else other_places)
    return mean_of([mine[run] - theirs[run] for run in sorted(mine.keys() & theirs.keys())])


def run_table_1(runner: Runner, scale: str) -> list[Row]:
    """MCTS10, MCCFR10 and MCCFR100 against both bots; what makes `sparring` stronger than MCCFR10."""
    size, table = size_of(scale), HoldemTable.for_players(2)
    jobs, rows = trained(runner, size), list[Row]()
    seeds = range(1, min(size.runs, 3) + 1)
    hundred = [
        training("MCCFR100", HUNDRED, "os-mccfr", size.hundred, "average", (), seed, epsilon=0.6) for seed in seeds
    ]
    steps = [size.ten // each for each in (900, 90, 45)]  # traversals
    external = {
        label: [
            training(label, spec, "es-mccfr", steps[-1], "average", steps, seed, averaging=averaging) for seed in seeds
        ]
        for label, (spec, averaging) in EXTERNAL.items()
    }
    runner.run([*hundred, *(job for each in external.values() for job in each)])
    for against in TABLE_1:
        bot = [table.bot(against)]

        def add(label: str, job: Job, at: int, against: str = against, bot: list[Any] = bot) -> None:
            policy = table.trained(runner, job, at)
            rows.append(table.play((label, job.seed), policy, against, bot, 4 * size.hands, at, job.seed))

        for name, each in (("MCTS10", jobs[MCTS]), ("MCCFR10", jobs[MCCFR])):
            for job in each:
                for at in (job.curve[5], job.curve[8], job.curve[-1]):
                    add(name, job, at)
        for job in hundred:
            add("MCCFR100", job, job.iterations)
        for label, each in external.items():
            for job in each:
                for at in job.curve:
                    add(label, job, at)
    rows.append(table.play(("sparring", 1), table.bot("sparring"), "rules", [table.bot("rules")], 8 * size.hands))
    return rows


def table_1(rows: Rows, folder: Path) -> Outcome:
    """100 buckets are clearly better than 10."""
    findings, details, numbers = [], [], {}
    for against, published in TABLE_1.items():
        measure, group = f"against {against}", f"Against {STAND_IN[against]}"
        end = rows.settled(measure, "MCCFR100", "MCCFR10")
        more = rows.estimate("MCCFR100", measure, end).minus(rows.estimate("MCCFR10", measure, end))
        what = f"what 100 buckets win more than 10 from {STAND_IN[against]}, {end:,.0f} iterations"
        findings.append(Finding(what, "clearly better", in_bets(more), Positive(more)))
        for name, value in zip(("MCTS10", "MCCFR10", "MCCFR100"), published, strict=True):
            for at in reversed(rows.places(name, measure)):
                last = at == rows.places(name, measure)[-1]
                shown = f"{value:g} ± 0.06 sb/h (its own opponent)" if last else ""
                found = in_bets(rows.estimate(name, measure, at))
                details.append(Finding(f"{name}, {at:,.0f} iterations", shown, found, None, group))
        for label in EXTERNAL:
            for at in reversed(rows.places(label, measure)):
                found = in_bets(rows.estimate(label, measure, at))
                details.append(Finding(f"{label}, {at:,.0f} traversals", "", found, None, group))
        converged = rows.estimate(HUNDRED_LINEAR, measure).minus(rows.estimate(TEN_LINEAR, measure))
        what = "what 100 buckets win more than 10, both by external sampling with linear averaging"
        details.append(Finding(what, "", in_bets(converged), None, group))
        numbers[f"more_{against}"] = in_bets(converged)
    details += recorded(rows)
    numbers["sparring"] = in_bets(rows.estimate("sparring", "against rules"))
    for name, against in itertools.product(("MCTS10", "MCCFR10", "MCCFR100"), TABLE_1):
        for at in rows.places(name, f"against {against}"):
            numbers[f"{name}_{against}_{at / 1e6:.0f}"] = in_bets(rows.estimate(name, f"against {against}", at))
    numbers["external_100"] = in_bets(rows.estimate("external sampling, 100 buckets", AGAINST))
    for number, at in enumerate(rows.places(TEN_LINEAR, "against rules"), 1):
        for name, label in zip(("even", "linear", "hundred"), EXTERNAL, strict=True):
            numbers[f"{name}_{number}"] = in_bets(rows.estimate(label, "against rules", at))
        numbers[f"traversals_{number}"] = f"{at:,.0f}"
    for name, label in (("ten_gain", TEN_LINEAR), ("hundred_gain", HUNDRED_LINEAR)):
        *_, before, end = rows.places(label, AGAINST)
        numbers[name] = in_bets(_lead(rows, label, label, [end], [before]))
    return Outcome((*findings, *details), numbers=numbers)


def recorded(rows: Rows) -> list[Finding]:
    """Earlier runs of which only the numbers were kept."""
    return [
        Finding(f"{row.label.removesuffix(', recorded')} {row.measure}, {row.at:,.0f} iterations", "",
                in_bets(rows.estimate(row.label, row.measure)), group="Earlier runs")
        for row in rows.all if row.label.endswith(", recorded")
    ]  # fmt: skip


EXPERIMENTS = (
    Experiment(
        "sampling-equilibria-2011/fig4-right", "MCTS and MCCFR against a near-equilibrium", run_figure_4_right,
        figure_4_right,
    ),
    Experiment("sampling-equilibria-2011/table1", "MCTS and MCCFR against two bots", run_table_1, table_1),
)  # fmt: skip
