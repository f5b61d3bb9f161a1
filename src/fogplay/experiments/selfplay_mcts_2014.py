"""Heinrich & Silver, Self-Play Monte-Carlo Tree Search in Computer Poker (2014): figures 1 and 2."""

from __future__ import annotations

from typing import Any

from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import Experiment, Finding, Outcome, final, show
from fogplay.experiments.runner import Runner, means, repeat

PLAIN, SMOOTH, SMOOTH_4 = "IS-UCT", "Smooth IS-UCT (3)", "Smooth IS-UCT (4)"
UNSCALED = "Smooth IS-UCT (3), c = 1.75"
MEASURES = ("squared_error", "dominated_error")


def _curves(runner: Runner, scale: str, pot: int, name: str) -> Outcome:
    """SQ-ERR and DOM-ERR every 10^4 episodes, ten runs, with both mixing schedules.

    The constants c = 2 and 1.75 are calibrated for a pot of 2, and "the appropriate scale of c depends on the size of
    the rewards" (the paper, after its equation 1): here they scale with the pot.
    """
    last = 10_000_000 if scale == "paper" else 3_000_000
    game, curve = f"kuhn(pot={pot})", range(10_000, last + 1, 10_000)
    forms: dict[str, tuple[str, dict[str, Any]]] = {
        PLAIN: ("uct", {"c": 2.0 * pot / 2}),
        SMOOTH: ("smooth-uct", {"c": 1.75 * pot / 2, "schedule": "confidence"}),
        SMOOTH_4: ("smooth-uct", {"c": 1.75 * pot / 2, "schedule": "slow-decay"}),
    }
    if pot != 2:
        forms[UNSCALED] = ("smooth-uct", {"c": 1.75, "schedule": "confidence"})
    jobs = []
    for label, (algorithm, parameters) in forms.items():
        jobs += repeat(label, game, algorithm, last, 10, curve, MEASURES, **parameters)
    found = means(runner.run(jobs))
    title = f"Kuhn poker, initial pot {pot}"
    panels = [
        Panel("squared_error", title, "SQ-ERR", log_x=False),
        Panel("dominated_error", title, "DOM-ERR", log_x=False),
    ]
    pictures = draw_curves(runner.folder / name, found, panels)
    ends = {(label, measure): final(found, label, measure) for label in forms for measure in MEASURES}
    squared = ends[SMOOTH, "squared_error"].mean < ends[PLAIN, "squared_error"].mean
    dominated = ends[SMOOTH, "dominated_error"].mean < ends[PLAIN, "dominated_error"].mean
    if pot == 2:
        claims = (("SQ-ERR of Smooth below IS-UCT's", squared), ("DOM-ERR of Smooth below IS-UCT's", dominated))
    else:
        claims = (("SQ-ERR of Smooth below IS-UCT's", squared), ("DOM-ERR of Smooth above IS-UCT's", not dominated))
    findings = [Finding(what, "yes", "yes" if holds else "no", holds) for what, holds in claims]
    for (label, measure), mean in ends.items():
        findings.append(Finding(f"{measure.replace('_', ' ')} of {label} at the end", "", show(mean)))
    notes: tuple[str, ...] = ()
    if pot > 2:
        free = (pot - 2) / (pot + 1)
        notes = (
            f"With an initial pot of {pot} the equilibria themselves take a dominated action: player 1 may bet a queen "
            f"after a pass with any probability up to {free:.3g} (see games/kuhn_equilibria.py), so a larger dominated "
            "error does not mean a worse policy here.",
            "With c = 1.75, too small for these payoffs, some runs converge to always betting a queen; the paper does "
            "not say which c it used for this pot.",
        )
    return Outcome(tuple(findings), tuple(pictures), notes)


def figure_1(runner: Runner, scale: str) -> Outcome:
    """Kuhn with an initial pot of 2."""
    return _curves(runner, scale, 2, "fig1")


def figure_2(runner: Runner, scale: str) -> Outcome:
    """Kuhn with an initial pot of 8."""
    return _curves(runner, scale, 8, "fig2")


EXPERIMENTS = (
    Experiment("selfplay-mcts-2014/fig1", "IS-UCT and Smooth IS-UCT in Kuhn poker", figure_1),
    Experiment("selfplay-mcts-2014/fig2", "The same with an initial pot of 8", figure_2),
)
