"""Heinrich & Silver, Smooth UCT Search in Computer Poker (2015): figure 3 and tables 2 and 3, in limit hold'em."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fogplay.experiments.concurrency import ALONE
from fogplay.experiments.holdem import STAND_IN, HoldemTable, quick, training
from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import Experiment, Outcome
from fogplay.experiments.rows import Estimate, Row, Rows
from fogplay.experiments.runner import Job, Mean, Runner
from fogplay.experiments.verdicts import Equal, Finding, Positive
from fogplay.solvers.run import log_spaced

TWO, THREE = "holdem(grid=ehs2:169/1000/500/200)", "holdem(players=3,grid=ehs2:169/1000/100/20)"
SMALL_THREE = "holdem(players=3,grid=ehs2:169/20/10/5)"  # small enough for short runs
UCT, SMOOTH = "UCT", "Smooth UCT"
BOTS = ("sparring", "rules", "probe", "always-raise", "always-call")
DUMMIES = "always-raise and probe"
PUBLISHED_LEAD, PUBLISHED_ERROR = 5.28, 0.6  # table 2
CROSSING, AT_THE_END = 13e9, 60e9  # episodes: 72 hours of 14 days, and nearly all of them
LONG = 1e9  # three players: shorter runs are of a smaller abstraction
CONCURRENT = {"many": range(1, 9), "few": range(9, 17)}  # the runs of benchmarks/seeds.py by their threads
PUBLISHED_THREE = {(SMOOTH, f"2 x {UCT}"): (7.5, 1.0), (UCT, f"2 x {SMOOTH}"): (-8.2, 1.0)}  # table 3


@dataclass(frozen=True)
class Size:
    """Episodes of a run, runs, hands of a match."""

    episodes: int
    runs: int
    hands: int


def _two(scale: str) -> Size:
    if scale == "paper":
        return Size(62_100_000_000, 8, 2_000_000)
    return Size(20_000_000, 8, 100_000) if scale == "medium" else Size(quick(3_000_000), 3, quick(50_000))


def _three(scale: str) -> Size:
    if scale == "paper":
        return Size(50_000_000_000, 8, 2_000_000)
    return Size(20_000_000, 8, 200_000) if scale == "medium" else Size(quick(1_000_000), 3, quick(50_000))


def _trainings(spec: str, size: Size, snapshots: Sequence[int] = ()) -> dict[str, list[Job]]:
    return {
        name: [
            training(name, spec, algorithm, size.episodes, "greedy", snapshots, seed)
            for seed in range(1, size.runs + 1)
        ]
        for name, algorithm in ((UCT, "uct"), (SMOOTH, "smooth-uct"))
    }


def _snapshots(episodes: int, scale: str) -> list[int]:
    """The last three decades."""
    each = 3 if scale == "paper" else 1
    return [point for point in log_spaced(episodes, each) if point >= episodes // 1000]


def run_figure_3(runner: Runner, scale: str) -> list[Row]:
    """Greedy snapshots of UCT and Smooth UCT, all runs against all, and against a near-equilibrium."""
    size = _two(scale)
    points = _snapshots(size.episodes, scale)
    jobs, table, rows = _trainings(TWO, size, points), HoldemTable.for_players(2), list[Row]()
    runner.run([*jobs[UCT], *jobs[SMOOTH]])
    sparring = table.bot("sparring")
    for point in points:
        trained = {name: [table.trained(runner, job, point) for job in each] for name, each in jobs.items()}
        rows += table.duels(SMOOTH, trained[SMOOTH], UCT, trained[UCT], size.hands, point)
        for name, policies in trained.items():
            for run, policy in enumerate(policies, 1):
                rows.append(table.play((name, run), policy, "sparring", [sparring], size.hands, point, run))
    return rows


def figure_3(rows: Rows, folder: Path) -> Outcome:
    """UCT is slightly better early, Smooth UCT later, by more and more."""
    places = sorted({row.at for row in rows.all if row.label == SMOOTH and row.measure.startswith(f"against {UCT}")})
    leads = {at: rows.duel(SMOOTH, UCT, at) for at in places}
    several = [at for at in places if leads[at].runs > 2]
    drawn = [
        Mean(
            f"{SMOOTH} against {UCT}", "lead", at, lead.runs, lead.value, lead.within if lead.runs == 1 else lead.error
        )
        for at, lead in leads.items()
        if at in (several or places)  # single pairs of runs would make a zigzag of it
    ]
    drawn += [
        Mean(f"{name} against sparring", "won", mean.iteration, mean.runs, mean.mean, mean.standard_error)
        for name in (SMOOTH, UCT)
        for mean in rows.curve(name, "against sparring")
    ]
    panels = [
        Panel("lead", "Two-player limit hold'em, greedy snapshots", "mb/h", log_y=False),
        Panel("won", "The same against a near-equilibrium", "mb/h", log_y=False),
    ]
    pictures = draw_curves(folder / "fig3", drawn, panels)
    most = max(several, key=lambda at: leads[at].runs, default=places[-1])
    findings = []
    if places[-1] >= AT_THE_END:
        last, widened = leads[places[-1]], leads[places[-1]].minus(leads[most])
        exact = Equal(last, PUBLISHED_LEAD, PUBLISHED_ERROR, PUBLISHED_LEAD / 4)
        findings += [
            Finding("Smooth UCT against UCT at the end", "Smooth UCT is ahead", last.show(2, "mb/h"), Positive(last)),
            Finding("by how much", f"{PUBLISHED_LEAD} ± {PUBLISHED_ERROR} mb/h", last.show(2, "mb/h"), exact),
            Finding(
                f"its lead since {most:,.0f} episodes", "the gap widens", widened.show(2, "mb/h"), Positive(widened)
            ),
        ]
    for at in reversed(places):
        claim, test = _claim(at, leads[at])
        group = "Smooth UCT against UCT, by episodes"
        findings.append(Finding(f"{at:,.0f}", claim, leads[at].show(2, "mb/h"), test, group))
    for name, at in itertools.product((SMOOTH, UCT), _ends(rows)):
        shown = rows.estimate(name, "against sparring", at).show(0, "mb/h")
        group = f"Against {STAND_IN['sparring']}, by episodes"
        findings.append(Finding(f"{name}, {at:,.0f}", "", shown, group=group))
    beside, numbers = _one_at_a_time(rows)
    numbers |= {"most_runs": f"{most:,.0f}", "lead": leads[most].show(2, "mb/h")}
    return Outcome((*findings, *beside), tuple(pictures), numbers)


def _one_at_a_time(rows: Rows) -> tuple[list[Finding], dict[str, str]]:
    """What runs with many concurrent episodes win, and as long ones on one CPU thread, from the near-equilibrium."""
    findings, numbers, measure = [], dict[str, str](), "against sparring"
    for name in (SMOOTH, UCT):
        for at in reversed(rows.places(f"{name}, {ALONE}", measure)):
            many, one = (rows.estimate(label, measure, at) for label in (name, f"{name}, {ALONE}"))
            more = many.minus(one).show(1, "mb/h")
            shown = f"a GPU {many.show(1, 'mb/h')}, {ALONE} {one.show(1, 'mb/h')}, difference {more}"
            group = f"A GPU beside {ALONE}, against {STAND_IN['sparring']}"
            findings.append(Finding(f"{name}, {at:,.0f}", "", shown, group=group))
            if name == UCT:
                numbers.setdefault("uct_gpu", many.show(1, "mb/h"))
                numbers.setdefault("uct_cpu", one.show(1, "mb/h"))
                numbers.setdefault("uct_more", more)
                numbers.setdefault("uct_at", f"{at:,.0f}")
    return findings, numbers


def _ends(rows: Rows) -> list[float]:
    """The first and the last place, and the last one with several runs."""
    places = rows.places(SMOOTH, "against sparring")
    several = [at for at in places if rows.estimate(SMOOTH, "against sparring", at).runs > 2]
    return sorted({*places[:1], *several[-1:], *places[-1:]})


def _claim(at: float, lead: Estimate) -> tuple[str, Positive]:
    """What the paper says about who is ahead after so many episodes."""
    if at < CROSSING:
        return "UCT is slightly ahead below 13 billion", Positive(Estimate(-lead.value, lead.error, lead.runs))
    return "Smooth UCT is ahead", Positive(lead)


def run_table_2(runner: Runner, scale: str) -> list[Row]:
    """The greedy policies of figure 3 against each other and against five bots."""
    size = _two(scale)
    jobs, table = _trainings(TWO, size, _snapshots(size.episodes, scale)), HoldemTable.for_players(2)
    runner.run([*jobs[UCT], *jobs[SMOOTH]])
    trained = {name: [table.trained(runner, job) for job in each] for name, each in jobs.items()}
    rows = table.duels(SMOOTH, trained[SMOOTH], UCT, trained[UCT], size.hands, size.episodes)
    for name, policies in trained.items():
        rows += winnings(table, name, policies, size.hands, size.episodes)
    return rows


def winnings(table: HoldemTable, name: str, policies: Sequence[object], hands: int, at: float) -> list[Row]:
    """What every run wins from every bot."""
    return [
        table.play((name, run), policy, opponent, [table.bot(opponent)], hands, at, run)  # type: ignore[arg-type]
        for opponent in BOTS
        for run, policy in enumerate(policies, 1)
    ]


def table_2(rows: Rows, folder: Path) -> Outcome:
    """Smooth UCT wins the match against UCT, and more than UCT from most others."""
    places = sorted({row.at for row in rows.all})
    findings = []
    for at in reversed(places):
        lead = rows.duel(SMOOTH, UCT, at)
        if lead.runs:
            what = f"Smooth UCT against UCT, {at:,.0f} episodes"
            published = f"wins, {PUBLISHED_LEAD} ± {PUBLISHED_ERROR} mb/h" if at >= AT_THE_END else ""
            findings.append(Finding(what, published, lead.show(2, "mb/h"), Positive(lead)))
    for at in reversed(places):
        for opponent in BOTS:
            measure = f"against {opponent}"
            mine, theirs = rows.estimate(SMOOTH, measure, at), rows.estimate(UCT, measure, at)
            if mine.runs:
                what, group = f"against {STAND_IN.get(opponent, opponent)}", f"Against bots, {at:,.0f} episodes"
                shown = f"Smooth UCT {mine.show(0, 'mb/h')}, UCT {theirs.show(0, 'mb/h')}"
                findings.append(Finding(what, "", shown, group=group))
    return Outcome(tuple(findings), numbers=_worth(rows))


def _worth(rows: Rows) -> dict[str, str]:
    """Of the place with most runs: how much single pairs of runs differ, and what UCT's many threads change."""
    start = f"against {UCT} #"
    duels = [row for row in rows.all if row.label == SMOOTH and row.measure.startswith(start)]
    places = sorted({row.at for row in duels})
    leads = {at: rows.duel(SMOOTH, UCT, at) for at in places}
    most = max(places, key=lambda at: leads[at].runs)
    met = [row for row in duels if row.at == most]
    values = [row.value for row in met]
    numbers = {
        "most": f"{most:,.0f}", "lead": leads[most].show(2, "mb/h"), "end": leads[places[-1]].show(2, "mb/h"),
        "start": leads[places[0]].show(1, "mb/h"), "first": f"{places[0]:,.0f}",
        "lowest": f"{min(values):.1f}", "highest": f"{max(values):.1f}", "pairs": str(len(values)),
        "lost": str(sum(value < 0 for value in values)),
    }  # fmt: skip
    for name, runs in CONCURRENT.items():
        of = Rows(row for row in met if int(row.measure[len(start) :]) in runs)
        numbers[name] = of.duel(SMOOTH, UCT, most).show(2, "mb/h")
    return numbers


