"""Regret matching (Hart & Mas-Colell 2000): the one way from regrets to a strategy."""

from __future__ import annotations

from fogplay.jit import kernel


@kernel
def regret_matching(regret, start, stop, strategy):  # type: ignore[no-untyped-def]
    """Write into ``strategy[start:stop]`` the probabilities in proportion to the positive part of ``regret``.

    Uniform where no regret is positive.
    """
    total = 0.0
    for slot in range(start, stop):
        total += max(regret[slot], 0.0)
    if total > 0.0:
        scale = 1.0 / total
        for slot in range(start, stop):
            strategy[slot] = max(regret[slot], 0.0) * scale
    else:
        for slot in range(start, stop):
            strategy[slot] = 1.0 / (stop - start)


@kernel
def normalise(weights, slot_start, strategy):  # type: ignore[no-untyped-def]
    """Write into ``strategy[slots]`` each infoset's share of ``weights[slots]``; uniform where there is no weight."""
    for infoset in range(len(slot_start) - 1):
        regret_matching(weights, slot_start[infoset], slot_start[infoset + 1], strategy)
