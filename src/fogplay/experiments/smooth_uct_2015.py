"""Heinrich & Silver, Smooth UCT Search in Computer Poker (IJCAI 2015): figures 1 and 2, with their calibrations."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import Experiment, Outcome
from fogplay.experiments.rows import MISSING, Estimate, Row, Rows, mean_of, rows_of, show_crossing
from fogplay.experiments.runner import Job, Runner, repeat
from fogplay.experiments.verdicts import Equal, Finding, Positive
from fogplay.solvers.run import log_spaced

UCT, SMOOTH = "UCT", "Smooth UCT"
PARALLEL, ALTERNATING = "Parallel Outcome Sampling", "Alternating Outcome Sampling"

# ---- Figure 1

KUHN_SIZES = {  # episodes and runs, and of the calibration
    "quick": (1_000_000, 10, 200_000, 2),
    "medium": (20_000_000, 20, 10_000_000, 4),
    "paper": (20_000_000, 50, 10_000_000, 4),
}
KUHN_GRID = [0.25 * k for k in range(1, 11)]
KUHN: dict[str, tuple[str, float, dict[str, Any]]] = {  # algorithm, the paper's c, the rest
    UCT: ("uct", 2.0, {}),
    SMOOTH: ("smooth-uct", 1.75, {"gamma": 0.1, "eta": 0.9, "d": 0.001}),
}


def run_figure_1(runner: Runner, scale: str) -> list[Row]:
    """Kuhn: mean squared error of the average policy to the closest equilibrium."""
    last, runs, tuning, tuning_runs = KUHN_SIZES[scale]
    jobs: list[Job] = []
    for label, (algorithm, chosen, fixed) in KUHN.items():
        jobs += repeat(label, "kuhn", algorithm, last, runs, log_spaced(last, 6), ("squared_error",), c=chosen, **fixed)
        for c in KUHN_GRID:
            tried = f"{label} c={c:g}"
            jobs += repeat(tried, "kuhn", algorithm, tuning, tuning_runs, [tuning], ("squared_error",), c=c, **fixed)
    return rows_of(runner.run(jobs))


def figure_1(rows: Rows, folder: Path) -> Outcome:
    """Smooth UCT approaches equilibrium, UCT does not."""
    measure = "squared_error"
    curves = [mean for label in KUHN for mean in rows.curve(label, measure)]
    pictures = draw_curves(folder / "fig1", curves, [Panel(measure, "Kuhn poker", "mean squared error")])
    smooth, uct = rows.estimate(SMOOTH, measure), rows.estimate(UCT, measure)
    ahead = rows.crossing(SMOOTH, UCT, measure)
    falls = _change(rows, SMOOTH, measure, rows.places(SMOOTH, measure)[-1] / 10)
    rises = _change(rows, UCT, measure, _lowest_at(rows, UCT, measure))
    findings = [
        Finding("UCT's error beyond Smooth UCT's, at the end", "Smooth UCT is better", uct.minus(smooth).show(-3),
                Positive(uct.minus(smooth))),
        Finding("Smooth UCT, fall of the error over the last factor of ten", "approaches equilibrium",
                Estimate(-falls.value, falls.error, falls.runs).show(-3), Positive(_negative(falls))),
        Finding("UCT, rise of the error from its lowest point", "diverges", rises.show(-3), Positive(rises)),
        Finding("Smooth UCT strictly better from", "600 episodes on", show_crossing(ahead),
                Equal(ahead, math.log10(600), 0.1, 0.3)),
        Finding("Smooth UCT at the end", "", smooth.show(-3)),
        Finding("UCT at the end", "", uct.show(-3)),
    ]  # fmt: skip
    findings += [
        _calibrated(rows, label, label, "c", KUHN_GRID, chosen, measure) for label, (_, chosen, _) in KUHN.items()
    ]
    return Outcome(tuple(findings), tuple(pictures))


def _negative(estimate: Estimate) -> Estimate:
    return Estimate(-estimate.value, estimate.error, estimate.runs)


def _lowest_at(rows: Rows, label: str, measure: str) -> float:
    return min(rows.places(label, measure), key=lambda at: rows.estimate(label, measure, at).value)


def _change(rows: Rows, label: str, measure: str, since: float) -> Estimate:
    """How much a measure rises from some place to the end, run by run."""
    places = rows.places(label, measure)
    if not places:
        return MISSING
    near = min(places, key=lambda at: abs(math.log(at / since)))
    start = {row.run: row.value for row in rows.of(label, measure, near)}
    return mean_of([row.value - start[row.run] for row in rows.of(label, measure)])


def _calibrated(
    rows: Rows, what: str, label: str, name: str, grid: list[float], chosen: float, measure: str, after: str = ""
) -> Finding:
    """The best value of a parameter, and whether the paper's choice is as good within two standard errors."""
    ends = {value: rows.estimate(f"{label} {name}={value:g}{after}", measure) for value in grid}
    ends = {value: end for value, end in ends.items() if end.runs}
    if chosen not in ends:
        return Finding(f"{what}: best {name}", f"{chosen:g}", "not measured")
    best = min(ends, key=lambda value: ends[value].value)
    behind = ends[chosen].minus(ends[best])
    measured = f"{best:g}, {ends[best].show(-3)}; with {chosen:g}, {ends[chosen].show(-3)}"
    if best == chosen:
        return Finding(f"{what}: best {name}", f"{chosen:g}", measured, Equal(behind, 0.0, 1.0, math.inf))
    return Finding(f"{what}: best {name}", f"{chosen:g}", measured, Equal(behind, 0.0, 0.0, math.inf))


