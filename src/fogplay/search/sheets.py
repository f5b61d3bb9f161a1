"""Players of rule sheets (Shafiei, Sturtevant & Schaeffer 2009, sections 2 and 5): UCT and CFR on a sheet's states.

UCT keeps values per role and move in every state that it has met, adds one state per iteration, and estimates it by a
random play. CFR expands the states within reach as far as the clock allows, estimates those at the edge by many random
plays, and iterates until the clock. Both need to know the state, so where a sheet has percepts, the search of
``searching.py`` plays instead.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from fogplay.checks import number, one_of, whole
from fogplay.errors import FogplayError, did_you_mean
from fogplay.games.gdl import GdlGame, GdlState
from fogplay.gdl import differences, lanes
from fogplay.gdl.networked import NetworkMachine
from fogplay.gdl.sheet import RANDOM
from fogplay.kernels import stages as kernels
from fogplay.kernels.stages import Stages
from fogplay.play import View
from fogplay.search.searching import SearchAgent
from fogplay.simulators.rules import RulesSimulator
from fogplay.strategies.strategy import drawn

AUTO = "auto"
ALGORITHMS = (AUTO, "uct", "cfr")
SECONDS = 1.0
MARGIN = 0.05  # seconds kept before a deadline
EXPLORATION = 40.0  # for goals from 0 to 100
PLAYS_PER_LEAF = 1000
EXPANDING = 0.4  # share of the time that CFR expands its tree
MOST_NODES = 200_000
MOST_KEPT = 500_000  # states that UCT remembers


class Playouts:
    """Random plays from a state, by whatever the machine has."""

    def __init__(self, game: GdlGame, seed: int) -> None:
        self.machine = game.machine
        self.rng = np.random.default_rng(seed)
        if isinstance(self.machine, NetworkMachine):
            circuit = self.machine.circuit
            self.position = differences.make_position(circuit, seed)
            self.rows = lanes.make_rows(circuit, seed, 16)
            differences.place(circuit, self.position, np.frombuffer(self.machine.initial(), np.uint8))

    def once(self, state: Any) -> list[float]:
        """[roles] the goals of one random play."""
        machine = self.machine
        if isinstance(machine, NetworkMachine):
            sums = np.zeros(len(machine.roles), np.int64)
            differences.play_on(machine.circuit, self.position, np.frombuffer(state, np.uint8), 1, sums)
            return [float(each) for each in sums]
        for _ in range(lanes.MOST_STEPS):
            legal = machine.legal(state)
            if machine.is_terminal(state) or not all(legal):
                break
            state = machine.next(state, [options[int(self.rng.integers(len(options)))] for options in legal])
        return [float(each) for each in machine.goals(state)]

    def many(self, state: Any) -> list[float]:
        """[roles] mean goals; without a network, plays stop once 25 more change the mean by less than 0.1."""
        if isinstance(self.machine, NetworkMachine):
            return [*lanes.simulate(self.machine.circuit, self.rows, state, PLAYS_PER_LEAF).means]
        sums, before = np.zeros(len(self.machine.roles)), np.full(len(self.machine.roles), np.inf)
        for plays in range(1, PLAYS_PER_LEAF + 1):
            sums += self.once(state)
            if plays % 25 == 0:
                if np.abs(sums / plays - before).max() < 0.1:
                    break
                before = sums / plays
        return list(sums / plays)


class Node:
    """A state that UCT has met."""

    __slots__ = ("legal", "over", "total", "visits")

    def __init__(self, machine: Any, state: Any) -> None:
        self.over = machine.goals(state) if machine.is_terminal(state) else None
        self.legal = machine.legal(state) if self.over is None else ()
        if self.over is None and not all(self.legal):
            self.over, self.legal = machine.goals(state), ()
        self.visits = [[0] * len(options) for options in self.legal]  # [roles][moves]
        self.total = [[0.0] * len(options) for options in self.legal]


class SheetPlayer:
    """An agent for rule sheets that thinks for some seconds, or until the view's deadline if that is earlier."""

    def __init__(self, game: GdlGame, algorithm: str = AUTO, seconds: float = SECONDS, seed: int = 0) -> None:
        if not isinstance(game, GdlGame):
            raise FogplayError(f"ggp: plays rule sheets only, such as rules.kif, not {game}; write search:uct:0.5s")
        self.game = game
        self.algorithm = one_of("algorithm", algorithm, ALGORITHMS)
        self.seconds = number("seconds", seconds, 1e-3, 86400.0)
        self.iterations = 0  # of the last decision
        self._hidden: SearchAgent | None = None
        if game.sheet.has_percepts:  # by its rules: a tree would take too long to build
            self._hidden = SearchAgent(RulesSimulator(game), "smooth-uct", seconds=self.seconds)
        self.reseed(whole("seed", seed, 0))
        self._compile()

    def _compile(self) -> None:
        """Compile what thinking needs, before any clock runs."""
        machine = self.game.machine
        node = Node(machine, machine.initial())
        kernels.iterate(
            _stages([node], [[]], np.zeros((1, len(machine.roles))), np.zeros(len(machine.roles), bool)), 1, 1
        )
        self.playouts.once(machine.initial())
        if isinstance(machine, NetworkMachine):
            lanes.simulate(machine.circuit, self.playouts.rows, machine.initial(), 1)
        if all(node.legal) and node.over is None:
            machine.percepts(machine.initial(), [options[0] for options in node.legal])

    def reseed(self, seed: int) -> None:
        """Begin anew, with other random numbers."""
        self.rng = np.random.default_rng(seed)
        self.playouts = Playouts(self.game, seed)
        self.nodes: dict[Any, Node] = {}
        if self._hidden is not None:
            self._hidden.reseed(seed)

    def act(self, view: View) -> int:
        return drawn(self.distribution(view), view.luck, view.legal)

    def distribution(self, view: View) -> list[float]:
        """The probability of each of ``view.legal``."""
        if len(view.legal) == 1:
            return [1.0]
        if self.playouts.machine is not self.game.machine:  # a match that left the network's states
            self.reseed(0)
        if self.game.sheet.has_percepts:
            assert self._hidden is not None
            return self._hidden.distribution(view)
        end = time.monotonic() + self.seconds
        if view.deadline is not None:
            end = min(end, view.deadline - MARGIN)
        state: GdlState = view.world(self.rng)
        role = self.game.players[view.seat]
        together = len(self.game.acting(state.legal)) > 1
        if self.algorithm == "cfr" or (self.algorithm == AUTO and together):
            return self._by_cfr(state.position, role, end)
        return self._by_uct(state.position, role, end)

    # ---- UCT

    def _by_uct(self, state: Any, role: int, end: float) -> list[float]:
        if len(self.nodes) > MOST_KEPT:
            self.nodes.clear()
        self.iterations = 0
        while self.iterations == 0 or time.monotonic() < end:
            self._iterate(state)
            self.iterations += 1
        visits = self.nodes[state].visits[role]
        best = max(range(len(visits)), key=visits.__getitem__)
        return [float(move == best) for move in range(len(visits))]

    def _iterate(self, state: Any) -> None:
        """One walk down to a new state, one random play, and the values on the way."""
        machine, path = self.game.machine, []
        for _ in range(lanes.MOST_STEPS):
            node = self.nodes.get(state)
            if node is None:
                node = self.nodes[state] = Node(machine, state)
                goals = [*map(float, node.over)] if node.over is not None else self.playouts.once(state)
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
        if self.game.machine.roles[role] == RANDOM:
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

    def _by_cfr(self, state: Any, role: int, end: float) -> list[float]:
        began = time.monotonic()
        made = self._expand(state, began + EXPANDING * (end - began))
        self.iterations, stretch = 0, 1
        while self.iterations == 0 or time.monotonic() < end:
            before = time.monotonic()
            kernels.iterate(made, self.iterations + 1, stretch)
            self.iterations += stretch
            took = time.monotonic() - before
            if took < 0.01:
                stretch *= 2
            elif before + 3 * took > end:
                stretch = max(1, stretch // 4)
        average = made.average[made.first_slot[0, role] : made.first_slot[0, role + 1]]
        return [float(each) for each in average / average.sum()]

    def _expand(self, root: Any, end: float) -> Stages:
        """States breadth first until the time is over; those at the edge are estimated by random plays."""
        machine = self.game.machine
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
                for moves in _joint(nodes[at].legal):
                    key = depth[at] + 1, machine.next(states[at], moves)
                    if key not in place:
                        place[key] = len(states)
                        states.append(key[1])
                        depth.append(key[0])
                    own.append(place[key])
            children.append(own)
            if at == 0:
                began = time.monotonic()
                self.playouts.many(root)
                estimating = time.monotonic() - began
            at += 1
        value = np.zeros((len(states), len(machine.roles)))
        for number_, node in enumerate(nodes):
            if not children[number_]:
                value[number_] = node.over if node.over is not None else self._estimate(states[number_], end)
        return _stages(nodes, children, value, np.array([role == RANDOM for role in machine.roles]))

    def _estimate(self, state: Any, end: float) -> list[float]:
        """A leaf's value: many plays, or a single one if the time for them is over."""
        return self.playouts.many(state) if time.monotonic() < end else self.playouts.once(state)

    def __str__(self) -> str:
        return f"ggp:{self.algorithm}:{self.seconds:g}s"


def _joint(legal: Any) -> Any:
    """All joint moves, the last role's varying fastest."""
    found: list[tuple[Any, ...]] = [()]
    for options in legal:
        found = [(*before, move) for before in found for move in options]
    return found


def _stages(nodes: list[Node], children: list[list[int]], value: Any, is_chance: Any) -> Stages:
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


def agent(settings: str, rules: Any) -> SheetPlayer:
    """The agent that ``ggp:[ALGORITHM[:SECONDS]]`` names, such as ``ggp:uct:0.5s``."""
    algorithm, _, budget = settings.partition(":")
    form = "write ggp:ALGORITHM:SECONDS, such as ggp:auto:1s"
    if algorithm and algorithm not in ALGORITHMS:
        raise FogplayError(
            f"no player of rule sheets is called {algorithm!r}; {did_you_mean(algorithm, ALGORITHMS)}{form}"
        )
    try:
        return SheetPlayer(rules, algorithm or AUTO, float(budget.removesuffix("s")) if budget else SECONDS)
    except FogplayError:
        raise
    except ValueError:
        raise FogplayError(f"{budget!r} is not a number of seconds; {form}") from None
