"""Any simulator with the others bound to a model: ``trees/restrict.py`` for games without a tree.

A bound player's moves are made on the way, as chance's are, so a kernel never sees them: algorithm 2 of Ponsen et al.
2011 is Monte Carlo CFR on such a game.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.dispatch import by_type
from fogplay.jit import piece
from fogplay.simulators import questions
from fogplay.simulators.interface import BATCH, Learned, Simulator
from fogplay.simulators.streams import draw, uniform


class RestrictedNash(NamedTuple):
    """One hidden coin per episode decides whether everybody but the responder follows the model throughout."""

    inner: Any  # the simulator of the game itself
    responder: int
    confidence: float
    fixed: NDArray[np.float64]  # [slots] the model


class DataBiased(NamedTuple):
    """A hidden coin at every infoset of everybody but the responder."""

    inner: Any
    responder: int
    confidence: NDArray[np.float64]  # [slots] by the first slot of an infoset
    fixed: NDArray[np.float64]  # [slots] the model


@by_type
def bound(game, signals, slot, rng):
    """Whether a player other than the responder must follow the model now."""


@bound.register(RestrictedNash)
def _bound_throughout(game, signals, slot, rng):
    return signals[0]


@bound.register(DataBiased)
def _bound_here(game, signals, slot, rng):
    return uniform(rng) < game.confidence[slot]


@piece
def after_bound(game, node, signals, rng):
    """Advance from ``node`` until a player is free to choose, or the game is over."""
    while not questions.is_terminal(game.inner, node) and questions.player_of(game.inner, node) != game.responder:
        slot = questions.slot_of(game.inner, node, signals[1])
        if not bound(game, signals, slot, rng):
            break
        action = draw(game.fixed, slot, questions.num_actions(game.inner, node), rng)
        node = questions.advance(game.inner, node, action, signals[1], rng)
    return node


@questions.deal.register(RestrictedNash)
def _deal_with_coin(game, rng):
    return uniform(rng) < game.confidence, questions.deal(game.inner, rng)


@questions.deal.register(DataBiased)
def _deal(game, rng):
    return False, questions.deal(game.inner, rng)


def _start(game, signals, rng):
    return after_bound(game, questions.start(game.inner, signals[1], rng), signals, rng)


def _slot_of(game, node, signals):
    return questions.slot_of(game.inner, node, signals[1])


def _slot_to_read(game, node, signals):
    return questions.slot_to_read(game.inner, node, signals[1])


def _advance(game, node, action, signals, rng):
    return after_bound(game, questions.advance(game.inner, node, action, signals[1], rng), signals, rng)


def _payoff(game, node, signals, player):
    return questions.payoff(game.inner, node, signals[1], player)


for _kind in (RestrictedNash, DataBiased):
    questions.forward(_kind, questions.is_terminal, questions.player_of, questions.num_actions)
    questions.start.register(_kind)(_start)
    questions.slot_of.register(_kind)(_slot_of)
    questions.slot_to_read.register(_kind)(_slot_to_read)
    questions.advance.register(_kind)(_advance)
    questions.payoff.register(_kind)(_payoff)


class BoundSimulator(Simulator):
    """Any simulator in which everybody but the responder is bound to a model, by one coin or by one per infoset."""

    def __init__(
        self, inner: Simulator, responder: int, model: NDArray[np.float64], confidence: float | NDArray[np.float64]
    ) -> None:
        self.inner, self.responder, self.fixed, self.confidence = inner, responder, model, confidence
        kind = "rnr" if isinstance(confidence, float) else "dbr"
        self.name, self.game = f"{kind}({inner.name},responder={responder})", inner.game
        self.num_players, self.num_slots, self.widest = inner.num_players, inner.num_slots, inner.widest
        self.deepest, self.decisions, self.payoff_range = inner.deepest, inner.decisions, inner.payoff_range
        self.defaults, self.calibration = inner.defaults, inner.calibration
        digest = hashlib.sha256(inner.digest.encode() + np.asarray(confidence).tobytes())
        digest.update(np.ascontiguousarray(model).view(np.uint8).data)
        self.digest = digest.hexdigest()[:16]

    def worker(self, batch: int = BATCH) -> Any:
        kind: Any = RestrictedNash if isinstance(self.confidence, float) else DataBiased
        return kind(self.inner.worker(batch), self.responder, self.confidence, self.fixed)

    def in_progress(self, workers: Sequence[Any]) -> dict[str, NDArray[Any]]:
        return self.inner.in_progress([each.inner for each in workers])

    def exploration(self, k: float, cap: float) -> Any:
        return self.inner.exploration(k, cap)

    def calls(self) -> Any:
        return self.inner.calls()

    def strategy(self, learned: Learned, method: str, greedy: bool, **about: Any) -> Any:
        return self.inner.strategy(learned, method, greedy, **about)
