"""How workers that share tables write to them: one after the other, or on a GPU by atomic operations.

The type of the first argument decides; ``kernels/cuda.py`` adds the one for GPUs.
"""

from __future__ import annotations

from fogplay.atomics import Plain
from fogplay.dispatch import by_type

__all__ = ["Plain", "add", "raise_to"]


@by_type
def add(writing, table, at, amount):
    """Add ``amount`` to ``table[at]``."""


@by_type
def raise_to(writing, table, at, value):
    """Put ``value`` at ``table[at]`` unless that is larger already; what was there before is returned."""


@add.register(Plain)
def _add(writing, table, at, amount):
    table[at] += amount


@raise_to.register(Plain)
def _raise_to(writing, table, at, value):
    before = table[at]
    if value > before:
        table[at] = value
    return before
