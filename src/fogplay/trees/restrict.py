"""Restricted games, in which the others are bound to a model with some probability: transforms of a game's arrays.

A *responder* faces players who follow a fixed strategy σ_fix with some confidence, and are free otherwise. An
equilibrium of the restricted game is a response to σ_fix that is the safer, the lower the confidence. A restricted game
has the infosets of the original game, so tables and strategies fit both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE
from fogplay.trees.sequences import COIN, FORCED
from fogplay.trees.tree import FlatGame, Restriction, Tree


def restricted_nash(flat: FlatGame, responder: int, fixed: NDArray[np.float64], confidence: float) -> FlatGame:
    """The game of a restricted Nash response (Johanson et al. 2008; Ponsen et al. 2011, figure 5).

    A hidden coin at the root: with probability ``confidence`` the others play ``fixed[slots]`` throughout (their
    decisions are chance's), otherwise they are free. The responder cannot tell the two copies apart.
    """
    _require_player(flat, responder)
    if not 0.0 <= confidence <= 1.0:
        raise FogplayError(f"confidence must be a number from 0 to 1, not {confidence!r}")
    tree, nodes = flat.tree, flat.num_nodes
    bound = _others(tree, responder)
    model = _probability_of_moves(tree, bound, fixed)
    # The roots of the copies are nodes 1 and 2; the rest of the bound copy follows, then the rest of the free copy.
    inner = tree.num_children > 0
    children = [np.where(inner, tree.first_child + shift, 0).astype(np.int32) for shift in (2, nodes + 1)]

    def copies(root: float, in_bound: NDArray[Any], in_free: NDArray[Any]) -> NDArray[Any]:
        parts = (in_bound[:1], in_free[:1], in_bound[1:], in_free[1:])
        return np.concatenate([np.array([root], in_free.dtype), *parts])

    probability = copies(1.0, model, tree.probability)
    probability[1], probability[2] = confidence, 1.0 - confidence
    changed = tree._replace(
        player=copies(CHANCE, np.where(bound, np.int8(CHANCE), tree.player), tree.player),
        row=copies(-1, np.where(bound, np.int32(-1), tree.row), tree.row),
        first_child=copies(1, *children),
        num_children=copies(2, tree.num_children, tree.num_children),
        probability=probability,
    )
    return _restricted(
        flat, changed, responder, fixed, f"rnr({flat.name},responder={responder},confidence={confidence:g})"
    )


def data_biased(
    flat: FlatGame, responder: int, fixed: NDArray[np.float64], confidence: NDArray[np.float64]
) -> FlatGame:
    """The game of a data-biased response (Johanson & Bowling 2009; Ponsen et al. 2011, footnote 9).

    A hidden coin at every infoset of the others: with probability ``confidence[infosets]`` the action is drawn from
    ``fixed[slots]``, otherwise it is the player's own choice. What follows does not depend on which it was, so both
    lead to the same nodes: the tree grows by two nodes per decision instead of a copy of everything below it.
    """
    _require_player(flat, responder)
    confidence = np.asarray(confidence, np.float64)
    if confidence.shape != (flat.num_infosets,) or not ((confidence >= 0) & (confidence <= 1)).all():
        raise FogplayError(f"confidence must be an array of {flat.num_infosets:,} numbers from 0 to 1, one per infoset")
    tree = flat.tree
    trusted = _others(tree, responder)
    trusted[trusted] = confidence[tree.row[trusted]] > 0.0
    coins = np.flatnonzero(trusted)
    blocks = tree.first_child[coins]
    opened = np.zeros(flat.num_nodes, np.int64)
    opened[blocks] = 2
    moved = np.arange(flat.num_nodes) + np.cumsum(
        opened
    )  # a pair of nodes goes in before the children of each decision
    free = moved[blocks] - 2
    forced = free + 1

    def spread(old: NDArray[Any], at_coin: Any, at_free: Any, at_forced: Any) -> NDArray[Any]:
        new = np.empty(flat.num_nodes + 2 * len(coins), old.dtype)
        new[moved] = old
        new[moved[coins]], new[free], new[forced] = at_coin, at_free, at_forced
        return new

    first = np.where(tree.num_children > 0, moved[tree.first_child], 0).astype(np.int32)
    sure, model = confidence[tree.row[coins]], _probability_of_moves(tree, trusted, fixed)
    changed = tree._replace(
        player=spread(tree.player, CHANCE, tree.player[coins], CHANCE),
        row=spread(tree.row, COIN, tree.row[coins], FORCED),
        first_child=spread(first, free, first[coins], first[coins]),
        num_children=spread(tree.num_children, 2, tree.num_children[coins], tree.num_children[coins]),
        probability=spread(model, model[coins], 1.0 - sure, sure),
    )
    return _restricted(flat, changed, responder, fixed, f"dbr({flat.name},responder={responder})")


def _restricted(flat: FlatGame, tree: Tree, responder: int, model: NDArray[np.float64], name: str) -> FlatGame:
    return replace(flat, name=name, tree=tree, restriction=Restriction(flat, responder, model), measures={})


def _require_player(flat: FlatGame, responder: int) -> None:
    if flat.restriction is not None:
        raise FogplayError(
            f"{flat.name} is already restricted; restrict the original game, {flat.restriction.origin.name}"
        )
    if not 0 <= responder < flat.num_players:
        raise FogplayError(f"responder must be a player from 0 to {flat.num_players - 1}, not {responder!r}")


def _others(tree: Tree, responder: int) -> NDArray[np.bool_]:
    """[nodes] where a player other than the responder decides."""
    decides: NDArray[np.bool_] = (tree.player >= 0) & (tree.player != responder)
    return decides


def _probability_of_moves(tree: Tree, bound: NDArray[np.bool_], fixed: NDArray[np.float64]) -> NDArray[np.float64]:
    """[nodes] the tree's probabilities, with those of ``fixed[slots]`` below the ``bound`` decisions."""
    probability = tree.probability.copy()
    at = np.flatnonzero(bound)
    counts = tree.num_children[at]
    offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    slots = np.repeat(tree.infoset_start[tree.row[at]], counts) + offset
    probability[np.repeat(tree.first_child[at], counts) + offset] = fixed[slots]
    return probability
