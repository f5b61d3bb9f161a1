"""The papers' experiments in limit hold'em: Heinrich & Silver 2014 and 2015, Ponsen, de Jong & Lanctot 2011.

The scale `paper` uses the papers' numbers of episodes, which take hours on one processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fogplay.experiments.holdem import STAND_IN, HoldemTable, Won, training, write_winnings
from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import Experiment, Finding, Outcome
from fogplay.experiments.runner import Bound, Job, Mean, Runner
from fogplay.opponents import write_log
from fogplay.opponents.betting import learn_betting
from fogplay.play import match as play_match
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.solvers.run import log_spaced
from fogplay.strategies.betting import BettingStrategy
from fogplay.strategies.policy import policy_of

# ---- Smooth UCT Search in Computer Poker (2015)

TWO, THREE = "holdem(grid=ehs2:169/1000/500/200)", "holdem(players=3,grid=ehs2:169/1000/100/20)"
SMALL_THREE = "holdem(players=3,grid=ehs2:169/20/10/5)"  # small enough for a quick run
QUICK = 1.0  # tests make it smaller


def quick(number: int) -> int:
    """A number of episodes or hands at quick scale."""
    return max(1_000, int(number * QUICK))


def _trainings(spec: str, episodes: int, snapshots: Sequence[int] = ()) -> dict[str, Job]:
    return {
        name: training(name, spec, algorithm, episodes, "greedy", snapshots)
        for name, algorithm in (("UCT", "uct"), ("Smooth UCT", "smooth-uct"))
    }


def _snapshots(episodes: int) -> list[int]:
    """The last three decades."""
    return [point for point in log_spaced(episodes, 3) if point >= episodes // 1000]


def figure_3(runner: Runner, scale: str) -> Outcome:
    """Two-player limit hold'em: greedy snapshots of UCT and Smooth UCT, against each other and a near-equilibrium."""
    episodes, hands = (62_100_000_000, 5_000_000) if scale == "paper" else (quick(20_000_000), quick(400_000))
    points = _snapshots(episodes)
    jobs, table = _trainings(TWO, episodes, points), HoldemTable.for_players(2)
    runner.run(list(jobs.values()))
    sparring, rows = table.bot("sparring"), []
    for point in points:
        smooth, plain = (table.trained(runner, jobs[name], point) for name in ("Smooth UCT", "UCT"))
        rows.append(table.match("Smooth UCT", smooth, "UCT", [plain], hands, point))
        for name, policy in (("Smooth UCT", smooth), ("UCT", plain)):
            rows.append(table.match(name, policy, "sparring", [sparring], hands, point))
    write_winnings(runner, rows)
    drawn = [
        Mean(f"{row.player} against {row.against}", "won", row.iteration, 1, row.mean, row.standard_error)
        for row in rows
    ]
    panel = Panel("won", "Two-player limit hold'em, greedy snapshots", "mb/h", log_y=False)
    pictures = draw_curves(runner.folder / "fig3", drawn, [panel])
    heads = [row for row in rows if row.against == "UCT"]
    gains = [row for row in rows if row.against == "sparring" and row.player == "Smooth UCT"]
    measured = f"{gains[0].show()}, {gains[-1].show()}"
    findings = (
        Finding("Smooth UCT against UCT, first snapshot", "UCT slightly better early", heads[0].show(1)),
        Finding(
            "Smooth UCT against UCT, at the end",
            "5.28 ± 0.6 mb/h after 62.1 billion",
            heads[-1].show(1),
            heads[-1].wins() if scale == "paper" else None,
        ),
        Finding("Smooth UCT is ahead to the end", "", _ahead(heads)),
        Finding("Smooth UCT against sparring, first and last", "improves", measured, gains[-1].mean > gains[0].mean),
    )
    notes = (
        f"{episodes:,} episodes each. The other opponent of the paper was its 2014 agent SmooCT, here a near-"
        "equilibrium of the game with 10 buckets.",
    )
    return Outcome(findings, tuple(pictures), notes)


