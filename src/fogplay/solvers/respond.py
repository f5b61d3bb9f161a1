"""``respond`` and ``tradeoff``: exploit a model of the others without becoming too easy to exploit."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.checks import number, one_of
from fogplay.errors import FogplayError
from fogplay.evaluate import best_response
from fogplay.evaluate.responses import AgainstModel, against_model, mix
from fogplay.interrupts import stopping
from fogplay.simulators import Simulator, simulator_for
from fogplay.simulators.interface import require_tree
from fogplay.simulators.restricted import BoundSimulator
from fogplay.solvers.run import Progress
from fogplay.solvers.solve import Result, solve
from fogplay.strategies import TabularStrategy
from fogplay.trees import FlatGame
from fogplay.trees.restrict import data_biased, restricted_nash

KINDS = ("rnr", "dbr")
CONFIDENCES = (0.0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97, 1.0)  # those of Ponsen et al. 2011, figure 6
HALF = 10.0  # observations at which a data-biased response has half its confidence
MIXES = tuple(share / 10 for share in range(11))


@dataclass(frozen=True)
class Response:
    """Responses to a model in every seat, as one strategy, and how good they are."""

    strategy: Any  # a Strategy
    quality: AgainstModel | None  # None if the game is too large to measure exactly: play a match
    seconds: float  # of learning


@dataclass(frozen=True)
class TradeoffPoint:
    """One response on the curve from equilibrium to best response."""

    method: str  # rnr, dbr or mixing
    confidence: float  # for mixing: the probability of the best response
    exploitation: float  # winnings beyond those of the equilibrium strategy, summed over the seats
    nash_conv: float
    winnings: tuple[float, ...]
    guaranteed: tuple[float, ...] | None


def respond(
    game: Any,
    to: Any,
    confidence: float = 0.75,
    *,
    kind: str = "rnr",
    half: float = HALF,
    explore_model: float = 0.0,
    algorithm: str = "cfr+",
    iterations: int | None = None,
    minutes: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    device: str = "cpu",
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
    note: Callable[[str], None] | None = None,
    **parameters: Any,
) -> Response:
    """Respond in every seat to the model ``to`` of the others.

    ``rnr``, a restricted Nash response: the others follow the model throughout with probability ``confidence``, and are
    free otherwise; 0 gives an equilibrium, 1 a best response. ``dbr``, a data-biased response: the same choice is made
    anew at every infoset, with confidence · n / (n + half), where n is the number of observations behind the model
    there; a model without observations is trusted equally everywhere. With a sampling algorithm these are MCRNR and
    MCDBR; ``explore_model`` mixes so much uniform play into the draws of the model's moves and corrects for it by
    weights, as the 2011 paper's algorithm 2 does (outcome sampling only). The seats share ``minutes`` equally; each
    seat gets ``iterations``. Ctrl-C raises KeyboardInterrupt once the checkpoint is written, and ``resume`` continues
    from there.
    """
    require_response(kind, confidence, half)
    if number("explore_model", explore_model, 0.0, 1.0) and algorithm != "os-mccfr":
        raise FogplayError(f"explore_model is for os-mccfr, whose weights can correct for it, not for {algorithm}")
    simulator = simulator_for(game)
    restricted = bound(simulator, to, confidence, kind, half, explore_model)
    played: list[Result] = []
    for seat in range(simulator.num_players):
        found = solve(
            restricted(seat),
            algorithm,
            iterations,
            minutes=None if minutes is None else minutes / simulator.num_players,
            seed=seed,
            threads=threads,
            device=device,
            checkpoint=Path(f"{os.fspath(checkpoint)}.{seat}") if checkpoint is not None else None,
            resume=resume,
            progress=_in_turn(progress, seat, simulator.num_players, sum(each.seconds for each in played)),
            note=note,
            **parameters,
        )
        if found.stopped is not None:
            raise FogplayError(found.stopped)
        if found.interrupted:
            done = f"seat {seat} of {simulator.num_players} seats at {found.iterations:,} iterations"
            raise KeyboardInterrupt(f"{done}, {len(played)} finished")
        played.append(found)
    last = played[-1]
    about = {"confidence": confidence, "to": to.method, "algorithm": algorithm, **last.parameters}
    if kind == "dbr":
        about["half"] = half
    if explore_model:
        about["explore_model"] = explore_model
    together = {"parameters": about, "iterations": last.iterations, "seed": last.strategy.seed}
    seconds = sum(each.seconds for each in played)
    strategy = simulator.joined([each.strategy for each in played], kind, **together)
    quality = None
    if simulator.flat is not None:
        quality = against_model(simulator.flat, strategy.probabilities, to.on(simulator.flat))
    return Response(strategy, quality, seconds)


def require_response(kind: str, confidence: float, half: float) -> None:
    """Refuse invalid settings of a response, before anything is built."""
    one_of("kind", kind, KINDS)
    number("confidence", confidence, 0.0, 1.0)
    number("half", half, 0.0, 1e12)


def bound(
    simulator: Simulator, to: Any, confidence: float, kind: str, half: float, explore: float = 0.0
) -> Callable[[int], Any]:
    """The game of the responder at a seat, with all others bound to the model."""
    model, flat = simulator.model(to), simulator.flat
    if flat is None:
        sure = number("confidence", confidence, 0.0, 1.0)
        by = sure if kind == "rnr" else np.full(simulator.num_slots, sure)
        return lambda seat: BoundSimulator(simulator, seat, model, by, explore)
    trusted = trust(flat, to, confidence, kind, half)
    if explore:
        slots = trusted if isinstance(trusted, float) else np.repeat(trusted, np.diff(flat.tree.infoset_start))
        return lambda seat: BoundSimulator(simulator, seat, model, slots, explore)
    if isinstance(trusted, float):
        return lambda seat: restricted_nash(flat, seat, model, trusted)
    return lambda seat: data_biased(flat, seat, model, trusted)


def tradeoff(
    game: Any,
    to: TabularStrategy,
    confidences: Sequence[float] = CONFIDENCES,
    *,
    progress: Callable[[Progress], None] | None = None,
    **settings: Any,
) -> list[TradeoffPoint]:
    """The whole curve: responses by confidence (``settings`` as in ``respond``), and mixing for comparison.

    Mixing (Shafiei et al. 2009) plays the exact best response with some probability and the equilibrium otherwise.
    The equilibrium is the response of confidence 0; winnings are counted from what it wins. Ctrl-C ends the curve
    after the last confidence that was finished.
    """
    simulator = simulator_for(game)
    flat, model = require_tree(simulator, "a tradeoff"), simulator.model(to)
    wanted = sorted({0.0, *(number("confidence", each, 0.0, 1.0) for each in confidences)})
    found: list[Response] = []
    with stopping():
        for step, confidence in enumerate(wanted):
            tell = _in_turn(progress, step, len(wanted), sum(each.seconds for each in found))
            try:
                found.append(respond(flat, to, confidence, progress=tell, **settings))
            except KeyboardInterrupt:
                if not found:
                    raise
                break
    wanted = wanted[: len(found)]
    qualities = [each.quality or against_model(flat, each.strategy.probabilities, model) for each in found]
    kind, base, safe = str(settings.get("kind", "rnr")), qualities[0], found[0].strategy.probabilities
    points = [_point(kind, confidence, each, base) for confidence, each in zip(wanted, qualities, strict=True)]
    exploiting = safe.copy()
    for seat in range(flat.num_players):
        own = flat.slots_of(seat)
        exploiting[own] = best_response(flat, model, seat)[1][own]
    for share in MIXES:
        mixed = mix(flat, exploiting, safe, share)
        points.append(_point("mixing", share, against_model(flat, mixed, model), base))
    return points


def _point(method: str, confidence: float, quality: AgainstModel, base: AgainstModel) -> TradeoffPoint:
    gain = sum(quality.winnings) - sum(base.winnings)
    return TradeoffPoint(method, confidence, gain, quality.nash_conv, quality.winnings, quality.guaranteed)


def trust(
    flat: FlatGame, model: TabularStrategy, confidence: float, kind: str, half: float
) -> float | NDArray[np.float64]:
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


def _in_turn(
    progress: Callable[[Progress], None] | None, turn: int, turns: int, before: float
) -> Callable[[Progress], None] | None:
    """A callback that turns the progress of one of several equal runs into the progress of all."""
    if progress is None:
        return None

    def tell(now: Progress) -> None:
        made = turn * now.iterations if now.time_limit is None else 0  # with a time limit, count this run's only
        done = made + now.iteration
        limit = None if now.time_limit is None else turns * now.time_limit
        progress(Progress(done, turns * now.iterations, before + now.seconds, now.nash_conv, limit))

    return tell
