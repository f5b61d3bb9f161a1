"""Ponsen, de Jong & Lanctot (2011) in limit hold'em, responses to learned models: table 2 and figure 8."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

from fogplay import storage
from fogplay.experiments.holdem import SMALL_BET, STAND_IN, HoldemTable, training
from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import Experiment, Outcome
from fogplay.experiments.rows import FEWEST_RUNS, Estimate, Row, Rows
from fogplay.experiments.runner import Bound, Job, Mean, Runner
from fogplay.experiments.verdicts import Finding, Positive
from fogplay.experiments.winnings_2011 import (
    HUNDRED,
    MCCFR,
    TABLE_1,
    TEN,
    Size,
    in_bets,
    recorded,
    size_of,
    trained,
)
from fogplay.opponents import write_log
from fogplay.opponents.betting import learn_betting
from fogplay.play import match as play_match
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.strategies.betting import BettingStrategy
from fogplay.strategies.policy import BettingPolicy, policy_of

CONFIDENCE = 0.75
OBSERVED = 20_000  # hands that a model is learned from
TABLE_2 = {
    ("rules", "MCRNR10"): (0.059, 0.369), ("rules", "MCRNR100"): (0.191, 0.482),
    ("sparring", "MCRNR10"): (-0.091, -0.039), ("sparring", "MCRNR100"): (0.046, 0.061),
}  # fmt: skip
OTHER_MODELS = {
    "folded cards seen": "model from logs with folded cards",
    "exact model": "model that is the opponent itself",
}
PAPERS_ERROR = 60.0  # mb/h: the paper's own standard deviation of 0.06 sb/h


def model_file(runner: Runner, table: HoldemTable, observer: Job, opponent: str, spec: str, seen: str) -> str:
    """The file of a model of a bot, learned from hands against a run of MCCFR10; ``seen``: all cards, or shown ones."""
    folder = runner.folder.absolute().parent.parent / "models"
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{opponent}-{seen}-{observer.key}-{OBSERVED}"
    log, file = folder / f"{stem}.log", folder / f"{stem}-{spec.partition(':')[2].partition('/')[0]}.safetensors"
    if not log.exists():
        policies, names = [table.trained(runner, observer), table.bot(opponent)], ["MCCFR10", opponent]
        whole = folder / f"{stem}.whole"
        write_log(whole, play_match(table.rules, policies, OBSERVED, seed=6 + observer.seed, keep=True, names=names))
        text = whole.read_text()
        storage.write_text(log, text if seen == "all" else without_folded(text, opponent))
        whole.unlink()
    if not file.exists():
        learn_betting(HoldemSimulator.of(spec), log, opponent).save(file)
    return str(file)


def without_folded(log: str, player: str) -> str:
    """A log without the cards of one player in hands that ended by a fold, which nobody else sees."""
    lines = []
    for line in log.splitlines():
        parts = line.split(":")
        if parts[0] == "STATE" and "f" in parts[2]:
            holes, *board = parts[3].split("/")
            hands = holes.split("|")
            hands[parts[5].split("|").index(player)] = ""
            parts[3] = "/".join(["|".join(hands), *board])
        lines.append(":".join(parts))
    return "\n".join(lines) + "\n"


def _responses(spec: str, model: str, iterations: int, seed: int) -> list[Job]:
    """Monte Carlo responses with the same confidence at every infoset, one run per seat, as in the paper."""
    points = tuple(sorted({max(1, iterations * each // 20) for each in (1, 2, 4, 7, 10, 15, 20)}))
    return [
        Job(f"response at seat {seat}", spec, "os-mccfr", iterations, seed, points, (),
            {"epsilon": 0.6}, Bound(model, seat, CONFIDENCE, "dbr"), "average")
        for seat in (0, 1)
    ]  # fmt: skip


def _joined(runner: Runner, table: HoldemTable, spec: str, jobs: Sequence[Job], iteration: int) -> BettingPolicy:
    simulator = HoldemSimulator.of(spec)
    both = [BettingStrategy.read(runner.strategy_file(job, iteration)) for job in jobs]
    return policy_of(simulator.joined(both, "dbr"), table.rules)


def _response_jobs(
    runner: Runner, table: HoldemTable, size: Size, observers: Sequence[Job], against: str, name: str, seen: str
) -> list[tuple[int, str, list[Job]]]:
    """Trained responses: run, game and the jobs of both seats."""
    spec, last = (TEN, size.response_ten) if name.endswith("R10") else (HUNDRED, size.response_hundred)
    found = []
    for observer in observers[: min(size.models, 3) if spec == HUNDRED else size.models]:
        jobs = _responses(spec, model_file(runner, table, observer, against, spec, seen), last, observer.seed)
        found.append((observer.seed, spec, jobs))
    runner.run([job for _, _, jobs in found for job in jobs])
    return found


def run_table_2(runner: Runner, scale: str) -> list[Row]:
    """MCRNR from models of 20,000 hands, p = 0.75, beside MCCFR."""
    size, table = size_of(scale), HoldemTable.for_players(2)
    plain, rows = trained(runner, size, [MCCFR])[MCCFR], list[Row]()
    seeds = range(1, min(size.runs, 3) + 1)
    hundred = [
        training("MCCFR100", HUNDRED, "os-mccfr", size.hundred, "average", (), seed, epsilon=0.6) for seed in seeds
    ]
    runner.run(hundred)
    for against in TABLE_1:
        bot = [table.bot(against)]
        for name, each in (("MCCFR10", plain), ("MCCFR100", hundred)):
            for job in each:
                policy, last = table.trained(runner, job), job.iterations
                rows.append(table.play((name, job.seed), policy, against, bot, 4 * size.hands, last, job.seed))
        kinds = [("MCRNR10", "shown"), ("MCRNR100", "shown")] + [("MCRNR10", "all")] * (against == "rules")
        for name, seen in kinds:
            label = name if seen == "shown" else f"{name}, folded cards seen"
            for run, spec, jobs in _response_jobs(runner, table, size, plain, against, name, seen):
                policy = _joined(runner, table, spec, jobs, jobs[0].iterations)
                rows.append(table.play((label, run), policy, against, bot, 4 * size.hands, jobs[0].iterations, run))
    return rows  # fmt: skip


def table_2(rows: Rows, folder: Path) -> Outcome:
    """MCRNR wins much more than MCCFR from the exploitable bot, and no less from the equilibrium bot."""
    findings, details = [], []
    for (against, name), (before, after) in TABLE_2.items():
        base, measure = name.replace("MCRNR", "MCCFR"), f"against {against}"
        group = f"Against {STAND_IN[against]}"
        places = _as_long(rows, measure, base, name)
        usual, robust = (rows.estimate(each, measure, at) for each, at in zip((base, name), places, strict=True))
        more = robust.minus(usual)
        margin = 0.0 if against == "rules" else PAPERS_ERROR
        claim = "much more" if against == "rules" else "no less, within the paper's error of 0.06 sb/h"
        findings.append(
            Finding(
                f"what {name} after {places[1]:,.0f} iterations wins more than {base} after {places[0]:,.0f} from "
                f"{STAND_IN[against]}",
                claim,
                in_bets(more),
                Positive(Estimate(more.value + margin, more.error, more.runs)),
            )
        )
        for each, value in ((base, before), (name, after)):
            for at in reversed(rows.places(each, measure)):
                last = at == rows.places(each, measure)[-1]
                shown = f"{value:g} ± 0.06 sb/h (its own opponent)" if last else ""
                found = in_bets(rows.estimate(each, measure, at))
                details.append(Finding(f"{each}, {at:,.0f} iterations", shown, found, None, group))
        for kind, told in OTHER_MODELS.items():
            for at in reversed(rows.places(f"{name}, {kind}", measure)):
                found = in_bets(rows.estimate(f"{name}, {kind}", measure, at))
                details.append(Finding(f"{name}, {at:,.0f} iterations, {told}", "", found, None, group))
    return Outcome((*findings, *details, *recorded(rows)), numbers=_models(rows))


def _as_long(rows: Rows, measure: str, one: str, other: str) -> tuple[float, float]:
    """The last places of both that are within a factor of two and have enough runs; else the last of each."""
    enough = [
        [at for at in rows.places(label, measure) if rows.estimate(label, measure, at).runs >= FEWEST_RUNS]
        for label in (one, other)
    ]
    pairs = [(a, b) for a, b in itertools.product(*enough) if max(a, b) <= 2 * min(a, b)]
    a, b = (max(rows.places(label, measure), default=math.nan) for label in (one, other))
    return max(pairs, key=lambda pair: (min(pair), -max(pair)), default=(a, b))


def _models(rows: Rows) -> dict[str, str]:
    """What a response to the equilibrium bot wins from it with a learned model, with an exact one, and without any."""
    measure, numbers = "against sparring", dict[str, str]()
    for name, label in (
        ("learned", "MCRNR10"), ("learned_100", "MCRNR100"), ("exact", "MCRNR10, exact model"), ("usual", "MCCFR10"),
        ("usual_100", "MCCFR100"), ("all_cards", "MCRNR10, recorded"),
    ):  # fmt: skip
        numbers[name] = in_bets(rows.estimate(label, measure))
    places = rows.places("MCRNR10, exact model", measure)
    if places:  # as long with a learned model, and about as long without one
        exact, at = rows.estimate("MCRNR10, exact model", measure), places[-1]
        learned = rows.estimate("MCRNR10", measure, at)
        near = min(rows.places("MCCFR10", measure), key=lambda place: abs(math.log(place / at)))
        numbers |= {
            "exact_at": f"{at:,.0f}", "learned_then": in_bets(learned), "exact_more": in_bets(exact.minus(learned)),
            "usual_then": in_bets(rows.estimate("MCCFR10", measure, near)), "usual_at": f"{near:,.0f}",
        }  # fmt: skip
    return numbers


def run_figure_8(runner: Runner, scale: str) -> list[Row]:
    """MCRNR10 against the rule-based bot while it learns."""
    size, table = size_of(scale), HoldemTable.for_players(2)
    plain, rules, rows = trained(runner, size, [MCCFR])[MCCFR], [table.bot("rules")], list[Row]()
    for run, spec, jobs in _response_jobs(runner, table, size, plain, "rules", "MCRNR10", "shown"):
        for at in jobs[0].curve:
            policy = _joined(runner, table, spec, jobs, at)
            rows.append(table.play(("MCRNR10", run), policy, "rules", rules, size.hands, at, run))
    for job in plain:
        policy = table.trained(runner, job)
        rows.append(table.play(("MCCFR10", job.seed), policy, "rules", rules, size.hands, job.iterations, job.seed))
    return rows


def figure_8(rows: Rows, folder: Path) -> Outcome:
    """MCRNR10 exploits the bot after some 20 million iterations."""
    measure = "against rules"
    places = rows.places("MCRNR10", measure)
    other, mine = _as_long(rows, measure, "MCCFR10", "MCRNR10")
    usual = rows.estimate("MCCFR10", measure, other)
    drawn = [
        Mean(m.label, "won", m.iteration, m.runs, m.mean * SMALL_BET, m.standard_error * SMALL_BET)
        for m in rows.curve("MCRNR10", measure)
    ]
    drawn += [Mean("MCCFR10", "won", at, usual.runs, usual.value * SMALL_BET, usual.error * SMALL_BET) for at in places]
    panel = Panel("won", f"Against {STAND_IN['rules']}", "sb/h", "iterations", log_y=False)
    pictures = draw_curves(folder / "fig8", drawn, [panel])
    last = rows.settled(measure, "MCRNR10")
    end = rows.estimate("MCRNR10", measure, last)
    more = rows.estimate("MCRNR10", measure, mine).minus(usual)
    findings = [
        Finding(f"MCRNR10's winnings after {last:,.0f} iterations", "exploits Poki after 20 million iterations",
                in_bets(end), Positive(end) if last >= 20e6 else None),
        Finding(f"what it wins more after {mine:,.0f} than MCCFR10 after {other:,.0f}", "considerably more",
                in_bets(more), Positive(more)),
    ]  # fmt: skip
    findings += [
        Finding(f"MCRNR10 after {at:,.0f} iterations", "", in_bets(rows.estimate("MCRNR10", measure, at)))
        for at in places
    ]
    return Outcome(tuple(findings), tuple(pictures))


EXPERIMENTS = (
    Experiment("sampling-equilibria-2011/table2", "MCRNR from learned models against two bots", run_table_2, table_2),
    Experiment("sampling-equilibria-2011/fig8", "MCRNR while it learns", run_figure_8, figure_8),
)
