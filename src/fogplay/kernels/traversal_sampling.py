"""Monte Carlo CFR by partial traversals: external sampling and chance sampling.

Lanctot, Waugh, Zinkevich & Bowling 2009. An iteration is one traversal for one player, the players in turn. Chance
sampling draws chance alone and tries every action; external sampling draws the others' actions too and tries only the
player's own. The recursion of the paper is written with a stack of open infosets, which is several times faster.

Where moves are hidden, chance sampling meets an infoset of the learner several times in one traversal. Its regrets are
therefore kept apart until the traversal is over, so that the strategy stays the same all the while. External sampling
meets an infoset of the learner at most once, and updates it on the spot.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.dispatch import by_type
from fogplay.jit import kernel, piece, record
from fogplay.kernels.regret import regret_matching
from fogplay.kernels.updates import add
from fogplay.simulators.questions import advance, deal, is_terminal, num_actions, payoff, player_of, slot_of, start
from fogplay.simulators.streams import draw


class External(NamedTuple):
    """Draw chance and the other players' actions."""

    players: int


class LinearExternal(NamedTuple):
    """The same, with linear averaging: the strategy of iteration t counts t times, and visits are counted apart."""

    players: int


class ChanceAlone(NamedTuple):
    """Draw chance alone."""

    players: int


@by_type
def draws_others(policy):
    """Whether the other players' actions are drawn; settled while compiling."""


@draws_others.register(External)
@draws_others.register(LinearExternal)
def _draws(policy):
    return True


@draws_others.register(ChanceAlone)
def _tries(policy):
    return False


@by_type
def weight_of(policy, iteration):
    """How much the strategies of an iteration count in the average."""


@weight_of.register(External)
@weight_of.register(ChanceAlone)
def _even_weight(policy, iteration):
    return 1.0


@weight_of.register(LinearExternal)
def _linear_weight(policy, iteration):
    return float(iteration)


@by_type
def count_visit(policy, tables, slot):
    """Count in ``tables.updated`` that a strategy was added to the average, where the average itself does not say."""


@count_visit.register(External)
@count_visit.register(ChanceAlone)
def _leave_uncounted(policy, tables, slot):
    pass


@count_visit.register(LinearExternal)
def _count_visit(policy, tables, slot):
    add(tables.writing, tables.updated, slot, 1)


# An infoset whose actions are being tried.
FRAME = record(
    [
        ("node", np.int64),
        ("slot", np.int64),
        ("actions", np.int64),
        ("tried", np.int64),
        ("player", np.int64),
        ("own", np.float64),  # the learner's reach
        ("others", np.float64),  # the reach of all others whose actions are not drawn
    ]
)


TOUCHED = record([("slot", np.int64), ("actions", np.int64)])


class Stack(NamedTuple):
    """The infosets whose actions are being tried, the innermost last, and the regrets that are kept apart."""

    width: int  # the most actions of any infoset
    frame: NDArray[Any]  # [depth] FRAME
    strategy: NDArray[np.float64]  # [depth * width] σ(I)
    value: NDArray[np.float64]  # [depth * width] the sampled value of each action tried
    reach: NDArray[np.float64]  # [depth + 1, players] the reach of drawn opponents; used from three players on
    pending: NDArray[np.float64]  # [slots] regrets of this traversal; chance sampling only, and so are the next two
    touched: NDArray[Any]  # [decisions] TOUCHED
    noted: NDArray[np.int64]  # [1] how many are touched


