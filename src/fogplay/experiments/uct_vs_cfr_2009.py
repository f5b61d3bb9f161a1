"""Shafiei, Sturtevant & Schaeffer, Comparing UCT versus CFR in Simultaneous Games (2009): sections 3 to 5."""

from __future__ import annotations

import math
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from fogplay.evaluate import best_response, equilibrium
from fogplay.experiments.pictures import COLOURS, new_picture, save_picture
from fogplay.experiments.reproduce import Experiment, Outcome
from fogplay.experiments.rows import Estimate, Row, Rows, mean_of
from fogplay.experiments.runner import Runner
from fogplay.experiments.verdicts import Equal, Every, Exact, Finding, Positive
from fogplay.solvers import solve
from fogplay.solvers.full_width import FullWidth
from fogplay.trees import flatten

SEEDS = range(1, 6)
ACTIONS = ("rock", "paper", "scissors")
ROUNDED = 0.003  # the standard error of a number with two decimals
ITERATIONS = {"quick": 1_000_000, "medium": 1_000_000, "paper": 1_000_000}  # the paper's "approximately one million"


def _shares(label: str, game: str, iterations: int, seed: int, **parameters: Any) -> list[Row]:
    """How often UCT took every action of both players."""
    strategy = solve(game, "uct", iterations, seed=seed, **parameters).strategy
    return [
        Row(f"{label}, player {slot // 3 + 1}", ACTIONS[slot % 3], iterations, seed, float(share))
        for slot, share in enumerate(strategy.probabilities)
    ]


def _vector(rows: Rows, label: str, at: float | None = None) -> list[Estimate]:
    return [rows.estimate(label, action, at) for action in ACTIONS]


def _listed(vector: list[Estimate]) -> str:
    values = ", ".join(f"{each.value:.4f}" for each in vector)
    error = max(each.error for each in vector)
    return f"({values})" + ("" if math.isnan(error) else f" ± {error:.4f} ({vector[0].runs} runs)")


def _equals(vector: list[Estimate], published: tuple[float, ...]) -> Every:
    tests = (Equal(each, value, ROUNDED, 0.05) for each, value in zip(vector, published, strict=True))
    return Every(tuple(tests))


def run_rock_paper_scissors(runner: Runner, scale: str) -> list[Row]:
    """UCT with C = 100: the shares of the actions."""
    return [row for seed in SEEDS for row in _shares("UCT", "rps", ITERATIONS[scale], seed, c=100.0)]


def rock_paper_scissors(rows: Rows, folder: Path) -> Outcome:
    """The shares go to 1/3."""
    findings = []
    for player in (1, 2):
        vector = _vector(rows, f"UCT, player {player}")
        what = f"player {player} (rock, paper, scissors)"
        findings.append(Finding(what, "(1/3, 1/3, 1/3)", _listed(vector), _equals(vector, (1 / 3,) * 3)))
    return Outcome(tuple(findings))


NASH = (0.0625, 0.625, 0.3125)
UNEVEN = ((0.07, 0.12, 0.81), (0.03, 0.46, 0.51))  # of both players
AROUND = (500_000, 700_000, 1_000_000, 1_400_000, 2_000_000)  # iterations near "approximately one million"


def run_table_1(runner: Runner, scale: str) -> list[Row]:
    """Biased rock-paper-scissors: where UCT settles, and what CFR finds."""
    rows = []
    for seed in SEEDS:
        rows += _shares("C = 100 and 100", "biased-rps", ITERATIONS[scale], seed, c=100.0)
        for iterations in AROUND:
            rows += _shares("C = 100 and 50", "biased-rps", iterations, seed, c=[100.0, 50.0])
    for algorithm in ("cfr", "cfr+"):
        found = solve("biased-rps", algorithm, ITERATIONS[scale] if algorithm == "cfr" else 10_000).strategy
        for slot, share in enumerate(found.probabilities):
            label = f"{algorithm}, player {slot // 3 + 1}"
            rows.append(Row(label, ACTIONS[slot % 3], found.iterations, 1, float(share)))
    return rows