# ---- Figure 2

EPSILONS = [0.4, 0.5, 0.6, 0.7, 0.8]
CS = [6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0]  # the paper's grid begins at 14
TREES: dict[str, tuple[str, float, dict[str, Any]]] = {  # algorithm, the paper's c, the rest
    UCT: ("uct", 20.0, {}),
    SMOOTH: ("smooth-uct", 18.0, {"gamma": 0.1, "eta": 0.9, "d": 0.002}),
}
OUTCOMES: dict[str, dict[str, Any]] = {
    f"{PARALLEL}, {averaging}": {"updates": "parallel", "averaging": averaging} for averaging in ("stochastic", "lazy")
} | {
    f"{ALTERNATING}, {'all explore' if explore == 'all' else 'the learner explores'}, {averaging}": {
        "updates": "alternating", "averaging": averaging, "explore": explore,
    }
    for explore in ("learner", "all") for averaging in ("stochastic", "lazy")
}  # fmt: skip
ALL_EXPLORE = f"{ALTERNATING}, all explore, stochastic"
LEARNER_EXPLORES = f"{ALTERNATING}, the learner explores, stochastic"
GAMES = {"suits unseen": "leduc(suits=unseen)", "suits seen": "leduc(suits=seen)"}
MARKS = (85_000_000, 170_000_000, 300_000_000, 500_000_000)
CROSSINGS = (
    (85e6, 0.036, "the paper's crossing with alternating"),
    (170e6, 0.028, "with parallel outcome sampling"),
)
LEDUC_SIZES = {  # episodes of the lines that the crossings need, of the others, of the calibration; runs of each
    "quick": (2_000_000, 2_000_000, 0, 3, 0),
    "medium": (100_000_000, 20_000_000, 10_000_000, 5, 3),
    "paper": (500_000_000, 500_000_000, 500_000_000, 5, 5),
}
BEST_C = 12.0  # of Smooth UCT, by our calibration
LOWER = f"{SMOOTH} with c = {BEST_C:g}"
LONG = "UCT, longer runs"  # how far it diverges, suits unseen
AT_ONCE = (2**10, 2**12, 2**17)  # concurrent episodes of UCT on a GPU
LATE = (2**10, 2**17)  # by how many episodes updates are late on one CPU thread, to imitate a GPU
BILLION, LONG_RUNS = 1_000_000_000, {"medium": 3, "paper": 5}


