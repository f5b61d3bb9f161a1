"""Ponsen, de Jong & Lanctot (2011), responses to models in small games: figures 6 and 7."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fogplay.experiments.pictures import COLOURS, draw_tradeoff, new_picture, save_picture
from fogplay.experiments.reproduce import Experiment, Outcome
from fogplay.experiments.rows import Estimate, Row, Rows, mean_of
from fogplay.experiments.runner import Bound, Job, Point, Runner
from fogplay.experiments.verdicts import Every, Finding, Positive
from fogplay.solvers import TradeoffPoint, solve, tradeoff
from fogplay.solvers.respond import CONFIDENCES
from fogplay.solvers.run import log_spaced
from fogplay.strategies import TabularStrategy
from fogplay.trees import FlatGame, flatten

SMALL = {"OCP": "ocp(50)", "Goofspiel": "goofspiel(5)", "Bluff": "bluff(1,1,4)", "PAM": "pam(3,3,5)"}
LARGE = {"OCP": "ocp(500)", "Goofspiel": "goofspiel(6)", "Bluff": "bluff(1,1,6)", "PAM": "pam(3,3,8)"}
RESPONSE_GAMES = {"quick": SMALL, "medium": SMALL, "paper": LARGE}  # the paper gives only the size of OCP
MODELS = {"quick": 3, "medium": 4, "paper": 4}  # runs: each has a model of its own
TRADE_SECONDS = {"quick": 0.1, "medium": 0.5, "paper": 12.0}  # of sampling per response, about, on one core
RACE_SECONDS = {"quick": 0.2, "medium": 1.0, "paper": 12.0}
RACE_CONFIDENCE = 0.5
MODEL_NASH_CONV = 0.1  # the models are runs of outcome sampling that were stopped here
EXACT, SAMPLED, MIXING = "RNR, exact", "MCRNR", "mixing"


@functools.lru_cache(maxsize=1)
def _flat(spec: str) -> FlatGame:
    """The game; the last one is kept, since large ones take half a minute to build."""
    return flatten(spec)


def model_of(runner: Runner, spec: str, seed: int = 1) -> str:
    """The file of a game's model: outcome sampling with ε = 0.6, run until its nash_conv is at most 0.1."""
    folder = runner.folder.absolute().parent.parent / "models"
    folder.mkdir(parents=True, exist_ok=True)
    stem = "".join(letter if letter.isalnum() else "-" for letter in f"{spec}-{seed}").strip("-")
    file, checkpoint = folder / f"{stem}.safetensors", folder / f"{stem}.checkpoint"
    flat, iterations = _flat(spec), 1_000
    while not file.exists():
        iterations *= 2
        found = solve(
            flat, "os-mccfr", iterations, seed=seed, epsilon=0.6, checkpoint=checkpoint, resume=iterations > 2_000
        )
        if found.interrupted:
            raise KeyboardInterrupt
        if found.nash_conv is not None and found.nash_conv <= MODEL_NASH_CONV:
            found.strategy.save(file)
            checkpoint.unlink()
    return str(file)


def iterations_in(spec: str, algorithm: str, seconds: float) -> int:
    """About how many iterations take ``seconds`` on one core, computed without a clock so that runs can be repeated."""
    if algorithm == "os-mccfr":
        return int(2_000_000 * seconds)
    if algorithm == "es-mccfr":
        return int(4e7 * seconds / nodes_touched(spec, algorithm))
    return max(50, int(4e8 * seconds / len(_flat(spec).sequences.entry_weight)))


def nodes_touched(spec: str, algorithm: str, samples: int = 80) -> float:
    """How many nodes of a restricted game one iteration visits: a history, all moves of one player, or the whole tree.

    A restricted game has a coin at its root and two copies of the game below it, in one of which the others are bound.
    """
    flat = _flat(spec)
    if algorithm.startswith("cfr"):
        return float(1 + 2 * flat.num_nodes)
    rng, tree, visited = np.random.default_rng(0), flat.tree, 0
    for sample in range(samples):
        learner, responder, bound = sample % 2, sample // 2 % 2, rng.random() < RACE_CONFIDENCE
        explores = algorithm == "es-mccfr" and (learner == responder or not bound)
        waiting, visited = [0], visited + 1  # the coin
        while waiting:
            node = waiting.pop()
            first, count, visited = int(tree.first_child[node]), int(tree.num_children[node]), visited + 1
            if explores and tree.player[node] == learner:
                waiting.extend(range(first, first + count))
            elif count:
                waiting.append(first + int(rng.integers(count)))
    return visited / samples


