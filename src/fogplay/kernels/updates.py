"""How workers write to shared tables: by plain reads and writes, or on a GPU by atomic operations.

The type of the first argument selects the implementation; ``kernels/cuda.py`` registers the one for GPUs.
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
    """Set ``table[at]`` to ``value`` unless it is already larger; return the old value."""


@add.register(Plain)
def _add(writing, table, at, amount):
    table[at] += amount


@raise_to.register(Plain)
def _raise_to(writing, table, at, value):
    before = table[at]
    if value > before:
        table[at] = value
    return before
