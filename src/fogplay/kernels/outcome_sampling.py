"""Monte Carlo CFR by outcome sampling: one history an iteration.

Ponsen, de Jong & Lanctot 2011, algorithm 1 and equations 4 to 6, there with all players updated on every episode
("parallel"); Lanctot 2013 also updates them in turn ("alternating"), the others then playing without exploration.
Chance's share of every probability cancels in equation 6 and is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import kernel, piece
from fogplay.kernels.regret import regret_matching
from fogplay.simulators import advance, deal, is_terminal, num_actions, payoff, player_of, slot_of, start
from fogplay.simulators.random import uniform


class Tables(NamedTuple):
    """All that Monte Carlo CFR learns; the three forms of sampling share it."""

    regret: NDArray[np.float64]  # [slots] r_I[a]
    average: NDArray[np.float64]  # [slots] s_I[a]
    updated: NDArray[np.int64]  # [slots] c_I, by the first slot of an infoset; lazy averaging only


class Policy(NamedTuple):
    """The choices that make a form of outcome sampling."""

    epsilon: float  # how much uniform play is mixed into the sampled strategies
    alternating: bool  # iteration t updates player t mod n, and only it explores
    lazy: bool  # optimistic averaging (t - c_I) as in the 2011 paper, or else stochastically weighted
    players: int


class Path(NamedTuple):
    """Room for the steps of one episode."""

    width: int  # the most actions of any infoset
    strategy: NDArray[np.float64]  # [depth * width] σ(I)
    slot: NDArray[np.int64]  # [depth] the first slot of the infoset
    actions: NDArray[np.int64]  # [depth] how many
    choice: NDArray[np.int64]  # [depth] the action taken
    player: NDArray[np.int64]  # [depth]
    own: NDArray[np.float64]  # [depth] π_i^σ(z[I])
    others: NDArray[np.float64]  # [depth] π_-i^σ(z[I])
    sampled: NDArray[np.float64]  # [depth] π^σ'(z[I])
    reach: NDArray[np.float64]  # [players] π_i^σ so far


@kernel
def run(game, tables, policy, rng, path, first, stride, count):  # type: ignore[no-untyped-def]
    """Play iterations ``first``, ``first + stride``, ... (``count`` of them); ``tables``, ``rng``, ``path`` change."""
    for step in range(count):
        iteration = first + step * stride
        learner = iteration % policy.players if policy.alternating else -1
        depth, node, signals, sampled = sample(game, tables, policy, rng, path, learner)
        update(game, tables, policy, path, learner, iteration, depth, node, signals, sampled)


@piece
def sample(game, tables, policy, rng, path, learner):  # type: ignore[no-untyped-def]
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
        explore = policy.epsilon if learner < 0 or learner == player else 0.0
        even = explore / actions
        left = uniform(rng)
        choice = 0
        likely = even + (1.0 - explore) * path.strategy[at]
        while left >= likely and choice < actions - 1:
            left -= likely
            choice += 1
            likely = even + (1.0 - explore) * path.strategy[at + choice]
        others = 1.0
        for other in range(policy.players):
            if other != player:
                others *= path.reach[other]
        path.slot[depth], path.actions[depth], path.player[depth], path.choice[depth] = slot, actions, player, choice
        path.own[depth], path.others[depth], path.sampled[depth] = path.reach[player], others, sampled
        path.reach[player] *= path.strategy[at + choice]
        sampled *= likely
        depth += 1
        node = advance(game, node, choice, signals, rng)
    return depth, node, signals, sampled


@piece
def update(game, tables, policy, path, learner, iteration, depth, node, signals, sampled):  # type: ignore[no-untyped-def]
    """UPDATE: regrets and averages at every infoset of the history, from its end to its beginning."""
    tail = 1.0  # π^σ(z[I]a, z)
    for step in range(depth - 1, -1, -1):
        player, slot, choice, at = path.player[step], path.slot[step], path.choice[step], step * path.width
        here = tail * path.strategy[at + choice]  # π^σ(z[I], z)
        if learner < 0 or learner == player:
            weight = payoff(game, node, signals, player) * path.others[step] / sampled  # w_I
            if policy.lazy:
                share = path.own[step] * (iteration - tables.updated[slot])
                tables.updated[slot] = iteration
            else:
                share = path.own[step] / path.sampled[step]
            for action in range(path.actions[step]):
                tables.regret[slot + action] -= weight * here
                tables.average[slot + action] += share * path.strategy[at + action]
            tables.regret[slot + choice] += weight * tail
        tail = here