def run_table_3(runner: Runner, scale: str) -> list[Row]:
    """Three players: run i of one against two copies of run i of the other, and against bots."""
    size, spec = _three(scale), THREE if scale == "paper" else SMALL_THREE
    points = (size.episodes // 10, size.episodes)
    jobs, table, rows = _trainings(spec, size, points), HoldemTable.for_players(3), list[Row]()
    runner.run([*jobs[UCT], *jobs[SMOOTH]])
    dummies, rules = [table.bot("always-raise"), table.bot("probe")], [table.bot("rules")] * 2
    for run, at in itertools.product(range(1, size.runs + 1), points):
        pair = {name: table.trained(runner, each[run - 1], at) for name, each in jobs.items()}
        for name, other in ((SMOOTH, UCT), (UCT, SMOOTH)):
            meets = {f"2 x {other}": [pair[other]] * 2, DUMMIES: dummies, "2 x rules": rules}
            for against, others in meets.items():
                rows.append(table.play((name, run), pair[name], against, others, size.hands, at, run))
    return rows


def table_3(rows: Rows, folder: Path) -> Outcome:
    """Smooth UCT beats two UCTs, UCT loses to two Smooth UCTs."""
    findings: list[tuple[tuple[bool, int, float], Finding]] = []
    for (name, against), (value, error) in PUBLISHED_THREE.items():
        places = rows.places(name, f"against {against}")
        for at in reversed(places):
            found = rows.estimate(name, f"against {against}", at)
            won = found if value > 0 else Estimate(-found.value, found.error, found.runs)
            published = f"{'wins' if value > 0 else 'loses'}, {value:g} ± {error:g} mb/h after 50 billion"
            # The claim is about long training: short runs have none of their own.
            claim, test = published if at >= LONG or at == places[-1] else "", Positive(won) if at >= LONG else None
            each = Finding(f"{name} against {against}", claim, found.show(1, "mb/h"), test, f"{at:,.0f} episodes")
            findings.append(((at < LONG, -found.runs, -at), each))
    for name, against in itertools.product((SMOOTH, UCT), (DUMMIES, "2 x rules")):
        for at in reversed(rows.places(name, f"against {against}")):
            shown = rows.estimate(name, f"against {against}", at).show(0, "mb/h")
            each = Finding(f"{name} against {against}", "", shown, group=f"{at:,.0f} episodes")
            findings.append(((True, 0, -at), each))
    findings.sort(key=lambda each: each[0])  # what has most runs first
    numbers = {}
    for place, at in enumerate(rows.places(SMOOTH, f"against 2 x {UCT}"), 1):
        numbers[f"place_{place}"] = f"{at:,.0f}"
        numbers[f"lead_{place}"] = rows.estimate(SMOOTH, f"against 2 x {UCT}", at).show(0, "mb/h")
    return Outcome(tuple(finding for _, finding in findings), numbers=numbers)


EXPERIMENTS = (
    Experiment("smooth-uct-2015/fig3", "UCT and Smooth UCT in two-player limit hold'em", run_figure_3, figure_3),
    Experiment("smooth-uct-2015/table2", "Winnings in two-player limit hold'em", run_table_2, table_2),
    Experiment("smooth-uct-2015/table3", "Winnings in three-player limit hold'em", run_table_3, table_3),
)
