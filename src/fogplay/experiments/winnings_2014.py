"""Heinrich & Silver, Self-Play Monte-Carlo Tree Search in Computer Poker (2014): tables 2 and 3, in limit hold'em."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from fogplay.experiments.holdem import STAND_IN, HoldemTable, quick, training
from fogplay.experiments.reproduce import Experiment, Outcome
from fogplay.experiments.rows import FEWEST_RUNS, Row, Rows
from fogplay.experiments.runner import Runner
from fogplay.experiments.verdicts import Finding, Positive
from fogplay.experiments.winnings_2015 import DUMMIES, SMALL_THREE, Size

COARSE, FINE = "holdem(grid=ehs2:169/100/100/100)", "holdem(grid=ehs2:169/1000/500/200)"
THREE = "holdem(players=3,grid=ehs2:169/1000/100/10)"
SECOND = "MCCFR100"  # a near-equilibrium with 100 buckets replaces FellOmen2
STAND_INS = {"sparring": STAND_IN["sparring"], SECOND: "external sampling with 100 buckets (stand-in for FellOmen2)"}
PUBLISHED_2 = {  # against Sparbot and FellOmen2
    ("IS-UCT S", 1.0): ("72 ± 21", "-47 ± 20"),
    ("IS-UCT S", 0.5): ("54 ± 21", "26 ± 21"),
    ("Smooth IS-UCT S", 1.0): ("51 ± 20", "7 ± 21"),
    ("Smooth IS-UCT S", 0.5): ("56 ± 20", "-41 ± 20"),
    ("IS-UCT L", 0.5): ("60 ± 20", "-17 ± 21"),
    ("Smooth IS-UCT L", 0.5): ("18 ± 19", "32 ± 21"),
}
PLAIN, SMOOTH = "IS-UCT", "Smooth IS-UCT"
PAIRS_2 = tuple((f"{PLAIN} {each}", f"{SMOOTH} {each}") for each in ("S, k=1", "S, k=0.5", "L, k=0.5"))
PUBLISHED_3 = {PLAIN: ("163 ± 19", "73 ± 24", "760 ± 77"), SMOOTH: ("118 ± 19", "81 ± 24", "910 ± 78")}


LONG = 1_000_000_000  # episodes: shorter runs are not those that the paper's numbers are of


def _two(scale: str) -> tuple[Size, int]:
    """The sizes, and the traversals of the second opponent."""
    if scale == "paper":
        return Size(7_000_000_000, 8, 2_000_000), 25_000_000
    if scale == "medium":
        return Size(10_000_000, 8, 200_000), 3_000_000
    return Size(quick(1_000_000), 3, quick(50_000)), quick(500_000)


def _three(scale: str) -> Size:
    if scale == "paper":
        return Size(12_000_000_000, 8, 1_000_000)
    return Size(20_000_000, 8, 200_000) if scale == "medium" else Size(quick(1_000_000), 3, quick(50_000))


def run_table_2(runner: Runner, scale: str) -> list[Row]:
    """Two players, coarse and fine abstraction, exploration by equation 5, against two near-equilibria."""
    size, traversals = _two(scale)
    table, jobs = HoldemTable.for_players(2), {}
    for name, k in PUBLISHED_2:
        smooth: dict[str, Any] = {"schedule": "confidence"} if name.startswith("Smooth") else {}
        algorithm, spec = ("smooth-uct" if smooth else "uct"), (COARSE if name.endswith("S") else FINE)
        jobs[f"{name}, k={k:g}"] = [
            training(f"{name}, k={k:g}", spec, algorithm, size.episodes, seed=seed, k=k, cap=None, **smooth)
            for seed in range(1, size.runs + 1)
        ]
    second = training(SECOND, COARSE, "es-mccfr", traversals, "average")
    runner.run([*(job for each in jobs.values() for job in each), second])
    opponents = {"sparring": table.bot("sparring"), SECOND: table.trained(runner, second)}
    return [
        table.play(
            (label, job.seed), table.trained(runner, job), against, [policy], size.hands, size.episodes, job.seed
        )
        for label, each in jobs.items()
        for job in each
        for against, policy in opponents.items()
    ]


def table_2(rows: Rows, folder: Path) -> Outcome:
    """All six against both opponents; the paper's are not available, so its numbers are beside those of stand-ins."""
    findings, places = list[tuple[tuple[bool, float], Finding]](), set[float]()
    for (name, k), published in PUBLISHED_2.items():
        label = f"{name}, k={k:g}"
        for at in rows.places(label, "against sparring"):
            places.add(at)
            for against, value in zip(STAND_INS, published, strict=True):
                found = rows.estimate(label, f"against {against}", at)
                what = f"{label} against {STAND_INS[against]}"
                claim = f"{value} mb/h (its own opponent)" if at >= LONG else ""  # the paper's are of long runs
                order = (found.runs < FEWEST_RUNS, -at)
                findings.append((order, Finding(what, claim, found.show(0, "mb/h"), None, _group(at))))
    for at, (plain, smooth), against in itertools.product(places, PAIRS_2, STAND_INS):
        more = rows.estimate(smooth, f"against {against}", at).minus(rows.estimate(plain, f"against {against}", at))
        if more.runs > 1:
            what = f"what {smooth} wins more than {plain} from {against}"
            findings.append(((False, -at), Finding(what, "", more.show(0, "mb/h"), group=_group(at))))
    findings.sort(key=lambda each: each[0])  # the longest with an error over runs first
    return Outcome(tuple(finding for _, finding in findings))


