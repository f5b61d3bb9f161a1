"""Jiang, Li, Du, Chen & Fang (2019), DeltaDou: its tournaments with the shipped networks, and its learning curves."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fogplay import storage
from fogplay.bots.doudizhu import arena, evaluators
from fogplay.bots.doudizhu.agents import Strong
from fogplay.bots.doudizhu.asking import Evaluate
from fogplay.bots.doudizhu.deltadou import Mind, Settings
from fogplay.bots.doudizhu.lockstep import Comparison, Networks, Player, Single, Thinker, compared, play_in_threads
from fogplay.bots.doudizhu.player import without_inference
from fogplay.errors import FogplayError
from fogplay.experiments.pictures import COLOURS, new_picture, save_picture
from fogplay.experiments.reproduce import Experiment, Finding, Outcome
from fogplay.experiments.runner import Runner
from fogplay.games.doudizhu import Doudizhu
from fogplay.jit import num_cores
from fogplay.version import VERSION

SEED = 2019
SCALES = {"quick": (12, 50, 12), "paper": (1000, 600, 250)}  # decks, playouts, decks per saved part
DELTADOU, PLAIN, POLICY, STRONG, RHCP = "DeltaDou", "DeltaDou without inference", "policy", "strong", "RHCP"
Pair = tuple[str, str, float, float]  # two players, the published WP of the first and its ADP
TABLE_1: tuple[Pair, ...] = ((STRONG, RHCP, 79, 0.88), (DELTADOU, RHCP, 75, 0.72), (DELTADOU, STRONG, 59, 0.28))
TABLE_2: tuple[Pair, ...] = (
    (POLICY, RHCP, 58, 0.19), (POLICY, STRONG, 49, -0.08), (DELTADOU, RHCP, 75, 0.72), (DELTADOU, STRONG, 59, 0.28),
)  # fmt: skip
INFERENCE: tuple[Pair, ...] = ((DELTADOU, PLAIN, 54.5, 0.145),)


# ---- Tournaments


def table1(runner: Runner, scale: str) -> Outcome:
    """Every player against every other; XDou is not public, and ``strong`` stands for it."""
    return _tournament(runner, scale, TABLE_1, lambda found: ())


def table2(runner: Runner, scale: str) -> Outcome:
    """The networks alone, and with search and inference, against the same two opponents."""

    def gain(found: dict[tuple[str, str], Comparison]) -> tuple[Finding, ...]:
        rows = []
        for other, published in ((RHCP, 17), (STRONG, 10)):
            with_search, alone = found[DELTADOU, other], found[POLICY, other]
            more = with_search.wins - alone.wins
            error = float(np.hypot(with_search.wins_error, alone.wins_error))
            measured = f"{100 * more:+.1f} ± {100 * error:.1f} points of WP"
            holds = bool(more > 2 * error) if scale == "paper" else None
            rows.append(Finding(f"what search adds against {other}", f"{published:+} points of WP", measured, holds))
        return tuple(rows)

    return _tournament(runner, scale, TABLE_2, gain)


def inference(runner: Runner, scale: str) -> Outcome:
    """The player with inference against the same player without it."""
    return _tournament(runner, scale, INFERENCE, lambda found: ())


def _tournament(
    runner: Runner,
    scale: str,
    pairs: Sequence[Pair],
    more: Callable[[dict[tuple[str, str], Comparison]], tuple[Finding, ...]],
) -> Outcome:
    """Play all pairs, or what is left of them; a finding for each, then those that ``more`` makes of all."""
    decks, playouts, part = SCALES[scale]
    players, total, done = _players(runner.device, playouts), decks * len(pairs), 0
    found, findings = dict[tuple[str, str], Comparison](), list[Finding]()
    for one, other, wins, points in pairs:
        parts = []
        for first in range(0, decks, part):
            parts.append(_part(runner, players, (one, other), playouts, first, min(part, decks - first)))
            done += min(part, decks - first)
            if runner.progress is not None:
                runner.progress(done, total)
        found[one, other] = each = compared(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        measured = (
            f"{100 * each.wins:.1f} ± {100 * each.wins_error:.1f} %, {each.points:+.2f} ± {each.points_error:.2f}"
        )
        holds = bool((each.wins - 0.5) * (wins - 50) > 0 and abs(each.wins - 0.5) > 2 * each.wins_error)
        judged = holds if scale == "paper" and abs(wins - 50) > 1 else None
        findings.append(Finding(f"{one} against {other}", f"{wins:g} %, {points:+g}", measured, judged))
    notes = (
        f"{decks:,} decks, each played twice with sides swapped; {playouts} playouts per move. WP with its error "
        "over decks, then points per game (ADP).",
        "XDou was never published; `strong` stands for it. The paper's figures are of 100 decks.",
    )
    return Outcome((*findings, *more(found)), notes=notes)


def _players(device: str, playouts: int) -> dict[str, Callable[[], Player]]:
    """How to make every player; each thread makes its own."""
    evaluate = _evaluator(device)
    settings = Settings(playouts=playouts)
    return {
        DELTADOU: lambda: Thinker(Mind(evaluate, settings), 1),
        PLAIN: lambda: Thinker(Mind(evaluate, without_inference(settings)), 2),
        POLICY: lambda: Networks(evaluate),
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
    threads = min(num_cores(), decks)
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

QUICK = {"bootstrap": 400, "bootstrap_steps": 60, "games": 12, "playouts": 12, "width": 16, "blocks": 2, "steps": 20,
         "batch": 128, "judged": 0}  # fmt: skip
CURVES: dict[str, tuple[int, dict[str, Any], int]] = {"quick": (2, QUICK, 50), "paper": (20, {"judged": 200}, 1000)}
SEAT_NAMES = {"landlord": "the landlord", "after": "the peasant after it", "before": "the peasant before it"}


def fig3(runner: Runner, scale: str) -> Outcome:
    """Which seat wins how many games of self-play, episode by episode."""
    rows = _episodes(runner, scale)
    played = [row for row in rows if row["episode"] > 0]
    files = _draw(runner.folder / "fig3", "games won in self-play", {
        label: [(row["episode"], row[f"wins_{name}"], 0.0) for row in played] for name, label in SEAT_NAMES.items()
    })  # fmt: skip
    begin, end = _peasants(played[: max(len(played) // 4, 1)]), _peasants(played[-max(len(played) // 4, 1) :])
    risen = bool(end > begin) if scale == "paper" else None
    return Outcome(
        (
            Finding("the peasants' share of games, first to last quarter of episodes", "rises from about 50 to 65 %",
                    f"{100 * begin:.1f} % to {100 * end:.1f} %", risen),
        ),
        files,
        (_described(runner, scale),),
    )  # fmt: skip


def fig4(runner: Runner, scale: str) -> Outcome:
    """How strong the player is after each episode."""
    rows = _episodes(runner, scale)
    lines: dict[str, list[tuple[int, float, float]]] = {}
    for key, label in (
        ("search_strong", "with search, against strong"), ("search_rules", "with search, against the first heuristic"),
        ("rules", "networks alone, against the first heuristic"), ("rhcp", "networks alone, against RHCP"),
    ):  # fmt: skip
        line = [(row["episode"], row[f"{key}_wins"], row[f"{key}_wins_error"]) for row in rows if f"{key}_wins" in row]
        if line:
            lines[label] = line
    files = _draw(runner.folder / "fig4", "games won", lines)
    findings = []
    for key, label, published in (("search_rules", "the first heuristic", 3), ("search_strong", "strong", 10)):
        ahead = [
            row["episode"] for row in rows if row.get(f"{key}_wins", 0.0) > 0.5 + 2 * row.get(f"{key}_wins_error", 0.0)
        ]
        measured = f"after {ahead[0]} episodes" if ahead else f"not within {rows[-1]['episode']} episodes"
        holds = bool(ahead and ahead[0] <= published) if scale == "paper" else None
        findings.append(
            Finding(f"ahead of {label} (by 2 standard errors)", f"after {published} episodes", measured, holds)
        )
    return Outcome(tuple(findings), files, (_described(runner, scale),))


def _episodes(runner: Runner, scale: str) -> list[dict[str, Any]]:
    """The curve of a run in episodes, which is begun or continued; figures 3 and 4 share it."""
    try:
        from fogplay.bots.doudizhu import training
        from fogplay.nets.training import CURVE, read_rows
    except ImportError as error:
        raise FogplayError("learning curves need an extra package: pip install 'fogplay[neural]'") from error
    from fogplay.interrupts import stopping

    episodes, settings, decks = CURVES[scale]
    folder = (runner.shared or runner.folder) / f"episodes-{scale}-{runner.device}"
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


def _peasants(rows: Sequence[dict[str, Any]]) -> float:
    return float(np.mean([row["wins_after"] + row["wins_before"] for row in rows]))


def _described(runner: Runner, scale: str) -> str:
    episodes, settings, decks = CURVES[scale]
    chosen = ", ".join(f"{name} {value}" for name, value in settings.items())
    return f"{episodes} episodes on {runner.device} ({chosen}); {decks:,} decks per point, errors over decks; one run."


def _draw(path: Path, label: str, lines: dict[str, list[tuple[int, float, float]]]) -> tuple[Path, ...]:
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
    Experiment("deltadou-2019/fig3", "Who wins games of self-play", fig3),
    Experiment("deltadou-2019/fig4", "Learning curve against heuristics", fig4),
    Experiment("deltadou-2019/table1", "Tournament of DeltaDou and heuristics", table1),
    Experiment("deltadou-2019/table2", "Networks alone, and with search", table2),
    Experiment("deltadou-2019/inference", "With inference against without", inference),
)
