"""Frequency counts with a prior, for hands of which a part was never seen: expectation-maximisation.

Dempster, Laird & Rubin 1977. Every hand represents all its completions, weighted by the probabilities that chance and
the players' strategies give them. Each round computes counts from the weighted completions and strategies from the
counts, and makes the observed hands more likely, until little changes. Counting only hands shown down would be wrong: a
player who folds never shows, so nobody ever folds among the hands that are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fogplay.kernels import completions as kernels
from fogplay.opponents.walk import Completions
from fogplay.trees import FlatGame

Weights = NDArray[np.float64]  # [slots]
Fit = Callable[[Weights], Weights]  # from expected counts to a strategy
SMALL = 1e-4  # the rounds end when at most this share of the choices changes


@dataclass(frozen=True)
class Observed:
    """The hands that a player played: its seats, and the completions of the hands."""

    seats: NDArray[np.bool_]  # [arrangements, players] where it sat
    arrangement: NDArray[np.int64]  # [hands] the row of ``seats``
    times: NDArray[np.int64]  # [hands] how often each hand was played
    completions: Completions  # of the hands

    @property
    def complete(self) -> bool:
        """Whether everything was seen."""
        return len(self.completions.node) == len(self.times)


@dataclass(frozen=True)
class Learned:
    """The result of expectation-maximisation."""

    strategy: Weights
    counts: Weights  # how often the player chose each action, in expectation
    rounds: int


def dirichlet(flat: FlatGame, prior: float, toward: Weights) -> Fit:
    """Fit the frequencies of the counts plus ``prior`` observations per infoset, distributed as in ``toward``."""
    starts = flat.tree.infoset_start[:-1]
    sizes = np.diff(flat.tree.infoset_start)

    def fit(counts: Weights) -> Weights:
        total = np.repeat(np.add.reduceat(counts, starts), sizes) + prior
        return np.where(total > 0, (counts + prior * toward) / np.where(total > 0, total, 1), toward)

    return fit


def learn(
    flat: FlatGame,
    observed: Observed,
    fit: Fit,
    fit_others: Fit,
    toward: Weights,
    rounds: int,
    progress: Callable[[int, int], None] | None = None,
) -> Learned:
    """Expectation-maximisation from ``toward`` on; if everything was seen, it takes one round.

    The others' cards may be unseen too, so one strategy for all other players is learned along with the model.
    """
    strategies = np.stack([toward, toward])  # [2, slots] of the player, and of all others
    counts = np.zeros_like(strategies)
    reach = np.empty(flat.num_nodes)  # scratch
    for done in range(1, rounds + 1):
        before, counts = counts, expected_counts(flat, observed, strategies, reach)
        strategies = np.stack([fit(counts[0]), fit_others(counts[1])])
        if progress is not None:
            progress(done, rounds)
        if observed.complete or np.abs(counts - before).sum() <= SMALL * counts.sum():
            return Learned(strategies[0], counts[0], done)
    return Learned(strategies[0], counts[0], rounds)


def expected_counts(
    flat: FlatGame, observed: Observed, strategies: NDArray[np.float64], reach: NDArray[np.float64]
) -> NDArray[np.float64]:
    """[2, slots] how often the player, and all others, chose each action if they play ``strategies[2, slots]``.

    ``reach[nodes]`` is scratch.
    """
    counts = np.zeros_like(strategies)
    start, node, chance = observed.completions
    hand = np.repeat(np.arange(len(observed.times)), np.diff(start))
    for number, mine in enumerate(observed.seats):
        here = observed.arrangement[hand] == number
        kernels.reach_of(flat.tree, strategies, mine, reach)
        likely = shares(chance[here] * reach[node[here]], chance[here], hand[here], len(observed.times))
        passed = np.bincount(node[here], likely * observed.times[hand[here]], minlength=flat.num_nodes)
        kernels.count_choices(flat.tree, mine, passed, counts)
    return counts


def shares(
    weight: NDArray[np.float64], chance: NDArray[np.float64], hand: NDArray[np.int64], hands: int
) -> NDArray[np.float64]:
    """[completions] each one's share of its hand; by chance alone if the strategies exclude all completions."""
    total = np.bincount(hand, weight, minlength=hands)[hand]
    if (total > 0).all():
        return weight / total
    by_chance = np.bincount(hand, chance, minlength=hands)[hand]
    return np.where(total > 0, weight / np.where(total > 0, total, 1), chance / by_chance)
