"""Ponsen, de Jong & Lanctot, Computing Approximate Nash Equilibria … Using Sampling (JAIR 2011)."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fogplay.experiments.pictures import COLOURS, Panel, draw_curves, draw_tradeoff, new_picture, save_picture
from fogplay.experiments.reproduce import Experiment, Finding, Outcome, final, show, value_at
from fogplay.experiments.runner import Bound, Job, Point, Runner, means, repeat, write_rows
from fogplay.solvers import TradeoffPoint, solve, tradeoff
from fogplay.solvers.respond import CONFIDENCES
from fogplay.solvers.run import log_spaced
from fogplay.solvers.sampling import MonteCarloCfr
from fogplay.strategies import TabularStrategy
from fogplay.trees import FlatGame, flatten

MCCFR, MCTS = "MCCFR", "MCTS"


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


def example(runner: Runner, scale: str) -> Outcome:
    """The worked example, number for number."""
    tables = worked_example()
    published = {"Q:b": ([-1.0, 1.0], -2.0), "K:": ([-1.0, 1.0], 4.0)}
    findings = []
    for infoset, name in (("Q:b", "I2"), ("K:", "I1")):
        got, (regret, weight) = tables[infoset], published[infoset]
        same = np.allclose(got["regret"], regret, atol=1e-12)
        findings.append(Finding(f"regrets (pass, bet) at {name}", "(-1, +1)", _pair(got["regret"]), bool(same)))
        same = np.allclose(got["sums"], [0.5, 0.5], atol=1e-12)
        findings.append(Finding(f"strategy sums at {name}", "(1/2, 1/2)", _pair(got["sums"]), bool(same)))
        same = abs(got["w"][0] - weight) < 1e-12
        findings.append(Finding(f"w at {name}", f"{weight:g}", f"{got['w'][0]:.12g}", bool(same)))
    write_rows(runner.folder / "tables.csv", findings)
    return Outcome(tuple(findings))


def _pair(values: list[float]) -> str:
    return f"({values[0]:+.12g}, {values[1]:+.12g})"


def figure_4_left(runner: Runner, scale: str) -> Outcome:
    """Kuhn: squared and dominated error every 10^4 iterations."""
    last, runs = (10_000_000, 10) if scale == "paper" else (1_000_000, 4)
    curve, measures = range(10_000, last + 1, 10_000), ("squared_error", "dominated_error")
    jobs = repeat(MCCFR, "kuhn", "os-mccfr", last, runs, curve, measures, epsilon=0.6)
    jobs += repeat(MCTS, "kuhn", "uct", last, runs, curve, measures, c=2.0, rollout="on-policy")
    found = means(runner.run(jobs))
    panels = [
        Panel("squared_error", "Kuhn poker", "SQR-E", "iterations", log_x=False),
        Panel("dominated_error", "Kuhn poker", "DOM-E", "iterations", log_x=False),
    ]
    pictures = draw_curves(runner.folder / "fig4-left", found, panels)
    good, rational = (final(found, MCCFR, measure) for measure in measures)
    off, unlearned = (final(found, MCTS, measure) for measure in measures)
    middle = value_at(found, MCTS, "dominated_error", last // 2)
    measured = f"{show(unlearned)}, halfway {middle.mean:.3g}"
    return Outcome(
        (
            Finding("MCCFR, squared error at the end", "near zero", show(good), good.mean < 1e-3),
            Finding("MCCFR, dominated error at the end", "near zero", show(rational), rational.mean < 0.05),
            Finding("MCTS, squared error at the end", "slightly off", show(off), off.mean > good.mean),
            Finding("MCTS, dominated error at the end", "still unlearning", measured, unlearned.mean < middle.mean),
        ),
        tuple(pictures),
    )


RESPONSE_GAMES = {  # sizes chosen so that paper scale takes less than an hour on two cores
    "paper": {"OCP": "ocp(500)", "Goofspiel": "goofspiel(6)", "Bluff": "bluff(1,1,6)", "PAM": "pam(3,3,8)"},
    "quick": {"OCP": "ocp(50)", "Goofspiel": "goofspiel(5)", "Bluff": "bluff(1,1,4)", "PAM": "pam(3,3,5)"},
}
MODEL_NASH_CONV = 0.1  # the models are runs of outcome sampling that were stopped here
EXACT, SAMPLED = "RNR, exact", "MCRNR"


@functools.lru_cache(maxsize=1)
def _flat(spec: str) -> FlatGame:
    """The game; the last one is kept, since large ones take half a minute to build."""
    return flatten(spec)


@dataclass(frozen=True)
class Traded:
    """One point of figure 6."""

    game: str
    method: str
    confidence: float
    exploitation: float
    nash_conv: float


def model_of(runner: Runner, spec: str) -> str:
    """The file of a game's model: outcome sampling with ε = 0.6, run until its nash_conv is at most 0.1."""
    folder = runner.folder.absolute() / "models"
    folder.mkdir(exist_ok=True)
    stem = "".join(letter if letter.isalnum() else "-" for letter in spec).strip("-")
    file, checkpoint = folder / f"{stem}.safetensors", folder / f"{stem}.checkpoint"
    flat, iterations = _flat(spec), 1_000
    while not file.exists():
        iterations *= 2
        found = solve(
            flat, "os-mccfr", iterations, seed=1, epsilon=0.6, checkpoint=checkpoint, resume=iterations > 2_000
        )
        if found.interrupted:
            raise KeyboardInterrupt
        if found.nash_conv is not None and found.nash_conv <= MODEL_NASH_CONV:
            found.strategy.save(file)
            checkpoint.unlink()
    return str(file)


