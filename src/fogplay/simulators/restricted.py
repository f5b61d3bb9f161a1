"""Any simulator with the others bound to a model: what ``trees/restrict.py`` does to a tree, for games without one.

A bound player's moves are made on the way, as chance's are, so a kernel never sees them: algorithm 2 of Ponsen et al.
2011 is Monte Carlo CFR on such a game.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import piece
from fogplay.simulators import waist
from fogplay.simulators.random import draw, uniform


class RestrictedNash(NamedTuple):
    """One hidden coin an episode decides whether everybody but the responder follows the model throughout."""

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


@waist.waist
def bound(game, signals, slot, rng):  # type: ignore[no-untyped-def]
    """Whether a player other than the responder must follow the model now."""


@bound.register(RestrictedNash)
def _bound_throughout(game, signals, slot, rng):  # type: ignore[no-untyped-def]
    return signals[0]


@bound.register(DataBiased)
def _bound_here(game, signals, slot, rng):  # type: ignore[no-untyped-def]
    return uniform(rng) < game.confidence[slot]


@piece
def after_bound(game, node, signals, rng):  # type: ignore[no-untyped-def]
    """Move on from ``node`` until a player is free to choose, or the game is over."""
    while not waist.is_terminal(game.inner, node) and waist.player_of(game.inner, node) != game.responder:
        slot = waist.slot_of(game.inner, node, signals[1])
        if not bound(game, signals, slot, rng):
            break
        action = draw(game.fixed, slot, waist.num_actions(game.inner, node), rng)
        node = waist.advance(game.inner, node, action, signals[1], rng)
    return node


@waist.deal.register(RestrictedNash)
def _deal_with_coin(game, rng):  # type: ignore[no-untyped-def]
    return uniform(rng) < game.confidence, waist.deal(game.inner, rng)


@waist.deal.register(DataBiased)
def _deal(game, rng):  # type: ignore[no-untyped-def]
    return False, waist.deal(game.inner, rng)


def _start(game, signals, rng):  # type: ignore[no-untyped-def]
    return after_bound(game, waist.start(game.inner, signals[1], rng), signals, rng)


def _is_terminal(game, node):  # type: ignore[no-untyped-def]
    return waist.is_terminal(game.inner, node)


def _player_of(game, node):  # type: ignore[no-untyped-def]
    return waist.player_of(game.inner, node)


def _num_actions(game, node):  # type: ignore[no-untyped-def]
    return waist.num_actions(game.inner, node)


def _slot_of(game, node, signals):  # type: ignore[no-untyped-def]
    return waist.slot_of(game.inner, node, signals[1])


def _advance(game, node, action, signals, rng):  # type: ignore[no-untyped-def]
    return after_bound(game, waist.advance(game.inner, node, action, signals[1], rng), signals, rng)


def _payoff(game, node, signals, player):  # type: ignore[no-untyped-def]
    return waist.payoff(game.inner, node, signals[1], player)


def _exploration(game, node, signals):  # type: ignore[no-untyped-def]
    return waist.exploration(game.inner, node, signals[1])


def _calling_action(game, node, signals):  # type: ignore[no-untyped-def]
    return waist.calling_action(game.inner, node, signals[1])


for _kind in (RestrictedNash, DataBiased):
    waist.start.register(_kind)(_start)
    waist.is_terminal.register(_kind)(_is_terminal)
    waist.player_of.register(_kind)(_player_of)
    waist.num_actions.register(_kind)(_num_actions)
    waist.slot_of.register(_kind)(_slot_of)
    waist.advance.register(_kind)(_advance)
    waist.payoff.register(_kind)(_payoff)
    waist.exploration.register(_kind)(_exploration)
    waist.calling_action.register(_kind)(_calling_action)
