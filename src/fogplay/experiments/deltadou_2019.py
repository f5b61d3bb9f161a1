"""Jiang, Li, Du, Chen & Fang (2019), DeltaDou: its tournaments with the shipped networks, and its learning curves."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fogplay import storage
from fogplay.bots.doudizhu import arena, evaluators
from fogplay.bots.doudizhu.agents import Strong
from fogplay.bots.doudizhu.asking import Evaluate
from fogplay.bots.doudizhu.deltadou import Mind, Settings
from fogplay.bots.doudizhu.lockstep import Networks, Player, Single, Thinker, compared, play_in_threads
from fogplay.bots.doudizhu.player import without_inference
from fogplay.errors import FogplayError
from fogplay.experiments.pictures import COLOURS, new_picture, save_picture
from fogplay.experiments.reproduce import Experiment, Outcome
from fogplay.experiments.rows import MISSING, Estimate, Row, Rows
from fogplay.experiments.runner import Runner
from fogplay.experiments.verdicts import Finding, Positive
from fogplay.games.doudizhu import Doudizhu
from fogplay.jit import num_cores
from fogplay.scalars import CURVE, read_rows
from fogplay.version import VERSION

SEED = 2019
SCALES = {
    "quick": (6, 20, 6),
    "medium": (12, 50, 12),
    "paper": (1000, 600, 500),
}  # decks, playouts, decks per saved part
DELTADOU, PLAIN, POLICY, STRONG, RHCP = "DeltaDou", "DeltaDou without inference", "policy", "strong", "RHCP"
PART_ON_CPU = 50  # decks per saved part, at most: a minute or two of one core at the paper's scale
Pair = tuple[str, str, float, float]  # two players, the published WP of the first and its ADP; NaN: not published
TABLE_1: tuple[Pair, ...] = ((DELTADOU, RHCP, 75, 0.72), (DELTADOU, STRONG, 59, 0.28), (STRONG, RHCP, 79, 0.88))
TABLE_2: tuple[Pair, ...] = (
    (POLICY, RHCP, 58, 0.19), (POLICY, STRONG, 49, -0.08), (DELTADOU, RHCP, 75, 0.72), (DELTADOU, STRONG, 59, 0.28),
    (DELTADOU, POLICY, math.nan, math.nan),
)  # fmt: skip
INFERENCE: tuple[Pair, ...] = ((DELTADOU, PLAIN, 54.5, 0.145),)
PROGRAMS = {STRONG, RHCP}  # players that do not learn


# ---- Tournaments


def run_tournament(runner: Runner, scale: str, pairs: Sequence[Pair]) -> list[Row]:
    """Play all pairs, or what is left of them; XDou is not public, and ``strong`` stands for it.

    A row is a mean over decks. Where both players are programs that do not learn, every deck is a run of its own.
    """
    decks, playouts, part = SCALES[scale]
    part = min(part, PART_ON_CPU) if runner.device == "cpu" else part
    players, total, done, rows = _players(runner.device, playouts), decks * len(pairs), 0, list[Row]()
    for one, other, _, _ in pairs:
        parts = []
        for first in range(0, decks, part):
            parts.append(_part(runner, players, (one, other), playouts, first, min(part, decks - first)))
            done += min(part, decks - first)
            if runner.progress is not None:
                runner.progress(done, total)
        each = compared(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        runs = decks if {one, other} <= PROGRAMS else 1
        rows.append(Row(one, f"WP against {other}", decks, 1, 100 * each.wins, 100 * each.wins_error, runs))
        rows.append(Row(one, f"ADP against {other}", decks, 1, each.points, each.points_error, runs))
    return rows


def tournament(rows: Rows, folder: Path, pairs: Sequence[Pair], search: bool = False) -> Outcome:
    """Who wins against whom; with ``search``, also what search adds to the networks."""
    findings = []
    if search:
        for other, published in ((RHCP, 17), (STRONG, 10)):
            more = _won(rows, DELTADOU, other).minus(_won(rows, POLICY, other))
            shown = "not measured" if np.isnan(more.value) else f"{_over_decks(more, 1)} points of WP"
            test = None if other == STRONG else Positive(more)
            findings.append(Finding(f"what search adds against {other}", f"{published:+} points of WP", shown, test))
    for one, other, wins, points in pairs:
        won, score = _won(rows, one, other), rows.estimate(one, f"ADP against {other}")
        beyond = Estimate(won.value - 50, won.error, won.runs)
        ahead = beyond if wins > 50 else Estimate(-beyond.value, beyond.error, beyond.runs)
        shown = "not measured" if won is MISSING else f"{_over_decks(won, 1)} %"
        shown += f", {_over_decks(score, 2)} points" if score.runs else ""
        claim = "" if math.isnan(wins) else f"{wins:g} %, {points:+g}"
        test = None if STRONG in (one, other) or not claim else Positive(ahead)  # a stand-in does not test XDou
        findings.append(Finding(f"{one} against {other}", claim, shown, test))
    return Outcome(tuple(findings))  # fmt: skip


def _won(rows: Rows, one: str, other: str) -> Estimate:
    return rows.estimate(one, f"WP against {other}")


def _over_decks(estimate: Estimate, digits: int) -> str:
    if np.isnan(estimate.value):
        return "not measured"
    error = estimate.error if estimate.runs > 1 else estimate.within
    return f"{estimate.value:.{digits}f} ± {error:.{digits}f} over decks"


def _players(device: str, playouts: int) -> dict[str, Callable[[], Player]]:
    """How to make every player; each thread makes its own, around networks that are read when they are first needed."""
    made, lock = functools.cache(_evaluator), threading.Lock()

    def networks() -> Evaluate:
        with lock:
            return made(device)

    settings = Settings(playouts=playouts)
    return {
        DELTADOU: lambda: Thinker(Mind(networks(), settings), 1),
        PLAIN: lambda: Thinker(Mind(networks(), without_inference(settings)), 2),
        POLICY: lambda: Networks(networks()),
        STRONG: lambda: Single(Strong(), 3),
        RHCP: lambda: arena.bot(arena.RHCP),
    }


def _evaluator(device: str) -> Evaluate:
    if device == "cpu":
        return evaluators.shipped()
    from fogplay.nets.answers import answers_of_dense

    return answers_of_dense(evaluators.networks_in(evaluators.FOLDER))


def _part(
    runner: Runner,
    players: dict[str, Callable[[], Player]],
    pair: tuple[str, str],
    playouts: int,
    first: int,
    decks: int,
) -> tuple[Any, Any]:
    """Some decks of a pair, from the file of an earlier call if they are there."""
    one, other = pair
    asked = {"pair": pair, "playouts": playouts, "first": first, "decks": decks, "seed": SEED, "code": _code()}
    key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]
    folder = runner.shared or runner.folder
    path = folder / f"decks-{key}.json"
    if path.exists():
        kept = json.loads(path.read_text())
        return np.array(kept["won"]), np.array(kept["score"])
    threads = min(num_cores() * (1 if runner.device == "cpu" else 2), decks)  # half of them wait for a GPU
    won, score = play_in_threads(players[one], players[other], decks, threads, SEED, first)
    folder.mkdir(parents=True, exist_ok=True)
    storage.write_text(path, json.dumps({**asked, "won": won.tolist(), "score": score.tolist()}))
    return won, score


def _code() -> str:
    """Changes with the version and the networks."""
    found = hashlib.sha256(VERSION.encode())
    for name in evaluators.SEATS:
        found.update((evaluators.FOLDER / f"{name}.safetensors").read_bytes())
    return found.hexdigest()[:16]


# ---- Learning curves

QUICK = {"bootstrap": 400, "games": 12, "playouts": 12, "width": 16, "blocks": 2, "batch": 128, "judged": 0}
CURVES: dict[str, tuple[int, dict[str, Any], int]] = {
    "quick": (1, QUICK, 20), "medium": (2, QUICK, 50), "paper": (20, {"judged": 400}, 1000),
}  # fmt: skip
SEAT_NAMES = {"landlord": "the landlord", "after": "the peasant after it", "before": "the peasant before it"}
OPPONENTS = {
    "search_strong": "with search, against strong", "search_rules": "with search, against the first heuristic",
    "rules": "networks alone, against the first heuristic", "rhcp": "networks alone, against RHCP",
}  # fmt: skip


def run_curves(runner: Runner, scale: str) -> list[Row]:
    """A run of training in episodes: who wins its games, and how strong the player is after each episode."""
    rows = []
    for row in _episodes(runner, scale):
        if row["episode"] > 0:
            rows += [
                Row(label, "share of games", row["episode"], 1, row[f"wins_{name}"])
                for name, label in SEAT_NAMES.items()
            ]
        rows += [
            Row(label, "wins", row["episode"], 1, row[f"{key}_wins"], row[f"{key}_wins_error"])
            for key, label in OPPONENTS.items()
            if f"{key}_wins" in row
        ]
    return rows


def fig3(rows: Rows, folder: Path) -> Outcome:
    """Which seat wins how many games of self-play, episode by episode."""
    files = _draw(folder / "fig3", "games won in self-play", _lines(rows, SEAT_NAMES.values(), "share of games"))
    published, what = "rises from about 50 to 65 %", "the peasants' share of games, first to last quarter of episodes"
    places = rows.places("the landlord", "share of games")
    if not places:
        return Outcome((Finding(what, published, "not measured"),))
    quarter = max(len(places) // 4, 1)
    begin, end = (
        100 * float(np.mean([1 - rows.estimate("the landlord", "share of games", at).value for at in part]))
        for part in (places[:quarter], places[-quarter:])
    )
    shown = f"{begin:.1f} % to {end:.1f} % in {len(places)} episodes (one run)"
    return Outcome((Finding(what, published, shown),), files)


def fig4(rows: Rows, folder: Path) -> Outcome:
    """How strong the player is after each episode."""
    files = _draw(folder / "fig4", "games won", _lines(rows, OPPONENTS.values(), "wins"))
    findings = []
    for key, label, published in (("search_rules", "the first heuristic", 3), ("search_strong", "strong", 10)):
        places = rows.places(OPPONENTS[key], "wins")
        found = {at: rows.estimate(OPPONENTS[key], "wins", at) for at in places}
        ahead = [at for at, each in found.items() if each.value > 0.5 + 2 * each.within]
        shown = f"not within {places[-1]:.0f} episodes (one run)" if places else "not measured"
        shown = f"after {ahead[0]:.0f} episodes (one run)" if ahead else shown
        findings.append(Finding(f"ahead of {label} by two standard errors", f"after {published} episodes", shown))
    return Outcome(tuple(findings), files if files else ())


def _lines(rows: Rows, labels: Iterable[str], measure: str) -> dict[str, list[tuple[float, float, float]]]:
    lines = {}
    for label in labels:
        found = [(at, rows.estimate(label, measure, at)) for at in rows.places(label, measure)]
        if found:
            lines[label] = [(at, each.value, 0.0 if np.isnan(each.within) else each.within) for at, each in found]
    return lines


def _episodes(runner: Runner, scale: str) -> list[dict[str, Any]]:
    """The curve of a run in episodes, which is begun or continued; figures 3 and 4 share it."""
    episodes, settings, decks = CURVES[scale]
    folder = (runner.shared or runner.folder) / f"episodes-{scale}-{runner.device}"
    found = [row for row in read_rows(folder / CURVE) if row["episode"] <= episodes]
    if len(found) > episodes:
        return found
    try:
        from fogplay.bots.doudizhu import training
    except ImportError as error:
        raise FogplayError("learning curves need an extra package: pip install 'fogplay[neural]'") from error
    from fogplay.interrupts import stopping

    run = training.episodes(Doudizhu(), folder, runner.device, SEED, settings)
    if (folder / "run.json").exists():
        run.resume()

    def report(row: dict[str, Any]) -> None:
        if runner.progress is not None:
            runner.progress(row["episode"] + 1, episodes + 1)

    with stopping() as stop:
        run.run(episodes, 1e9, lambda evaluate: training.judge(evaluate, decks, run.plan.judged), report, stop.is_set)
        if stop.is_set():
            raise FogplayError(f"stopped after episode {run.done - 1}; the same command continues")
    return [row for row in read_rows(folder / CURVE) if row["episode"] <= episodes]


def _draw(path: Path, label: str, lines: dict[str, list[tuple[float, float, float]]]) -> tuple[Path, ...]:
    if not lines:
        return ()
    figure, (axis,) = new_picture(1)
    for number, (name, points) in enumerate(lines.items()):
        x, y, error = np.array(points, float).T
        colour = COLOURS[number % len(COLOURS)]
        axis.plot(x, 100 * y, color=colour, label=name, linewidth=1.6)
        axis.fill_between(x, 100 * (y - error), 100 * (y + error), color=colour, alpha=0.2, linewidth=0)
    axis.axhline(50, color="grey", linewidth=0.8, linestyle="dotted")
    axis.set_xlabel("episodes of self-play")
    axis.set_ylabel(f"{label} (%)")
    axis.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    return tuple(save_picture(figure, path))


EXPERIMENTS = (
    Experiment("deltadou-2019/fig3", "Who wins games of self-play", run_curves, fig3),
    Experiment("deltadou-2019/fig4", "Learning curve against heuristics", run_curves, fig4),
    Experiment(
        "deltadou-2019/table1",
        "Tournament of DeltaDou and heuristics",
        partial(run_tournament, pairs=TABLE_1),
        partial(tournament, pairs=TABLE_1),
    ),
    Experiment(
        "deltadou-2019/table2",
        "Networks alone, and with search",
        partial(run_tournament, pairs=TABLE_2),
        partial(tournament, pairs=TABLE_2, search=True),
    ),
    Experiment(
        "deltadou-2019/inference",
        "With inference against without",
        partial(run_tournament, pairs=INFERENCE),
        partial(tournament, pairs=INFERENCE),
    ),
)