def iterations_in(spec: str, algorithm: str, seconds: float) -> int:
    """About how many iterations take ``seconds`` on one core, computed without a clock so that runs can be repeated."""
    flat = _flat(spec)
    if algorithm == "os-mccfr":
        return int(2_000_000 * seconds)
    if algorithm == "es-mccfr":
        return int(4e7 * seconds / _nodes_of_a_traversal(flat))
    return max(50, int(4e8 * seconds / len(flat.sequences.entry_weight)))


def _nodes_of_a_traversal(flat: FlatGame, samples: int = 40) -> float:
    """How many nodes one traversal of external sampling visits: all moves of one player, one of every other."""
    rng, tree, visited = np.random.default_rng(0), flat.tree, 0
    for sample in range(samples):
        waiting = [0]
        while waiting:
            node = waiting.pop()
            first, count, visited = int(tree.first_child[node]), int(tree.num_children[node]), visited + 1
            if tree.player[node] == sample % flat.num_players:
                waiting.extend(range(first, first + count))
            elif count:
                waiting.append(first + int(rng.integers(count)))
    return visited / samples


def figure_6(runner: Runner, scale: str) -> Outcome:
    """Exploitation against exploitability, by sampling, exactly, and by mixing."""
    seconds = 12.0 if scale == "paper" else 0.6
    games, jobs, models = RESPONSE_GAMES[scale], [], {}
    for name, spec in games.items():
        models[name] = model_of(runner, spec)
        for method, algorithm, parameters in ((SAMPLED, "os-mccfr", {"epsilon": 0.6}), (EXACT, "cfr+", {})):
            last = iterations_in(spec, algorithm, seconds if method == SAMPLED else seconds / 2)
            jobs += [
                Job(f"{name}, {method}, p={p:g}", spec, algorithm, last, 1, (last,), ("winnings", "risk"), parameters,
                    Bound(models[name], responder, p))
                for p in CONFIDENCES for responder in (0, 1)
            ]  # fmt: skip
    found: dict[str, dict[str, list[float]]] = {}
    for point in runner.run(jobs):
        found.setdefault(point.label, {"winnings": [], "risk": []})[point.measure].append(point.value)
    curves: dict[str, list[TradeoffPoint]] = {}
    findings, steep = [], []
    for name, spec in games.items():
        title = f"{name}: {spec}"
        curves[title] = []
        for method in (EXACT, SAMPLED):
            base = sum(found[f"{name}, {method}, p=0"]["winnings"])
            for p in CONFIDENCES:
                won, risked = (tuple(found[f"{name}, {method}, p={p:g}"][key]) for key in ("winnings", "risk"))
                curves[title].append(TradeoffPoint(method, p, sum(won) - base, sum(risked), won, None))
        curves[title] += _mixing(spec, models[name], sum(found[f"{name}, {EXACT}, p=0"]["winnings"]))
        line = [point for point in curves[title] if point.method == SAMPLED]
        middle, last_but, last_point = (next(q for q in line if q.confidence == p) for p in (0.8, 0.97, 1.0))
        gained, risked_share = (
            middle.exploitation / last_point.exploitation,
            (middle.nash_conv - line[0].nash_conv) / (last_point.nash_conv - line[0].nash_conv),
        )
        findings.append(
            Finding(
                f"{spec}: p = 0.8 beside p = 1",
                "a noticeable gain for a small loss",
                f"{gained:.0%} of the exploitation for {risked_share:.0%} of the exploitability",
                gained > 2 * risked_share,
            )
        )
        end = (last_point.nash_conv - last_but.nash_conv) / (last_point.nash_conv - line[0].nash_conv)
        steep.append(f"{name} {end:.0%}")
    published = "high impact, except in Bluff"
    findings.append(Finding("exploitability that comes with p from 0.97 to 1", published, ", ".join(steep)))
    rows = [
        Traded(title, point.method, point.confidence, point.exploitation, point.nash_conv)
        for title, points in curves.items()
        for point in points
    ]
    write_rows(runner.folder / "tradeoff.csv", rows)
    pictures = draw_tradeoff(runner.folder / "fig6", curves)
    notes = (
        f"Models: outcome sampling stopped at nash_conv ≤ {MODEL_NASH_CONV:g}. Exploitation: winnings from the model "
        "beyond those of the response with p = 0, over both seats. RNR, exact: CFR+.",
    )
    return Outcome(tuple(findings), tuple(pictures), notes)


