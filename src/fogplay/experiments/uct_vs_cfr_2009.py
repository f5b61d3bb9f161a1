"""Shafiei, Sturtevant & Schaeffer, Comparing UCT versus CFR in Simultaneous Games (2009): sections 3 to 6."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from fogplay.evaluate import best_response, equilibrium
from fogplay.evaluate.responses import against_model, mix
from fogplay.experiments.general_game_playing import RESPONDING, Responded, responses_over_the_wire
from fogplay.experiments.pictures import COLOURS, new_picture, save_picture
from fogplay.experiments.reproduce import WIRE_SCALES, Experiment, Finding, Outcome
from fogplay.experiments.runner import Runner, write_rows
from fogplay.solvers import respond, solve
from fogplay.solvers.full_width import FullWidth
from fogplay.trees import flatten

SEEDS = range(1, 6)


@dataclass(frozen=True)
class Share:
    """How often an action was taken in one run."""

    game: str
    algorithm: str
    parameters: str
    seed: int
    iterations: int
    infoset: str
    action: str
    share: float


def _shares(runner: Runner, runs: list[tuple[str, str, dict[str, Any]]]) -> list[np.ndarray[Any, Any]]:
    """[seeds, slots] the average strategies of every run, which are also written to shares.csv."""
    iterations = 1_000_000
    rows, strategies = [], []
    for game, algorithm, parameters in runs:
        found = []
        for seed in SEEDS:
            result = solve(game, algorithm, iterations if algorithm == "uct" else 10_000, seed=seed, **parameters)
            if result.interrupted:
                raise KeyboardInterrupt
            strategy = result.strategy
            found.append(strategy.probabilities)
            for number, infoset in enumerate(strategy.infosets):
                where = slice(int(strategy.infoset_start[number]), int(strategy.infoset_start[number + 1]))
                for action, share in zip(strategy.actions[where], strategy.probabilities[where].tolist(), strict=True):
                    rows.append(
                        Share(game, algorithm, str(parameters), seed, result.iterations, infoset, action, share)
                    )
        strategies.append(np.array(found))
    write_rows(runner.folder / "shares.csv", rows)
    return strategies


def _list(values: Any) -> str:
    return "(" + ", ".join(f"{value:.4f}" for value in values) + ")"


def rock_paper_scissors(runner: Runner, scale: str) -> Outcome:
    """UCT with C = 100: the shares of the actions."""
    (shares,) = _shares(runner, [("rps", "uct", {"c": 100})])
    mean = shares.mean(axis=0)
    close = bool(np.abs(shares - 1 / 3).max() < 0.005)
    return Outcome(
        tuple(
            Finding(
                f"player {player + 1} (rock, paper, scissors)", "(1/3, 1/3, 1/3)", _list(mean[3 * player :][:3]), close
            )
            for player in range(2)
        ),
        notes=("Mean of five seeds after a million iterations.",),
    )


def table_1(runner: Runner, scale: str) -> Outcome:
    """Biased rock-paper-scissors: where UCT settles, and that CFR finds the equilibrium."""
    even, uneven, cfr = _shares(
        runner,
        [("biased-rps", "uct", {"c": 100}), ("biased-rps", "uct", {"c": [100, 50]}), ("biased-rps", "cfr+", {})],
    )
    nash = np.array([0.0625, 0.625, 0.3125])
    first, second = uneven.mean(axis=0)[:3], uneven.mean(axis=0)[3:]
    off = float(np.abs(even.reshape(-1, 3) - nash).max(axis=1).min())
    balance = "a balance off the equilibrium, such as (1/3, 1/3, 1/3)"
    findings = [
        Finding("UCT, C = 100 and 100", balance, _list(even.mean(axis=0)[:3]), off > 0.1),
    ]
    for player, (share, published) in enumerate(((first, [0.07, 0.12, 0.81]), (second, [0.03, 0.46, 0.51]))):
        what = f"UCT, C = 100 and 50, player {player + 1}"
        findings.append(Finding(what, _list(published), _list(share), _near(share, published, 0.05)))
    for player in range(2):
        found = cfr.mean(axis=0)[3 * player :][:3]
        findings.append(Finding(f"CFR, player {player + 1}", _list(nash), _list(found), _near(found, nash, 0.005)))
    notes = ("Means of five seeds, UCT after a million iterations; every seed is in shares.csv.",)
    return Outcome(tuple(findings), notes=notes)


def _near(found: Any, published: Any, margin: float) -> bool:
    return bool(np.abs(np.asarray(found) - np.asarray(published)).max() < margin)


def table_2(runner: Runner, scale: str) -> Outcome:
    """The 2×2 game: its equilibrium, and what a best response to a fixed opponent gets."""
    flat = flatten("two-by-two")
    _, exact = equilibrium(flat)
    cfr = solve(flat, "cfr+", 10_000).strategy.probabilities
    always_second = exact.copy()
    always_second[:2] = [0.0, 1.0]
    earned, _ = best_response(flat, always_second, 1)
    write_rows(
        runner.folder / "shares.csv",
        [
            Share("two-by-two", name, "", 0, 0, flat.infosets[slot // 2], flat.actions[slot], float(table[slot]))
            for name, table in (("lp", exact), ("cfr+", cfr))
            for slot in range(4)
        ],
    )
    findings = []
    for name, table in (("linear program", exact), ("CFR", cfr)):
        holds = bool(np.abs(table - [0.46, 0.54, 0.5, 0.5]).max() < 0.005)
        findings.append(
            Finding(
                f"equilibrium, {name}",
                "(0.46, 0.54) and (0.5, 0.5)",
                f"{_list(table[:2])} and {_list(table[2:])}",
                holds,
            )
        )
    findings.append(
        Finding("best response to an opponent who always plays a2", "73", f"{earned:g}", abs(earned - 73) < 1e-9)
    )
    return Outcome(tuple(findings))


@dataclass(frozen=True)
class Crossing:
    """How long CFR took to come within a margin of the equilibrium."""

    hands: int
    nodes: int
    margin: float
    iterations: int
    seconds: float


def figure_8(runner: Runner, scale: str) -> Outcome:
    """CFR's time to within 0.1, 0.01 and 0.001 of equilibrium over repeated hands of rock-paper-scissors.

    The paper starts from unequal strategies (its figure 7: one player always plays rock, the other paper), since
    regret matching would start at the equilibrium. So do we: every infoset begins with a regret of 100 for one action.
    """
    margins, rows = (0.1, 0.01, 0.001), []
    for hands in range(1, 7 if scale == "paper" else 5):
        flat = flatten(f"repeated(rps,hands={hands})")
        learner = FullWidth(flat, "cfr", {})
        starts = flat.tree.infoset_start[:-1]
        learner.learned.regret[starts + flat.tree.infoset_player] = 100.0
        learner.advance(1, 0)
        iteration, seconds, stretch, left = 0, 0.0, 1, list(margins)
        while left and seconds < 180:
            began = time.perf_counter()
            learner.advance(iteration + 1, stretch)
            seconds += time.perf_counter() - began
            iteration += stretch
            off = float(np.abs(learner.average() - 1 / 3).max())
            while left and off <= left[0]:
                rows.append(Crossing(hands, flat.num_nodes, left.pop(0), iteration, seconds))
            stretch = max(1, iteration // 50)
    write_rows(runner.folder / "crossings.csv", rows)
    pictures = _draw_crossings(runner, rows)
    findings = []
    for margin in margins:
        line = [row for row in rows if row.margin == margin]
        measured = ", ".join(f"{row.hands}: {row.seconds:.2g} s" for row in line)
        grows = all(few.seconds < more.seconds for few, more in pairwise(line[1:]))
        findings.append(Finding(f"time to within {margin:g}, by hands", "grows with the tree", measured, grows))
    return Outcome(tuple(findings), tuple(pictures), ("Each additional hand multiplies the size of the tree by nine.",))


def _draw_crossings(runner: Runner, rows: list[Crossing]) -> list[Any]:
    figure, axes = new_picture(1)
    axis = axes[0]
    for number, margin in enumerate(sorted({row.margin for row in rows})):
        line = [row for row in rows if row.margin == margin]
        axis.plot(
            [r.hands for r in line], [r.seconds for r in line], "o-", color=COLOURS[number], label=f"within {margin:g}"
        )
    axis.set_yscale("log")
    axis.set_xticks(sorted({row.hands for row in rows}))
    axis.set_xlabel("hands of rock-paper-scissors")
    axis.set_ylabel("seconds")
    axis.set_title("CFR's time to within a margin of equilibrium", fontsize=11)
    axis.grid(True, alpha=0.3)
    axis.legend(frameon=False)
    return save_picture(figure, runner.folder / "fig8")


GOOFSPIEL = "goofspiel(5,ascending,revealed,percent)"
TABLE_3 = {1.0: (84.5, 0.5), 0.75: (70.0, 10.0), 0.5: (52.42, 42.0), 0.25: (56.0, 49.0), 0.0: (50.63, 53.0)}
UCT_ITERATIONS = 100_000  # about what a player of 2008 could do within its time limits


@dataclass(frozen=True)
class Trade:
    """What a response to one run of UCT earns in percent, the mean of both seats."""

    seed: int
    method: str  # rnr or mixing
    confidence: float
    against_model: float  # if UCT plays its distribution, the model
    as_it_plays: float  # if the same UCT plays its best action, as it does in a match
    at_worst: float  # against a best response


def _trades(runner: Runner, runs: int) -> list[Trade]:
    """Responses to UCT's average strategy, exact by the linear program, and mixing."""
    flat, rows = flatten(GOOFSPIEL), []
    for seed in range(1, runs + 1):
        model = solve(flat, "uct", UCT_ITERATIONS, seed=seed, c=100.0).strategy
        opponents = model.probabilities, model.greedy().probabilities
        responses = {p: respond(flat, model, p, algorithm="lp").strategy.probabilities for p in sorted(TABLE_3)}
        plans = [("rnr", p, response) for p, response in responses.items()]
        plans += [("mixing", k / 10, mix(flat, responses[1.0], responses[0.0], k / 10)) for k in range(11)]
        for method, p, response in plans:
            expected, played = (against_model(flat, response, each) for each in opponents)
            won = (float(np.mean(each)) for each in (expected.winnings, played.winnings, expected.guaranteed or ()))
            rows.append(Trade(seed, method, p, *won))
    write_rows(runner.folder / "trades.csv", rows)
    return rows


