"""Formats of matches: the seating and the luck of every hand, and how winnings are counted.

``Rotation`` works for every game, ``Sides`` (``sides.py``) for games in which seats play together. A game whose luck
can be drawn in advance may ask for ``Duplicate`` instead: its simulator's module then defines ``match_deals(rules)``,
which returns ``Deals`` or None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fogplay.kernels.play import play
from fogplay.play.agent import Uniform
from fogplay.play.luck import Dealt, Luck, Stream
from fogplay.simulators.streams import streams
from fogplay.simulators.tree import tree_game
from fogplay.strategies import TabularStrategy
from fogplay.trees import FlatGame

STRETCH = 1 << 17  # hands between two reports
MOST_KEPT = 10**8  # hands whose ends can be kept


class Trouble(NamedTuple):
    """What a player did wrong, so that moves were made for it."""

    player: int
    kind: str  # in a few words
    times: int
    first: str  # what happened the first time


def merged(troubles: Iterable[Trouble]) -> tuple[Trouble, ...]:
    """One trouble per player and kind, in the order in which they first came."""
    found: dict[tuple[int, str], Trouble] = {}
    for each in troubles:
        before = found.get((each.player, each.kind))
        found[each.player, each.kind] = before._replace(times=before.times + each.times) if before else each
    return tuple(found.values())


class Block(NamedTuple):
    """Consecutive deals of a match."""

    points: NDArray[Any]  # [deals, …] winnings, as the format counts them
    ends: Any  # [deals, …] how each hand ended, as the format keeps it; a list of moves if there is no shorter form
    troubles: tuple[Trouble, ...] = ()


class Loop(Protocol):
    """A faster way to play a format's deals: the same hands as at a table."""

    kernel: Any  # may have to be compiled first

    def play(self, first: int, count: int) -> tuple[NDArray[Any], Any]:
        """Play deals ``first``, ``first + 1``, …; return points and ends, as in ``Block``."""


