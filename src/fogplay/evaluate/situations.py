"""The value of each action at its infoset: the reasons behind a strategy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.evaluate.exact import reach_of_all
from fogplay.kernels.sequences import value_of
from fogplay.trees import FlatGame, SequenceForm
from fogplay.trees.sequences import sequence_form


class Situations(NamedTuple):
    """Exact facts about every infoset when all players follow a strategy."""

    likelihood: NDArray[np.float64]  # [infosets] the probability that chance and the others lead there
    value: NDArray[
        np.float64
    ]  # [slots] the player's expected payoff by each action; NaN if the infoset is never reached


def situations(flat: FlatGame, probabilities: NDArray[np.float64]) -> Situations:
    """Evaluate every infoset of a flattened game under ``probabilities[slots]``."""
    form, reach = flat.sequences, reach_of_all(flat, probabilities)
    ones = flat.tree._replace(payoffs=np.ones_like(flat.tree.payoffs))
    arriving = sequence_form(ones)  # with a payoff of 1 everywhere, values are probabilities of arriving
    even = np.ones(len(form.point_slot))
    earned, arrived = (_by_slot(flat, each, probabilities, reach, even) for each in (form, arriving))
    likelihood = arrived[flat.tree.infoset_start[:-1]]
    if len(form.point_slot) > flat.num_infosets:  # imperfect recall: weigh forgotten moves by their probabilities
        own = reach[form.point_parent]
        often, where = (_by_slot(flat, each, probabilities, reach, own) for each in (form, arriving))
        earned, arrived = np.where(where > 0, often, earned), np.where(where > 0, where, arrived)
    with np.errstate(invalid="ignore", divide="ignore"):
        return Situations(likelihood, earned / arrived)


def _by_slot(
    flat: FlatGame,
    form: SequenceForm,
    probabilities: NDArray[np.float64],
    reach: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """[slots] the values of the sequences, summed over the points of an infoset with ``weight[points]``."""
    value = np.empty_like(reach)
    out = np.zeros(flat.num_slots)
    for player in range(flat.num_players):
        value_of(form, player, probabilities, reach, value)
    actions = form.point_actions.astype(np.int64)
    offset = np.arange(actions.sum()) - np.repeat(np.cumsum(actions) - actions, actions)
    worth = value[np.repeat(form.point_sequence, actions) + offset] * np.repeat(weight, actions)
    np.add.at(out, np.repeat(form.point_slot, actions) + offset, worth)
    return out
