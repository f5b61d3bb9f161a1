"""Ponsen, de Jong & Lanctot (2011) in limit hold'em: figures 4 (right) and 8, tables 1 and 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fogplay import storage
from fogplay.experiments.holdem import SMALL_BET, STAND_IN, HoldemTable, quick, training
from fogplay.experiments.pictures import Panel, draw_curves
from fogplay.experiments.reproduce import Experiment, Outcome
from fogplay.experiments.rows import Estimate, Row, Rows, mean_of
from fogplay.experiments.runner import Bound, Job, Mean, Runner
from fogplay.experiments.verdicts import Finding, Positive
from fogplay.opponents import write_log
from fogplay.opponents.betting import learn_betting
from fogplay.play import match as play_match
from fogplay.simulators.holdem import HoldemSimulator
from fogplay.strategies.betting import BettingStrategy
from fogplay.strategies.policy import BettingPolicy, policy_of

TEN, HUNDRED = "holdem(grid=ehs:10/10/10/10)", "holdem(grid=ehs:100/100/100/100)"
MCTS, MCCFR = "MCTS", "MCCFR"
MCTS_C = 170.0  # the paper's 17 small bets, in chips
CONFIDENCE = 0.75
OBSERVED = 20_000  # hands that a model is learned from
FIGURE_4_RIGHT = {1: (-0.308, -0.502), 10: (-0.187, -0.261), 50: (-0.154, -0.202), 90: (-0.162, -0.113)}  # millions
PLACES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90)  # of 90ths of a run
TABLE_1 = {"rules": (0.077, 0.059, 0.191), "sparring": (-0.103, -0.091, 0.046)}
TABLE_2 = {
    ("rules", "MCRNR10"): (0.059, 0.369), ("rules", "MCRNR100"): (0.191, 0.482),
    ("sparring", "MCRNR10"): (-0.091, -0.039), ("sparring", "MCRNR100"): (0.046, 0.061),
}  # fmt: skip
TEN_LINEAR = "external sampling, 10 buckets, linear averaging"
HUNDRED_LINEAR = "external sampling, 100 buckets, linear averaging"
EXTERNAL = {  # the test of whether outcome sampling has converged: another sampling on the same abstractions
    "external sampling, 10 buckets, even averaging": (TEN, "even"),
    TEN_LINEAR: (TEN, "linear"),
    HUNDRED_LINEAR: (HUNDRED, "linear"),
}
AGAINST = "against sparring"  # the near-equilibrium of figure 4
PAPERS_ERROR = 60.0  # mb/h: the paper's own standard deviation of 0.06 sb/h


@dataclass(frozen=True)
class Size:
    """Iterations with 10 and with 100 buckets, of responses with each, runs, models to respond to, hands of a match."""

    ten: int
    hundred: int
    response_ten: int
    response_hundred: int
    runs: int
    models: int
    hands: int


def _size(scale: str) -> Size:
    if scale == "paper":
        return Size(90_000_000, 400_000_000, 90_000_000, 400_000_000, 8, 8, 400_000)
    if scale == "medium":
        return Size(90_000_000, 90_000_000, 20_000_000, 10_000_000, 8, 3, 100_000)
    return Size(quick(2_700_000), quick(2_700_000), quick(3_000_000), quick(2_000_000), 3, 3, quick(50_000))


def _trained(runner: Runner, size: Size, names: Sequence[str] = (MCTS, MCCFR)) -> dict[str, list[Job]]:
    """MCTS and MCCFR with 10 buckets, or one of them, with the snapshots of figure 4."""
    points, seeds = [size.ten * each // PLACES[-1] for each in PLACES], range(1, size.runs + 1)
    jobs = {
        MCTS: [training(MCTS, TEN, "uct", size.ten, "average", points, seed, c=MCTS_C, growth="all") for seed in seeds],
        MCCFR: [training(MCCFR, TEN, "os-mccfr", size.ten, "average", points, seed, epsilon=0.6) for seed in seeds],
    }
    runner.run([job for name in names for job in jobs[name]])
    return {name: jobs[name] for name in names}


def run_figure_4_right(runner: Runner, scale: str) -> list[Row]:
    """MCTS and MCCFR with 10 buckets, against a precomputed near-equilibrium with as many."""
    size = _size(scale)
    jobs, table = _trained(runner, size), HoldemTable.for_players(2)
    sparring = [table.bot("sparring")]
    return [
        table.play((name, job.seed), table.trained(runner, job, at), "sparring", sparring, size.hands, at, job.seed)
        for name, each in jobs.items()
        for job in each
        for at in job.curve
    ]


def figure_4_right(rows: Rows, folder: Path) -> Outcome:
    """MCTS is ahead early, MCCFR at the end."""
    measure = AGAINST
    drawn = [
        Mean(mean.label, "won", mean.iteration, mean.runs, mean.mean * SMALL_BET, mean.standard_error * SMALL_BET)
        for name in (MCTS, MCCFR)
        for mean in rows.curve(name, measure)
    ]
    panel = Panel("won", "Against a near-equilibrium with 10 buckets", "sb/h", "iterations", log_x=False, log_y=False)
    pictures = draw_curves(folder / "fig4-right", drawn, [panel])
    places = rows.places(MCTS, measure)
    early = [at for at in places if at <= max(10_000_000, places[0]) and at < places[-1]]
    lead = _lead(rows, MCTS, MCCFR, early)
    late = _lead(rows, MCCFR, MCTS, places[-1:])
    tail = _lead(rows, MCCFR, MCCFR, places[-1:], [at for at in places if at <= places[-1] / 2][-1:])
    flat = _lead(rows, MCTS, MCTS, places[-1:], [at for at in places if at <= places[-1] / 2][-1:])
    findings = [
        Finding(f"MCTS's lead over the first {early[-1]:,.0f} iterations", "MCTS is ahead", _sb(lead), Positive(lead)),
        Finding(
            "MCCFR's lead at the end",
            "MCCFR is ahead after 90 million",
            _sb(late),
            Positive(late) if places[-1] >= 90e6 else None,
        ),
        Finding("MCCFR's gain over the second half", "keeps improving", _sb(tail), Positive(tail)),
        Finding("MCTS's gain over the second half", "", _sb(flat)),
    ]
    for million, published in FIGURE_4_RIGHT.items():
        for name, value in zip((MCTS, MCCFR), published, strict=True):
            found = rows.estimate(name, measure, million * 1e6)
            if found.runs:
                what = f"{name} after {million} million"
                findings.append(Finding(what, f"{value:g} sb/h (another equilibrium)", _sb(found)))
    return Outcome(tuple(findings), tuple(pictures))


def _sb(estimate: Estimate) -> str:
    return estimate.show(3, "sb/h", SMALL_BET)


def _lead(
    rows: Rows, one: str, other: str, places: Sequence[float], other_places: Sequence[float] | None = None
) -> Estimate:
    """By how much one label wins more than another from the near-equilibrium, on average over places, run by run."""

    def means(label: str, where: Sequence[float]) -> dict[int, float]:
        by_run: dict[int, list[float]] = {}
        for at in where:
            for row in rows.of(label, AGAINST, at):
                by_run.setdefault(row.run, []).append(row.value)
        return {run: sum(values) / len(values) for run, values in by_run.items()}

    mine, theirs = means(one, places), means(other, places if other_places is None else other_places)
    return mean_of([mine[run] - theirs[run] for run in sorted(mine.keys() & theirs.keys())])


def run_table_1(runner: Runner, scale: str) -> list[Row]:
    """MCTS10, MCCFR10 and MCCFR100 against both bots; what makes `sparring` stronger than MCCFR10."""
    size, table = _size(scale), HoldemTable.for_players(2)
    jobs, rows = _trained(runner, size), list[Row]()
    seeds = range(1, min(size.runs, 3) + 1)
    hundred = [
        training("MCCFR100", HUNDRED, "os-mccfr", size.hundred, "average", (), seed, epsilon=0.6) for seed in seeds
    ]
    steps = [size.ten // each for each in (900, 90, 45)]  # traversals
    external = {
        label: [
            training(label, spec, "es-mccfr", steps[-1], "average", steps, seed, averaging=averaging) for seed in seeds
        ]
        for label, (spec, averaging) in EXTERNAL.items()
    }
    runner.run([*hundred, *(job for each in external.values() for job in each)])
    for against in TABLE_1:
        bot = [table.bot(against)]

        def add(label: str, job: Job, at: int, against: str = against, bot: list[Any] = bot) -> None:
            policy = table.trained(runner, job, at)
            rows.append(table.play((label, job.seed), policy, against, bot, 4 * size.hands, at, job.seed))

        for name, each in (("MCTS10", jobs[MCTS]), ("MCCFR10", jobs[MCCFR])):
            for job in each:
                for at in (job.curve[5], job.curve[8], job.curve[-1]):
                    add(name, job, at)
        for job in hundred:
            add("MCCFR100", job, job.iterations)
        for label, each in external.items():
            for job in each:
                for at in job.curve:
                    add(label, job, at)
    rows.append(table.play(("sparring", 1), table.bot("sparring"), "rules", [table.bot("rules")], 8 * size.hands))
    return rows


def table_1(rows: Rows, folder: Path) -> Outcome:
    """100 buckets are clearly better than 10."""
    findings, details, numbers = [], [], {}
    for against, published in TABLE_1.items():
        measure, group = f"against {against}", f"Against {STAND_IN[against]}"
        more = rows.estimate("MCCFR100", measure).minus(rows.estimate("MCCFR10", measure))
        what = f"what 100 buckets win more than 10 from {STAND_IN[against]}"
        findings.append(Finding(what, "clearly better", _sb(more), Positive(more)))
        for name, value in zip(("MCTS10", "MCCFR10", "MCCFR100"), published, strict=True):
            for at in reversed(rows.places(name, measure)):
                last = at == rows.places(name, measure)[-1]
                shown = f"{value:g} ± 0.06 sb/h (its own opponent)" if last else ""
                found = _sb(rows.estimate(name, measure, at))
                details.append(Finding(f"{name}, {at:,.0f} iterations", shown, found, None, group))
        for label in EXTERNAL:
            for at in reversed(rows.places(label, measure)):
                found = _sb(rows.estimate(label, measure, at))
                details.append(Finding(f"{label}, {at:,.0f} traversals", "", found, None, group))
        converged = rows.estimate(HUNDRED_LINEAR, measure).minus(rows.estimate(TEN_LINEAR, measure))
        what = "what 100 buckets win more than 10, both by external sampling with linear averaging"
        details.append(Finding(what, "", _sb(converged), None, group))
        numbers[f"more_{against}"] = _sb(converged)
    details += _recorded(rows)
    numbers["sparring"] = _sb(rows.estimate("sparring", "against rules"))
    numbers["outcome"] = _sb(rows.estimate("MCCFR10", "against rules"))
    numbers["external_100"] = _sb(rows.estimate("external sampling, 100 buckets", AGAINST))
    numbers["iterations"] = f"{max(rows.places('MCCFR10', 'against rules')):,.0f}"
    for number, at in enumerate(rows.places(TEN_LINEAR, "against rules"), 1):
        for name, label in zip(("even", "linear", "hundred"), EXTERNAL, strict=True):
            numbers[f"{name}_{number}"] = _sb(rows.estimate(label, "against rules", at))
        numbers[f"traversals_{number}"] = f"{at:,.0f}"
    for name, label in (("ten_gain", TEN_LINEAR), ("hundred_gain", HUNDRED_LINEAR)):
        *_, before, end = rows.places(label, AGAINST)
        numbers[name] = _sb(_lead(rows, label, label, [end], [before]))
    return Outcome((*findings, *details), numbers=numbers)


def _recorded(rows: Rows) -> list[Finding]:
    """Earlier runs of which only the numbers were kept."""
    return [
        Finding(f"{row.label.removesuffix(', recorded')} {row.measure}, {row.at:,.0f} iterations", "",
                _sb(rows.estimate(row.label, row.measure)), group="Earlier runs")
        for row in rows.all if row.label.endswith(", recorded")
    ]  # fmt: skip


# ---- Responses to models


def _model(runner: Runner, table: HoldemTable, observer: Job, opponent: str, spec: str, seen: str) -> str:
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
        jobs = _responses(spec, _model(runner, table, observer, against, spec, seen), last, observer.seed)
        found.append((observer.seed, spec, jobs))
    runner.run([job for _, _, jobs in found for job in jobs])
    return found


def run_table_2(runner: Runner, scale: str) -> list[Row]:
    """MCRNR from models of 20,000 hands, p = 0.75, beside MCCFR."""
    size, table = _size(scale), HoldemTable.for_players(2)
    plain, rows = _trained(runner, size, [MCCFR])[MCCFR], list[Row]()
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
        usual, robust = rows.estimate(base, measure), rows.estimate(name, measure)
        more = robust.minus(usual)
        margin = 0.0 if against == "rules" else PAPERS_ERROR
        claim = "much more" if against == "rules" else "no less, within the paper's error of 0.06 sb/h"
        findings.append(
            Finding(
                f"what {name} wins more than {base} from {STAND_IN[against]}",
                claim,
                _sb(more),
                Positive(Estimate(more.value + margin, more.error, more.runs)),
            )
        )
        for each, value in ((base, before), (name, after)):
            for at in reversed(rows.places(each, measure)):
                last = at == rows.places(each, measure)[-1]
                shown = f"{value:g} ± 0.06 sb/h (its own opponent)" if last else ""
                found = _sb(rows.estimate(each, measure, at))
                details.append(Finding(f"{each}, {at:,.0f} iterations", shown, found, None, group))
        seen = rows.estimate(f"{name}, folded cards seen", measure)
        if seen.runs:
            at = rows.places(f"{name}, folded cards seen", measure)[-1]
            what = f"{name}, {at:,.0f} iterations, model from logs with folded cards"
            details.append(Finding(what, "", _sb(seen), None, group))
    return Outcome((*findings, *details, *_recorded(rows)))


def run_figure_8(runner: Runner, scale: str) -> list[Row]:
    """MCRNR10 against the rule-based bot while it learns."""
    size, table = _size(scale), HoldemTable.for_players(2)
    plain, rules, rows = _trained(runner, size, [MCCFR])[MCCFR], [table.bot("rules")], list[Row]()
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
    places, usual = rows.places("MCRNR10", measure), rows.estimate("MCCFR10", measure)
    drawn = [
        Mean(m.label, "won", m.iteration, m.runs, m.mean * SMALL_BET, m.standard_error * SMALL_BET)
        for m in rows.curve("MCRNR10", measure)
    ]
    drawn += [Mean("MCCFR10", "won", at, usual.runs, usual.value * SMALL_BET, usual.error * SMALL_BET) for at in places]
    panel = Panel("won", f"Against {STAND_IN['rules']}", "sb/h", "iterations", log_x=False, log_y=False)
    pictures = draw_curves(folder / "fig8", drawn, [panel])
    end = rows.estimate("MCRNR10", measure)
    more = end.minus(usual)
    findings = [
        Finding("MCRNR10's winnings at the end", "exploits Poki after 20 million iterations", _sb(end),
                Positive(end) if places[-1] >= 20e6 else None),
        Finding("what it wins more than MCCFR10", "considerably more", _sb(more), Positive(more)),
    ]  # fmt: skip
    findings += [
        Finding(f"MCRNR10 after {at:,.0f} iterations", "", _sb(rows.estimate("MCRNR10", measure, at))) for at in places
    ]
    return Outcome(tuple(findings), tuple(pictures))


EXPERIMENTS = (
    Experiment(
        "sampling-equilibria-2011/fig4-right", "MCTS and MCCFR against a near-equilibrium", run_figure_4_right,
        figure_4_right,
    ),
    Experiment("sampling-equilibria-2011/table1", "MCTS and MCCFR against two bots", run_table_1, table_1),
    Experiment("sampling-equilibria-2011/table2", "MCRNR from learned models against two bots", run_table_2, table_2),
    Experiment("sampling-equilibria-2011/fig8", "MCRNR while it learns", run_figure_8, figure_8),
)  # fmt: skip
