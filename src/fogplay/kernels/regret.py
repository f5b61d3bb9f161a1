"""Regret matching (Hart & Mas-Colell 2000): the one way from regrets to a strategy."""

from __future__ import annotations

import numpy as np

from fogplay.jit import piece

TINY = 1e-300  # below, a regret is as good as none, and one over it is infinite


@piece
def regret_matching(regret, slot, actions, strategy, at):
    """Write to ``strategy[at ...]`` the probabilities in proportion to the positive part of ``regret[slot ...]``.

    So many ``actions`` of each; uniform where no regret is positive. Every regret is read once, since others may change
    it meanwhile, and what was read twice would not add up to 1.
    """
    for action in range(actions):
        strategy[np.uint64(at + action)] = regret[np.uint64(slot + action)]
    scale, even = match(strategy, at, actions)
    for action in range(actions):
        strategy[np.uint64(at + action)] = share(strategy[np.uint64(at + action)], scale, even)


@piece
def match(regret, slot, actions):
    """What ``share`` needs to know of all the regrets: 1 / their positive sum and 0, or 0 and 1 / actions.

    Indices are unsigned here and above, because Numba looks at every access whether a signed one is negative.
    """
    total = 0.0
    for action in range(actions):
        total += max(regret[np.uint64(slot + action)], 0.0)
    if total > TINY:
        return 1.0 / total, 0.0
    return 0.0, 1.0 / actions


@piece
def share(regret, scale, even):
    """The probability of the action with this regret."""
    return max(regret, 0.0) * scale + even