def table_1(rows: Rows, folder: Path) -> Outcome:
    """UCT settles off the equilibrium, which CFR finds."""
    even = _vector(rows, "C = 100 and 100, player 1")
    findings = [
        Finding("UCT, C = 100 and 100", "a balance off the equilibrium, (1/3, 1/3, 1/3)", _listed(even),
                _equals(even, (1 / 3,) * 3)),
    ]  # fmt: skip
    closest: dict[int, str] = {}
    for player, published in enumerate(UNEVEN, 1):
        label = f"C = 100 and 50, player {player}"
        vector = _vector(rows, label, 1_000_000)
        what = f"UCT, C = 100 and 50, player {player}"
        findings.append(Finding(what, str(published), _listed(vector), _equals(vector, published)))
        best = min(rows.places(label, ACTIONS[0]), key=lambda at: _off(_vector(rows, label, at), published))
        closest[player] = f"{best:,.0f} iterations: {_listed(_vector(rows, label, best))}"
    for algorithm, name in (("cfr", "CFR"), ("cfr+", "CFR+")):
        for player in (1, 2):
            vector = _vector(rows, f"{algorithm}, player {player}")
            published_text = str(NASH) if algorithm == "cfr" else ""
            test = Exact(_off(vector, NASH) < ROUNDED)  # no chance in it
            findings.append(Finding(f"{name}, player {player}", published_text, _listed(vector), test))
    return Outcome(tuple(findings), numbers={f"closest_{player}": text for player, text in closest.items()})


def _off(vector: list[Estimate], published: tuple[float, ...]) -> float:
    return max(abs(each.value - value) for each, value in zip(vector, published, strict=True))


