"""Matches: many hands between strategies, everybody at every seat in turn."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fogplay import checks
from fogplay.errors import FogplayError
from fogplay.kernels.play import play
from fogplay.simulators.streams import streams
from fogplay.simulators.tree import tree_game
from fogplay.trees import FlatGame

STRETCH = 1 << 17  # hands between two reports


@dataclass(frozen=True)
class Match:
    """What every player won a hand, and how sure that is."""

    hands: int
    seed: int
    seconds: float
    means: tuple[float, ...]  # [players] winnings a hand
    standard_errors: tuple[float, ...]  # [players] nan after too few hands to tell
    ends: NDArray[np.int32] | None  # [hands] the terminal node of each, if they were to be kept

    def interval(self, player: int) -> tuple[float, float]:
        """Where a player's true mean lies, with 95 % confidence."""
        reach = 1.959964 * self.standard_errors[player]
        return self.means[player] - reach, self.means[player] + reach


def play_match(
    flat: FlatGame,
    strategies: Sequence[NDArray[np.float64]],
    hands: int,
    *,
    seed: int = 0,
    keep: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Match:
    """Play ``hands`` hands between strategies ``[slots]``, one a player; after every hand all move on by one seat.

    In hand h player (seat + h) mod players sits at a seat. ``keep`` keeps where each hand ended, for histories.
    """
    players = flat.num_players
    if len(strategies) != players:
        raise FogplayError(f"{flat.name} is for {players} players, not for {len(strategies)}")
    hands, seed = checks.hands(hands), checks.seed(seed)
    game, tables, rng = tree_game(flat), np.concatenate(strategies), streams(seed, 1)[0]
    ends = np.empty(hands if keep else min(hands, STRETCH), np.int32)
    tally = _Tally(players)
    if progress is not None:
        progress(0, hands)  # all is well, and the kernel may now have to be compiled
    began = time.perf_counter()
    for first in range(0, hands, STRETCH):
        count = min(STRETCH, hands - first)
        stretch = ends[first : first + count] if keep else ends[:count]
        play(game, tables, players, flat.num_slots, first, rng, stretch)
        tally.add(flat.tree.payoffs[flat.tree.row[stretch]], first)
        if progress is not None:
            progress(first + count, hands)
    means, errors = tally.means_and_errors()
    return Match(hands, seed, time.perf_counter() - began, means, errors, ends if keep else None)


class _Tally:
    """Sums of winnings and of their squares, [seatings, players]."""

    def __init__(self, players: int) -> None:
        self.count = np.zeros(players)
        self.total = np.zeros((players, players))
        self.squares = np.zeros((players, players))

    def add(self, payoffs: NDArray[np.float64], first: int) -> None:
        """More hands, beginning with number ``first``; ``payoffs[hands, seats]``."""
        players = len(self.count)
        for offset in range(min(players, len(payoffs))):
            seating = (first + offset) % players
            won = np.roll(payoffs[offset::players], seating, axis=1)  # [hands, players]
            self.count[seating] += len(won)
            self.total[seating] += won.sum(axis=0)
            self.squares[seating] += (won**2).sum(axis=0)

    def means_and_errors(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The seats take turns, they are not drawn: only what varies at a given seating makes the mean uncertain."""
        hands = self.count.sum()
        means = self.total.sum(axis=0) / hands
        if (self.count < 2).any():
            return tuple(means.tolist()), (math.nan,) * len(means)
        count = self.count[:, None]
        variance = np.maximum(self.squares - self.total**2 / count, 0) / (count - 1)
        errors = np.sqrt((count * variance).sum(axis=0)) / hands
        return tuple(means.tolist()), tuple(errors.tolist())
