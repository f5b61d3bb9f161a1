"""The quality of a response to a model: what it wins if the model is right, and what it risks if it is wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fogplay.evaluate.exact import behaviour, measure, reach_of_all, require_perfect_recall
from fogplay.kernels.sequences import value_of
from fogplay.trees import FlatGame


@dataclass(frozen=True)
class AgainstModel:
    """A response in every seat, measured exactly."""

    winnings: tuple[float, ...]  # what each seat's response earns when all others follow the model
    guaranteed: tuple[float, ...] | None  # what it earns in the worst case; two-player constant-sum games only
    nash_conv: float  # of the responses against each other: in zero-sum games the papers' Σ b_i(σ_-i)


def against_model(flat: FlatGame, probabilities: NDArray[np.float64], model: NDArray[np.float64]) -> AgainstModel:
    """Measure responses ``probabilities[slots]`` of all players to a model ``[slots]`` of all players."""
    quality = measure(flat, probabilities)
    ours, theirs = reach_of_all(flat, probabilities), reach_of_all(flat, model)
    winnings = []
    for player in range(flat.num_players):
        own = slice(*flat.sequences.sequence_range[player : player + 2])
        reach = theirs.copy()
        reach[own] = ours[own]
        winnings.append(value_of(flat.sequences, player, probabilities, reach, np.empty_like(reach)))
    guaranteed = None
    if flat.num_players == 2 and flat.constant_sum is not None:
        guaranteed = tuple(flat.constant_sum - quality.best_response_values[1 - player] for player in range(2))
    return AgainstModel(tuple(winnings), guaranteed, quality.nash_conv)


def mix(flat: FlatGame, first: NDArray[np.float64], second: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """[slots] play ``first`` with probability ``share`` and ``second`` otherwise, decided before the game begins."""
    require_perfect_recall(flat)
    return behaviour(flat, share * reach_of_all(flat, first) + (1.0 - share) * reach_of_all(flat, second))