# ---- Figure 6


def run_figure_6(runner: Runner, scale: str) -> list[Row]:
    """Exploitation against exploitability, by sampling, exactly, and by mixing."""
    seconds, rows = TRADE_SECONDS[scale], list[Row]()
    for name, spec in RESPONSE_GAMES[scale].items():
        for seed in range(1, MODELS[scale] + 1):
            model = model_of(runner, spec, seed)
            jobs = []
            for method, algorithm, parameters in ((SAMPLED, "os-mccfr", {"epsilon": 0.6}), (EXACT, "cfr+", {})):
                last = iterations_in(spec, algorithm, seconds if method == SAMPLED else seconds / 2)
                jobs += [
                    Job(f"{name}, {method} {p:g}", spec, algorithm, last, seed, (last,), ("winnings", "risk"),
                        parameters, Bound(model, responder, p))
                    for p in CONFIDENCES for responder in (0, 1)
                ]  # fmt: skip
            sums: dict[tuple[str, str], float] = {}
            for point in runner.run(jobs):
                sums[point.label, point.measure] = sums.get((point.label, point.measure), 0.0) + point.value
            for (label, measure), value in sums.items():
                method, _, p = label.rpartition(" ")
                rows.append(Row(method, measure, float(p), seed, value))
            rows += _mixing(name, spec, model, seed, seconds)
    return rows


def _mixing(name: str, spec: str, model: str, seed: int, seconds: float) -> list[Row]:
    """Mixtures of best response and equilibrium."""
    last = iterations_in(spec, "cfr+", seconds)
    found = [
        each
        for each in tradeoff(_flat(spec), TabularStrategy.read(model), (0.0,), iterations=last)
        if each.method == MIXING
    ]
    return [
        Row(f"{name}, {MIXING}", measure, each.confidence, seed, value)
        for each in found
        for measure, value in (("winnings", sum(each.winnings)), ("risk", each.nash_conv))
    ]


def figure_6(rows: Rows, folder: Path) -> Outcome:
    """A noticeable gain for little exploitability at p ≤ 0.8; the last step costs most, except in Bluff."""
    names = [label.partition(",")[0] for label in rows.labels("risk") if label.endswith(f", {SAMPLED}")]
    curves: dict[str, list[TradeoffPoint]] = {}
    for name in names:
        base = {method: rows.estimate(f"{name}, {method}", "winnings", 0.0).value for method in (EXACT, SAMPLED)}
        base[MIXING] = base[EXACT]
        curves[name] = [
            TradeoffPoint(method, p, rows.estimate(f"{name}, {method}", "winnings", p).value - base[method],
                          rows.estimate(f"{name}, {method}", "risk", p).value, (), None)
            for method in (EXACT, SAMPLED, MIXING) for p in rows.places(f"{name}, {method}", "risk")
        ]  # fmt: skip
    pictures = draw_tradeoff(folder / "fig6", curves)
    findings = []
    for name in names:
        label = f"{name}, {SAMPLED}"
        gained, risked = _share(rows, label, "winnings", 0.0, 0.8), _share(rows, label, "risk", 0.0, 0.8)
        more = mean_of([a - b for a, b in zip(gained, risked, strict=True)])
        shown = (
            f"{_percent(mean_of(gained))} of the exploitation for {_percent(mean_of(risked))} of the exploitability "
            f"of p = 1"
        )
        findings.append(Finding(f"{name}: p = 0.8", "a noticeable gain for a small loss", shown, Positive(more)))
    if "Bluff" in names:
        findings += [_last_step(rows, names, method) for method in (EXACT, SAMPLED)]
    for name in sorted({row.label for row in rows.all if row.measure == "recorded share"}):
        found = rows.estimate(name, "recorded share")
        findings.append(
            Finding(f"the same in {name}, MCRNR with 24 million episodes", "", f"{found.value:.0%} (one run)")
        )
    numbers = {
        f"{name.lower()}_{key}": _percent(mean_of(_share(rows, f"{name}, {method}", "risk", 0.97, 1.0)))
        for name in names
        for key, method in (("exact", EXACT), ("sampled", SAMPLED))
    }
    return Outcome(tuple(findings), tuple(pictures), numbers)


