"""UCT and the tree of CFR for sheets that have no network: by the interpreter, in plain Python, one state at a time."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from fogplay.gdl.machine import Machine
from fogplay.gdl.sheet import RANDOM
from fogplay.kernels.stages import Stages

EXPLORATION = 40.0  # for goals from 0 to 100
PLAYS_PER_LEAF = 1000
MOST_NODES = 200_000
MOST_KEPT = 500_000  # states that UCT remembers
MOST_STEPS = 100_000


class Node:
    """A state that was met."""

    __slots__ = ("legal", "over", "total", "visits")

    def __init__(self, machine: Any, state: Any) -> None:
        self.over = machine.goals(state) if machine.is_terminal(state) else None
        self.legal = machine.legal(state) if self.over is None else ()
        if self.over is None and not all(self.legal):
            self.over, self.legal = machine.goals(state), ()
        self.visits = [[0] * len(options) for options in self.legal]  # [roles][moves]
        self.total = [[0.0] * len(options) for options in self.legal]


class Interpreted:
    """Searches that ask a machine about one state after the other."""

    def __init__(self, machine: Machine, seed: int) -> None:
        self.machine = machine
        self.rng = np.random.default_rng(seed)
        self.nodes: dict[Any, Node] = {}

    # ---- Random plays

    def once(self, state: Any, end: float) -> list[float]:
        """[roles] the goals of one random play, which is cut off at ``end``."""
        machine = self.machine
        for _ in range(MOST_STEPS):
            legal = machine.legal(state)
            if machine.is_terminal(state) or not all(legal) or time.monotonic() > end:
                break
            state = machine.next(state, [options[int(self.rng.integers(len(options)))] for options in legal])
        return [float(each) for each in machine.goals(state)]

    def many(self, state: Any, end: float) -> list[float]:
        """[roles] mean goals; plays stop once 25 more change the mean by less than 0.1."""
        sums, before = np.zeros(len(self.machine.roles)), np.full(len(self.machine.roles), np.inf)
        for plays in range(1, PLAYS_PER_LEAF + 1):
            sums += self.once(state, end)
            if time.monotonic() > end:
                break
            if plays % 25 == 0:
                if np.abs(sums / plays - before).max() < 0.1:
                    break
                before = sums / plays
        return list(sums / plays)

    # ---- UCT

    def visits(self, state: Any, role: int, end: float) -> tuple[list[int], int]:
        """How often UCT has tried each move of a role when the time is over, and its iterations."""
        if len(self.nodes) > MOST_KEPT:
            self.nodes.clear()
        iterations = 0
        while iterations == 0 or time.monotonic() < end:
            self._iterate(state, end)
            iterations += 1
        return self.nodes[state].visits[role], iterations

    def _iterate(self, state: Any, end: float) -> None:
        """One walk down to a new state, one random play, and the values on the way."""
        machine, path = self.machine, []
        for _ in range(MOST_STEPS):
            node = self.nodes.get(state)
            if node is None:
                node = self.nodes[state] = Node(machine, state)
                goals = [*map(float, node.over)] if node.over is not None else self.once(state, end)
                break
            if node.over is not None:
                goals = [*map(float, node.over)]
                break
            moves = [self._select(node, role) for role in range(len(node.legal))]
            path.append((node, moves))
            state = machine.next(state, [options[move] for options, move in zip(node.legal, moves, strict=True)])
        else:
            goals = [0.0] * len(machine.roles)
        for node, moves in path:
            for role, move in enumerate(moves):
                node.visits[role][move] += 1
                node.total[role][move] += goals[role]

    def _select(self, node: Node, role: int) -> int:
        """The move with the highest upper confidence bound; a move that was never tried comes first."""
        visits = node.visits[role]
        if len(visits) == 1:
            return 0
        if self.machine.roles[role] == RANDOM:
            return int(self.rng.integers(len(visits)))
        untried = [move for move, count in enumerate(visits) if count == 0]
        if untried:
            return untried[int(self.rng.integers(len(untried)))]
        log, total = math.log(sum(visits)), node.total[role]
        bounds = [
            value / count + EXPLORATION * math.sqrt(log / count) for value, count in zip(total, visits, strict=True)
        ]
        return max(range(len(bounds)), key=bounds.__getitem__)

    # ---- CFR

    def expand(self, root: Any, end: float) -> Stages:
        """States breadth first until the time is over; those at the edge are estimated by random plays."""
        machine = self.machine
        states, depth, place = [root], [0], {(0, root): 0}
        children: list[list[int]] = []
        nodes: list[Node] = []
        estimating = 0.0  # seconds per leaf
        at = 0
        while at < len(states):
            nodes.append(Node(machine, states[at]))
            waiting = len(states) - at
            late = at > 0 and (time.monotonic() + waiting * estimating > end or len(states) > MOST_NODES)
            own: list[int] = []
            if nodes[at].over is None and not late:
                for moves in joint_moves(nodes[at].legal):
                    key = depth[at] + 1, machine.next(states[at], moves)
                    if key not in place:
                        place[key] = len(states)
                        states.append(key[1])
                        depth.append(key[0])
                    own.append(place[key])
            children.append(own)
            if at == 0:
                began = time.monotonic()
                self.many(root, end)
                estimating = time.monotonic() - began
            at += 1
        value = np.zeros((len(states), len(machine.roles)))
        for number_, node in enumerate(nodes):
            if not children[number_]:
                value[number_] = node.over if node.over is not None else self.many(states[number_], end)
        return stages(nodes, children, value, np.array([role == RANDOM for role in machine.roles]))


def joint_moves(legal: Any) -> Any:
    """All joint moves, the last role's varying fastest."""
    found: list[tuple[Any, ...]] = [()]
    for options in legal:
        found = [(*before, move) for before in found for move in options]
    return found


def stages(nodes: list[Node], children: list[list[int]], value: Any, is_chance: Any) -> Stages:
    """Nodes as CFR's kernel reads them."""
    roles = value.shape[1]
    counts = [
        [len(options) if own else 0 for options in node.legal] or [0] * roles
        for node, own in zip(nodes, children, strict=True)
    ]
    sizes = np.array(counts, np.int64).reshape(len(nodes), roles)
    ends = np.cumsum(sizes.ravel()).reshape(len(nodes), roles)
    starts = np.concatenate([(ends - sizes), ends[:, -1:]], axis=1)
    slots = int(ends[-1, -1])
    return Stages(
        first_child=np.concatenate([[0], np.cumsum([len(own) for own in children])]).astype(np.int64),
        child=np.array([each for own in children for each in own], np.int32),
        first_slot=starts,
        regret=np.zeros(slots),
        chosen=np.zeros(slots),
        average=np.zeros(slots),
        worth=np.zeros(slots),
        reach=np.zeros(value.shape),
        value=value,
        is_chance=is_chance,
        picked=np.zeros(roles, np.int64),
    )
