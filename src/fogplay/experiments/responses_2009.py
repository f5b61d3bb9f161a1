"""Shafiei, Sturtevant & Schaeffer (2009), section 6: responses to UCT in five-card Goofspiel, table 3 and figure 9."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from fogplay.evaluate.responses import against_model, mix
from fogplay.experiments.general_game_playing import RESPONDING, agrees, luck, responses_over_the_wire
from fogplay.experiments.pictures import COLOURS, new_picture, save_picture
from fogplay.experiments.reproduce import SCALES, WIRE_SCALES, Experiment, Outcome
from fogplay.experiments.rows import MISSING, Estimate, Row, Rows, mean_of
from fogplay.experiments.runner import Runner
from fogplay.experiments.verdicts import Every, Exact, Finding, Positive
from fogplay.solvers import respond, solve
from fogplay.trees import FlatGame, flatten

GOOFSPIEL = "goofspiel(5,ascending,revealed,percent)"
TABLE_3 = {1.0: (84.5, 0.5), 0.75: (70.0, 10.0), 0.5: (52.42, 42.0), 0.25: (56.0, 49.0), 0.0: (50.63, 53.0)}
CELLS = {  # C and iterations of the UCT that is modelled; the paper says neither
    "quick": ((50.0, 1_000), (100.0, 100_000)),
    "medium": tuple((c, n) for c in (20.0, 50.0, 100.0) for n in (1_000, 10_000, 100_000)),
    "paper": tuple((c, n) for c in (10.0, 20.0, 35.0, 50.0, 100.0, 200.0) for n in (1_000, 10_000, 100_000, 1_000_000)),
}
RUNS = {"quick": 3, "medium": 8, "paper": 8}
NAMES = {"rnr": "restricted Nash", "mixing": "mixing"}  # in the picture
STOPPED = "Responses by CFR that was stopped"
BEYOND = "Mixing beyond restricted Nash at equal risk"
SHORT = (10, 100, 1_000)  # iterations of CFR for responses that have not converged
INNER = (0.25, 0.5, 0.75)  # the confidences of these
WON, PLAYED, WORST = "against the model", "as it plays", "at worst"


def _name(c: float, iterations: int) -> str:
    return f"C = {c:g}, {iterations:,} iterations"


def _measured(flat: FlatGame, label: str, p: float, seed: int, response: Iterable[float], model: object) -> list[Row]:
    """What a response wins: from the model, from the same UCT's best actions, and at worst; means of both seats."""
    table = np.asarray(response)
    expected = against_model(flat, table, model.probabilities)  # type: ignore[attr-defined]
    played = against_model(flat, table, model.greedy().probabilities)  # type: ignore[attr-defined]
    won = {WON: expected.winnings, PLAYED: played.winnings, WORST: expected.guaranteed or ()}
    return [Row(label, measure, p, seed, float(np.mean(values))) for measure, values in won.items()]


def run_responses(runner: Runner, scale: str) -> list[Row]:
    """Restricted Nash responses to UCT's average strategy, exact by the linear program; mixing; and CFR cut short."""
    flat, rows = flatten(GOOFSPIEL), list[Row]()
    for c, iterations in CELLS[scale]:
        name = _name(c, iterations)
        for seed in range(1, RUNS[scale] + 1):
            model = solve(flat, "uct", iterations, seed=seed, c=c).strategy
            exact = {p: respond(flat, model, p, algorithm="lp").strategy.probabilities for p in sorted(TABLE_3)}
            for p, response in exact.items():
                rows += _measured(flat, f"{name}, rnr", p, seed, response, model)
            for share in range(11):
                mixed = mix(flat, exact[1.0], exact[0.0], share / 10)
                rows += _measured(flat, f"{name}, mixing", share / 10, seed, mixed, model)
            for short, p in itertools.product(SHORT, INNER):
                response = respond(flat, model, p, algorithm="cfr", iterations=short).strategy.probabilities
                rows += _measured(flat, f"{name}, CFR for {short:,} iterations", p, seed, response, model)
    return rows


def run_over_the_wire(runner: Runner, scale: str, confidences: Sequence[float]) -> list[Row]:
    """The players themselves over HTTP; every match is a run of its own, since UCT searches anew."""
    rows = []
    for found in responses_over_the_wire(runner, scale, confidences):
        label = f"over the wire, {RESPONDING[scale]}"
        rows.append(Row(label, "won", found.confidence, 1, found.won, found.error, found.matches))
        rows.append(Row(label, "replaced", found.confidence, 1, found.replaced))
        rows.append(Row(label, "moves", found.confidence, 1, found.moves))
    return rows


