"""Expectation for hands that were seen in part: how likely every node is, and what was chosen how often.

Both loops read the tree once. Two strategies play: the modelled player's at the seats in ``mine``, and another one, of
everybody else, at the rest.
"""

from __future__ import annotations

from fogplay.games.game import CHANCE
from fogplay.jit import kernel


@kernel
def reach_of(tree, strategies, mine, reach):
    """Fill ``reach[nodes]`` with the probability that the players' own moves lead there; chance is left out.

    ``strategies[2, slots]``: row 0 is played at the seats where ``mine[players]`` is true, row 1 at the others.
    """
    reach[0] = 1.0
    for node in range(len(reach)):
        player = tree.player[node]
        first = tree.first_child[node]
        for action in range(tree.num_children[node]):
            likely = 1.0
            if player >= 0:
                row = 0 if mine[player] else 1
                likely = strategies[row, tree.infoset_start[tree.row[node]] + action]
            reach[first + action] = reach[node] * likely


@kernel
def count_choices(tree, mine, passed, counts):
    """Add to ``counts[2, slots]`` how often each action was chosen, in rows as for ``reach_of``.

    ``passed[nodes]`` holds at the terminals how often each was reached, and 0 elsewhere; it is filled from there up.
    """
    for node in range(len(passed) - 1, -1, -1):
        player = tree.player[node]
        first = tree.first_child[node]
        total = passed[node]
        for action in range(tree.num_children[node]):
            times = passed[first + action]
            total += times
            if player != CHANCE:
                row = 0 if mine[player] else 1
                counts[row, tree.infoset_start[tree.row[node]] + action] += times
        passed[node] = total
