"""``Sides``: the format of games in which seats play together, such as one player against two.

An agent takes all seats of a side. Every deal is played once for each way to assign the agents to the sides, with the
same luck, and the deal is the unit of all statistics: an agent's luck in one hand is its opponent's in another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.play.formats import MOST_KEPT, Loop, Tally
from fogplay.play.luck import Given, Luck, Seeded

BOTH = "all"  # the name of all sides together
BLOCK = 1024  # deals between two reports


class SideResult(NamedTuple):
    """What one agent did on one side, or on all of them."""

    player: int
    side: str
    hands: int
    wins: float  # the fraction of its hands that it won; a draw is half a win
    wins_error: float  # the standard error over deals; nan after a single deal
    mean: float  # per hand, in the format's unit
    error: float


class Sides:
    """Every deal once per assignment of agents to sides; means are per hand."""

    digits, points, by_deal = 4, "points", True
    most_kept, block, flat = MOST_KEPT, BLOCK, None

    def __init__(
        self,
        sides: Sequence[int],
        names: Sequence[str] | None = None,
        unit: tuple[str, float] = ("per hand", 1.0),
        decks: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """``sides[seats]`` are numbers from 0, ``names[sides]`` what they are called.

        ``unit`` is the name of what is counted, and how many points of a side are one of it. ``decks`` are chance's
        moves in each deal; without them, the seed decides.
        """
        self.sides, count = tuple(sides), max(sides) + 1
        self.names = tuple(names) if names is not None else tuple(f"side {side}" for side in range(count))
        self.unit, self.scale = unit[0], 1.0 / unit[1]
        self.decks = decks
        self._seatings = tuple(tuple((side + turn) % count for side in sides) for turn in range(count))

    def deals(self, hands: int) -> int:
        return -(-hands // len(self._seatings))

    def seatings(self, deal: int) -> Sequence[tuple[int, ...]]:
        return self._seatings

    def luck(self, seed: int) -> Callable[[int], Luck]:
        decks = self.decks
        if decks is None:
            return lambda deal: Seeded(f"{seed} {deal}")
        return lambda deal: Given(decks[deal], f"{seed} {deal}")

    def counted(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """[deals, seatings, sides] what each side won."""
        points = np.zeros((*scores.shape[:2], len(self.names)))
        for seat, side in enumerate(self.sides):
            points[:, :, side] += scores[:, :, seat]
        return points

    def end(self, moves: tuple[int, ...]) -> Any:
        return moves

    def tally(self) -> Tally:
        return BySides(self)

    def compiled(self, agents: Sequence[Any], seed: int) -> Loop | None:
        return None


class BySides:
    """Sums over deals of points and wins by agent and side, and of the squares of each deal's."""

    def __init__(self, format: Sides) -> None:
        self.format, self.deals = format, 0
        count = len(format.names)
        # [points or wins, agents, sides and their sum]: sums over deals of a deal's value, and of its square
        self.total, self.squares = np.zeros((2, count, count + 1)), np.zeros((2, count, count + 1))

    def add(self, points: NDArray[Any], first: int) -> None:
        count = len(self.format.names)
        agents, side = np.arange(count), np.arange(count)[:, None]
        turn = (agents - side) % count  # [sides, agents] the seating in which each agent has each side
        won = points[:, turn, side].transpose(0, 2, 1)  # [deals, agents, sides]
        best = points.max(axis=2, keepdims=True)
        shared = (points == best) / (points == best).sum(axis=2, keepdims=True)
        wins = shared[:, turn, side].transpose(0, 2, 1)
        for kind, values in enumerate((won, wins)):
            each = np.concatenate([values, values.sum(axis=2, keepdims=True)], axis=2)
            self.total[kind] += each.sum(axis=0)
            self.squares[kind] += (each**2).sum(axis=0)
        self.deals += len(points)

    def totals(self) -> tuple[float, ...]:
        return tuple(self.total[0, :, -1].tolist())

    def means_and_errors(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        rows = [row for row in self.by_side() if row.side == BOTH]
        return tuple(row.mean for row in rows), tuple(row.error for row in rows)

    def by_side(self) -> tuple[SideResult, ...]:
        """Each agent on all sides together, then on each."""
        count = len(self.format.names)
        rows = []
        for player in range(count):
            for side, name in ((count, BOTH), *enumerate(self.format.names)):
                turns = count if side == count else 1  # hands per deal
                (mean, error), (wins, wins_error) = (self._mean(kind, player, side, turns) for kind in (0, 1))
                scale = self.format.scale
                rows.append(SideResult(player, name, self.deals * turns, wins, wins_error, mean * scale, error * scale))
        return tuple(rows)

    def _mean(self, kind: int, player: int, side: int, turns: int) -> tuple[float, float]:
        """Per hand, and its standard error."""
        total, squares = float(self.total[kind, player, side]), float(self.squares[kind, player, side])
        mean = total / (self.deals * turns)
        if self.deals < 2:
            return mean, math.nan
        variance = max(squares - total**2 / self.deals, 0.0) / (self.deals - 1)
        return mean, math.sqrt(variance / self.deals) / turns