def run_table_3(runner: Runner, scale: str) -> list[Row]:
    if scale in WIRE_SCALES:
        return run_over_the_wire(runner, scale, tuple(TABLE_3))
    return run_responses(runner, scale)


def _cells(rows: Rows) -> list[str]:
    return [label.removesuffix(", rnr") for label in rows.labels(WON) if label.endswith(", rnr")]


def _distance(rows: Rows, cell: str, measure: str = WON) -> float:
    """How far UCT with these settings is from the paper's: the root mean square over the five confidences."""
    off = [rows.estimate(f"{cell}, rnr", measure, p).value - won for p, (won, _) in TABLE_3.items()]
    return float(np.sqrt(np.mean(np.square(off))))


def _closest(rows: Rows, measure: str = WON) -> str:
    """The settings of UCT with which responses win what the paper's do."""
    return min(_cells(rows), key=lambda cell: _distance(rows, cell, measure))


def table_3(rows: Rows, folder: Path) -> Outcome:
    """What restricted Nash responses to UCT win, and what they risk, for the UCT that is closest to the paper's."""
    cells = _cells(rows)
    if not cells:
        return Outcome(tuple(_over_the_wire(rows)))
    best = _closest(rows)
    line, places = f"{best}, rnr", sorted(TABLE_3)
    findings = []
    for measure, claim, sign in ((WON, "rises with p", 1), (WORST, "falls with p", -1)):
        steps = [_step(rows, line, measure, few, more, sign) for few, more in pairwise(places)]
        values = ", ".join(f"{rows.estimate(line, measure, p).value:.1f}" for p in places)
        shown = f"{values} ({rows.estimate(line, measure, 1.0).runs} runs)"
        total = _step(rows, line, measure, 0.0, 1.0, sign)
        findings.append(
            Finding(f"{measure}, p from 0 to 1", claim, shown, Every((Positive(total), *_not_against(steps))))
        )
    findings += _beside_the_papers(rows, best, WON, "")
    played = _closest(rows, PLAYED)
    findings += _beside_the_papers(rows, played, PLAYED, f"Against the actions that UCT takes, {played}")
    numbers = {"best": best, "distance": f"{_distance(rows, best):.1f}", "cells": f"{len(cells)}"}
    numbers["sweep"] = "; ".join(f"{cell}: {_distance(rows, cell):.1f}" for cell in cells)
    for (measure, cell), short, p in itertools.product(((WON, best), (PLAYED, played)), SHORT, INNER):
        label = f"{cell}, CFR for {short:,} iterations"
        won, worst = (rows.estimate(label, each, p).show(1, "%") for each in (measure, WORST))
        findings.append(
            Finding(f"p = {p:g}, {short:,} iterations, {measure}", "", f"{won}; at worst {worst}", group=STOPPED)
        )
    numbers |= {"best_played": played, "distance_played": f"{_distance(rows, played, PLAYED):.1f}"}
    riskiest = min((rows.estimate(f"{cell}, rnr", WORST, 0.75) for cell in cells), key=lambda each: each.value)
    numbers["worst_75"] = riskiest.show(1, "%")
    for p in (1.0, 0.5):
        numbers[f"played_{100 * p:.0f}"] = rows.estimate(f"{played}, rnr", PLAYED, p).show(1, "%")
    for short, p in itertools.product(SHORT, INNER):
        shown = rows.estimate(f"{played}, CFR for {short:,} iterations", WORST, p).show(1, "%")
        numbers[f"worst_{short}_{100 * p:.0f}"] = shown
    return Outcome((*findings, *_over_the_wire(rows)), numbers=numbers)


def _beside_the_papers(rows: Rows, cell: str, measure: str, group: str) -> list[Finding]:
    """What responses to one UCT win and risk at each confidence, beside the paper's numbers."""
    findings = []
    for p, published in TABLE_3.items():
        for each, value in zip((measure, WORST), published, strict=True):
            found = rows.estimate(f"{cell}, rnr", each, p)
            claim = f"{value:g} (± at most {luck(value):.1f})"
            findings.append(Finding(f"p = {p:g}: {each}", claim, found.show(1, "%"), agrees(found, value), group))
    return findings


def _step(rows: Rows, line: str, measure: str, few: float, more: float, sign: int) -> Estimate:
    first = {row.run: row.value for row in rows.of(line, measure, few)}
    return mean_of([sign * (row.value - first[row.run]) for row in rows.of(line, measure, more)])


def _not_against(steps: list[Estimate]) -> list[Exact]:
    """No step goes the wrong way; the linear program is exact, but for rounding."""
    return [Exact(step.value > -1e-4) for step in steps]