def _mixing(spec: str, model: str, base: float) -> list[TradeoffPoint]:
    """Mixtures of best response and equilibrium, with exploitation relative to the same base as the responses."""
    found = tradeoff(_flat(spec), TabularStrategy.read(model), (0.0,), iterations=iterations_in(spec, "cfr+", 5.0))
    return [replace(point, exploitation=sum(point.winnings) - base) for point in found if point.method == "mixing"]


@dataclass(frozen=True)
class Moment:
    """A pair of runs, one per responder, at the same iteration."""

    game: str
    algorithm: str
    iteration: int
    seconds: float  # of both runs
    epsilon: float  # ε_σ = b_1(σ_2) + b_2(σ_1) in the game itself
    nash_conv: float  # of both restricted games


CONVERGENCE_METHODS = {
    "MCRNR, outcome sampling": "os-mccfr",
    "MCRNR, external sampling": "es-mccfr",
    "RNR, CFR": "cfr",
    "RNR, CFR+": "cfr+",
}
FAMILIES: dict[str, dict[str, tuple[str, ...]]] = {
    "paper": {
        "OCP": ("ocp(20)", "ocp(100)", "ocp(500)", "ocp(1000)"),
        "Goofspiel": ("goofspiel(4)", "goofspiel(5)", "goofspiel(6)"),
        "Bluff": ("bluff(1,1,3)", "bluff(1,1,4)", "bluff(1,1,5)", "bluff(1,1,6)"),
        "PAM": ("pam(3,3,4)", "pam(3,3,6)", "pam(3,3,8)"),
    },
    "quick": {name: (spec,) for name, spec in RESPONSE_GAMES["quick"].items()},
}


def figure_7(runner: Runner, scale: str) -> Outcome:
    """ε_σ against time for responses by sampling and full width, all compiled, with p = 0.5."""
    p, measures = 0.5, ("risk", "nash_conv")
    jobs, ranges = [], {}
    for specs in FAMILIES[scale].values():
        for spec in specs:
            model, ranges[spec] = model_of(runner, spec), _flat(spec).payoff_range
            seconds = 1.0 if scale == "quick" else 12.0 if spec in RESPONSE_GAMES[scale].values() else 5.0
            for algorithm in CONVERGENCE_METHODS.values():
                last = iterations_in(spec, algorithm, seconds)
                parameters = {"epsilon": 0.6} if algorithm == "os-mccfr" else {}
                curve = tuple(log_spaced(last, 8))
                jobs += [
                    Job(f"{spec} {algorithm}", spec, algorithm, last, 1, curve, measures, parameters,
                        Bound(model, responder, p))
                    for responder in (0, 1)
                ]  # fmt: skip
    moments = _moments(runner.run(jobs))
    write_rows(runner.folder / "moments.csv", moments)
    pictures = []
    for name, spec in RESPONSE_GAMES[scale].items():
        pictures += _draw_moments(runner.folder / f"fig7-{name.lower()}", spec, moments)
    findings = [each for spec, reach in ranges.items() for each in _compare(spec, reach, moments)]
    notes = (
        "Seconds of learning on one core, both responders together; the time to build the tree is not counted.",
        "nash_conv is that of the two restricted games: unlike ε_σ, it is 0 when both responses are exact.",
    )
    return Outcome(tuple(findings), tuple(pictures), notes)


