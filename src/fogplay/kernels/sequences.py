"""The loops over the sequence form that every full-width computation is made of.

``strategy[slots]`` holds action probabilities, ``reach[sequences]`` the probability that a sequence's own player plays
it, ``value[sequences]`` what it is worth to that player, weighted by how likely chance and the others come along.
"""

from __future__ import annotations

from fogplay.jit import kernel, piece


@kernel
def reach_of(form, player, strategy, reach):  # type: ignore[no-untyped-def]
    """From the top down: fill ``reach`` for the sequences of ``player``."""
    reach[form.sequence_range[player]] = 1.0
    for point in range(form.point_range[player], form.point_range[player + 1]):
        before = reach[form.point_parent[point]]
        slot = form.point_slot[point]
        sequence = form.point_sequence[point]
        for action in range(form.point_actions[point]):
            reach[sequence + action] = before * strategy[slot + action]


@piece
def endings(form, player, reach, value):  # type: ignore[no-untyped-def]
    """Fill ``value`` for the sequences of ``player`` with what the terminals right after them are worth."""
    others = form.entry_others.shape[1]
    for sequence in range(form.sequence_range[player], form.sequence_range[player + 1]):
        total = 0.0
        if others == 1:
            for entry in range(form.entry_start[sequence], form.entry_start[sequence + 1]):
                total += form.entry_weight[entry] * reach[form.entry_others[entry, 0]]
        else:
            for entry in range(form.entry_start[sequence], form.entry_start[sequence + 1]):
                weight = form.entry_weight[entry]
                for other in range(others):
                    weight *= reach[form.entry_others[entry, other]]
                total += weight
        value[sequence] = total


@kernel
def value_of(form, player, strategy, reach, value):  # type: ignore[no-untyped-def]
    """From the bottom up: fill ``value`` for ``player`` playing ``strategy``; returns the value of the game to it."""
    endings(form, player, reach, value)
    for point in range(form.point_range[player + 1] - 1, form.point_range[player] - 1, -1):
        slot = form.point_slot[point]
        sequence = form.point_sequence[point]
        expected = 0.0
        for action in range(form.point_actions[point]):
            expected += strategy[slot + action] * value[sequence + action]
        value[form.point_parent[point]] += expected
    return value[form.sequence_range[player]]


@kernel
def best_response(form, player, reach, value, response):  # type: ignore[no-untyped-def]
    """From the bottom up: write a best response of ``player`` into ``response[slots]`` and return what it earns.

    Perfect recall only: each infoset is one decision point, and decides for itself.
    """
    endings(form, player, reach, value)
    for point in range(form.point_range[player + 1] - 1, form.point_range[player] - 1, -1):
        slot = form.point_slot[point]
        sequence = form.point_sequence[point]
        best = 0
        for action in range(form.point_actions[point]):
            response[slot + action] = 0.0
            if value[sequence + action] > value[sequence + best]:
                best = action
        response[slot + best] = 1.0
        value[form.point_parent[point]] += value[sequence + best]
    return value[form.sequence_range[player]]
