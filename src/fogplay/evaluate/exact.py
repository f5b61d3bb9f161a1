"""Exact expected values, best responses and nash_conv, for any number of players."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.kernels import sequences as kernels
from fogplay.pictures import as_facts, as_table
from fogplay.strategies import Strategy, TabularStrategy
from fogplay.trees import FlatGame, flatten

NEVER = 1e-12  # a plan that reaches a situation with a smaller probability never reaches it


@dataclass(frozen=True)
class Evaluation:
    """How good a joint strategy is.

    ``nash_conv`` is the sum over players of what each could gain by a best response (the papers' δ for two players);
    ``exploitability`` is ``nash_conv`` divided by the number of players.
    """

    values: tuple[float, ...]  # what each player earns; empty if only best responses were computed
    best_response_values: tuple[float, ...]  # what each would earn by a best response to the others
    nash_conv: float
    exploitability: float
    method: str = "exact, over the whole tree"

    def _repr_html_(self) -> str:
        values = self.values or (math.nan,) * len(self.best_response_values)
        rows = [
            (player, f"{value:+.6f}", f"{best:+.6f}", f"{best - value:.6f}")
            for player, (value, best) in enumerate(zip(values, self.best_response_values, strict=True))
        ]
        players = as_table(("player", "earns", "could earn by a best response", "gain"), rows)
        facts = {"nash_conv": f"{self.nash_conv:.6g}", "exploitability": f"{self.exploitability:.6g}"}
        return f"<div>{players}{as_facts(facts | {'how': self.method})}</div>"


def evaluate(
    strategy: Strategy, game: Any = None, *, full: bool = False, local: bool = False, **options: Any
) -> Evaluation:
    """Measure a strategy on its own game, or on ``game``.

    A strategy that was just learned remembers its game; one loaded from a file knows only the game's name. A game
    without a tree may have a walk of its own through all cards, which takes long: ``full`` asks for it, with the
    options of ``evaluate.full.evaluate_fully``. ``local`` asks for a lower bound within seconds, with those of
    ``evaluate_locally``.
    """
    if full and local:
        raise FogplayError("full is the exact measure and local a lower bound: ask for one of them")
    if local:
        from fogplay.evaluate.full import evaluate_locally

        return evaluate_locally(strategy, game, **options)
    if full:
        from fogplay.evaluate.full import evaluate_fully

        return evaluate_fully(strategy, game, **options)
    if options:
        raise FogplayError(f"{', '.join(options)}: only for measures of the full game; add full=True or local=True")
    if not isinstance(strategy, TabularStrategy):
        raise FogplayError(
            f"{strategy.game} is too large for a tree; measure it by a match (`fogplay match`), with full=True or "
            "with local=True"
        )
    if game is None and strategy.source is not None:
        return measure(strategy.source, strategy.probabilities)
    try:
        flat = flatten(strategy.game if game is None else game)
    except FogplayError as error:
        hint = "; if the game is your own, pass it too: evaluate(strategy, game)" if game is None else ""
        raise FogplayError(f"{error}{hint}") from error
    return measure(flat, strategy.on(flat))


def measure(flat: FlatGame, probabilities: NDArray[np.float64]) -> Evaluation:
    """Measure ``probabilities[slots]`` on a flattened game."""
    require_perfect_recall(flat)
    form, reach = flat.sequences, reach_of_all(flat, probabilities)
    value, response = np.empty_like(reach), np.empty(flat.num_slots)
    players = range(flat.num_players)
    values = [kernels.value_of(form, player, probabilities, reach, value) for player in players]
    best = [kernels.best_response(form, player, reach, value, response) for player in players]
    nash_conv = sum(best) - sum(values)
    return Evaluation(tuple(values), tuple(best), nash_conv, nash_conv / flat.num_players)


def best_response(flat: FlatGame, probabilities: NDArray[np.float64], player: int) -> tuple[float, NDArray[np.float64]]:
    """What ``player`` earns by a best response to the others, and ``probabilities`` with that response inserted."""
    require_perfect_recall(flat)
    reach = reach_of_all(flat, probabilities)
    response = probabilities.copy()
    earned = kernels.best_response(flat.sequences, player, reach, np.empty_like(reach), response)
    return earned, response


def reach_of_all(flat: FlatGame, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """[sequences] the probability that each player plays each of its sequences."""
    reach = np.empty(int(flat.sequences.sequence_range[-1]))
    for player in range(flat.num_players):
        kernels.reach_of(flat.sequences, player, probabilities, reach)
    return reach


def behaviour(flat: FlatGame, plan: NDArray[np.float64]) -> NDArray[np.float64]:
    """[slots] action probabilities from realisation ``plan[sequences]``; uniform where the plan never gets."""
    form = flat.sequences
    counts = form.point_actions.astype(np.int64)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    share = plan[np.repeat(form.point_sequence, counts) + within]
    total = np.repeat(np.add.reduceat(share, np.cumsum(counts) - counts), counts)
    probabilities = np.empty(flat.num_slots)
    probabilities[np.repeat(form.point_slot, counts) + within] = np.where(
        total > NEVER, share / np.maximum(total, NEVER), np.repeat(1.0 / counts, counts)
    )
    return probabilities


def require_perfect_recall(flat: FlatGame) -> None:
    """Raise an error under imperfect recall, where best responses cannot be computed infoset by infoset."""
    if flat.recall_lost:
        raise FogplayError(
            f"{flat.name} has imperfect recall, so its best responses cannot be computed exactly: {flat.recall_lost}"
        )