def _group(at: float) -> str:
    return f"{at:,.0f} episodes"


def run_table_3(runner: Runner, scale: str) -> list[Row]:
    """Three players: against rules, against each other, and against Always-Raise with Probe."""
    size, spec = _three(scale), THREE if scale == "paper" else SMALL_THREE
    rare = {"paper": 10_000, "medium": 20, "quick": 10}[scale]  # visits, scaled with the number of episodes
    table, rows = HoldemTable.for_players(3), list[Row]()
    how: dict[str, dict[str, Any]] = {
        PLAIN: {"algorithm": "uct"},
        SMOOTH: {"algorithm": "smooth-uct", "schedule": "confidence", "threshold": rare},
    }
    jobs = {
        name: [
            training(name, spec, iterations=size.episodes, seed=seed, k=0.5, cap=None, **each)
            for seed in range(1, size.runs + 1)
        ]
        for name, each in how.items()
    }
    runner.run([*jobs[PLAIN], *jobs[SMOOTH]])
    rules, dummies = table.bot("rules"), [table.bot("always-raise"), table.bot("probe")]
    for run in range(1, size.runs + 1):
        pair = {name: table.trained(runner, each[run - 1]) for name, each in jobs.items()}
        for name, other in ((PLAIN, SMOOTH), (SMOOTH, PLAIN)):
            meets = {"2 x rules": [rules, rules], f"rules and {other}": [rules, pair[other]], DUMMIES: dummies}
            for against, others in meets.items():
                rows.append(table.play((name, run), pair[name], against, others, size.hands, size.episodes, run))
    return rows


def table_3(rows: Rows, folder: Path) -> Outcome:
    """Strongly positive against Always-Raise with Probe, which are the paper's own opponents."""
    findings = []
    for name, other in ((PLAIN, SMOOTH), (SMOOTH, PLAIN)):
        for value, against in zip(PUBLISHED_3[name], ("2 x rules", f"rules and {other}", DUMMIES), strict=True):
            for at in reversed(rows.places(name, f"against {against}")):
                found = rows.estimate(name, f"against {against}", at)
                stand_in = "" if against == DUMMIES else " (Poki instead of rules)"
                published = f"strongly positive, {value} mb/h" if against == DUMMIES else f"{value} mb/h{stand_in}"
                test = Positive(found) if against == DUMMIES else None
                each = Finding(f"{name} against {against}", published, found.show(0, "mb/h"), test, _group(at))
                findings.append(((test is None, found.runs == 1, -at), each))
    findings.sort(key=lambda each: each[0])  # the longest with an error over runs first
    literal = {
        f"literal_{number}": rows.estimate(f"{SMOOTH}, threshold as written", f"against {against}").show(0, "mb/h")
        for number, against in enumerate(("2 x rules", f"rules and {PLAIN}", DUMMIES), 1)
    }
    return Outcome(tuple(finding for _, finding in findings), numbers=literal)


EXPERIMENTS = (
    Experiment(
        "selfplay-mcts-2014/table2", "Winnings in two-player limit hold'em, two abstractions", run_table_2, table_2
    ),
    Experiment("selfplay-mcts-2014/table3", "Winnings in three-player limit hold'em", run_table_3, table_3),
)
