"""Self-play UCT and Smooth UCT for games of hidden information.

Heinrich & Silver 2015, algorithms 1 and 2: every player grows a tree over its own information states. An episode walks
down each player's tree by SELECT, adds the first new information state of each player, plays on by a rollout policy
beyond it, and updates all it passed with the player's own payoff. UCT and Smooth UCT differ in the schedule alone.
Ponsen et al. 2011 (section 3.2.1, step 4) update every information state of the episode: ``Selection.whole``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.dispatch import by_type
from fogplay.jit import kernel, piece, record
from fogplay.kernels.updates import Plain, add
from fogplay.simulators.policies import calling_action, explore
from fogplay.simulators.questions import (
    advance,
    deal,
    is_terminal,
    num_actions,
    payoff,
    player_of,
    slot_of,
    slot_to_read,
    start,
)
from fogplay.simulators.streams import below, uniform

# What is known of an action, side by side in memory: N(u, a), and the sum of the payoffs seen after it.
CELL = record([("visits", np.int64), ("total", np.float64)])

# The same in 12 bytes, where tables of the other would not fit: good for 4.29 billion visits of one action.
SMALL_CELL = record([("visits", np.uint32), ("total", np.float64)], packed=True)


class Tables(NamedTuple):
    """Q(u, a) is total / visits; N(u) is the sum of N(u, a)."""

    cell: NDArray[Any]  # [slots] CELL or SMALL_CELL
    writing: Any = Plain()  # how workers write to them; a driver may ask for another


class Selection(NamedTuple):
    """How actions are chosen: in the tree by a schedule and UCB, beyond it by a rollout."""

    schedule: Any  # one of the schedules below
    rollout: Any  # one of the rollouts below
    exploration: Any  # one of those in simulators/policies.py
    whole: bool = False  # add every information state on the way, as in 2011, not just the first new one per player


# One step of an episode: the slot of the action taken, and by whom.
STEP = record([("slot", np.int64), ("player", np.int64)])


class Path(NamedTuple):
    """Scratch for one episode."""

    step: NDArray[Any]  # [depth] STEP
    won: NDArray[np.float64]  # [players] the payoffs

    @staticmethod
    def of(depth: int, players: int) -> Path:
        """For episodes of at most ``depth`` actions."""
        return Path(np.zeros(depth + 1, STEP), np.zeros(players))


@kernel
def run(game, tables, selection, rng, path, first, stride, count):
    """Play ``count`` episodes, whatever their numbers; ``tables``, ``rng`` and ``path`` change."""
    for _ in range(count):
        episode(game, tables, selection, rng, path)


@piece
def episode(game, tables, selection, rng, path):
    """SIMULATE of algorithm 1, from the deal to the updates."""
    signals = deal(game, rng)
    node = start(game, signals, rng)
    out_of_tree = np.uint64(0)  # one bit per player
    depth = 0
    while not is_terminal(game, node):
        player = player_of(game, node)
        mine = np.uint64(1) << np.uint64(player)
        slot = slot_to_read(game, node, signals) if out_of_tree & mine else slot_of(game, node, signals)
        actions = num_actions(game, node)
        visits = 0
        for action in range(actions):
            visits += tables.cell[slot + action].visits
        if out_of_tree & mine:
            choice = roll(selection.rollout, selection, tables, node, player, slot, actions, visits, rng)
        else:
            if visits == 0:  # not in the tree yet: expand
                choice = roll(selection.rollout, selection, tables, node, player, slot, actions, visits, rng)
                if not selection.whole:
                    out_of_tree |= mine
            else:
                choice = select(selection, tables, node, player, slot, actions, visits, rng)
            path.step[depth].slot, path.step[depth].player = slot + choice, player
            depth += 1
        node = advance(game, node, choice, signals, rng)
    for player in range(len(path.won)):
        path.won[player] = payoff(game, node, signals, player)
    for number in range(depth):
        step = path.step[number]
        add(tables.writing, tables.cell["visits"], step.slot, 1)
        add(tables.writing, tables.cell["total"], step.slot, path.won[step.player])


@piece
def select(selection, tables, node, player, slot, actions, visits, rng):
    """SELECT of algorithm 2: UCB with probability η, else the average strategy."""
    share = eta(selection.schedule, tables, slot, actions, visits)
    if share >= 1.0 or uniform(rng) < share:
        c = explore(selection.exploration, node, player, slot)
        return upper_confidence(tables, c, slot, actions, visits, rng)
    return draw_average(tables, slot, actions, visits, rng)


@piece
def upper_confidence(tables, c, slot, actions, visits, rng):
    """Equation 1: the largest Q + c sqrt(log N(u) / N(u, a)); untried actions first, ties broken evenly."""
    log_visits = math.log(visits)
    best, ties, choice = -math.inf, 0, 0
    for action in range(actions):
        tried = tables.cell[slot + action].visits
        score = math.inf
        if tried > 0:
            once = 1.0 / tried
            score = tables.cell[slot + action].total * once + c * math.sqrt(log_visits * once)
        if score > best:
            best, ties, choice = score, 1, action
        elif score == best:
            ties += 1
            if below(rng, ties) == 0:
                choice = action
    return choice


@piece
def draw_average(tables, slot, actions, visits, rng):
    """An action with probability N(u, a) / N(u)."""
    left = below(rng, visits)
    choice = 0
    for action in range(actions - 1):
        left -= tables.cell[slot + action].visits
        choice += left >= 0
    return choice


class Always(NamedTuple):
    """UCT: η = 1."""


class Decay(NamedTuple):
    """Equation 2 of 2015: η(N) = max(γ, η / (1 + d sqrt(N)))."""

    gamma: float
    eta: float
    d: float


class Confidence(NamedTuple):
    """Equation 3 of 2014: η = the largest probability of the average strategy."""

    threshold: int  # visits below which UCB is not mixed with the average


class SlowDecay(NamedTuple):
    """Equation 4 of 2014: η(N) = 0.9 · 10000 / (10000 + sqrt(N))."""


@by_type
def eta(schedule, tables, slot, actions, visits):
    """How much of UCB is mixed in at an information state visited ``visits`` times."""


@eta.register(Always)
def _always(schedule, tables, slot, actions, visits):
    return 1.0


@eta.register(Decay)
def _decay(schedule, tables, slot, actions, visits):
    return max(schedule.gamma, schedule.eta / (1.0 + schedule.d * math.sqrt(visits)))


@eta.register(Confidence)
def _confidence(schedule, tables, slot, actions, visits):
    if visits < schedule.threshold:
        return 1.0
    most = 0
    for action in range(actions):
        most = max(most, tables.cell[slot + action].visits)
    return most / visits


@eta.register(SlowDecay)
def _slow_decay(schedule, tables, slot, actions, visits):
    return 0.9 * 10000.0 / (10000.0 + math.sqrt(visits))


class Uniform(NamedTuple):
    """Rollouts that take every action with equal probability (2011, section 3.2.1, (1))."""


class CallDown(NamedTuple):
    """Rollouts in which everyone checks or calls to the end (2011, section 3.2.1, (2))."""

    calls: Any  # the game's own, asked by ``calling_action``


class OnPolicy(NamedTuple):
    """Rollouts by UCB on what is known so far (2011, section 3.2.1, (3)); even chances where nothing is."""


@by_type
def roll(rollout, selection, tables, node, player, slot, actions, visits, rng):
    """An action beyond the tree."""


@roll.register(Uniform)
def _uniform(rollout, selection, tables, node, player, slot, actions, visits, rng):
    return below(rng, actions)


@roll.register(CallDown)
def _call_down(rollout, selection, tables, node, player, slot, actions, visits, rng):
    call = calling_action(rollout.calls, node, slot)
    return call if call >= 0 else below(rng, actions)


@roll.register(OnPolicy)
def _on_policy(rollout, selection, tables, node, player, slot, actions, visits, rng):
    if visits == 0:
        return below(rng, actions)
    return upper_confidence(tables, explore(selection.exploration, node, player, slot), slot, actions, visits, rng)