def _last_step(rows: Rows, names: list[str], method: str) -> Finding:
    """What the step from p = 0.97 to 1 costs in every game, as a share of all exploitability that is added."""
    steep = {name: _share(rows, f"{name}, {method}", "risk", 0.97, 1.0) for name in names}
    beyond = [
        mean_of([a - b for a, b in zip(steep[name], steep["Bluff"], strict=True)]) for name in names if name != "Bluff"
    ]
    shown = ", ".join(f"{name} {_percent(mean_of(steep[name]))}" for name in names)
    what = f"share of the exploitability that comes with p from 0.97 to 1, {method}"
    return Finding(what, "high in every game except Bluff", shown, Every(tuple(Positive(each) for each in beyond)))


def _share(rows: Rows, label: str, measure: str, start: float, end: float) -> list[float]:
    """By run, what part of the way from p = 0 to p = 1 a measure goes between two confidences."""
    by_run = {p: {row.run: row.value for row in rows.of(label, measure, p)} for p in (0.0, start, end, 1.0)}
    return [
        (by_run[end][run] - by_run[start][run]) / (by_run[1.0][run] - by_run[0.0][run]) for run in sorted(by_run[1.0])
    ]


def _percent(estimate: Estimate) -> str:
    return f"{100 * estimate.value:z.0f} ± {100 * estimate.error:.0f} %"


# ---- Figure 7

METHODS = {
    "MCRNR, outcome sampling": "os-mccfr",
    "MCRNR, external sampling": "es-mccfr",
    "RNR, CFR": "cfr",
    "RNR, CFR+": "cfr+",
}
RACES: dict[str, tuple[str, ...]] = {
    "quick": tuple(SMALL.values()),
    "medium": ("ocp(500)", "ocp(1000)", *SMALL.values()),
    "paper": (*LARGE.values(), "ocp(1000)", "ocp(1500)", *SMALL.values()),
}
TENTH, HUNDREDTH = 0.1, 0.01  # of the payoff range
LEAD = "Outcome sampling's lead over CFR in log10 nash_conv"
EARLY = (3, 10)  # iterations of CFR at which sampling is compared with it


def run_figure_7(runner: Runner, scale: str) -> list[Row]:
    """The nash_conv of responses by sampling and full width, all compiled, with p = 0.5, by time and by nodes."""
    rows = []
    for spec in RACES[scale]:
        for seed in range(1, MODELS[scale] + 1):
            model, jobs = model_of(runner, spec, seed), []
            for algorithm in METHODS.values():
                last = iterations_in(spec, algorithm, RACE_SECONDS[scale])
                parameters = {"epsilon": 0.6} if algorithm == "os-mccfr" else {}
                jobs += [
                    Job(f"{spec} {algorithm}", spec, algorithm, last, seed, tuple(log_spaced(last, 5)),
                        ("nash_conv",), parameters, Bound(model, responder, RACE_CONFIDENCE))
                    for responder in (0, 1)
                ]  # fmt: skip
            rows += _summed(runner.run(jobs))
        for algorithm in METHODS.values():
            rows.append(Row(f"{spec} {algorithm}", "nodes", 1, 1, nodes_touched(spec, algorithm)))
        rows.append(Row(spec, "payoff range", 0, 1, _flat(spec).payoff_range))
    return rows


def _summed(points: Sequence[Point]) -> list[Row]:
    """Both responders together, iteration by iteration."""
    sums: dict[tuple[str, str, int, int], float] = {}
    for point in points:
        for measure, value in (("nash_conv", point.value), ("seconds", point.seconds)):
            key = (point.label, measure, point.iteration, point.seed)
            sums[key] = sums.get(key, 0.0) + value
    return [Row(*key, value) for key, value in sums.items()]


