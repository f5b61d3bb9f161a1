"""``BettingPolicy``: a strategy as kernels play it, for all seats of a betting game.

Nodes of a betting tree have the same numbers whatever the grid, so that each player of a match may see the cards by a
grid of its own. A policy says for each node where its probabilities lie; nodes at which it does the same may share
them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.cards.buckets import Grid, Signals, bucket_for, prepare, signals
from fogplay.jit import record
from fogplay.strategies.betting import BettingStrategy, require_betting
from fogplay.strategies.packing import WHOLE
from fogplay.strategies.strategy import Situation
from fogplay.trees.betting import Betting, node_after

BLIND = ""  # the grid of a policy that does not look at its cards

# Where a node's probabilities lie, for policies that are not made from profiles.
PLACE = record([("slot", np.int64), ("stride", np.int32), ("unused", np.int32)])


@dataclass(frozen=True, eq=False)
class BettingPolicy:
    """What to do at every node of a betting tree with every bucket of a grid."""

    betting: Betting
    slot: NDArray[np.int64]  # [nodes] of the first action in bucket 0
    stride: NDArray[np.int32]  # [nodes] slots from one bucket to the next
    share: NDArray[np.uint8]  # [slots] probabilities in 255ths
    grid: str  # the grid by which it sees the cards; BLIND for none

    def prepare(self, progress: Callable[[str, int, int], None]) -> None:
        """Build the tables of its grid, if they are missing; ``progress`` is told."""
        if self.grid != BLIND:
            prepare(Grid.parse(self.grid), progress)

    def begin(self, game: Any, seat: int, seed: int) -> None:
        """Load the tables of hand strength before the first decision."""
        if self.grid != BLIND:
            signals_of(self.grid)

    def act(self, view: Situation) -> int:
        """The action that ``view.luck`` selects, as compiled matches draw it."""
        legal, left = view.legal, int(view.luck * WHOLE)
        for place, share in enumerate(self.shares(view)):
            left -= share
            if left < 0:
                return legal[place]
        return legal[-1]

    def distribution(self, view: Situation) -> list[float]:
        """The probability of each of ``view.legal``."""
        return [share / WHOLE for share in self.shares(view)]

    def shares(self, view: Situation) -> list[int]:
        """The same in 255ths; plain numbers, since numpy's are slow one by one."""
        seen = view.observation
        node = node_after(self.betting, seen.betting)
        bucket = bucket_for(signals_of(self.grid), seen.hole, seen.board) if self.grid != BLIND else 0
        first = self.slot.item(node) + bucket * self.stride.item(node)
        shares: list[int] = self.share[first : first + len(view.legal)].tolist()
        return shares


def policy_of(profile: BettingStrategy, rules: Any) -> BettingPolicy:
    """A profile as a policy; refuses a game with other betting, whatever its grid."""
    require_betting(profile.rules, rules)
    nodes = profile.betting.nodes
    return BettingPolicy(profile.betting, nodes["slot"], nodes["stride"], profile.share, profile.rules.grid)


def placed(betting: Betting, place: NDArray[Any], share: NDArray[np.uint8], grid: str) -> BettingPolicy:
    """A policy whose nodes' probabilities lie where ``place[nodes]`` (of PLACE) says."""
    return BettingPolicy(betting, place["slot"], place["stride"], share, grid)


@functools.lru_cache(maxsize=6)
def signals_of(grid: str) -> Signals:
    """The lookup of a grid's buckets; players with the same grid share it."""
    return signals(Grid.parse(grid))
