"""Hints from a game to an algorithm beyond its rules: how much to explore, and which action calls.

These are small tuples that a simulator makes and a kernel consults, chosen by type while compiling. A game that has a
pot makes its own: ``Simulator.exploration`` and ``Simulator.calls``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.dispatch import by_type


class ByPlayer(NamedTuple):
    """One constant per player."""

    c: NDArray[np.float64]  # [players]


class BySlot(NamedTuple):
    """A constant per infoset."""

    c: NDArray[np.float64]  # [slots] by the first slot of an infoset


class CallBySlot(NamedTuple):
    """The action that checks or calls, per infoset."""

    action: NDArray[np.int32]  # [slots] by the first slot of an infoset; -1 where no action calls


@by_type
def explore(exploration, node, player, slot):
    """The exploration parameter c of UCB where ``player`` acts at ``node``."""


@explore.register(ByPlayer)
def _by_player(exploration, node, player, slot):
    return exploration.c[player]


@explore.register(BySlot)
def _by_slot(exploration, node, player, slot):
    return exploration.c[slot]


@by_type
def calling_action(calls, node, slot):
    """The action that neither folds nor raises; below 0 where there is none."""


@calling_action.register(CallBySlot)
def _call_by_slot(calls, node, slot):
    return np.int64(calls.action[slot])