def figure_7(rows: Rows, folder: Path) -> Outcome:
    """Sampling is better for the same time, most of all early."""
    specs = list(dict.fromkeys(label.rpartition(" ")[0] for label in rows.labels("nash_conv")))
    pictures = []
    for spec in specs:
        pictures += _draw_race(folder / f"fig7-{_stem(spec)}", spec, rows)
    findings, numbers = [], {}
    for axis, unit in (("seconds", "the same time"), ("nodes", "equally many nodes touched")):
        for spec, iteration in itertools.product(specs, EARLY):
            lead = _early_lead(rows, spec, axis, iteration)
            numbers[f"{_stem(spec)}_{axis}_{iteration}"] = lead.show(2)
            what, group = f"{spec}, beside iteration {iteration} of CFR", f"{LEAD}, for {unit}"
            findings.append(Finding(what, "sampling is better, above all early", lead.show(2), Positive(lead), group))
    details = []
    for spec in specs:
        for share in (TENTH, HUNDREDTH):
            target = share * rows.estimate(spec, "payoff range").value
            times = ", ".join(
                f"{name} {_reached(rows, f'{spec} {algorithm}', target)}" for name, algorithm in METHODS.items()
            )
            details.append(Finding(f"{spec}, {target:g}", "", times, group="Seconds to a nash_conv"))
    for label in rows.labels("recorded seconds"):
        for at in rows.places(label, "recorded seconds"):
            value = rows.estimate(label, "recorded seconds", at).value
            group = "Seconds to a nash_conv, one run on an idle machine"
            details.append(Finding(f"{label}, {at:g}", "", f"{value:.2g}", group=group))
    return Outcome((*findings, *details), tuple(pictures), numbers)


def _stem(spec: str) -> str:
    return spec.replace("(", "-").replace(")", "").replace(",", "-")


def _line(rows: Rows, label: str, axis: str, run: int) -> list[tuple[float, float]]:
    """[(seconds or nodes, nash_conv)] of one run; both grow evenly with the iterations."""
    places = rows.places(label, "nash_conv")
    each = _cost(rows, label, axis, run)
    values = [next(row.value for row in rows.of(label, "nash_conv", at) if row.run == run) for at in places]
    return [(at * each, value) for at, value in zip(places, values, strict=True)]


def _cost(rows: Rows, label: str, axis: str, run: int) -> float:
    """Nodes or seconds per iteration of both responders; over the whole run, since single iterations are too short."""
    if axis == "nodes":
        return 2 * rows.estimate(label, "nodes").value
    seconds = next(row.value for row in rows.of(label, "seconds") if row.run == run)
    return seconds / rows.places(label, "seconds")[-1]


def _early_lead(rows: Rows, spec: str, axis: str, iteration: int) -> Estimate:
    """By how much outcome sampling is below CFR after some iterations of CFR, in log10, run by run.

    Between two of its measurements sampling is interpolated; if it stopped earlier, its last one counts.
    """
    leads = []
    for row in rows.of(f"{spec} cfr", "nash_conv"):
        full = _line(rows, f"{spec} cfr", axis, row.run)
        where = next(number for number, at in enumerate(rows.places(f"{spec} cfr", "nash_conv")) if at >= iteration)
        x, y = np.log10(_line(rows, f"{spec} os-mccfr", axis, row.run)).T
        place, reached = np.log10(full[where])
        if x[0] <= place:
            leads.append(float(reached - np.interp(place, x, y)))
    return mean_of(leads)


def _reached(rows: Rows, label: str, target: float) -> str:
    """The mean of the runs' seconds to a target."""
    times = []
    for row in rows.of(label, "nash_conv"):
        line = _line(rows, label, "seconds", row.run)
        times.append(next((seconds for seconds, value in line if value <= target), math.inf))
    return "–" if math.inf in times else f"{mean_of(times).value:.2g}"


def _draw_race(path: Path, spec: str, rows: Rows) -> list[Path]:
    figure, axes = new_picture(2)
    for number, (name, algorithm) in enumerate(METHODS.items()):
        label = f"{spec} {algorithm}"
        places = rows.places(label, "nash_conv")
        values = [rows.estimate(label, "nash_conv", at).value for at in places]
        runs = [row.run for row in rows.of(label, "nash_conv")]
        for axis, what in zip(axes, ("seconds", "nodes"), strict=True):
            each = mean_of([_cost(rows, label, what, run) for run in runs]).value
            axis.plot([at * each for at in places], values, color=COLOURS[number], label=name, linewidth=1.5)
    for axis, label in zip(axes, ("seconds of learning", "nodes touched"), strict=True):
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_title(f"{spec}, p = 0.5", fontsize=11)
        axis.set_xlabel(label)
        axis.set_ylabel("nash_conv of the restricted games")
        axis.grid(True, which="major", alpha=0.3)
        axis.legend(fontsize=8, frameon=False)
    return save_picture(figure, path)


EXPERIMENTS = (
    Experiment("sampling-equilibria-2011/fig6", "What responses win and what they risk", run_figure_6, figure_6),
    Experiment("sampling-equilibria-2011/fig7", "RNR and MCRNR against time and nodes", run_figure_7, figure_7),
)
