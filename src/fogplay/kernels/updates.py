"""How workers that share tables write to them: one after the other, or on a GPU by atomic operations.

The first argument is the way, and its type decides; ``kernels/grid.py`` adds the one for GPUs.
"""

from __future__ import annotations

from typing import NamedTuple

from fogplay.simulators.waist import waist


class Plain(NamedTuple):
    """Read, add, write. CPU threads that do so lose an addition now and then; never to lose one costs far more time."""


@waist
def add(way, table, at, amount):  # type: ignore[no-untyped-def]
    """Add ``amount`` to ``table[at]``."""


@waist
def raise_to(way, table, at, value):  # type: ignore[no-untyped-def]
    """Put ``value`` at ``table[at]`` unless that is larger already; what was there before is returned."""


@add.register(Plain)
def _add(way, table, at, amount):  # type: ignore[no-untyped-def]
    table[at] += amount


@raise_to.register(Plain)
def _raise_to(way, table, at, value):  # type: ignore[no-untyped-def]
    before = table[at]
    if value > before:
        table[at] = value
    return before