def run_figure_2(runner: Runner, scale: str) -> list[Row]:
    """Leduc: exploitability δ, the sum over both players, with suits seen and unseen."""
    long, short, tuning, runs, tuning_runs = LEDUC_SIZES[scale]
    jobs: list[Job] = []

    def add(label: str, game: str, algorithm: str, last: int, repeats: int, **parameters: Any) -> None:
        curve = sorted({*(at for at in log_spaced(last, 5) if at >= 1_000), *(at for at in MARKS if at <= last)})
        if label.partition("=")[1]:
            curve = [last]
        jobs.extend(repeat(label, game, algorithm, last, repeats, curve, ("nash_conv",), **parameters))

    for suits, game in GAMES.items():
        for label, (algorithm, chosen, rest) in TREES.items():
            add(f"{label}, {suits}", game, algorithm, long if label == SMOOTH else short, runs, c=chosen, **rest)
        for label, form in OUTCOMES.items():
            across = label == LEARNER_EXPLORES and suits == "suits seen"  # it meets Smooth UCT with suits unseen late
            last = long if label == ALL_EXPLORE or across else short
            add(f"{label}, {suits}", game, "os-mccfr", last, runs, epsilon=0.5, **form)
            for epsilon in EPSILONS if scale == "paper" and form["averaging"] == "stochastic" else ():
                add(f"{label} epsilon={epsilon:g}, {suits}", game, "os-mccfr", tuning, runs, epsilon=epsilon, **form)
    algorithm, _, rest = TREES[SMOOTH]
    add(f"{LOWER}, suits unseen", GAMES["suits unseen"], algorithm, long, runs, c=BEST_C, **rest)
    if scale in LONG_RUNS:
        algorithm, chosen, _ = TREES[UCT]
        add(f"{LONG}, suits unseen", GAMES["suits unseen"], algorithm, BILLION, LONG_RUNS[scale], c=chosen)
    for suits, game in GAMES.items():
        for label, (algorithm, _, rest) in TREES.items():
            for c in CS if tuning else ():
                add(f"{label} c={c:g}, {suits}", game, algorithm, tuning, tuning_runs, c=c, **rest)
    return rows_of(runner.run(jobs))


def figure_2(rows: Rows, folder: Path) -> Outcome:
    """Both UCTs learn faster at first; UCT diverges; outcome sampling overtakes Smooth UCT late."""
    pictures = []
    for suits, infosets in (("suits unseen", 288), ("suits seen", 936)):
        longest = LONG if rows.places(f"{LONG}, {suits}", "nash_conv") else UCT
        shown = {longest: UCT, SMOOTH: SMOOTH, f"{PARALLEL}, stochastic": "Parallel OS", ALL_EXPLORE:
                 "Alternating OS, all explore", LEARNER_EXPLORES: "Alternating OS, the learner explores"}  # fmt: skip
        curves = [mean for each in shown for mean in rows.curve(f"{each}, {suits}", "nash_conv", shown[each])]
        title = f"Leduc hold'em, {suits} ({infosets} infosets)"
        panel = Panel("nash_conv", title, "exploitability δ (nash_conv)", marks=CROSSINGS)
        name = "fig2" if suits == "suits unseen" else "fig2-suits-seen"
        pictures += draw_curves(folder / name, curves, [panel])
    findings = [*_crossings(rows), *itertools.chain(*(_learning(rows, suits) for suits in GAMES))]
    findings += _diverging(rows)
    for suits in GAMES:
        for label, (_, chosen, _) in TREES.items():
            found = _calibrated(rows, f"{label}, {suits}", label, "c", CS, chosen, "nash_conv", f", {suits}")
            findings.append(replace(found, group="Calibration"))
    recorded = {
        "gpu_unseen_85": (f"{SMOOTH} on a GPU, suits unseen, recorded", 4),
        "gpu_seen_85": (f"{SMOOTH} on a GPU, suits seen, recorded", 4),
        "gpu_uct": (f"{UCT} on a GPU, suits unseen, recorded", 2),
        "cpu_uct_recorded": (f"{UCT}, suits unseen, recorded", 2),
    }
    numbers = {name: rows.estimate(label, "nash_conv").show(digits) for name, (label, digits) in recorded.items()}
    numbers |= {
        name: rows.estimate(f"{LONG}, suits unseen", "nash_conv", at).show(2)
        for name, at in (("cpu_uct", MARKS[3]), ("cpu_uct_billion", BILLION))
    }
    numbers["late_uct"] = rows.estimate(late(max(LATE)), "nash_conv", MARKS[3]).show(2)
    numbers |= {
        name: show_crossing(rows.crossing(f"{label}, {theirs}", f"{SMOOTH}, {mine}", "nash_conv"))
        for name, label, theirs, mine in (
            ("learner_unseen", LEARNER_EXPLORES, "suits unseen", "suits unseen"),
            ("all_unseen", ALL_EXPLORE, "suits unseen", "suits unseen"),
            ("learner_seen", LEARNER_EXPLORES, "suits seen", "suits seen"),
            ("all_seen", ALL_EXPLORE, "suits seen", "suits seen"),
            ("learner_across", LEARNER_EXPLORES, "suits seen", "suits unseen"),
            ("all_across", ALL_EXPLORE, "suits seen", "suits unseen"),
        )
    }
    numbers |= {
        "best_c": f"{BEST_C:g}",
        "lower_across": show_crossing(
            rows.crossing(f"{LEARNER_EXPLORES}, suits seen", f"{LOWER}, suits unseen", "nash_conv")
        ),
        "lower_85": rows.estimate(f"{LOWER}, suits unseen", "nash_conv", MARKS[0]).show(3),
        "learner_85": rows.estimate(f"{LEARNER_EXPLORES}, suits seen", "nash_conv", MARKS[0]).show(3),
        "all_85": rows.estimate(f"{ALL_EXPLORE}, suits seen", "nash_conv", MARKS[0]).show(3),
        "seen_85": rows.estimate(f"{SMOOTH}, suits seen", "nash_conv", MARKS[0]).show(3),
        "unseen_85": rows.estimate(f"{SMOOTH}, suits unseen", "nash_conv", MARKS[0]).show(3),
        "call_down": rows.estimate("Smooth UCT, call-down rollouts, suits seen", "nash_conv").show(3),
        "on_policy": rows.estimate("Smooth UCT, on-policy rollouts, suits seen", "nash_conv").show(3),
    }
    return Outcome(tuple(findings), tuple(pictures), numbers)  # fmt: skip