def table_3(runner: Runner, scale: str) -> Outcome:
    """Five-card face-up Goofspiel: what restricted Nash responses to UCT win, and what they risk."""
    if scale in WIRE_SCALES:
        return _table_3_over_the_wire(runner, scale)
    rows = {row.confidence: row for row in _trades(runner, runs=1) if row.method == "rnr"}
    findings = []
    for p, (won, worst) in TABLE_3.items():
        measured = f"{_score(rows[p].against_model)}, {_score(rows[p].at_worst)}"
        what = f"p = {p:g}: against UCT, against a best response"
        findings.append(Finding(what, f"{_score(won)}, {_score(worst)}", measured))
    line = [rows[p] for p in sorted(rows)]
    measured = " ".join(f"{row.against_model:.1f}" for row in line)
    rises = all(few.against_model <= more.against_model + 1e-6 for few, more in pairwise(line))
    findings.append(Finding("exploitation, p from 0 to 1", "rises, except at p = 0.5", measured, rises))
    measured = " ".join(f"{row.at_worst:.1f}" for row in line)
    falls = all(few.at_worst >= more.at_worst - 1e-6 for few, more in pairwise(line))
    findings.append(Finding("what is left against a best response", "falls to 0.5", measured, falls))
    notes = (
        f"UCT: {UCT_ITERATIONS:,} iterations with C = 100; responses to its average strategy, exact by the linear "
        "program; every number is the mean of both seats. The paper's players met under a time limit, so its numbers "
        "have the noise of a match.",
    )
    return Outcome(tuple(findings), notes=notes)