def _ahead(heads: Sequence[Won]) -> str:
    """From which snapshot on the first player wins its matches."""
    behind = [row.iteration for row in heads if row.mean <= 0]
    after = [row.iteration for row in heads if not behind or row.iteration > behind[-1]]
    return f"from {after[0]:,} episodes on" if after else "at no snapshot"


def table_2(runner: Runner, scale: str) -> Outcome:
    """Two-player winnings of the greedy policies."""
    episodes, hands = (62_100_000_000, 2_000_000) if scale == "paper" else (quick(20_000_000), quick(400_000))
    jobs, table = _trainings(TWO, episodes, _snapshots(episodes)), HoldemTable.for_players(2)  # those of figure 3
    runner.run(list(jobs.values()))
    trained = {name: table.trained(runner, job) for name, job in jobs.items()}
    rows = [table.match("Smooth UCT", trained["Smooth UCT"], "UCT", [trained["UCT"]], hands)]
    for opponent in ("sparring", "rules", "probe", "always-raise", "always-call"):
        for name, policy in trained.items():
            rows.append(table.match(name, policy, opponent, [table.bot(opponent)], hands))
    write_winnings(runner, rows)
    findings = [
        Finding("Smooth UCT against UCT", "wins", rows[0].show(1), rows[0].wins() if scale == "paper" else None)
    ]
    for row in rows[1:]:
        beaten = row.mean > 0 if row.against not in STAND_IN else None
        findings.append(
            Finding(f"{row.player} against {STAND_IN.get(row.against, row.against)}", "", row.show(), beaten)
        )
    return Outcome(
        tuple(findings), notes=("The competition's other players are not available; stand-ins are labelled.",)
    )


def table_3(runner: Runner, scale: str) -> Outcome:
    """Three-player winnings of the greedy policies."""
    spec = THREE if scale == "paper" else SMALL_THREE
    episodes, hands = (50_000_000_000, 2_000_000) if scale == "paper" else (quick(10_000_000), quick(300_000))
    jobs, table = _trainings(spec, episodes), HoldemTable.for_players(3)
    runner.run(list(jobs.values()))
    smooth, plain = (table.trained(runner, jobs[name]) for name in ("Smooth UCT", "UCT"))
    rows = [
        table.match("Smooth UCT", smooth, "2 x UCT", [plain, plain], hands),
        table.match("UCT", plain, "2 x Smooth UCT", [smooth, smooth], hands),
    ]
    for name, policy in (("Smooth UCT", smooth), ("UCT", plain)):
        rows.append(
            table.match(name, policy, "always-raise and probe", [table.bot("always-raise"), table.bot("probe")], hands)
        )
        rows.append(table.match(name, policy, "2 x rules", [table.bot("rules")] * 2, hands))
    write_winnings(runner, rows)
    findings = [
        Finding("Smooth UCT against two UCTs", "wins", rows[0].show(), rows[0].wins() if scale == "paper" else None),
        Finding("UCT against two Smooth UCTs", "loses", rows[1].show(), rows[1].loses() if scale == "paper" else None),
    ]
    for row in rows[2:]:
        beaten = row.mean > 0 if row.against.startswith("always") else None
        findings.append(Finding(f"{row.player} against {row.against}", "", row.show(), beaten))
    return Outcome(tuple(findings), notes=(f"Trained on {spec} for {episodes:,} episodes each.",))


# ---- Self-Play Monte-Carlo Tree Search in Computer Poker (2014)

