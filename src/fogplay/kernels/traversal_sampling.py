"""Monte Carlo CFR by partial traversals: external sampling and chance sampling.

Lanctot, Waugh, Zinkevich & Bowling 2009. An iteration is one traversal for one player, the players in turn. Chance
sampling draws chance alone and tries every action; external sampling draws the others' actions too and tries only the
player's own. The recursion of the paper is written with a stack of open infosets, which is several times faster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.jit import kernel, piece
from fogplay.kernels.regret import regret_matching
from fogplay.simulators import advance, deal, is_terminal, num_actions, payoff, player_of, slot_of, start
from fogplay.simulators.random import uniform


class Policy(NamedTuple):
    """Which form of sampling it is."""

    external: bool  # draw the other players' actions; or else chance's alone
    players: int


class Stack(NamedTuple):
    """The infosets whose actions are being tried, the innermost last."""

    width: int  # the most actions of any infoset
    strategy: NDArray[np.float64]  # [depth * width] σ(I)
    value: NDArray[np.float64]  # [depth * width] the sampled value of each action tried
    node: NDArray[np.int64]  # [depth]
    slot: NDArray[np.int64]  # [depth]
    actions: NDArray[np.int64]  # [depth]
    tried: NDArray[np.int64]  # [depth]
    player: NDArray[np.int64]  # [depth]
    own: NDArray[np.float64]  # [depth] the learner's reach
    others: NDArray[np.float64]  # [depth] the reach of all others whose actions are not drawn
    reach: NDArray[np.float64]  # [depth + 1, players] the reach of drawn opponents; used from three players on


@kernel
def run(game, tables, policy, rng, stack, first, stride, count):  # type: ignore[no-untyped-def]
    """Make traversals ``first``, ``first + stride``, ... (``count`` of them); ``tables``, ``rng``, ``stack`` change."""
    for step in range(count):
        traverse(game, tables, policy, rng, stack, (first + step * stride) % policy.players)


@piece
def traverse(game, tables, policy, rng, stack, learner):  # type: ignore[no-untyped-def]
    """Walk once through the drawn part of the game; update the learner's regrets and the average strategies."""
    signals = deal(game, rng)
    node = start(game, signals, rng)
    depth = 0
    own = others = 1.0
    stack.reach[0, :] = 1.0
    while True:
        value = 0.0
        over = is_terminal(game, node)
        if over:
            value = payoff(game, node, signals, learner)
        elif own == 0.0 and others == 0.0:  # nothing below would change
            over = True
        if not over:
            player = player_of(game, node)
            slot = slot_of(game, node, signals)
            actions = num_actions(game, node)
            at = depth * stack.width
            regret_matching(tables.regret, slot, actions, stack.strategy, at)
            if policy.external and player != learner:
                choice = draw(tables, policy, rng, stack, depth, slot, actions, player, learner)
                node = advance(game, node, choice, signals, rng)
            else:
                stack.node[depth], stack.slot[depth], stack.actions[depth] = node, slot, actions
                stack.player[depth], stack.tried[depth] = player, 0
                stack.own[depth], stack.others[depth] = own, others
                own, others = reach_below(stack, depth, learner)
                depth += 1
                if policy.players > 2:
                    stack.reach[depth, :] = stack.reach[depth - 1]
                node = advance(game, node, 0, signals, rng)
            continue
        # Hand the value to the innermost open infoset; close every infoset whose actions have all been tried.
        while depth > 0:
            top = depth - 1
            stack.value[top * stack.width + stack.tried[top]] = value
            stack.tried[top] += 1
            if stack.tried[top] < stack.actions[top]:
                break
            value = close(tables, policy, stack, top, learner)
            depth = top
        if depth == 0:
            return
        top = depth - 1
        own, others = reach_below(stack, top, learner)
        if policy.players > 2:
            stack.reach[depth, :] = stack.reach[top]
        node = advance(game, stack.node[top], stack.tried[top], signals, rng)


@piece
def reach_below(stack, top, learner):  # type: ignore[no-untyped-def]
    """The learner's and the others' reach after the action that is being tried at ``top``."""
    share = stack.strategy[top * stack.width + stack.tried[top]]
    if stack.player[top] == learner:
        return stack.own[top] * share, stack.others[top]
    return stack.own[top], stack.others[top] * share


@piece
def close(tables, policy, stack, top, learner):  # type: ignore[no-untyped-def]
    """The value of an infoset whose actions have all been tried; the learner's own is updated."""
    at, slot = top * stack.width, stack.slot[top]
    expected = 0.0
    for action in range(stack.actions[top]):
        expected += stack.strategy[at + action] * stack.value[at + action]
    if stack.player[top] == learner:
        others = stack.others[top]
        for action in range(stack.actions[top]):
            tables.regret[slot + action] += others * (stack.value[at + action] - expected)
        if not policy.external:
            for action in range(stack.actions[top]):
                tables.average[slot + action] += stack.own[top] * stack.strategy[at + action]
    return expected


@piece
def draw(tables, policy, rng, stack, depth, slot, actions, player, learner):  # type: ignore[no-untyped-def]
    """External sampling at another player's infoset: add its strategy to its average, and draw an action.

    The infoset is met in proportion to that player's own reach, as the average asks, and to the reach of further
    opponents, if any, which is divided out.
    """
    at = depth * stack.width
    weight = 1.0
    if policy.players > 2:
        for other in range(policy.players):
            if other not in (player, learner):
                weight /= stack.reach[depth, other]
    for action in range(actions):
        tables.average[slot + action] += weight * stack.strategy[at + action]
    left = uniform(rng)
    choice = 0
    while left >= stack.strategy[at + choice] and choice < actions - 1:
        left -= stack.strategy[at + choice]
        choice += 1
    if policy.players > 2:
        stack.reach[depth, player] *= stack.strategy[at + choice]
    return choice
