"""Exact measures of strategies in games too large for a tree, where the game itself brings the walk through it.

A registered game's simulator module may have ``full_game(rules, theirs, own, device, precision)``, whose ``measure``
tells what a responder earns against ``theirs`` in each seat: a best response, or ``own``. Nothing is abstracted. It may
also have ``local_game(rules, theirs)``, which plays a cheap response for a lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fogplay.errors import FogplayError
from fogplay.evaluate.exact import Evaluation
from fogplay.games.registry import load
from fogplay.simulators import part_of

UNIT = "mb/h"  # thousandths of a big blind per hand
LOCAL_HANDS = 10_000


@dataclass(frozen=True)
class FullEvaluation(Evaluation):
    """How good a strategy is in the whole game; ``values`` is empty, since only best responses are computed."""

    unit: str = UNIT
    standard_error: float | None = None  # of the exploitability, where it was estimated
    without: tuple[float, ...] = ()  # the exploitability without each group of what was sampled, for differences


@dataclass(frozen=True)
class ExactMatch:
    """What two strategies earn against each other, without variance."""

    values: tuple[float, ...]  # what the first strategy earns, by its seat
    mean: float  # over the seats
    standard_error: float | None  # where the value is estimated from a sample
    unit: str
    method: str


def evaluate_fully(
    strategy: Any, game: Any = None, *, device: str = "cpu", precision: str = "single", **options: Any
) -> FullEvaluation:
    """Best responses to a strategy in the whole game, every card seen as it is.

    ``options``: ``flops`` (estimate from so many sampled ones), ``seed``, ``threads``, ``checkpoint``, ``progress``,
    ``building`` (told of tables that are built once) and ``seconds``. Values are in thousandths of a big blind per
    hand, since games of this size are played for such.
    """
    whole = _whole(_rules(strategy, game), strategy, None, device, precision)
    found = _finished(whole.measure(**options), options)
    method, mean = _method(found, "best responses"), found.mean
    return FullEvaluation((), found.values, sum(found.values), mean, method, UNIT, found.standard_error, found.without)


def evaluate_locally(strategy: Any, game: Any = None, *, hands: int = LOCAL_HANDS, **options: Any) -> FullEvaluation:
    """A lower bound of the exploitability in the whole game: what a local best response earns, over sampled deals.

    ``options``: ``seed``, ``threads``, ``progress`` and ``building``.
    """
    rules = _rules(strategy, game)
    make = part_of(rules, "local_game")
    if make is None:
        raise FogplayError(f"{rules} has no local best response; measure it over its tree: leave local out")
    found = _finished(make(rules, strategy).measure(hands, **options), options)
    method = f"a local best response over {found.hands:,} hands: a lower bound, without abstraction"
    return FullEvaluation((), found.values, sum(found.values), found.mean, method, UNIT, found.standard_error)


def exact_match(
    game: Any, first: Any, second: Any, *, device: str = "cpu", precision: str = "single", **options: Any
) -> ExactMatch:
    """What ``first`` earns against ``second``, in every seat; ``options`` as above."""
    rules = load(game) if isinstance(game, str) else game
    found = _finished(_whole(rules, second, first, device, precision).measure(**options), options)
    return ExactMatch(found.values, found.mean, found.standard_error, UNIT, _method(found, "expected values"))


def _rules(strategy: Any, game: Any) -> Any:
    if game is not None:
        return load(game) if isinstance(game, str) else game
    if not isinstance(getattr(strategy, "game", None), str):
        raise FogplayError("this player does not say which game it plays: pass the game too")
    return load(strategy.game)


def _whole(rules: Any, theirs: Any, own: Any, device: str, precision: str) -> Any:
    make = part_of(rules, "full_game")
    if make is None:
        raise FogplayError(f"{rules} has no exact measure of its own; measure it over its tree: leave full out")
    return make(rules, theirs, own, device=device, precision=precision)


def _finished(found: Any, options: Mapping[str, Any]) -> Any:
    """The result, unless a signal or the time limit came first: then what was found is in the checkpoint."""
    if found is None and options.get("seconds") is not None:
        raise FogplayError("not finished in the time that there was; the same call goes on from its checkpoint")
    if found is None:
        raise KeyboardInterrupt
    return found


def _method(found: Any, what: str) -> str:
    if found.standard_error is None:
        return f"exact {what} over all {found.all_flops:,} flops, without abstraction"
    return f"{what} estimated from {found.flops:,} of {found.all_flops:,} flops, without abstraction"
