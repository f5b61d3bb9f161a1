"""The sequence form (von Stengel 1996): the tree as each player remembers it.

A *decision point* of a player is an infoset together with the player's own moves before it; a *sequence* is a decision
point with one of its actions, or the empty sequence before the player's first move. Under perfect recall decision
points and infosets are the same; without it several points share one infoset, and the same loops remain correct.

Every full-width computation is then three loops: reach from the top down, terminals into sequences, values from the
bottom up. Terminals that all players reach by the same sequences are merged, and chance is multiplied into their
weights, so an iteration reads far fewer numbers than the tree has nodes.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.games.game import TERMINAL
from fogplay.jit import kernel

COIN, FORCED = -2, -3  # rows of chance nodes that bind a player to a model: see ``restrict.py``

if TYPE_CHECKING:
    from fogplay.trees.tree import Tree


class SequenceForm(NamedTuple):
    """Points and sequences are numbered player by player, parents before children.

    A player's first sequence is the empty one; the sequences of one point are adjacent. All indices are unsigned:
    Numba tests signed indices for negative values at every access, which makes CFR half as fast.
    """

    infoset_range: NDArray[np.uint32]  # [players + 1] the infosets of player p are infoset_range[p] ... [p + 1]
    slot_start: NDArray[np.uint32]  # [infosets + 1] the first slot of each infoset
    point_range: NDArray[np.uint32]  # [players + 1]
    point_slot: NDArray[np.uint32]  # [points] the first slot of the point's infoset
    point_infoset: NDArray[np.uint32]  # [points]
    point_parent: NDArray[np.uint32]  # [points] the player's own sequence before the point
    point_sequence: NDArray[np.uint32]  # [points] the sequence of its first action
    point_actions: NDArray[np.uint32]  # [points]
    sequence_range: NDArray[np.uint32]  # [players + 1]
    entry_start: NDArray[np.uint32]  # [sequences + 1] the merged terminals that end in each sequence
    entry_others: NDArray[np.uint32]  # [players - 1, entries] the other players' sequences there
    entry_weight: NDArray[np.float64]  # [entries] chance times the payoff to the sequence's own player


# The form of a game with coins has two more arrays: ``floor[slots]``, the probability that a player is forced to take
# an action whatever it chooses, and ``free[slots]``, the probability that it may take the action it chose. It is a
# separate type, so that kernels pay for this only where it is needed.
_tuple_type: Any = namedtuple
RestrictedForm = _tuple_type("RestrictedForm", (*SequenceForm._fields, "floor", "free"))


def sequence_form(tree: Tree) -> Any:
    """Derive the sequence form of a tree; a ``RestrictedForm`` if the tree has coins."""
    players = tree.payoffs.shape[1]
    decisions = int((tree.player >= 0).sum())
    last = np.zeros((len(tree.player), players), np.int32)
    chance = np.ones(len(tree.player))
    infosets = len(tree.infoset_player)
    points = [np.zeros(decisions, np.int32) for _ in range(4)]
    next_point, point_infoset, point_parent, point_sequence = points
    head = np.full(infosets, -1, np.int32)
    num_points = _find_points(
        tree, last, chance, head, next_point, point_infoset, point_parent, point_sequence, players
    )
    point_infoset = point_infoset[:num_points]
    point_parent = point_parent[:num_points]
    point_sequence = point_sequence[:num_points]

    # Renumber player by player; the order of discovery within a player already puts parents first.
    counts = np.diff(tree.infoset_start)
    order = np.argsort(tree.infoset_player[point_infoset], kind="stable")
    owner = tree.infoset_player[point_infoset][order]
    actions = counts[point_infoset][order].astype(np.int32)
    new_first = np.cumsum(actions, dtype=np.int64) - actions + owner + 1  # past the empty sequences
    num_sequences = int(actions.sum()) + players
    renumber = np.zeros(num_sequences, np.int32)
    sequence_range = np.zeros(players + 1, np.int64)
    for player in range(players):
        sequence_range[player + 1] = sequence_range[player] + 1 + actions[owner == player].sum()
        renumber[player] = sequence_range[player]
    offset = np.arange(int(actions.sum())) - np.repeat(np.cumsum(actions) - actions, actions)
    renumber[np.repeat(point_sequence[order], actions) + offset] = np.repeat(new_first, actions) + offset

    terminal = tree.player == TERMINAL
    ends = renumber[last[terminal]]  # [terminals, players]
    weights = chance[terminal, None] * tree.payoffs[tree.row[terminal]]
    ends, weights = _merge(ends, weights)
    entry_start, entry_others, entry_weight = _by_sequence(ends, weights, num_sequences)
    form = SequenceForm(
        infoset_range=_index(np.searchsorted(tree.infoset_player, np.arange(players + 1))),
        slot_start=_index(tree.infoset_start),
        point_range=_index(np.searchsorted(owner, np.arange(players + 1))),
        point_slot=_index(tree.infoset_start[point_infoset[order]]),
        point_infoset=_index(point_infoset[order]),
        point_parent=_index(renumber[point_parent[order]]),
        point_sequence=_index(new_first),
        point_actions=_index(actions),
        sequence_range=_index(sequence_range),
        entry_start=_index(entry_start),
        entry_others=_index(entry_others),
        entry_weight=entry_weight,
    )
    return RestrictedForm(*form, *_bounds(tree)) if (tree.row == COIN).any() else form


def _bounds(tree: Tree) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[slots] the probability that each action is forced, and that its player is free."""
    slots = int(tree.infoset_start[-1])
    floor, free = np.zeros(slots), np.ones(slots)
    pairs = tree.first_child[tree.row == COIN]
    infosets, first = np.unique(tree.row[pairs], return_index=True)
    for infoset, decision in zip(infosets, pairs[first], strict=True):
        here, children = slice(*tree.infoset_start[infoset : infoset + 2]), tree.first_child[decision]
        free[here] = tree.probability[decision]
        model = tree.probability[children : children + tree.num_children[decision]]
        floor[here] = tree.probability[decision + 1] * model
    return floor, free