COARSE, FINE = "holdem(grid=ehs2:169/100/100/100)", "holdem(grid=ehs2:169/1000/500/200)"
PUBLISHED_2014 = {  # against Sparbot and FellOmen2
    ("IS-UCT S", 1.0): "72 ± 21, -47 ± 20",
    ("IS-UCT S", 0.5): "54 ± 21, 26 ± 21",
    ("Smooth IS-UCT S", 1.0): "51 ± 20, 7 ± 21",
    ("Smooth IS-UCT S", 0.5): "56 ± 20, -41 ± 20",
    ("IS-UCT L", 0.5): "60 ± 20, -17 ± 21",
    ("Smooth IS-UCT L", 0.5): "18 ± 19, 32 ± 21",
}


def table_2_of_2014(runner: Runner, scale: str) -> Outcome:
    """Two players, coarse and fine abstraction, exploration by equation 5, against two near-equilibria."""
    episodes, hands = (7_000_000_000, 2_000_000) if scale == "paper" else (quick(6_000_000), quick(400_000))
    table, jobs = HoldemTable.for_players(2), {}
    for name, k in PUBLISHED_2014:
        smooth: dict[str, Any] = {"schedule": "confidence"} if name.startswith("Smooth") else {}
        algorithm, spec = ("smooth-uct" if smooth else "uct"), (COARSE if name.endswith("S") else FINE)
        jobs[name, k] = training(f"{name}, k={k:g}", spec, algorithm, episodes, k=k, cap=None, **smooth)
    # A second near-equilibrium replaces FellOmen2: external sampling with 100 buckets.
    traversals = 25_000_000 if scale == "paper" else quick(3_000_000)
    second = training("MCCFR100", COARSE, "es-mccfr", traversals, "average")
    runner.run([*jobs.values(), second])
    opponents = {"sparring": table.bot("sparring"), "MCCFR100": table.trained(runner, second)}
    rows, findings = [], []
    for (name, k), job in jobs.items():
        won = [
            table.match(job.label, table.trained(runner, job), against, [policy], hands, episodes)
            for against, policy in opponents.items()
        ]
        rows += won
        measured = ", ".join(row.show() for row in won)
        findings.append(Finding(f"{name}, k = {k:g}", PUBLISHED_2014[name, k], measured))
    write_winnings(runner, rows)
    notes = (
        f"{episodes:,} episodes each; published against Sparbot and FellOmen2, measured against "
        f"{STAND_IN['sparring']} and a near-equilibrium with 100 buckets (stand-in for FellOmen2).",
    )
    return Outcome(tuple(findings), notes=notes)


def table_3_of_2014(runner: Runner, scale: str) -> Outcome:
    """Three players: against rules, against each other, and against Always-Raise with Probe."""
    spec = "holdem(players=3,grid=ehs2:169/1000/100/10)" if scale == "paper" else SMALL_THREE
    episodes, hands = (12_000_000_000, 1_000_000) if scale == "paper" else (quick(10_000_000), quick(300_000))
    rare = 10_000 if scale == "paper" else 10  # visits, scaled with the number of episodes
    table = HoldemTable.for_players(3)
    how: dict[str, dict[str, Any]] = {
        "IS-UCT": {"algorithm": "uct"},
        "Smooth IS-UCT": {"algorithm": "smooth-uct", "schedule": "confidence", "threshold": rare},
    }
    jobs = {name: training(name, spec, iterations=episodes, k=0.5, cap=None, **each) for name, each in how.items()}
    runner.run(list(jobs.values()))
    trained = {name: table.trained(runner, job) for name, job in jobs.items()}
    rules, dummies = table.bot("rules"), [table.bot("always-raise"), table.bot("probe")]
    published = {"IS-UCT": ("163 ± 19", "73 ± 24", "760 ± 77"), "Smooth IS-UCT": ("118 ± 19", "81 ± 24", "910 ± 78")}
    rows, findings = [], []
    for name, policy in trained.items():
        other = next(each for each in trained if each != name)
        matches = [("2 x rules", [rules, rules]), (f"rules and {other}", [rules, trained[other]])]
        matches.append(("always-raise and probe", dummies))
        for value, (against, others) in zip(published[name], matches, strict=True):
            won = table.match(name, policy, against, others, hands, episodes)
            rows.append(won)
            judged = won.mean > 0 if against.startswith("always") and scale == "paper" else None
            findings.append(Finding(f"{name} against {against}", f"{value} (rules: Poki)", won.show(), judged))
    write_winnings(runner, rows)
    notes = (f"Trained on {spec} for {episodes:,} episodes each; UCB alone below {rare:,} visits.",)
    return Outcome(tuple(findings), notes=notes)


