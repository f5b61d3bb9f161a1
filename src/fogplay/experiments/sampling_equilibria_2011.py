"""Ponsen, de Jong & Lanctot, Computing Approximate Nash Equilibria … Using Sampling (JAIR 2011): Kuhn poker."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import Experiment, Outcome
from fogplay.experiments.rows import Row, Rows, mean_of, rows_of
from fogplay.experiments.runner import Runner, repeat
from fogplay.experiments.verdicts import Exact, Finding, Positive
from fogplay.solvers.sampling import MonteCarloCfr
from fogplay.trees import flatten

MCCFR, MCTS = "MCCFR", "MCTS"
SQUARED, DOMINATED = "squared_error", "dominated_error"


def worked_example(epsilon: float = 0.6) -> dict[str, dict[str, list[float]]]:
    """Section 3.2.3: the tables after a first iteration that drew K|Q, bet, pass.

    The outcome has probability 1/24, so seeds are tried until one draws it; the kernel is the one that solves games.
    """
    flat = flatten("kuhn")
    for seed in range(10_000):
        learner = MonteCarloCfr(flat, "os-mccfr", {"seed": seed, "epsilon": epsilon})
        learner.advance(1, 1)
        touched = {
            flat.infosets[k] for k in range(flat.num_infosets) if learner.driver.tables.average[flat.slots(k)].any()
        }
        chosen = learner.driver.scratches[0].step["choice"][:2].tolist()
        if touched == {"K:", "Q:b"} and chosen == [1, 0]:
            tables = {}
            for infoset in ("K:", "Q:b"):
                where = flat.slots(flat.infosets.index(infoset))
                regret, sums = learner.driver.tables.regret[where], learner.driver.tables.average[where]
                tables[infoset] = {"regret": regret.tolist(), "sums": sums.tolist()}
            # Equation 6 solved for w: the regret of the action taken is w (1 - tail), with the tail of its infoset.
            tables["Q:b"]["w"] = [tables["Q:b"]["regret"][0] / (1 - 1 / 2)]
            tables["K:"]["w"] = [tables["K:"]["regret"][1] / (1 / 2 - 1 / 4)]
            return tables
    raise AssertionError("no seed drew the example's history")


def run_example(runner: Runner, scale: str) -> list[Row]:
    """The worked example, number for number."""
    return [
        Row(infoset, name, place, 1, value)
        for infoset, table in worked_example().items()
        for name, values in table.items()
        for place, value in enumerate(values)
    ]


def example(rows: Rows, folder: Path) -> Outcome:
    """Regrets, strategy sums and w, which chance has no part in once the history is drawn."""
    findings = []
    for infoset, name, weight in (("Q:b", "I2", -2.0), ("K:", "I1", 4.0)):
        for what, key, published, text in (
            ("regrets (pass, bet)", "regret", (-1.0, 1.0), "(-1, +1)"),
            ("strategy sums", "sums", (0.5, 0.5), "(1/2, 1/2)"),
            ("w", "w", (weight,), f"{weight:g}"),
        ):
            found = [rows.of(infoset, key, place)[0].value for place in range(len(published))]
            same = bool(np.allclose(found, published, atol=1e-9))
            shown = ", ".join(f"{value:+.9g}" for value in found)
            findings.append(Finding(f"{what} at {name}", text, f"({shown})" if len(found) > 1 else shown, Exact(same)))
    return Outcome(tuple(findings))


SIZES = {"quick": (1_000_000, 5), "medium": (10_000_000, 10), "paper": (10_000_000, 10)}  # iterations, runs
PLACES = 25


def run_figure_4_left(runner: Runner, scale: str) -> list[Row]:
    """Kuhn: squared and dominated error of MCCFR and of MCTS, which updates every infoset of an episode."""
    last, runs = SIZES[scale]
    curve, measures = range(last // PLACES, last + 1, last // PLACES), (SQUARED, DOMINATED)
    jobs = repeat(MCCFR, "kuhn", "os-mccfr", last, runs, curve, measures, epsilon=0.6)
    jobs += repeat(MCTS, "kuhn", "uct", last, runs, curve, measures, c=2.0, growth="all")
    return rows_of(runner.run(jobs))


def figure_4_left(rows: Rows, folder: Path) -> Outcome:
    """MCCFR goes to zero; MCTS settles slightly off, still unlearning dominated actions."""
    panels = [
        Panel(SQUARED, "Kuhn poker", "SQR-E", "iterations", log_x=False),
        Panel(DOMINATED, "Kuhn poker", "DOM-E", "iterations", log_x=False),
    ]
    drawn = [mean for label in (MCCFR, MCTS) for measure in (SQUARED, DOMINATED) for mean in rows.curve(label, measure)]
    pictures = draw_curves(folder / "fig4-left", drawn, panels)
    off = {
        measure: rows.estimate(MCTS, measure).minus(rows.estimate(MCCFR, measure)) for measure in (SQUARED, DOMINATED)
    }
    middle = rows.places(MCTS, DOMINATED)[PLACES // 2]
    then = {row.run: row.value for row in rows.of(MCTS, DOMINATED, middle)}
    unlearned = mean_of([then[row.run] - row.value for row in rows.of(MCTS, DOMINATED)])
    findings = [
        Finding("squared error at the end, by how much MCTS's is larger", "MCCFR is near zero, MCTS slightly off",
                off[SQUARED].show(-3), Positive(off[SQUARED])),
        Finding("dominated error at the end, by how much MCTS's is larger", "MCCFR is near zero, MCTS is not",
                off[DOMINATED].show(-3), Positive(off[DOMINATED])),
        Finding("MCTS, fall of the dominated error over the second half", "still unlearning", unlearned.show(-3),
                Positive(unlearned)),
    ]  # fmt: skip
    findings += [
        Finding(f"{label}, {measure.replace('_', ' ')} at the end", "", rows.estimate(label, measure).show(-3))
        for label in (MCCFR, MCTS)
        for measure in (SQUARED, DOMINATED)
    ]
    return Outcome(tuple(findings), tuple(pictures))


EXPERIMENTS = (
    Experiment(
        "sampling-equilibria-2011/example", "The worked example of section 3.2.3", run_example, example, device=False
    ),
    Experiment("sampling-equilibria-2011/fig4-left", "MCCFR and MCTS in Kuhn poker", run_figure_4_left, figure_4_left),
)
