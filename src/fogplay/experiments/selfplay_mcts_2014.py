"""Heinrich & Silver, Self-Play Monte-Carlo Tree Search in Computer Poker (2014): figures 1 and 2."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import Experiment, Outcome
from fogplay.experiments.rows import Estimate, Row, Rows, rows_of
from fogplay.experiments.runner import Runner, repeat
from fogplay.experiments.verdicts import Finding, Positive

PLAIN, SMOOTH, SMOOTH_4 = "IS-UCT", "Smooth IS-UCT (3)", "Smooth IS-UCT (4)"
UNSCALED = "Smooth IS-UCT (3), c = 1.75"
SQUARED, DOMINATED = "squared_error", "dominated_error"
SIZES = {"quick": 2_000_000, "medium": 10_000_000, "paper": 10_000_000}
RUNS, PLACES = 10, 25


def run_curves(runner: Runner, scale: str, pot: int) -> list[Row]:
    """SQ-ERR and DOM-ERR, ten runs, with both mixing schedules.

    The constants c = 2 and 1.75 are calibrated for a pot of 2, and "the appropriate scale of c depends on the size of
    the rewards" (the paper, after its equation 1): here they scale with the pot.
    """
    last = SIZES[scale]
    forms: dict[str, tuple[str, dict[str, Any]]] = {
        PLAIN: ("uct", {"c": 2.0 * pot / 2}),
        SMOOTH: ("smooth-uct", {"c": 1.75 * pot / 2, "schedule": "confidence"}),
        SMOOTH_4: ("smooth-uct", {"c": 1.75 * pot / 2, "schedule": "slow-decay"}),
    }
    if pot != 2:
        forms[UNSCALED] = ("smooth-uct", {"c": 1.75, "schedule": "confidence"})
    curve = range(last // PLACES, last + 1, last // PLACES)
    jobs = []
    for label, (algorithm, parameters) in forms.items():
        jobs += repeat(label, f"kuhn(pot={pot})", algorithm, last, RUNS, curve, (SQUARED, DOMINATED), **parameters)
    return rows_of(runner.run(jobs))


def curves(rows: Rows, folder: Path, pot: int, name: str) -> Outcome:
    """Smooth is better in both errors; with a pot of 8, it has the larger dominated error."""
    title = f"Kuhn poker, initial pot {pot}"
    panels = [Panel(SQUARED, title, "SQ-ERR", log_x=False), Panel(DOMINATED, title, "DOM-ERR", log_x=False)]
    labels = rows.labels(SQUARED)
    drawn = [mean for label in labels for measure in (SQUARED, DOMINATED) for mean in rows.curve(label, measure)]
    pictures = draw_curves(folder / name, drawn, panels)
    squared = rows.estimate(PLAIN, SQUARED).minus(rows.estimate(SMOOTH, SQUARED))
    dominated = rows.estimate(PLAIN, DOMINATED).minus(rows.estimate(SMOOTH, DOMINATED))
    if pot != 2:
        dominated = Estimate(-dominated.value, dominated.error, dominated.runs)
    claim = "Smooth IS-UCT's is lower" if pot == 2 else "Smooth IS-UCT's is higher"
    findings = [
        Finding("SQ-ERR at the end, by how much IS-UCT's is higher", "Smooth IS-UCT's is lower", squared.show(-3),
                Positive(squared)),
        Finding(f"DOM-ERR at the end, by how much IS-UCT's is {'higher' if pot == 2 else 'lower'}", claim,
                dominated.show(-3), Positive(dominated)),
    ]  # fmt: skip
    findings += [
        Finding(f"{measure.replace('_', ' ')} of {label} at the end", "", rows.estimate(label, measure).show(-3))
        for label in labels
        for measure in (SQUARED, DOMINATED)
    ]
    return Outcome(tuple(findings), tuple(pictures), {"free": f"{(pot - 2) / (pot + 1):.2f}"})


EXPERIMENTS = (
    Experiment(
        "selfplay-mcts-2014/fig1",
        "IS-UCT and Smooth IS-UCT in Kuhn poker",
        partial(run_curves, pot=2),
        partial(curves, pot=2, name="fig1"),
    ),
    Experiment(
        "selfplay-mcts-2014/fig2",
        "The same with an initial pot of 8",
        partial(run_curves, pot=8),
        partial(curves, pot=8, name="fig2"),
    ),
)