def run_table_2(runner: Runner, scale: str) -> list[Row]:
    """The 2×2 game: its equilibrium, and what a best response to a fixed opponent gets."""
    flat = flatten("two-by-two")
    _, exact = equilibrium(flat)
    cfr = solve(flat, "cfr", ITERATIONS[scale]).strategy.probabilities
    always_second = exact.copy()
    always_second[:2] = [0.0, 1.0]
    earned, _ = best_response(flat, always_second, 1)
    rows = [
        Row(name, flat.actions[slot], slot // 2, 1, float(table[slot]))
        for name, table in (("linear program", exact), ("CFR", cfr))
        for slot in range(4)
    ]
    return [*rows, Row("best response", "earned", 0, 1, float(earned))]


def table_2(rows: Rows, folder: Path) -> Outcome:
    """The equilibrium by two methods, and the best response to a2."""
    findings = []
    for name in ("linear program", "CFR"):
        found = [row.value for row in rows.all if row.label == name]
        same = bool(np.abs(np.array(found) - [0.46, 0.54, 0.5, 0.5]).max() < ROUNDED)
        shown = "({:.4f}, {:.4f}) and ({:.4f}, {:.4f})".format(*found)
        findings.append(Finding(f"equilibrium, {name}", "(0.46, 0.54) and (0.5, 0.5)", shown, Exact(same)))
    earned = rows.estimate("best response", "earned").value
    what = "best response to an opponent who always plays a2"
    return Outcome((*findings, Finding(what, "73", f"{earned:g}", Exact(abs(earned - 73) < 1e-6))))


# ---- Figure 8

MARGINS = (0.1, 0.01, 0.001)
FIGURE_8 = {"quick": (4, 3, 2.0), "medium": (5, 3, 10.0), "paper": (6, 3, 180.0)}  # most hands, repeats, seconds
START = 1e-9  # a regret that makes the first strategy a pure one, and is taken back after the first iteration


def run_figure_8(runner: Runner, scale: str) -> list[Row]:
    """CFR's time to within 0.1, 0.01 and 0.001 of equilibrium over repeated hands of rock-paper-scissors."""
    most, repeats, limit = FIGURE_8[scale]
    rows = []
    for hands in range(1, most + 1):
        flat = flatten(f"repeated(rps,hands={hands})")
        for repeat in range(1, repeats + 1):
            for margin, (iterations, seconds) in _crossings(flat, limit).items():
                rows.append(Row(f"within {margin:g}", "seconds", hands, repeat, seconds))
                rows.append(Row(f"within {margin:g}", "iterations", hands, repeat, iterations))
        rows.append(Row("tree", "nodes", hands, 1, flat.num_nodes))
    return rows


def _crossings(flat: Any, limit: float) -> dict[float, tuple[int, float]]:
    """Iterations and seconds of processor time until every action probability is within a margin of 1/3.

    The paper's own start (its section 4): the first player always plays rock, the second paper. Regrets of the first
    iteration are all there is then, so that decisions which it did not reach become even ones.
    """
    learner = FullWidth(flat, "cfr", {"alternating": False})
    starts = flat.tree.infoset_start[:-1] + flat.tree.infoset_player
    learner.learned.regret[starts] = START
    learner.advance(1, 0)
    learner.advance(1, 1)
    learner.learned.regret[starts] -= START
    learner.advance(2, 0)
    iteration, seconds, stretch, left = 1, 0.0, 1, list(MARGINS)
    found: dict[float, tuple[int, float]] = {}
    while left and seconds < limit:
        began = time.process_time()
        learner.advance(iteration + 1, stretch)
        seconds += time.process_time() - began
        iteration += stretch
        off = float(np.abs(learner.average() - 1 / 3).max())
        while left and off <= left[0]:
            found[left.pop(0)] = (iteration, seconds)
        stretch = max(1, iteration // 50)
    return found


def figure_8(rows: Rows, folder: Path) -> Outcome:
    """Time grows with the tree."""
    figure, axes = new_picture(1)
    findings = []
    for number, margin in enumerate(MARGINS):
        label = f"within {margin:g}"
        places = rows.places(label, "seconds")
        times = [rows.estimate(label, "seconds", at) for at in places]
        axes[0].plot(places, [max(each.value, 1e-6) for each in times], "o-", color=COLOURS[number], label=label)
        growth = [_growth(rows, label, few, more) for few, more in pairwise(places)]
        shown = ", ".join(f"{at:.0f}: {each.value:.2g} s" for at, each in zip(places, times, strict=True))
        iterations = ", ".join(f"{rows.estimate(label, 'iterations', at).value:,.0f}" for at in places)
        what = f"time to {label}, by hands"
        test = Every(tuple(Positive(each) for each in growth))
        findings.append(Finding(what, "grows with the tree", f"{shown} ({times[0].runs} runs)", test))
        findings.append(Finding(f"iterations to {label}, by hands", "", iterations))
    axes[0].set_yscale("log")
    axes[0].xaxis.get_major_locator().set_params(integer=True)
    axes[0].set_xlabel("hands of rock-paper-scissors")
    axes[0].set_ylabel("seconds of processor time")
    axes[0].set_title("CFR's time to within a margin of equilibrium", fontsize=11)
    axes[0].grid(True, alpha=0.3)
    axes[0].legend(frameon=False)
    return Outcome(tuple(findings), tuple(save_picture(figure, folder / "fig8")))


def _growth(rows: Rows, label: str, few: float, more: float) -> Estimate:
    """The logarithm of the ratio of two times, run by run."""
    first = {row.run: row.value for row in rows.of(label, "seconds", few)}
    later = {row.run: row.value for row in rows.of(label, "seconds", more)}
    both = sorted(first.keys() & later.keys())
    return mean_of([math.log(max(later[run], 1e-7) / max(first[run], 1e-7)) for run in both])


EXPERIMENTS = (
    Experiment(
        "uct-vs-cfr-2009/rps", "UCT in rock-paper-scissors", run_rock_paper_scissors, rock_paper_scissors, device=False
    ),
    Experiment(
        "uct-vs-cfr-2009/table1", "UCT and CFR in biased rock-paper-scissors", run_table_1, table_1, device=False
    ),
    Experiment("uct-vs-cfr-2009/table2", "The 2×2 game and a best response", run_table_2, table_2, device=False),
    Experiment("uct-vs-cfr-2009/fig8", "CFR over repeated rock-paper-scissors", run_figure_8, figure_8, device=False),
)
