"""``respond`` and ``tradeoff``: exploit a model of the others without becoming too easy to exploit."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.evaluate import best_response
from fogplay.evaluate.responses import AgainstModel, against_model, mix
from fogplay.solvers.checks import number, one_of
from fogplay.solvers.run import Progress
from fogplay.solvers.solve import solve
from fogplay.strategy import Strategy
from fogplay.trees import FlatGame, flatten
from fogplay.trees.restrict import data_biased, restricted_nash

KINDS = ("rnr", "dbr")
CONFIDENCES = (0.0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97, 1.0)  # those of Ponsen et al. 2011, figure 6
HALF = 10.0  # observations at which a data-biased response goes half the way to its confidence
MIXES = tuple(share / 10 for share in range(11))


@dataclass(frozen=True)
class Response:
    """Responses to a model in every seat, as one strategy, and how good they are."""

    strategy: Strategy
    quality: AgainstModel
    seconds: float  # of learning


@dataclass(frozen=True)
class TradeoffPoint:
    """One response on the curve from equilibrium to best response."""

    way: str  # rnr, dbr or mixing
    confidence: float  # for mixing: how often the best response is played
    exploitation: float  # winnings beyond those of the equilibrium strategy, summed over the seats
    nash_conv: float
    winnings: tuple[float, ...]
    guaranteed: tuple[float, ...] | None


def respond(
    game: Any,
    to: Strategy,
    confidence: float = 0.75,
    *,
    kind: str = "rnr",
    half: float = HALF,
    algorithm: str = "cfr+",
    iterations: int | None = None,
    seed: int = 0,
    threads: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
    **parameters: Any,
) -> Response:
    """Respond in every seat to the model ``to`` of the others.

    ``rnr``, a restricted Nash response: the others follow the model throughout with probability ``confidence``, and are
    free otherwise; 0 gives an equilibrium, 1 a best response. ``dbr``, a data-biased response: the same choice anew at
    every infoset, with a confidence that grows with the observations n behind the model there, confidence · n /
    (n + half); a model without observations is trusted alike everywhere. A sampling algorithm makes it MCRNR or MCDBR.
    """
    flat = flatten(game)
    model = to.on(flat)
    trusted = trust(flat, to, confidence, one_of("kind", kind, KINDS), half)
    probabilities, seconds = flat.uniform(), 0.0
    for seat in range(flat.num_players):
        played = solve(
            restricted_nash(flat, seat, model, trusted) if isinstance(trusted, float)
            else data_biased(flat, seat, model, trusted),
            algorithm,
            iterations,
            seed=seed,
            threads=threads,
            checkpoint=Path(f"{os.fspath(checkpoint)}.{seat}") if checkpoint is not None else None,
            resume=resume,
            progress=_in_turn(progress, seat, flat.num_players, seconds),
            **parameters,
        )  # fmt: skip
        if played.interrupted:
            raise KeyboardInterrupt
        own = owned_by(flat, seat)
        probabilities[own] = played.strategy.probabilities[own]
        seconds += played.seconds
    about = {"confidence": confidence, "to": to.method, "algorithm": algorithm, **played.parameters}
    if kind == "dbr":
        about["half"] = half
    strategy = Strategy.of(
        flat, probabilities, kind, parameters=about, iterations=played.iterations, seed=played.strategy.seed
    )
    return Response(strategy, against_model(flat, probabilities, model), seconds)


def tradeoff(
    game: Any,
    to: Strategy,
    confidences: Sequence[float] = CONFIDENCES,
    *,
    progress: Callable[[Progress], None] | None = None,
    **settings: Any,
) -> list[TradeoffPoint]:
    """The whole curve: responses by confidence (``settings`` are those of ``respond``), and mixing beside them.

    Mixing (Shafiei et al. 2009) plays the exact best response with some probability and the equilibrium otherwise.
    The equilibrium is the response of confidence 0; winnings are counted from what it wins.
    """
    flat = flatten(game)
    model = to.on(flat)
    wanted = sorted({0.0, *(number("confidence", each, 0.0, 1.0) for each in confidences)})
    found: list[Response] = []
    for step, confidence in enumerate(wanted):
        tell = _in_turn(progress, step, len(wanted), sum(each.seconds for each in found))
        found.append(respond(flat, to, confidence, progress=tell, **settings))
    base = found[0]
    points = [
        _point(str(settings.get("kind", "rnr")), confidence, each.quality, base.quality)
        for confidence, each in zip(wanted, found, strict=True)
    ]
    exploiting = base.strategy.probabilities.copy()
    for seat in range(flat.num_players):
        own = owned_by(flat, seat)
        exploiting[own] = best_response(flat, model, seat)[1][own]
    for share in MIXES:
        mixed = mix(flat, exploiting, base.strategy.probabilities, share)
        points.append(_point("mixing", share, against_model(flat, mixed, model), base.quality))
    return points


def _point(way: str, confidence: float, quality: AgainstModel, base: AgainstModel) -> TradeoffPoint:
    gain = sum(quality.winnings) - sum(base.winnings)
    return TradeoffPoint(way, confidence, gain, quality.nash_conv, quality.winnings, quality.guaranteed)


def trust(flat: FlatGame, model: Strategy, confidence: float, kind: str, half: float) -> float | NDArray[np.float64]:
    """The confidence in a model: one number for ``rnr``, ``[infosets]`` for ``dbr``."""
    confidence = number("confidence", confidence, 0.0, 1.0)
    if kind == "rnr":
        return confidence
    half = number("half", half, 0.0, 1e12)
    if model.visits is None:
        return np.full(flat.num_infosets, confidence)
    seen = replace(model, probabilities=model.visits.astype(np.float64)).on(flat)
    observed = np.add.reduceat(seen, flat.tree.infoset_start[:-1])
    return np.where(observed > 0, confidence * observed / np.maximum(observed + half, 1e-300), 0.0)


def owned_by(flat: FlatGame, player: int) -> slice:
    """The slots of a player: infosets are numbered player by player."""
    first, end = np.searchsorted(flat.tree.infoset_player, [player, player + 1])
    return slice(int(flat.tree.infoset_start[first]), int(flat.tree.infoset_start[end]))


def _in_turn(
    progress: Callable[[Progress], None] | None, turn: int, turns: int, before: float
) -> Callable[[Progress], None] | None:
    """Progress of one of several runs of the same length as progress of them all."""
    if progress is None:
        return None

    def tell(now: Progress) -> None:
        done = turn * now.iterations + now.iteration
        progress(Progress(done, turns * now.iterations, before + now.seconds, now.nash_conv))

    return tell