# ---- Computing Approximate Nash Equilibria … Using Sampling (2011)

TEN, HUNDRED = "holdem(grid=ehs:10/10/10/10)", "holdem(grid=ehs:100/100/100/100)"
MCTS_C = 170.0  # the paper's 17 small bets, in chips
CONFIDENCE = 0.75
OBSERVED = 20_000  # hands that a model is learned from
FIGURE_4_RIGHT = {1: (-0.308, -0.502), 10: (-0.187, -0.261), 50: (-0.154, -0.202), 90: (-0.162, -0.113)}  # millions


def figure_4_right(runner: Runner, scale: str) -> Outcome:
    """MCTS and MCCFR with 10 buckets, against a precomputed near-equilibrium with as many, in small bets per hand."""
    last, hands = (90_000_000, 100_000) if scale == "paper" else (quick(10_000_000), quick(40_000))
    points = range(last // (90 if scale == "paper" else 10), last + 1, last // (90 if scale == "paper" else 10))
    jobs = {
        "MCTS": training("MCTS", TEN, "uct", last, "average", points, c=MCTS_C),
        "MCCFR": training("MCCFR", TEN, "os-mccfr", last, "average", points, epsilon=0.6),
    }
    runner.run(list(jobs.values()))
    table = HoldemTable.for_players(2)
    sparring = table.bot("sparring")
    rows = [
        table.match(name, table.trained(runner, job, point), "sparring", [sparring], hands, point)
        for name, job in jobs.items()
        for point in points
    ]
    write_winnings(runner, rows)
    drawn = [Mean(r.player, "won", r.iteration, 1, r.mean / 1000, r.standard_error / 1000) for r in rows]
    panel = Panel("won", "Against a near-equilibrium with 10 buckets", "sb/h", "iterations", log_x=False, log_y=False)
    pictures = draw_curves(runner.folder / "fig4-right", drawn, [panel])
    at = {(row.player, row.iteration): row for row in rows}
    findings = []
    for million, published in FIGURE_4_RIGHT.items():
        for name, value in zip(("MCTS", "MCCFR"), published, strict=True):
            row = at.get((name, million * 1_000_000))
            if row is not None:
                findings.append(Finding(f"{name} after {million} million", f"{value:g} sb/h", row.in_small_bets()))
    first = [point for point in points if point <= max(points[0], 10_000_000)]
    early = sum(at["MCTS", point].mean - at["MCCFR", point].mean for point in first) / len(first)
    late = at["MCCFR", last].mean - at["MCTS", last].mean
    what = f"mean over the first {first[-1]:,}"
    findings.append(Finding(what, "MCTS is ahead", f"by {early / 1000:.3f} sb/h", early > 0))
    judged = late > 0 if scale == "paper" else None
    findings.append(Finding("at the end", "MCCFR is ahead", f"by {late / 1000:.3f} sb/h", judged))
    return Outcome(tuple(findings), tuple(pictures))


def _policies_of_2011(runner: Runner, scale: str) -> dict[str, Job]:
    """MCTS10, MCCFR10 and MCCFR100, trained."""
    ten, hundred = (90_000_000, 400_000_000) if scale == "paper" else (quick(8_000_000), quick(16_000_000))
    jobs = {
        "MCTS10": training("MCTS10", TEN, "uct", ten, "average", c=MCTS_C),
        "MCCFR10": training("MCCFR10", TEN, "os-mccfr", ten, "average", epsilon=0.6),
        "MCCFR100": training("MCCFR100", HUNDRED, "os-mccfr", hundred, "average", epsilon=0.6),
    }
    runner.run(list(jobs.values()))
    return jobs


def table_1_of_2011(runner: Runner, scale: str) -> Outcome:
    """MCTS10, MCCFR10 and MCCFR100 against a rule-based and an equilibrium bot."""
    jobs = _policies_of_2011(runner, scale)
    table, hands = HoldemTable.for_players(2), quick(400_000)
    published = {"rules": (0.077, 0.059, 0.191), "sparring": (-0.103, -0.091, 0.046)}
    rows, findings = [], []
    for against, values in published.items():
        for (name, job), value in zip(jobs.items(), values, strict=True):
            won = table.match(name, table.trained(runner, job), against, [table.bot(against)], hands, job.iterations)
            rows.append(won)
            findings.append(Finding(f"{name} against {STAND_IN[against]}", f"{value:g} sb/h", won.in_small_bets()))
    write_winnings(runner, rows)
    by = {(row.player, row.against): row.mean for row in rows}
    for against in published:
        gain = by["MCCFR100", against] - by["MCCFR10", against]
        findings.append(
            Finding(f"100 buckets beside 10, {against}", "clearly better", f"{gain / 1000:+.3f} sb/h", gain > 0)
        )
    return Outcome(tuple(findings))


def _model(runner: Runner, table: HoldemTable, observer: Job, opponent: str, spec: str) -> str:
    """The file of a model of a bot: decision trees from hands against MCCFR10, with all cards seen."""
    folder = runner.folder.absolute() / "models"
    folder.mkdir(exist_ok=True)
    log, file = (
        folder / f"{opponent}.log",
        folder / f"{opponent}-{spec.partition(':')[2].partition('/')[0]}.safetensors",
    )
    if not log.exists():
        policies = [table.trained(runner, observer), table.bot(opponent)]
        names = ["MCCFR10", opponent]
        write_log(log, play_match(table.rules, policies, OBSERVED, seed=7, keep=True, names=names))
    if not file.exists():
        learn_betting(HoldemSimulator.of(spec), log, opponent).save(file)
    return str(file)


def _responses(spec: str, model: str, iterations: int, points: Sequence[int] = ()) -> list[Job]:
    """Monte Carlo responses with the same confidence at every infoset, one run per seat, as in the paper."""
    return [
        Job(f"response at seat {seat}", spec, "os-mccfr", iterations, 1, tuple(sorted({*points, iterations})), (),
            {"epsilon": 0.6}, Bound(model, seat, CONFIDENCE, "dbr"), "average")
        for seat in (0, 1)
    ]  # fmt: skip


def _joined(runner: Runner, table: HoldemTable, spec: str, jobs: Sequence[Job], iteration: int) -> Any:
    simulator = HoldemSimulator.of(spec)
    both = [BettingStrategy.read(runner.strategy_file(job, iteration)) for job in jobs]
    return policy_of(simulator.joined(both, "dbr"), table.rules)


def table_2_of_2011(runner: Runner, scale: str) -> Outcome:
    """MCRNR from a model of 20,000 hands, p = 0.75, beside MCCFR."""
    plain = _policies_of_2011(runner, scale)
    table, hands = HoldemTable.for_players(2), quick(400_000)
    published = {
        ("rules", "MCRNR10"): (0.059, 0.369), ("rules", "MCRNR100"): (0.191, 0.482),
        ("sparring", "MCRNR10"): (-0.091, -0.039), ("sparring", "MCRNR100"): (0.046, 0.061),
    }  # fmt: skip
    rows, findings = [], []
    for (against, name), (before, after) in published.items():
        spec, base = (TEN, "MCCFR10") if name.endswith("R10") else (HUNDRED, "MCCFR100")
        model = _model(runner, table, plain["MCCFR10"], against, spec)
        jobs = _responses(spec, model, plain[base].iterations)
        runner.run(jobs)
        opponent = [table.bot(against)]
        usual = table.match(base, table.trained(runner, plain[base]), against, opponent, hands, plain[base].iterations)
        robust = table.match(name, _joined(runner, table, spec, jobs, jobs[0].iterations), against, opponent, hands)
        rows += [usual, robust]
        holds = robust.mean > usual.mean + 2 * (usual.standard_error + robust.standard_error)
        findings.append(
            Finding(
                f"{base} and {name} against {STAND_IN[against]}",
                f"{before:g} and {after:g} sb/h",
                f"{usual.in_small_bets()} and {robust.in_small_bets()}",
                holds if against == "rules" else robust.mean > usual.mean - 0.05 * 1000,
            )
        )
    write_winnings(runner, rows)
    return Outcome(tuple(findings), notes=(f"Models: decision trees from {OBSERVED:,} hands, all cards in the log.",))


def figure_8_of_2011(runner: Runner, scale: str) -> Outcome:
    """MCRNR10 against the rule-based bot while it learns."""
    last = 60_000_000 if scale == "paper" else quick(10_000_000)
    points = [last * k // 20 for k in range(1, 21)]
    plain = _policies_of_2011(runner, scale)
    table = HoldemTable.for_players(2)
    jobs = _responses(TEN, _model(runner, table, plain["MCCFR10"], "rules", TEN), last, points)
    runner.run(jobs)
    rules = [table.bot("rules")]
    rows = [
        table.match("MCRNR10", _joined(runner, table, TEN, jobs, point), "rules", rules, 100_000, point)
        for point in points
    ]
    usual = table.match("MCCFR10", table.trained(runner, plain["MCCFR10"]), "rules", rules, 100_000)
    write_winnings(runner, [*rows, usual])
    drawn = [Mean(r.player, "won", r.iteration, 1, r.mean / 1000, r.standard_error / 1000) for r in rows]
    drawn += [Mean("MCCFR10", "won", point, 1, usual.mean / 1000, usual.standard_error / 1000) for point in points]
    panel = Panel("won", f"Against {STAND_IN['rules']}", "sb/h", "iterations", log_x=False, log_y=False)
    pictures = draw_curves(runner.folder / "fig8", drawn, [panel])
    ahead = next((row.iteration for row in rows if row.mean > usual.mean), None)
    measured = (
        f"{rows[-1].in_small_bets()}; ahead of MCCFR10 ({usual.in_small_bets()}) from {ahead or 0:,} iterations on"
    )
    what = "MCRNR10 at the end"
    return Outcome(
        (Finding(what, "exploits Poki after some 20 million iterations", measured, rows[-1].mean > usual.mean),),
        tuple(pictures),
    )


EXPERIMENTS = (
    Experiment("smooth-uct-2015/fig3", "UCT and Smooth UCT in two-player limit hold'em", figure_3),
    Experiment("smooth-uct-2015/table2", "Winnings in two-player limit hold'em", table_2),
    Experiment("smooth-uct-2015/table3", "Winnings in three-player limit hold'em", table_3),
    Experiment("selfplay-mcts-2014/table2", "Winnings in two-player limit hold'em, two abstractions", table_2_of_2014),
    Experiment("selfplay-mcts-2014/table3", "Winnings in three-player limit hold'em", table_3_of_2014),
    Experiment("sampling-equilibria-2011/fig4-right", "MCTS and MCCFR against a near-equilibrium", figure_4_right),
    Experiment("sampling-equilibria-2011/table1", "MCTS and MCCFR against two bots", table_1_of_2011),
    Experiment("sampling-equilibria-2011/table2", "MCRNR from learned models against two bots", table_2_of_2011),
    Experiment("sampling-equilibria-2011/fig8", "MCRNR while it learns", figure_8_of_2011),
)