class Tally(Protocol):
    """Sums over the hands of a match."""

    def add(self, points: NDArray[Any], first: int) -> None:
        """Add deals, beginning with number ``first``."""

    def means_and_errors(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """[players] the means per hand and their standard errors, in the format's unit."""

    def totals(self) -> tuple[float, ...]:
        """[players] the total winnings, in the game's own points."""


class Format(Protocol):
    """How the hands of a match are played and counted."""

    unit: str  # of the means
    scale: float  # units per point of the game's payoffs
    digits: int  # decimals worth showing
    points: str  # the name of the game's payoffs
    block: int  # deals between two reports
    most_kept: int  # hands whose ends can be kept
    by_deal: bool  # whether the luck of a deal depends on nothing but the seed and its number

    def deals(self, hands: int) -> int:
        """How many deals make at least ``hands`` hands."""

    def seatings(self, deal: int) -> Sequence[tuple[int, ...]]:
        """The hands of a deal: which player sits at each seat."""

    def luck(self, seed: int) -> Callable[[int], Luck]:
        """The luck of every hand of a deal, by the deal's number."""

    def counted(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Convert ``scores[deals, seatings, seats]`` of tables to ``Block.points``."""

    def end(self, moves: tuple[int, ...]) -> Any:
        """The record to keep of a hand with these moves."""

    def tally(self) -> Tally: ...

    def compiled(self, agents: Sequence[Any], seed: int) -> Loop | None:
        """A loop in compiled code, if all of these agents can be played by one."""


# ---- Every game


class Rotation:
    """Everybody moves by one seat after every hand: in hand h, player (seat + h) mod players sits at each seat."""

    unit, scale, digits, points = "per hand", 1.0, 5, "points"
    most_kept, by_deal = MOST_KEPT, False

    def __init__(self, players: int, flat: FlatGame | None = None) -> None:
        """``flat`` is the whole game, if compiled code may play it."""
        self.players, self.flat, self.block = players, flat, STRETCH

    def deals(self, hands: int) -> int:
        return hands

    def seatings(self, deal: int) -> Sequence[tuple[int, ...]]:
        return (tuple((seat + deal) % self.players for seat in range(self.players)),)

    def luck(self, seed: int) -> Callable[[int], Luck]:
        stream = Stream.seeded(seed)
        return lambda deal: stream

    def counted(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        return scores[:, 0]

    def end(self, moves: tuple[int, ...]) -> Any:
        return moves

    def tally(self) -> Tally:
        return _ByTurns(self.players)

    def compiled(self, agents: Sequence[Any], seed: int) -> Loop | None:
        if self.flat is None or not all(isinstance(agent, TabularStrategy | Uniform) for agent in agents):
            return None
        return _TreeLoop(self.flat, [agent.on(self.flat) for agent in agents], seed)


class _TreeLoop:
    """Hands of a flattened game between strategies ``[slots]``."""

    kernel = play

    def __init__(self, flat: FlatGame, strategies: Sequence[NDArray[np.float64]], seed: int) -> None:
        self.flat, self.game = flat, tree_game(flat)
        self.strategies, self.rng = np.concatenate(strategies), streams(seed, 1)[0]

    def play(self, first: int, count: int) -> tuple[NDArray[Any], Any]:
        flat, ends = self.flat, np.empty(count, np.int32)
        play(self.game, self.strategies, flat.num_players, flat.num_slots, first, self.rng, ends)
        return flat.tree.payoffs[flat.tree.row[ends]], ends


class _ByTurns:
    """Sums of winnings and of their squares, [seatings, players]."""

    def __init__(self, players: int) -> None:
        self.count = np.zeros(players)
        self.total = np.zeros((players, players))
        self.squares = np.zeros((players, players))

    def add(self, points: NDArray[Any], first: int) -> None:
        players = len(self.count)
        for offset in range(min(players, len(points))):
            seating = (first + offset) % players
            won = np.roll(points[offset::players], seating, axis=1)  # [hands, players]
            self.count[seating] += len(won)
            self.total[seating] += won.sum(axis=0)
            self.squares[seating] += (won**2).sum(axis=0)

    def totals(self) -> tuple[float, ...]:
        return tuple(self.total.sum(axis=0).tolist())

    def means_and_errors(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Seatings rotate and are not random, so only the variance within each seating makes the mean uncertain."""
        hands = self.count.sum()
        means = self.total.sum(axis=0) / hands
        if (self.count < 2).any():
            return tuple(means.tolist()), (math.nan,) * len(means)
        count = self.count[:, None]
        variance = np.maximum(self.squares - self.total**2 / count, 0) / (count - 1)
        errors = np.sqrt((count * variance).sum(axis=0)) / hands
        return tuple(means.tolist()), tuple(errors.tolist())


# ---- Games whose luck can be drawn in advance


class Deals(Protocol):
    """A game's deals by seed and number, and how a duplicate match of it is counted."""

    unit: str
    scale: tuple[int, int]  # units, and the points they equal
    digits: int
    points: str
    parts: int  # per point, so that every payoff is a whole number of parts
    block: int  # deals prepared together
    seatings: tuple[tuple[int, ...], ...]  # each deal is played once in each

    def deal(self, seed: int, number: int) -> tuple[Sequence[int], Sequence[float]]:
        """Chance's moves in order, and a random number for every possible decision."""

    def end(self, moves: tuple[int, ...]) -> int:
        """A number for how a hand ended; together with the deal it determines the whole hand."""

    def loop(self, agents: Sequence[Any], seed: int) -> Loop | None:
        """Compiled play, with ``points[deals, players]`` in parts over all seatings; None if an agent cannot be
        compiled."""

    def log_lines(self, match: Any) -> Iterator[str]:
        """The lines of a log, in the notation of the game."""

    def log_head(self) -> str:
        """The first line of a log that grows hand by hand."""

    def logged(self, path: Path) -> int:
        """The number of hands in such a log; refuses one of another game."""

    def seen_line(self, hand: int, seed: int, deal: int, end: int, names: Sequence[str], seat: int) -> str:
        """The line of such a log for one hand, as one seat saw it."""


class Duplicate:
    """Every deal is played once in each of several seatings, with the same luck; the mean of a deal counts."""

    most_kept, by_deal = MOST_KEPT, True

    def __init__(self, source: Deals) -> None:
        self.source = source
        self.unit, self.digits, self.points = source.unit, source.digits, source.points
        self.scale = source.scale[0] / source.scale[1]
        self.block = source.block

    def deals(self, hands: int) -> int:
        return -(-hands // len(self.source.seatings))

    def seatings(self, deal: int) -> Sequence[tuple[int, ...]]:
        return self.source.seatings

    def luck(self, seed: int) -> Callable[[int], Luck]:
        return lambda deal: Dealt(*self.source.deal(seed, deal))

    def counted(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        whole = np.rint(scores * self.source.parts).astype(np.int64)
        points = np.zeros((len(scores), scores.shape[2]), np.int64)
        for turn, seating in enumerate(self.source.seatings):
            points[:, list(seating)] += whole[:, turn]
        return points

    def end(self, moves: tuple[int, ...]) -> Any:
        return self.source.end(moves)

    def tally(self) -> Tally:
        return _ByDeals(self.source)

    def compiled(self, agents: Sequence[Any], seed: int) -> Loop | None:
        return self.source.loop(agents, seed)


class _ByDeals:
    """Exact sums over deals, in whole parts of a point."""

    def __init__(self, source: Deals) -> None:
        self.source, self.deals = source, 0
        players = len(source.seatings[0])
        self.won, self.squares = [0] * players, [0] * players

    def add(self, points: NDArray[Any], first: int) -> None:
        self.deals += len(points)
        for player in range(len(self.won)):
            mine = points[:, player]
            self.won[player] += int(mine.sum())
            self.squares[player] += int((mine**2).sum())

    def totals(self) -> tuple[float, ...]:
        return tuple(total / self.source.parts for total in self.won)

    def means_and_errors(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        units, points = self.source.scale
        unit = units / (self.source.parts * len(self.source.seatings) * points)  # the value of one part won in a deal
        means = tuple(total * unit / self.deals for total in self.won)
        return means, tuple(self._error(player) * unit for player in range(len(self.won)))

    def _error(self, player: int) -> float:
        """The standard error of a mean over deals."""
        if self.deals < 2:
            return math.nan
        total, squares, deals = self.won[player], self.squares[player], self.deals
        return math.sqrt((squares * deals - total**2) / (deals**2 * (deals - 1)))