def _table_3_over_the_wire(runner: Runner, scale: str) -> Outcome:
    """The same with the players themselves: the exploiting player meets the UCT player over HTTP."""
    rows = responses_over_the_wire(runner, scale, tuple(TABLE_3))
    findings = [
        Finding(f"p = {row.confidence:g}: against UCT", _score(TABLE_3[row.confidence][0]), _with_error(row))
        for row in rows
    ]
    replaced, moves = sum(row.replaced for row in rows), sum(row.moves for row in rows)
    findings.append(Finding("moves that were illegal or late", "none", f"{replaced} of {moves}", replaced == 0))
    return Outcome(tuple(findings), notes=(_clocks(scale),))


def _with_error(row: Responded) -> str:
    return f"{_score(row.won)}, ± {row.error:.1f} ({row.matches} matches)"


def _clocks(scale: str) -> str:
    clocks = RESPONDING[scale]
    return (
        f"{clocks.matches} matches for each p, players changing roles, with {clocks}. The exploiting player models UCT "
        "by running it within its own time."
    )


def _score(won: float) -> str:
    return f"{won:.4g} - {100 - won:.4g}"


def figure_9(runner: Runner, scale: str) -> Outcome:
    """Restricted Nash and mixing on one picture: against the model itself, and against the same UCT as it plays."""
    if scale in WIRE_SCALES:
        return _figure_9_over_the_wire(runner, scale)
    runs = 20 if scale == "paper" else 6
    rows = _trades(runner, runs)
    figure, axes = new_picture(2)
    opponents = {"against its distribution": "against_model", "against the actions it takes": "as_it_plays"}
    findings = []
    for axis, (title, measure) in zip(axes, opponents.items(), strict=True):
        for number, method in enumerate(("rnr", "mixing")):
            line = [row for row in rows if row.method == method and row.seed == 1]
            won = [getattr(row, measure) for row in line]
            axis.plot(
                [100 - row.at_worst for row in line], won, "o-", color=COLOURS[number], label=method, markersize=4
            )
        axis.set_title(f"Five-card Goofspiel: responses to UCT, {title}", fontsize=9)
        axis.set_xlabel("exploitability (% a best response wins)")
        axis.set_ylabel("exploitation (% won)")
        axis.grid(True, alpha=0.3)
        axis.legend(frameon=False)
        gaps = [_lead(rows, seed, measure) for seed in range(1, runs + 1)]
        under = sum(gap < -0.05 for gap in gaps)
        measured = (
            f"below somewhere in {under} of {runs} runs, by at most {-min(gaps):.1f}" if under else "nowhere below"
        )
        findings.append(Finding(f"rnr at equal risk, {title}", "below mixing", measured, under > 0))
    pictures = save_picture(figure, runner.folder / "fig9")
    notes = (
        "At equal risk nothing wins more from the model than a restricted Nash response does: where UCT plays the "
        "distribution that was modelled, mixing cannot be better. A player in a match takes its best action instead, "
        "so the model is wrong, and then either can be better: the paper's finding is of this kind.",
        "The picture shows the first run; trades.csv has all runs.",
    )
    return Outcome(tuple(findings), tuple(pictures), notes)