def _learning(rows: Rows, suits: str) -> list[Finding]:
    """How UCT and Smooth UCT learn with suits seen or unseen."""
    group, smooth, uct = f"Learning, {suits}", f"{SMOOTH}, {suits}", f"{UCT}, {suits}"
    rises = _change(rows, uct, "nash_conv", _lowest_at(rows, uct, "nash_conv"))
    findings = [Finding("UCT, rise of δ from its lowest point", "diverges", rises.show(3), Positive(rises), group)]
    for label in (f"{PARALLEL}, stochastic", ALL_EXPLORE, LEARNER_EXPLORES):
        early = _early_lead(rows, smooth, f"{label}, {suits}")
        what = f"Smooth UCT's lead below a million episodes over {_form(label)}"
        findings.append(Finding(what, "learns faster", f"{early.show(2)} in log10 δ", Positive(early), group))
    for at, read in ((MARKS[0], 0.036), (MARKS[1], 0.028)):
        found = rows.estimate(smooth, "nash_conv", at)
        found = found if found.runs else rows.estimate(f"{smooth}, recorded", "nash_conv", at)
        test = Equal(found, read, 0.0005, read / 4) if found.runs else None
        findings.append(Finding(f"Smooth UCT, δ at {at // 10**6} M", f"{read:g}", found.show(4), test, group))
    return findings


def _form(label: str) -> str:
    """A form of outcome sampling in a row that says already that it is one."""
    return label.replace(" Outcome Sampling", "").lower()


def _early_lead(rows: Rows, smooth: str, other: str) -> Estimate:
    """By how much one line is below another up to a million episodes, in log10, run by run."""
    places = [at for at in rows.places(smooth, "nash_conv") if at <= 1e6 and at in rows.places(other, "nash_conv")]
    if not places:
        return MISSING
    lines = [
        np.log10([[row.value for row in sorted(rows.of(label, "nash_conv", at), key=lambda row: row.run)]
                  for at in places]).mean(axis=0)
        for label in (other, smooth)
    ]  # fmt: skip
    return mean_of((lines[0] - lines[1]).tolist())


