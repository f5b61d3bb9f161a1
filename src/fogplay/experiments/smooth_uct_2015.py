"""Heinrich & Silver, Smooth UCT Search in Computer Poker (IJCAI 2015): figures 1 and 2, with their calibrations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import Experiment, Finding, Outcome, better_from, final, show, value_at
from fogplay.experiments.runner import Job, Mean, Runner, means, repeat
from fogplay.solvers.run import log_spaced

UCT, SMOOTH = "UCT", "Smooth UCT"
PARALLEL, ALTERNATING = "Parallel Outcome Sampling", "Alternating Outcome Sampling"


def figure_1(runner: Runner, scale: str) -> Outcome:
    """Kuhn: mean squared error of the average policy to the closest equilibrium."""
    game, measures = "kuhn", ("squared_error",)
    last, runs, tuning, tuning_runs = (
        (20_000_000, 50, 10_000_000, 4) if scale == "paper" else (1_000_000, 10, 200_000, 2)
    )
    curve = log_spaced(last, 12)
    settings: dict[str, dict[str, float]] = {"uct": {}, "smooth-uct": {"gamma": 0.1, "eta": 0.9, "d": 0.001}}
    chosen = {"uct": 2.0, "smooth-uct": 1.75}
    labels = {"uct": UCT, "smooth-uct": SMOOTH}
    jobs: list[Job] = []
    grid = [0.25 * k for k in range(1, 11)]
    for algorithm, fixed in settings.items():
        jobs += repeat(labels[algorithm], game, algorithm, last, runs, curve, measures, c=chosen[algorithm], **fixed)
        for c in grid:
            tried = f"{labels[algorithm]} c={c:g}"
            jobs += repeat(tried, game, algorithm, tuning, tuning_runs, [tuning], measures, c=c, **fixed)
    found = means(runner.run(jobs))
    panels = [Panel("squared_error", "Kuhn poker", "mean squared error")]
    pictures = draw_curves(runner.folder / "fig1", found, panels, [UCT, SMOOTH])
    uct, smooth = final(found, UCT, "squared_error"), final(found, SMOOTH, "squared_error")
    ahead = better_from(found, SMOOTH, UCT, "squared_error")
    since = f"{ahead:,}" if ahead else "never"
    judged = scale == "paper"  # two short runs per value do not separate neighbouring values
    best = {each: _best(found, each, grid, "squared_error") for each in (UCT, SMOOTH)}
    return Outcome(
        (
            Finding("Smooth UCT at the end", "approaches equilibrium", show(smooth), smooth.mean < 1e-4),
            Finding("UCT at the end", "does not", show(uct), uct.mean > 10 * smooth.mean),
            Finding(
                "Smooth UCT strictly better from", "about 600 episodes on", since, ahead is not None and ahead <= 6000
            ),
            Finding("UCT's best c", "2", best[UCT], best[UCT].startswith("2 ") if judged else None),
            Finding("Smooth UCT's best c", "1.75", best[SMOOTH], best[SMOOTH].startswith("1.75 ") if judged else None),
        ),
        tuple(pictures),
        ("The best c has the lowest mean final error in the calibration runs.",),
    )


def _best(found: Sequence[Mean], label: str, grid: Sequence[float], measure: str, name: str = "c") -> str:
    ends = {value: final(found, f"{label} {name}={value:g}", measure) for value in grid}
    best = min(ends, key=lambda value: ends[value].mean)
    return f"{best:g} ({ends[best].mean:.3g})"


EPSILONS = (0.4, 0.5, 0.6, 0.7, 0.8)
FIGURE_2: dict[str, Any] = {  # label: algorithm, the parameter calibrated, its grid, the paper's choice, the rest
    UCT: ("uct", "c", (14, 16, 18, 20, 22), 20, {}),
    SMOOTH: ("smooth-uct", "c", (14, 16, 18, 20, 22), 18, {"gamma": 0.1, "eta": 0.9, "d": 0.002}),
    PARALLEL: ("os-mccfr", "epsilon", EPSILONS, 0.5, {"updates": "parallel", "averaging": "stochastic"}),
    ALTERNATING: ("os-mccfr", "epsilon", EPSILONS, 0.5, {"updates": "alternating", "averaging": "stochastic"}),
}
UNSEEN, SEEN = "leduc(suits=unseen)", "leduc(suits=seen)"


def figure_2(runner: Runner, scale: str) -> Outcome:
    """Leduc: exploitability δ, the sum over both players."""
    last, runs = (500_000_000, 5) if scale == "paper" else (10_000_000, 2)
    marks = (85_000_000, 170_000_000, 300_000_000) if scale == "paper" else ()
    curve = sorted({*log_spaced(last, 10), *marks})
    jobs = []
    for label, (algorithm, name, grid, chosen, rest) in FIGURE_2.items():
        for value in grid if scale == "paper" else (chosen,):
            tried = f"{label} {name}={value:g}"
            jobs += repeat(tried, UNSEEN, algorithm, last, runs, curve, ("nash_conv",), **{name: value}, **rest)
        tried = f"{label}, suits seen"
        jobs += repeat(tried, SEEN, algorithm, last, runs, curve, ("nash_conv",), **{name: chosen}, **rest)
    found = means(runner.run(jobs))
    picked = [
        _relabel(found, f"{label} {name}={chosen:g}", label) for label, (_, name, _, chosen, _) in FIGURE_2.items()
    ]
    main = [mean for group in picked for mean in group]
    seen = [mean for label in FIGURE_2 for mean in _relabel(found, f"{label}, suits seen", label)]
    crossings = (
        (85e6, 0.036, "the paper's crossing with alternating"),
        (170e6, 0.028, "with parallel outcome sampling"),
    )
    panel = Panel(
        "nash_conv", "Leduc hold'em, suits unseen (288 infosets)", "exploitability δ (nash_conv)", marks=crossings
    )
    pictures = draw_curves(runner.folder / "fig2", main, [panel])
    panel = Panel(
        "nash_conv", "Leduc hold'em, suits seen (936 infosets)", "exploitability δ (nash_conv)", marks=crossings
    )
    pictures += draw_curves(runner.folder / "fig2-suits-seen", seen, [panel])
    findings = [
        Finding(
            "UCT learns fast, then diverges",
            "never reaches low exploitability",
            f"lowest {_lowest(main, UCT):.3g}, at the end {show(final(main, UCT, 'nash_conv'))}",
            final(main, UCT, "nash_conv").mean > 1.2 * _lowest(main, UCT),
        )
    ]
    for which, group in (("suits unseen", main), ("suits seen", seen)):
        for at, read in ((85_000_000, 0.036), (170_000_000, 0.028), (300_000_000, None)):
            if at in marks:
                measured = value_at(group, SMOOTH, "nash_conv", at)
                near = None if read is None else abs(measured.mean - read) <= 3 * measured.standard_error
                published = f"{read:g}" if read else ""
                findings.append(Finding(f"Smooth UCT at {at // 10**6} M, {which}", published, show(measured), near))
        for label, where in ((ALTERNATING, 85_000_000), (PARALLEL, 170_000_000)):
            ahead = better_from(group, label, SMOOTH, "nash_conv")
            near = None if last < where else ahead is not None and where / 2 <= ahead <= where * 2
            since = f"{ahead:,}" if ahead else "not yet"
            findings.append(Finding(f"{label} better from, {which}", f"about {where // 10**6} M", since, near))
    if scale == "paper":
        for label, (_, name, grid, chosen, _) in FIGURE_2.items():
            best = _best(found, label, grid, "nash_conv", name)
            same = best.split()[0] == f"{chosen:g}"
            findings.append(Finding(f"{label}: best {name}", f"{chosen:g}", best, same))
    notes = (
        "The paper does not say whether players see suits, which never matter. Unseen, there are 288 infosets; "
        "seen, 936, each visited about a third as often. Both are shown; the calibration is for unseen suits.",
    )
    return Outcome(tuple(findings), tuple(pictures), notes)


def _relabel(found: Sequence[Mean], label: str, new: str) -> list[Mean]:
    return [Mean(new, m.measure, m.iteration, m.runs, m.mean, m.standard_error) for m in found if m.label == label]


def _lowest(found: Sequence[Mean], label: str) -> float:
    return min(mean.mean for mean in found if mean.label == label)


EXPERIMENTS = (
    Experiment("smooth-uct-2015/fig1", "Learning curves in Kuhn poker", figure_1),
    Experiment("smooth-uct-2015/fig2", "Learning curves in Leduc hold'em", figure_2),
)
