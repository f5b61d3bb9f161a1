"""Frequency counts with a prior, where part of what happened was never seen: expectation-maximisation.

Dempster, Laird & Rubin 1977. Every hand stands for all its completions, each as likely as chance and the players' own
strategies make it. The strategies come from the counts, the counts from the completions, turn by turn, until they
agree; every round makes the hands as a whole more likely. Counting only the hands that were laid open instead would
be wrong: a player who folds never shows, so among the cards that are shown nobody ever folds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fogplay.kernels import completions as kernels
from fogplay.opponents.walk import Completions
from fogplay.trees import FlatGame

Table = NDArray[np.float64]  # [slots]
Fit = Callable[[Table], Table]  # from expected counts to a strategy
SMALL = 1e-4  # the rounds end when no more than this share of the choices has moved


@dataclass(frozen=True)
class Observed:
    """The hands that a player played: where it sat, and how they may have gone."""

    seats: NDArray[np.bool_]  # [arrangements, players] where it sat
    arrangement: NDArray[np.int64]  # [hands] which of these
    times: NDArray[np.int64]  # [hands] how often each hand was played
    completions: Completions  # of the hands

    @property
    def complete(self) -> bool:
        """Whether everything was seen."""
        return len(self.completions.node) == len(self.times)


@dataclass(frozen=True)
class Learned:
    """What expectation-maximisation came to."""

    strategy: Table  # [slots]
    counts: Table  # [slots] expected: how often the player chose each action
    rounds: int


def dirichlet(flat: FlatGame, prior: float, toward: Table) -> Fit:
    """The strategy of some counts, with ``prior`` observations an infoset spread as ``toward`` added to them."""
    starts = flat.tree.infoset_start[:-1]
    sizes = np.diff(flat.tree.infoset_start)

    def fit(counts: Table) -> Table:
        total = np.repeat(np.add.reduceat(counts, starts), sizes) + prior
        return np.where(total > 0, (counts + prior * toward) / np.where(total > 0, total, 1), toward)

    return fit


def learn(
    flat: FlatGame,
    observed: Observed,
    fit: Fit,
    fit_others: Fit,
    toward: Table,
    rounds: int,
    progress: Callable[[int, int], None] | None = None,
) -> Learned:
    """Expectation-maximisation from ``toward`` on; where everything was seen, one round is all of it.

    What the others held may have been unseen too, so one strategy of everybody else is learned along with the model.
    """
    strategies = np.stack([toward, toward])  # [2, slots] the player, everybody else
    counts = np.zeros_like(strategies)
    room = np.empty(flat.num_nodes)
    for done in range(1, rounds + 1):
        before, counts = counts, expected_counts(flat, observed, strategies, room)
        strategies = np.stack([fit(counts[0]), fit_others(counts[1])])
        if progress is not None:
            progress(done, rounds)
        if observed.complete or np.abs(counts - before).sum() <= SMALL * counts.sum():
            return Learned(strategies[0], counts[0], done)
    return Learned(strategies[0], counts[0], rounds)


def expected_counts(flat: FlatGame, observed: Observed, strategies: Table, room: Table) -> Table:
    """[2, slots] how often the player, and everybody else, chose each action if they play ``strategies[2, slots]``."""
    counts = np.zeros_like(strategies)
    start, node, chance = observed.completions
    hand = np.repeat(np.arange(len(observed.times)), np.diff(start))
    for number, mine in enumerate(observed.seats):
        here = observed.arrangement[hand] == number
        kernels.reach_of(flat.tree, strategies, mine, room)
        likely = shares(chance[here] * room[node[here]], chance[here], hand[here], len(observed.times))
        passed = np.bincount(node[here], likely * observed.times[hand[here]], minlength=flat.num_nodes)
        kernels.count_choices(flat.tree, mine, passed, counts)
    return counts


def shares(weight: Table, chance: Table, hand: NDArray[np.int64], hands: int) -> Table:
    """[completions] each one's share of its hand; by chance alone where the strategies rule all of them out."""
    total = np.bincount(hand, weight, minlength=hands)[hand]
    if (total > 0).all():
        return weight / total
    by_chance = np.bincount(hand, chance, minlength=hands)[hand]
    return np.where(total > 0, weight / np.where(total > 0, total, 1), chance / by_chance)