def _index(numbers: NDArray[Any]) -> NDArray[np.uint32]:
    """Indices as ``SequenceForm`` stores them."""
    return np.ascontiguousarray(numbers, np.uint32)


def _merge(ends: NDArray[np.int32], weights: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Merge the terminals that every player reaches by the same sequence into one row."""
    order = np.lexsort(ends.T[::-1])
    ends, weights = ends[order], weights[order]
    starts = np.flatnonzero(np.r_[True, (ends[1:] != ends[:-1]).any(axis=1)])
    return ends[starts], np.add.reduceat(weights, starts, axis=0)


def _by_sequence(
    ends: NDArray[np.int32], weights: NDArray[np.float64], num_sequences: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """The entries of every player, sorted by that player's own sequence; payoffs of 0 are left out."""
    players = ends.shape[1]
    own, others, paid = [], [], []
    for player in range(players):
        kept = np.flatnonzero(weights[:, player])
        kept = kept[np.argsort(ends[kept, player], kind="stable")]
        own.append(ends[kept, player])
        others.append(np.delete(ends[kept].T, player, axis=0))
        paid.append(weights[kept, player])
    start = np.searchsorted(np.concatenate(own), np.arange(num_sequences + 1))
    return start, np.concatenate(others, axis=1), np.concatenate(paid)


@kernel
def _find_points(tree, last, chance, head, next_point, point_infoset, point_parent, point_sequence, players):
    """Number decision points and sequences in the order of the nodes; return the number of points.

    Fills ``last[node, player]`` (the player's last sequence), ``chance[node]`` (chance's share of the reach) and the
    point arrays. ``head[infoset]`` and ``next_point`` link the points of an infoset.
    """
    for player in range(players):
        last[0, player] = player
    points = 0
    sequences = players
    for node in range(len(tree.player)):
        player = tree.player[node]
        first_sequence = -1
        if tree.row[node] == FORCED:
            continue  # the free node beside it has the same children
        if player >= 0:
            infoset = tree.row[node]
            point = head[infoset]
            while point >= 0 and point_parent[point] != last[node, player]:
                point = next_point[point]
            if point < 0:
                point = points
                points += 1
                next_point[point] = head[infoset]
                head[infoset] = point
                point_infoset[point] = infoset
                point_parent[point] = last[node, player]
                point_sequence[point] = sequences
                sequences += tree.num_children[node]
            first_sequence = point_sequence[point]
        for action in range(tree.num_children[node]):
            child = tree.first_child[node] + action
            by_chance = player < 0 and tree.row[node] != COIN
            chance[child] = chance[node] * tree.probability[child] if by_chance else chance[node]
            for other in range(players):
                last[child, other] = last[node, other]
            if player >= 0:
                last[child, player] = first_sequence + action
    return points


@kernel
def find_lost_recall(tree, last, seen):
    """The first node whose infoset occurred before after different own moves, or -1 under perfect recall.

    ``last[node, player]``, zeroed, and ``seen[infoset]``, filled with -1, are scratch.
    """
    players = tree.payoffs.shape[1]
    for node in range(len(tree.player)):
        player = tree.player[node]
        if player >= 0:
            infoset = tree.row[node]
            if seen[infoset] < 0:
                seen[infoset] = last[node, player]
            elif seen[infoset] != last[node, player]:
                return node
        for action in range(tree.num_children[node]):
            child = tree.first_child[node] + action
            for other in range(players):
                last[child, other] = last[node, other]
            if player >= 0:
                last[child, player] = 1 + tree.infoset_start[tree.row[node]] + action
    return -1
