"""Monte Carlo CFR by outcome sampling: one history an iteration.

Ponsen, de Jong & Lanctot 2011, algorithm 1 and equations 4 to 6, there with all players updated on every episode
("parallel"); Lanctot 2013 also updates them in turn ("alternating"), the others then playing with or without
exploration.
Chance's share of every probability cancels in equation 6 and is left out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import kernel, piece, record
from fogplay.kernels.regret import regret_matching
from fogplay.kernels.updates import Plain, add, raise_to
from fogplay.simulators.questions import advance, deal, is_terminal, num_actions, payoff, player_of, slot_of, start
from fogplay.simulators.streams import uniform


class Tables(NamedTuple):
    """All that Monte Carlo CFR learns; the three forms of sampling share it."""

    regret: NDArray[np.float64]  # [slots] r_I[a]
    average: NDArray[np.float64]  # [slots] s_I[a]
    updated: NDArray[np.int64]  # [slots] c_I, by the first slot of an infoset; lazy averaging only
    writing: Any = Plain()  # how workers write to them; a driver may ask for another


class Form(NamedTuple):
    """The choices that make a form of outcome sampling."""

    epsilon: float  # how much uniform play is mixed into the sampled strategies
    alternating: bool  # iteration t updates player t mod n
    lazy: bool  # optimistic averaging (t - c_I) as in the 2011 paper, or else stochastically weighted
    players: int
    together: bool = False  # in the alternating form, whether those who are not updated explore too


# One step of an episode.
STEP = record(
    [
        ("slot", np.int64),  # the first slot of the infoset
        ("actions", np.int64),
        ("choice", np.int64),  # the action taken
        ("player", np.int64),
        ("own", np.float64),  # π_i^σ(z[I])
        ("others", np.float64),  # π_-i^σ(z[I])
        ("sampled", np.float64),  # π^σ'(z[I])
    ]
)


class Path(NamedTuple):
    """Scratch for one episode."""

    width: int  # the most actions of any infoset
    step: NDArray[Any]  # [depth] STEP
    strategy: NDArray[np.float64]  # [depth * width] σ(I)
    reach: NDArray[np.float64]  # [players] π_i^σ so far


@kernel
def run(game, tables, policy, rng, path, first, stride, count):
    """Play iterations ``first``, ``first + stride``, ... (``count`` of them); ``tables``, ``rng``, ``path`` change.

    Each of ``stride`` threads takes the players in turn.
    """
    for number in range(count):
        iteration = first + number * stride
        learner = iteration // stride % policy.players if policy.alternating else -1
        depth, node, signals, sampled = sample(game, tables, policy, rng, path, learner)
        update(game, tables, policy, path, learner, iteration, depth, node, signals, sampled)


@piece
def sample(game, tables, policy, rng, path, learner):
    """SELECT: play to the end by ε-greedy regret matching.

    Returns the length of the history, its terminal node, the signals and π^σ'(z); fills ``path``.
    """
    signals = deal(game, rng)
    node = start(game, signals, rng)
    depth = 0
    sampled = 1.0
    for player in range(policy.players):
        path.reach[player] = 1.0
    while not is_terminal(game, node):
        player = player_of(game, node)
        slot = slot_of(game, node, signals)
        actions = num_actions(game, node)
        at = depth * path.width
        regret_matching(tables.regret, slot, actions, path.strategy, at)
        explore = policy.epsilon if learner < 0 or learner == player or policy.together else 0.0
        even = explore / actions
        left = uniform(rng)
        choice = 0
        likely = even + (1.0 - explore) * path.strategy[at]  # σ'(I, choice)
        while left >= likely and choice < actions - 1:
            left -= likely
            choice += 1
            likely = even + (1.0 - explore) * path.strategy[at + choice]
        others = 1.0
        for other in range(policy.players):
            if other != player:
                others *= path.reach[other]
        step = path.step[depth]
        step.slot, step.actions, step.choice, step.player = slot, actions, choice, player
        step.own, step.others, step.sampled = path.reach[player], others, sampled
        path.reach[player] *= path.strategy[at + choice]
        sampled *= likely
        depth += 1
        node = advance(game, node, choice, signals, rng)
    return depth, node, signals, sampled


@piece
def update(game, tables, policy, path, learner, iteration, depth, node, signals, sampled):
    """UPDATE: regrets and averages at every infoset of the history, from its end to its beginning."""
    once = 1.0 / sampled
    tail = 1.0  # π^σ(z[I]a, z)
    for number in range(depth - 1, -1, -1):
        step, at = path.step[number], number * path.width
        here = tail * path.strategy[at + step.choice]  # π^σ(z[I], z)
        if learner < 0 or learner == step.player:
            weight = payoff(game, node, signals, step.player) * step.others * once  # w_I
            for action in range(step.actions):
                add(tables.writing, tables.regret, step.slot + action, -weight * here)
            add(tables.writing, tables.regret, step.slot + step.choice, weight * tail)
        if averages(policy, learner, step.player):
            if policy.lazy:
                before = raise_to(tables.writing, tables.updated, step.slot, iteration)
                share = step.own * max(iteration - before, 0)  # 0 if another thread is ahead
            else:
                share = step.own / step.sampled
            for action in range(step.actions):
                add(tables.writing, tables.average, step.slot + action, share * path.strategy[at + action])
        tail = here


@piece
def averages(policy, learner, player):
    """Whether the average strategy of ``player`` is updated on this episode.

    In the alternating form the weights are far steadier at the others' infosets, where the player did not explore, or
    where at least nobody's regrets moved on this episode. In one-player games, average at the learner's own infosets.
    """
    return learner < 0 or learner != player or policy.players == 1
