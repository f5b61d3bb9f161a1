"""Any simulator with the others bound to a model: ``trees/restrict.py`` for games without a tree.

A bound player's moves are made on the way, as chance's are, so a kernel never sees them: Monte Carlo CFR on such a game
is MCRNR. Algorithm 2 of Ponsen et al. 2011 samples the fixed strategy with exploration, too; ``Explored`` does that,
and corrects for it by a weight on the payoffs.
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
from fogplay.simulators.streams import below, draw, uniform


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


class Explored(NamedTuple):
    """One of the above whose bound moves are drawn with exploration; a node has the weight that makes up for it."""

    inner: Any  # RestrictedNash or DataBiased
    epsilon: float  # how much uniform play is mixed into the model


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


@piece
def after_explored(game, node, weight, signals, rng):
    """Advance to a free player's turn or to the end, bound moves drawn with exploration; multiply their weights."""
    inner = game.inner.inner
    while not questions.is_terminal(inner, node) and questions.player_of(inner, node) != game.inner.responder:
        slot = questions.slot_of(inner, node, signals[1])
        if not bound(game.inner, signals, slot, rng):
            break
        actions = questions.num_actions(inner, node)
        explored = uniform(rng) < game.epsilon
        action = below(rng, actions) if explored else draw(game.inner.fixed, slot, actions, rng)
        likely = game.inner.fixed[slot + action]
        weight *= likely / (game.epsilon / actions + (1.0 - game.epsilon) * likely)
        node = questions.advance(inner, node, action, signals[1], rng)
    return node, weight


@questions.deal.register(Explored)
def _deal_explored(game, rng):
    return questions.deal(game.inner, rng)


@questions.start.register(Explored)
def _start_explored(game, signals, rng):
    return after_explored(game, questions.start(game.inner.inner, signals[1], rng), 1.0, signals, rng)


@questions.advance.register(Explored)
def _advance_explored(game, node, action, signals, rng):
    reached = questions.advance(game.inner.inner, node[0], action, signals[1], rng)
    return after_explored(game, reached, node[1], signals, rng)


@questions.payoff.register(Explored)
def _payoff_explored(game, node, signals, player):
    return node[1] * questions.payoff(game.inner.inner, node[0], signals[1], player)


@questions.is_terminal.register(Explored)
def _is_terminal_explored(game, node):
    return questions.is_terminal(game.inner.inner, node[0])


@questions.player_of.register(Explored)
def _player_of_explored(game, node):
    return questions.player_of(game.inner.inner, node[0])


@questions.num_actions.register(Explored)
def _num_actions_explored(game, node):
    return questions.num_actions(game.inner.inner, node[0])


@questions.slot_of.register(Explored)
def _slot_of_explored(game, node, signals):
    return questions.slot_of(game.inner.inner, node[0], signals[1])


@questions.slot_to_read.register(Explored)
def _slot_to_read_explored(game, node, signals):
    return questions.slot_to_read(game.inner.inner, node[0], signals[1])


class BoundSimulator(Simulator):
    """Any simulator in which everybody but the responder is bound to a model, by one coin or by one per infoset."""

    def __init__(
        self,
        inner: Simulator,
        responder: int,
        model: NDArray[np.float64],
        confidence: float | NDArray[np.float64],
        explore: float = 0.0,
    ) -> None:
        self.inner, self.responder, self.fixed, self.confidence = inner, responder, model, confidence
        self.explore = explore  # of the bound moves; 0: they are drawn from the model itself
        kind = "rnr" if isinstance(confidence, float) else "dbr"
        self.name, self.game = f"{kind}({inner.name},responder={responder})", inner.game
        self.num_players, self.num_slots, self.widest = inner.num_players, inner.num_slots, inner.widest
        self.deepest, self.decisions, self.payoff_range = inner.deepest, inner.decisions, inner.payoff_range
        self.defaults, self.calibration = inner.defaults, inner.calibration
        digest = hashlib.sha256(inner.digest.encode() + np.asarray(confidence).tobytes())
        if explore:
            digest.update(np.float64(explore).tobytes())
        digest.update(np.ascontiguousarray(model).view(np.uint8).data)
        self.digest = digest.hexdigest()[:16]

    def worker(self, batch: int = BATCH) -> Any:
        kind: Any = RestrictedNash if isinstance(self.confidence, float) else DataBiased
        made = kind(self.inner.worker(batch), self.responder, self.confidence, self.fixed)
        return Explored(made, self.explore) if self.explore else made

    def in_progress(self, workers: Sequence[Any]) -> dict[str, NDArray[Any]]:
        return self.inner.in_progress([each.inner.inner if self.explore else each.inner for each in workers])

    def exploration(self, k: float, cap: float) -> Any:
        return self.inner.exploration(k, cap)

    def calls(self) -> Any:
        return self.inner.calls()

    def strategy(self, learned: Learned, method: str, greedy: bool, **about: Any) -> Any:
        return self.inner.strategy(learned, method, greedy, **about)
