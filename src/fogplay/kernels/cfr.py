"""Counterfactual regret minimisation, full width, in all its weightings.

Zinkevich et al. 2007 (CFR), Tammelin 2014 (CFR+), Brown & Sandholm 2019 (linear and discounted CFR), Farina et al. 2021
(predictive CFR+). They differ in five numbers, and in nothing else.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import kernel, piece
from fogplay.kernels.regret import match, share
from fogplay.kernels.sequences import ONE, endings, played


class Weighting(NamedTuple):
    """What makes a member of the family.

    After iteration t, positive regrets are multiplied by t^α/(t^α+1) and negative ones by t^β/(t^β+1); an infinite
    exponent stands for a factor of 1, a negatively infinite one for 0. The strategy of iteration t enters the average
    with weight t^γ.
    """

    alpha: float
    beta: float
    gamma: float
    predictive: bool  # match regrets as if the last iteration's were seen once more
    alternating: bool  # the players update in turn, each against the newest strategies


class Tables(NamedTuple):
    """All that is learned; everything else follows from it."""

    regret: NDArray[np.float64]  # [slots] cumulative, discounted
    average: NDArray[np.float64]  # [slots] cumulative strategy, weighted by own reach and t^γ
    latest: NDArray[np.float64]  # [slots] the last iteration's regret


class Scratch(NamedTuple):
    """Room to work in; its contents need not survive."""

    hoped: NDArray[np.float64]  # [slots] regret plus prediction
    strategy: NDArray[np.float64]  # [slots]
    reach: NDArray[np.float64]  # [sequences]
    value: NDArray[np.float64]  # [sequences]


@kernel
def iterate(form, weighting, tables, scratch, first, count):
    """Run iterations ``first`` ... ``first + count - 1`` (counted from 1); ``tables`` and ``scratch`` are mutated."""
    players = len(form.point_range) - 1
    for player in range(players):
        choose_strategy(form, weighting, tables, scratch, player)
    for iteration in range(first, first + count):
        for player in range(players):
            learn(form, weighting, tables, scratch, player, iteration)
            if weighting.alternating:
                choose_strategy(form, weighting, tables, scratch, player)
        if not weighting.alternating:
            for player in range(players):
                choose_strategy(form, weighting, tables, scratch, player)


@piece
def choose_strategy(form, weighting, tables, scratch, player):
    """The strategy of ``player`` that its regrets ask for, and its reach."""
    if weighting.predictive:
        first_slot, end_slot = slots_of(form, player)
        for slot in range(first_slot, end_slot):
            scratch.hoped[slot] = tables.regret[slot] + tables.latest[slot]
        match_all(form, player, scratch.hoped, scratch.strategy, scratch.reach)
    else:
        match_all(form, player, tables.regret, scratch.strategy, scratch.reach)


@piece
def match_all(form, player, regret, strategy, reach):
    """Regret matching at every decision point of ``player``, and its reach in the same go."""
    reach[form.sequence_range[player]] = 1.0
    for point in range(form.point_range[player], form.point_range[player + 1]):
        slot = form.point_slot[point]
        sequence = form.point_sequence[point]
        actions = form.point_actions[point]
        before = reach[form.point_parent[point]]
        scale, even = match(regret, slot, actions)
        for action in range(actions):
            probability = share(regret[slot + action], scale, even)
            strategy[slot + action] = probability
            reach[sequence + action] = before * played(form, slot + action, probability)


@piece
def learn(form, weighting, tables, scratch, player, iteration):
    """Add this iteration's strategy of ``player`` to the average and its counterfactual regrets to the regrets."""
    strategy, reach, value = scratch.strategy, scratch.reach, scratch.value
    first_slot, end_slot = slots_of(form, player)
    for slot in range(first_slot, end_slot):
        tables.latest[slot] = 0.0
    power = float(iteration) ** weighting.gamma
    endings(form, player, reach, value)
    point = form.point_range[player + 1]
    while point > form.point_range[player]:
        point -= ONE
        slot = form.point_slot[point]
        sequence = form.point_sequence[point]
        actions = form.point_actions[point]
        parent = form.point_parent[point]
        weight = power * reach[parent]
        expected = earned = 0.0  # by choice, and with what may be forced
        for action in range(actions):
            expected += strategy[slot + action] * value[sequence + action]
            earned += played(form, slot + action, strategy[slot + action]) * value[sequence + action]
        for action in range(actions):
            tables.latest[slot + action] += value[sequence + action] - expected
            tables.average[slot + action] += weight * strategy[slot + action]
        value[parent] += earned
    keep_positive = discount(iteration, weighting.alpha)
    keep_negative = discount(iteration, weighting.beta)
    for slot in range(first_slot, end_slot):
        regret = tables.regret[slot] + tables.latest[slot]
        tables.regret[slot] = regret * (keep_positive if regret > 0.0 else keep_negative)


@piece
def slots_of(form, player):
    """The first slot of ``player``, and the one past its last."""
    return form.slot_start[form.infoset_range[player]], form.slot_start[form.infoset_range[player + 1]]


@piece
def discount(iteration, exponent):
    """t^e / (t^e + 1), with its limits at infinite exponents."""
    if math.isinf(exponent):
        return 1.0 if exponent > 0.0 else 0.0
    power = float(iteration) ** exponent
    return power / (power + 1.0)