def _figure_9_over_the_wire(runner: Runner, scale: str) -> Outcome:
    """What the exploiting player wins from the UCT player over HTTP, by what a response with the same p risks."""
    rows = responses_over_the_wire(runner, scale, tuple(sorted(TABLE_3)))
    exact = _trades(runner, runs=1)
    risk = {row.confidence: 100 - row.at_worst for row in exact if row.method == "rnr"}
    mixing = [row for row in exact if row.method == "mixing"]
    figure, axes = new_picture(1)
    axes[0].errorbar(
        [risk[row.confidence] for row in rows],
        [row.won for row in rows],
        [row.error for row in rows],
        fmt="o-",
        color=COLOURS[0],
        label="rnr, over the wire",
        markersize=4,
    )
    axes[0].plot(
        [100 - row.at_worst for row in mixing],
        [row.as_it_plays for row in mixing],
        "o-",
        color=COLOURS[1],
        label="mixing, computed",
        markersize=4,
    )
    axes[0].set_title("Five-card Goofspiel: responses to UCT over HTTP", fontsize=11)
    axes[0].set_xlabel("exploitability (% a best response wins)")
    axes[0].set_ylabel("exploitation (% won)")
    axes[0].grid(True, alpha=0.3)
    axes[0].legend(frameon=False)
    pictures = save_picture(figure, runner.folder / "fig9")
    findings = [
        Finding(f"p = {row.confidence:g}", _score(TABLE_3[row.confidence][0]), _with_error(row)) for row in rows
    ]
    replaced, moves = sum(row.replaced for row in rows), sum(row.moves for row in rows)
    findings.append(Finding("moves that were illegal or late", "none", f"{replaced} of {moves}", replaced == 0))
    return Outcome(tuple(findings), tuple(pictures), (_clocks(scale),))


def _lead(rows: list[Trade], seed: int, measure: str) -> float:
    """The smallest lead of restricted Nash responses over mixing at equal risk."""
    line = {each: [row for row in rows if row.seed == seed and row.method == each] for each in ("rnr", "mixing")}
    mixing = sorted((row.at_worst, getattr(row, measure)) for row in line["mixing"])
    risked, won = [point[0] for point in mixing], [point[1] for point in mixing]
    return min(float(getattr(row, measure) - np.interp(row.at_worst, risked, won)) for row in line["rnr"])


EXPERIMENTS = (
    Experiment("uct-vs-cfr-2009/rps", "UCT in rock-paper-scissors", rock_paper_scissors, device=False),
    Experiment("uct-vs-cfr-2009/table1", "UCT and CFR in biased rock-paper-scissors", table_1, device=False),
    Experiment("uct-vs-cfr-2009/table2", "The 2×2 game and a best response", table_2, device=False),
    Experiment("uct-vs-cfr-2009/fig8", "CFR over repeated rock-paper-scissors", figure_8, device=False),
    Experiment(
        "uct-vs-cfr-2009/table3", "Restricted Nash responses to UCT in Goofspiel", table_3, device=False, wire=True
    ),
    Experiment("uct-vs-cfr-2009/fig9", "Restricted Nash beside mixing in Goofspiel", figure_9, device=False, wire=True),
)