def _over_the_wire(rows: Rows) -> list[Finding]:
    findings = []
    for label in rows.labels("won"):
        for p in reversed(rows.places(label, "won")):
            found = rows.estimate(label, "won", p)
            value = TABLE_3[p][0]
            test = agrees(found, value)
            published = f"{value:g} (± at most {luck(value):.1f})"
            findings.append(Finding(f"p = {p:g}", published, found.show(1, "%"), test, _sentence(label)))
        replaced, moves = (
            int(sum(row.value for row in rows.all if (row.label, row.measure) == (label, measure)))
            for measure in ("replaced", "moves")
        )
        what = "moves that were illegal or late"
        findings.append(Finding(what, "none", f"{replaced} of {moves:,}", Exact(replaced == 0), _sentence(label)))
    return findings


def _sentence(label: str) -> str:
    return label[:1].upper() + label[1:]


def run_figure_9(runner: Runner, scale: str) -> list[Row]:
    if scale in WIRE_SCALES:
        return run_over_the_wire(runner, scale, tuple(sorted(TABLE_3)))
    return run_responses(runner, scale)


def figure_9(rows: Rows, folder: Path) -> Outcome:
    """Whether mixing wins more than restricted Nash at equal risk, on average over confidences and runs."""
    cells = _cells(rows)
    if not cells:
        return Outcome(tuple(_over_the_wire(rows)))
    closest = {measure: _closest(rows, measure) for measure in (WON, PLAYED)}
    figure, axes = new_picture(2)
    opponents = {WON: "against its distribution", PLAYED: "against the actions it takes"}
    findings = []
    for axis, (measure, title) in zip(axes, opponents.items(), strict=True):
        for number, method in enumerate(("rnr", "mixing")):
            label = f"{closest[measure]}, {method}"
            places = rows.places(label, measure)
            risk = [100 - rows.estimate(label, WORST, p).value for p in places]
            won = [rows.estimate(label, measure, p).value for p in places]
            axis.plot(risk, won, "o-", color=COLOURS[number], label=NAMES[method], markersize=4)
        axis.set_title(f"Five-card Goofspiel: responses to UCT, {title}\n{closest[measure]}", fontsize=9)
        axis.set_xlabel("exploitability (% a best response wins)")
        axis.set_ylabel("exploitation (% won)")
        axis.grid(True, alpha=0.3)
        axis.legend(frameon=False)
        for cell in sorted(cells, key=lambda cell: cell != closest[measure]):
            behind = _behind(rows, cell, measure)
            what = f"{title}; UCT with {cell}"
            published = "mixing is better" if cell == closest[measure] else ""
            findings.append(Finding(what, published, behind.show(1, "%"), Positive(behind), BEYOND))
    for short in SHORT:
        for measure, title in opponents.items():
            behind = _behind(rows, closest[measure], measure, f"CFR for {short:,} iterations")
            what = f"{title}, beside responses by CFR that was stopped after {short:,} iterations"
            findings.append(Finding(what, "", behind.show(1, "%"), group=BEYOND))
    pictures = save_picture(figure, folder / "fig9")
    findings.sort(key=lambda finding: not finding.published)
    return Outcome(
        (*findings, *_over_the_wire(rows)), tuple(pictures), {"best": closest[WON], "best_played": closest[PLAYED]}
    )


def _behind(rows: Rows, cell: str, measure: str, responses: str = "rnr") -> Estimate:
    """By how much mixing is above other responses at equal risk: the mean over 0 < p < 1, run by run."""
    gaps = []
    for row in rows.of(f"{cell}, {responses}", measure):
        values = {
            (method, each): {
                p: next(r.value for r in rows.of(f"{cell}, {method}", each, p) if r.run == row.run)
                for p in rows.places(f"{cell}, {method}", each)
            }
            for method in (responses, "mixing")
            for each in (measure, WORST)
        }
        mixed = sorted((values["mixing", WORST][p], values["mixing", measure][p]) for p in values["mixing", WORST])
        risk, won = [point[0] for point in mixed], [point[1] for point in mixed]
        inner = [p for p in values[responses, WORST] if 0 < p < 1]
        gap = [float(np.interp(values[responses, WORST][p], risk, won)) - values[responses, measure][p] for p in inner]
        gaps.append(float(np.mean(gap)))
    return mean_of(gaps) if gaps else MISSING


EXPERIMENTS = (
    Experiment(
        "uct-vs-cfr-2009/table3", "Restricted Nash responses to UCT in Goofspiel", run_table_3, table_3,
        device=False, scales=(*SCALES, *WIRE_SCALES),
    ),
    Experiment(
        "uct-vs-cfr-2009/fig9", "Restricted Nash beside mixing in Goofspiel", run_figure_9, figure_9,
        device=False, scales=(*SCALES, *WIRE_SCALES),
    ),
)  # fmt: skip
