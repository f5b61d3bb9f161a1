"""What each action is worth where it is taken: the reasons behind a strategy."""

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

    likelihood: NDArray[np.float64]  # [infosets] how likely chance and the others allow it to arise
    value: NDArray[np.float64]  # [slots] what the player earns on average by each action there; NaN if it never arises


def situations(flat: FlatGame, probabilities: NDArray[np.float64]) -> Situations:
    """Look at every infoset of a flattened game under ``probabilities[slots]``."""
    form, reach = flat.sequences, reach_of_all(flat, probabilities)
    ones = flat.tree._replace(payoffs=np.ones_like(flat.tree.payoffs))
    arriving = sequence_form(ones)  # a payoff of 1 everywhere counts how often we arrive
    even = np.ones(len(form.point_slot))
    earned, arrived = (_by_slot(flat, each, probabilities, reach, even) for each in (form, arriving))
    likelihood = arrived[flat.tree.infoset_start[:-1]]
    if len(form.point_slot) > flat.num_infosets:  # what the player has forgotten it did: as likely as it did so
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
    """[slots] the value of each sequence, added up by ``weight[points]`` over the points of an infoset."""
    value = np.empty_like(reach)
    out = np.zeros(flat.num_slots)
    for player in range(flat.num_players):
        value_of(form, player, probabilities, reach, value)
    actions = form.point_actions.astype(np.int64)
    offset = np.arange(actions.sum()) - np.repeat(np.cumsum(actions) - actions, actions)
    worth = value[np.repeat(form.point_sequence, actions) + offset] * np.repeat(weight, actions)
    np.add.at(out, np.repeat(form.point_slot, actions) + offset, worth)
    return out
