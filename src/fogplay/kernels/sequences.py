"""The loops over the sequence form that every full-width computation is made of.

``strategy[slots]`` holds action probabilities, ``reach[sequences]`` the probability that a sequence's own player plays
it, ``value[sequences]`` what it is worth to that player, weighted by how likely chance and the others come along.
"""

from __future__ import annotations

import numpy as np

from fogplay.dispatch import by_type
from fogplay.jit import kernel, piece
from fogplay.trees.sequences import RestrictedForm, SequenceForm

ONE = np.uint32(1)  # a plain 1 is signed, and would make an index signed, or even a float


@by_type
def played(form, slot, chosen):
    """How likely an action is played by a player who chooses it with probability ``chosen``."""


@played.register(SequenceForm)
def _as_chosen(form, slot, chosen):
    return chosen


@played.register(RestrictedForm)
def _or_forced(form, slot, chosen):
    return form.floor[slot] + form.free[slot] * chosen


@kernel
def reach_of(form, player, strategy, reach):
    """From the top down: fill ``reach`` for the sequences of ``player``."""
    reach[form.sequence_range[player]] = 1.0
    for point in range(form.point_range[player], form.point_range[player + 1]):
        before = reach[form.point_parent[point]]
        slot = form.point_slot[point]
        sequence = form.point_sequence[point]
        for action in range(form.point_actions[point]):
            reach[sequence + action] = before * played(form, slot + action, strategy[slot + action])


@piece
def endings(form, player, reach, value):
    """Fill ``value`` for the sequences of ``player`` with what the terminals right after them are worth."""
    for sequence in range(form.sequence_range[player], form.sequence_range[player + 1]):
        total = other_total = 0.0  # by turns, so that no addition waits for the one before it
        for entry in range(form.entry_start[sequence], form.entry_start[sequence + ONE]):
            total, other_total = other_total, total + worth(form, reach, entry)
        value[sequence] = total + other_total


@piece
def worth(form, reach, entry):
    """What one merged terminal is worth, weighted by how likely chance and the others come along."""
    weight, others = form.entry_weight[entry], len(form.entry_others)
    if others == 1:
        return weight * reach[form.entry_others[0, entry]]
    for other in range(others):
        weight *= reach[form.entry_others[other, entry]]
    return weight


@kernel
def value_of(form, player, strategy, reach, value):
    """From the bottom up: fill ``value`` for ``player`` playing ``strategy``; returns the value of the game to it."""
    endings(form, player, reach, value)
    point = form.point_range[player + 1]
    while point > form.point_range[player]:
        point -= ONE
        slot = form.point_slot[point]
        sequence = form.point_sequence[point]
        expected = 0.0
        for action in range(form.point_actions[point]):
            expected += played(form, slot + action, strategy[slot + action]) * value[sequence + action]
        value[form.point_parent[point]] += expected
    return value[form.sequence_range[player]]


@kernel
def best_response(form, player, reach, value, response):
    """From the bottom up: write a best response of ``player`` into ``response[slots]`` and return what it earns.

    Perfect recall only: each infoset is one decision point, and decides for itself.
    """
    endings(form, player, reach, value)
    point = form.point_range[player + 1]
    while point > form.point_range[player]:
        point -= ONE
        slot = form.point_slot[point]
        sequence = form.point_sequence[point]
        best = sequence
        for action in range(form.point_actions[point]):
            response[slot + action] = 0.0
            if value[sequence + action] > value[best]:
                best = sequence + action
        response[slot + (best - sequence)] = 1.0
        expected = 0.0
        for action in range(form.point_actions[point]):
            expected += played(form, slot + action, response[slot + action]) * value[sequence + action]
        value[form.point_parent[point]] += expected
    return value[form.sequence_range[player]]