@kernel
def run(game, tables, policy, rng, stack, first, stride, count):
    """Make traversals ``first``, ``first + stride``, ... (``count`` of them); ``tables``, ``rng``, ``stack`` change.

    Each of ``stride`` threads takes the players in turn.
    """
    for step in range(count):
        weight = weight_of(policy, first + step * stride)
        traverse(game, tables, policy, rng, stack, (first // stride + step) % policy.players, weight)


@piece
def traverse(game, tables, policy, rng, stack, learner, weight):
    """Walk once through the drawn part of the game; update the learner's regrets and the average strategies.

    ``weight`` is how much the strategies of this iteration count in the average.
    """
    signals = deal(game, rng)
    node = start(game, signals, rng)
    depth = 0
    own = others = 1.0
    note_reach(policy, stack, depth)
    while True:
        if not is_terminal(game, node) and (draws_others(policy) or own > 0.0 or others > 0.0):
            player = player_of(game, node)
            slot = slot_of(game, node, signals)
            actions = num_actions(game, node)
            regret_matching(tables.regret, slot, actions, stack.strategy, depth * stack.width)
            if draws_others(policy) and player != learner:
                choice = draw_action(tables, policy, rng, stack, depth, slot, actions, player, learner, weight)
                node = advance(game, node, choice, signals, rng)
                continue
            frame = stack.frame[depth]
            frame.node, frame.slot, frame.actions, frame.player = node, slot, actions, player
            frame.tried, frame.own, frame.others = 0, own, others
            depth += 1
        else:
            value = 0.0 if not is_terminal(game, node) else payoff(game, node, signals, learner)
            # Hand the value to the innermost open infoset; close all whose actions have now been tried.
            while depth > 0:
                frame = stack.frame[depth - 1]
                stack.value[(depth - 1) * stack.width + frame.tried] = value
                frame.tried += 1
                if frame.tried < frame.actions:
                    break
                depth -= 1
                value = close(tables, policy, stack, depth, learner, weight)
            if depth == 0:
                break
        # Try the next action of the innermost open infoset.
        frame = stack.frame[depth - 1]
        share = stack.strategy[(depth - 1) * stack.width + frame.tried]
        mine = frame.player == learner
        own = frame.own * share if mine else frame.own
        others = frame.others if mine else frame.others * share
        note_reach(policy, stack, depth)
        node = advance(game, frame.node, frame.tried, signals, rng)
    if not draws_others(policy):
        settle(tables, stack)


@piece
def close(tables, policy, stack, depth, learner, weight):
    """The value of an infoset whose actions have all been tried; the learner's own is updated."""
    frame, at = stack.frame[depth], depth * stack.width
    expected = 0.0
    for action in range(frame.actions):
        expected += stack.strategy[at + action] * stack.value[at + action]
    if frame.player == learner:
        if draws_others(policy):
            for action in range(frame.actions):
                add(tables.writing, tables.regret, frame.slot + action, stack.value[at + action] - expected)
                if policy.players == 1:  # nobody else comes by whose strategy would be added
                    share = weight * (frame.own * stack.strategy[at + action])
                    add(tables.writing, tables.average, frame.slot + action, share)
        else:
            for action in range(frame.actions):
                stack.pending[frame.slot + action] += frame.others * (stack.value[at + action] - expected)
                add(tables.writing, tables.average, frame.slot + action, frame.own * stack.strategy[at + action])
            note = stack.touched[stack.noted[0]]
            note.slot, note.actions = frame.slot, frame.actions
            stack.noted[0] += 1
    return expected


@piece
def settle(tables, stack):
    """Add the regrets that were kept apart."""
    for number in range(stack.noted[0]):
        note = stack.touched[number]
        for slot in range(note.slot, note.slot + note.actions):
            add(tables.writing, tables.regret, slot, stack.pending[slot])
            stack.pending[slot] = 0.0
    stack.noted[0] = 0


@piece
def draw_action(tables, policy, rng, stack, depth, slot, actions, player, learner, weight):
    """External sampling at another player's infoset: add its strategy to its average, and draw an action.

    The infoset is met in proportion to that player's own reach, as the average asks, and to the reach of further
    opponents, if any, which is divided out.
    """
    at = depth * stack.width
    count_visit(policy, tables, slot)
    if policy.players > 2:
        for other in range(policy.players):
            if other not in (player, learner):
                weight /= stack.reach[depth, other]
    for action in range(actions):
        add(tables.writing, tables.average, slot + action, weight * stack.strategy[at + action])
    choice = draw(stack.strategy, at, actions, rng)
    if policy.players > 2:
        stack.reach[depth, player] *= stack.strategy[at + choice]
    return choice


@piece
def note_reach(policy, stack, depth):
    """Start from the reach of drawn opponents as it was at the innermost open infoset."""
    if policy.players > 2:
        for player in range(policy.players):
            stack.reach[depth, player] = stack.reach[depth - 1, player] if depth > 0 else 1.0