def _crossings(rows: Rows) -> list[Finding]:
    """Where every form of outcome sampling overtakes Smooth UCT, within each game and from one game to the other."""
    findings = []
    pairs = [("suits unseen", "suits seen")] + [(suits, suits) for suits in GAMES]
    for mine, theirs in pairs:
        games = f"both with {mine}" if mine == theirs else f"Smooth UCT with {mine}, outcome sampling with {theirs}"
        for label in sorted(OUTCOMES, key=lambda label: label != LEARNER_EXPLORES):
            where = MARKS[0] if label.startswith(ALTERNATING) else MARKS[1]
            crossing = rows.crossing(f"{label}, {theirs}", f"{SMOOTH}, {mine}", "nash_conv")
            published = f"at about {where // 10**6} M episodes"
            last = max(rows.places(f"{label}, {theirs}", "nash_conv"), default=0)
            shown = f"not within {last:,.0f}" if math.isinf(crossing.value) else show_crossing(crossing)
            test = Equal(crossing, math.log10(where), 0.05, 0.3) if crossing.runs else None
            group = f"Where outcome sampling overtakes Smooth UCT: {games}"
            findings.append(Finding(_form(label), published, shown, test, group))
    group = f"Where outcome sampling with suits seen overtakes {LOWER} with suits unseen"
    for label in (LEARNER_EXPLORES, ALL_EXPLORE):
        crossing = rows.crossing(f"{label}, suits seen", f"{LOWER}, suits unseen", "nash_conv")
        last = max(rows.places(f"{label}, suits seen", "nash_conv"), default=0)
        shown = f"not within {last:,.0f}" if math.isinf(crossing.value) else show_crossing(crossing)
        findings.append(Finding(_form(label), "", shown, None, group))
    for at in (MARKS[0], MARKS[1]):
        found = rows.estimate(f"{LOWER}, suits unseen", "nash_conv", at)
        if found.runs:
            findings.append(Finding(f"{LOWER}, δ at {at // 10**6} M", "", found.show(4), None, group))
    return findings


def _diverging(rows: Rows) -> list[Finding]:
    """UCT long after its lowest point, on one CPU thread and with the many concurrent episodes of a GPU."""
    label, group = f"{LONG}, suits unseen", "UCT in longer runs"
    places = [at for at in rows.places(label, "nash_conv") if at in (MARKS[0], MARKS[3], BILLION)]
    shown = [
        (f"one CPU thread, suits unseen, {at:,.0f} episodes", rows.estimate(label, "nash_conv", at)) for at in places
    ]
    for number in LATE:
        what = f"one CPU thread, updates up to {number:,} episodes late, suits unseen, {MARKS[3]:,} episodes"
        shown.append((what, rows.estimate(late(number), "nash_conv", MARKS[3])))
    for threads in AT_ONCE:
        found = rows.estimate(at_once(threads), "nash_conv", MARKS[3])
        shown.append((f"a GPU, up to {threads:,} episodes at once, suits unseen, {MARKS[3]:,} episodes", found))
    for where, suits in (("", "suits unseen"), (" on a GPU", "suits unseen"), (" on a GPU", "suits seen")):
        found = rows.estimate(f"{UCT}{where}, {suits}, recorded", "nash_conv", MARKS[3])
        shown.append((f"{where[4:] or 'one CPU thread'}, {suits}, {MARKS[3]:,} episodes, earlier runs", found))
    return [Finding(what, "", found.show(2), group=group) for what, found in shown if found.runs]


def late(episodes: int) -> str:
    """The label of UCT on one CPU thread whose updates are so many episodes late."""
    return f"{UCT}, updates {episodes} episodes late, suits unseen"


def at_once(threads: int) -> str:
    """The label of UCT with so many concurrent episodes on a GPU."""
    return f"{UCT} on a GPU, {threads} at once, suits unseen"


EXPERIMENTS = (
    Experiment("smooth-uct-2015/fig1", "Learning curves in Kuhn poker", run_figure_1, figure_1),
    Experiment("smooth-uct-2015/fig2", "Learning curves in Leduc hold'em", run_figure_2, figure_2),
)
