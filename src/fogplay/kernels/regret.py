"""Regret matching (Hart & Mas-Colell 2000): the one way from regrets to a strategy."""

from __future__ import annotations

from fogplay.jit import kernel, piece


@piece
def regret_matching(regret, slot, actions, strategy, at):  # type: ignore[no-untyped-def]
    """Write to ``strategy[at ...]`` the probabilities in proportion to the positive part of ``regret[slot ...]``.

    So many ``actions`` of each; uniform where no regret is positive.
    """
    total = 0.0
    for action in range(actions):
        total += max(regret[slot + action], 0.0)
    if total > 0.0:
        scale = 1.0 / total
        for action in range(actions):
            strategy[at + action] = max(regret[slot + action], 0.0) * scale
    else:
        scale = 1.0 / actions
        for action in range(actions):
            strategy[at + action] = scale


@kernel
def normalise(weights, slot_start, strategy):  # type: ignore[no-untyped-def]
    """Write into ``strategy[slots]`` each infoset's share of ``weights[slots]``; uniform where there is no weight."""
    for infoset in range(len(slot_start) - 1):
        slot = slot_start[infoset]
        regret_matching(weights, slot, slot_start[infoset + 1] - slot, strategy, slot)