def _moments(points: Sequence[Point]) -> list[Moment]:
    """Sum the two responders, iteration by iteration."""
    sums: dict[tuple[str, str, int], dict[str, list[float]]] = {}
    for point in points:
        found = sums.setdefault((point.game, point.algorithm, point.iteration), {"risk": [], "nash_conv": [], "s": []})
        found[point.measure].append(point.value)
        if point.measure == "risk":
            found["s"].append(point.seconds)
    return [Moment(*key, sum(each["s"]), sum(each["risk"]), sum(each["nash_conv"])) for key, each in sums.items()]


def _line(spec: str, algorithm: str, moments: Sequence[Moment]) -> list[Moment]:
    return sorted((m for m in moments if (m.game, m.algorithm) == (spec, algorithm)), key=lambda m: m.iteration)


def _compare(spec: str, reach: float, moments: Sequence[Moment]) -> list[Finding]:
    """Who is ahead at CFR's tenth iteration, and who first comes within a tenth and a hundredth of the payoffs."""
    lines = {name: _line(spec, algorithm, moments) for name, algorithm in CONVERGENCE_METHODS.items()}
    tenth = next(moment for moment in lines["RNR, CFR"] if moment.iteration >= 10)
    sampled_by_then = [
        moment.nash_conv
        for name, line in lines.items()
        for moment in line
        if name.startswith("MCRNR") and moment.seconds <= tenth.seconds
    ]
    early = min(sampled_by_then, default=math.inf)
    measured = f"sampling {early:.3g}, CFR {tenth.nash_conv:.3g}"
    what = f"{spec}: nash_conv at {tenth.seconds:.2g} s, CFR's tenth iteration"
    findings = [Finding(what, "sampling is better early", measured, early < tenth.nash_conv)]
    for share in (0.1, 0.01):
        times = {
            name: next((m.seconds for m in line if m.nash_conv <= share * reach), math.inf)
            for name, line in lines.items()
        }
        sampled = min(time for name, time in times.items() if name.startswith("MCRNR"))
        full = min(time for name, time in times.items() if name.startswith("RNR"))
        ahead = "sampling" if sampled < full else "full width"
        reached = ", ".join(f"{name.split(', ')[1]} {_seconds(time)}" for name, time in times.items())
        what = f"{spec}: time to a nash_conv of {share * reach:g}"
        measured = f"{reached}; {ahead} {_ratio(sampled, full)}"
        findings.append(Finding(what, "sampling is faster", measured, sampled < full))
    return findings


def _seconds(time: float) -> str:
    return "not reached" if math.isinf(time) else f"{time:.2g} s"


def _ratio(one: float, other: float) -> str:
    slow, fast = max(one, other), min(one, other)
    return "alone" if math.isinf(slow) else f"{slow / max(fast, 1e-9):.2g} times faster"


def _draw_moments(path: Path, spec: str, moments: Sequence[Moment]) -> list[Path]:
    figure, axes = new_picture(2)
    for number, (name, algorithm) in enumerate(CONVERGENCE_METHODS.items()):
        line = [moment for moment in _line(spec, algorithm, moments) if moment.seconds > 0]
        for axis, values in zip(axes, ([m.epsilon for m in line], [m.nash_conv for m in line]), strict=True):
            axis.plot([m.seconds for m in line], values, color=COLOURS[number], label=name, linewidth=1.5)
    for axis, label in zip(axes, ("ε_σ in the game itself", "nash_conv of the restricted games"), strict=True):
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_title(f"{spec}, p = 0.5", fontsize=11)
        axis.set_xlabel("seconds of learning")
        axis.set_ylabel(label)
        axis.grid(True, which="major", alpha=0.3)
        axis.legend(fontsize=8, frameon=False)
    return save_picture(figure, path)


EXPERIMENTS = (
    Experiment("sampling-equilibria-2011/example", "The worked example of section 3.2.3", example, device=False),
    Experiment("sampling-equilibria-2011/fig4-left", "MCCFR and MCTS in Kuhn poker", figure_4_left),
    Experiment("sampling-equilibria-2011/fig6", "What responses win and what they risk", figure_6),
    Experiment("sampling-equilibria-2011/fig7", "RNR and MCRNR against time", figure_7),
)
