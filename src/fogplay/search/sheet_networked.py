"""Searches on a sheet's network, each until a moment: they run as compiled stretches of some milliseconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.gdl import differences, lanes
from fogplay.gdl.networked import NetworkMachine
from fogplay.kernels import stages as kernels
from fogplay.kernels.stages import Stages
from fogplay.kernels.uct import Always, Decay
from fogplay.search import sheet_cfr, sheet_uct
from fogplay.search.sheet_cfr import ESTIMATED, EXPANDED, FEWEST_PLAYS, NODES, PLAYS_PER_LEAF
from fogplay.simulators.streams import streams

EXPLORATION = 40.0  # for goals from 0 to 100
EVEN = 1e12  # so much exploration that all moves are tried alike
STRETCH = 0.005  # seconds between two looks at the clock
EXPANDING = 0.4  # share of the time in which CFR expands its tree
LEAVES = 100  # that a tree should have at least, with fewer plays each if need be
GROWING = 0.4  # share of the time for a tree in which it grows as far as it can
FORCED = 64  # steps within which the next state of a match is looked for in the kept tree
WIDTH, NARROW = 16, 8  # words of the rows that estimate leaves: 1,024 plays at once, or 512 in large networks
SCHEDULES: dict[str, Any] = {"uct": Always(), "smooth-uct": Decay(0.1, 0.9, 0.002), "flat": Always()}


def until(end: float, run: Callable[[int], None], wanted: int | None = None) -> int:
    """Call ``run(count)`` with counts that take some milliseconds until ``end``, at least once; returns their sum.

    If a sum is ``wanted``, go on until it is reached, whatever the clock says.
    """
    done, count = 0, 1
    while True:
        before = time.monotonic()
        run(count)
        done += count
        now = time.monotonic()
        if done == wanted or (wanted is None and now >= end):
            return done
        rate = count / max(now - before, 1e-6)
        if wanted is None:
            count = max(1, min(2 * count, int(rate * min(STRETCH, end - now))))
        else:
            count = min(max(1, min(2 * count, int(rate * STRETCH))), wanted - done)


class Networked:
    """Searches that keep what they learn between the decisions of a match."""

    def __init__(self, machine: NetworkMachine, hidden: bool, seed: int) -> None:
        self.machine = machine.twin()
        self.game = sheet_uct.played(machine, hidden)
        self.roles = len(machine.roles)
        self.position = differences.make_position(machine.circuit, seed)
        large = self.machine.network.num_nodes > lanes.LARGE
        self.rows = lanes.make_rows(machine.circuit, seed, NARROW if large else WIDTH)
        self.learned = sheet_uct.empty()
        self.scratch = sheet_uct.make_scratch(~self.game.is_chance)
        self.tree: sheet_cfr.Grown | None = None
        self.done = 0  # iterations of CFR
        self.leaf_seconds = 0.0  # per play
        differences.place(machine.circuit, self.position, np.frombuffer(machine.initial(), np.uint8))
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Forget what was learned, and begin with other random numbers; memory that was taken stays."""
        self.rng = streams(seed, 1)[0]
        self.rows.random[:] = np.random.default_rng(seed).integers(1, 2**63, self.rows.random.shape, np.uint64) | 1
        sheet_uct.forget(self.learned)
        if self.tree is not None:
            self.tree.counts[:] = 0
        self.done = 0

    # ---- UCT, Smooth UCT and flat Monte Carlo

    def no_keys(self) -> NDArray[np.uint64]:
        """What roles have seen where that does not matter."""
        return np.zeros((1, self.roles), np.uint64)

    def tries(
        self,
        algorithm: str,
        worlds: NDArray[np.uint8],
        keys: NDArray[np.uint64],
        role: int,
        end: float,
        simulations: int | None = None,
    ) -> tuple[Any, int]:
        """[moves] visits and totals of a role's moves in ``worlds``, and the simulations made.

        They go on until ``end``, or are so many as ``simulations`` says.
        """
        learned, scratch, c = self.learned, self.scratch, EXPLORATION
        if algorithm == "flat":
            learned, c = sheet_uct.empty(64, 1 << 16), EVEN
            scratch = sheet_uct.make_scratch(np.arange(self.roles) == role, 1)
        elif 4 * learned.used[0] > len(learned.key) or 2 * learned.used[1] > len(learned.tables.cell):
            sheet_uct.forget(learned)
        schedule = SCHEDULES[algorithm]

        def simulate(count: int) -> None:
            sheet_uct.simulate(self.game, self.position, learned, worlds, keys, schedule, c, self.rng, scratch, count)

        count = until(end, simulate, simulations)
        slot = sheet_uct.root_slot(self.game, self.position, learned, worlds[0], keys[0], role)
        moves = len(self.machine.legal(worlds[0].tobytes())[role])
        return learned.tables.cell[slot : slot + moves].copy(), count

    # ---- CFR

    def cfr(self, state: bytes, role: int, end: float) -> tuple[list[float], int]:
        """The average strategy of a role when the time is over, and the iterations made for it."""
        began = time.monotonic()
        stages = self.stages(state, began + EXPANDING * (end - began))
        first = self.done

        def iterate(count: int) -> None:
            kernels.iterate(stages, self.done + 1, count)
            self.done += count

        until(end, iterate)
        average = stages.average[stages.first_slot[0, role] : stages.first_slot[0, role + 1]]
        return (average / average.sum()).tolist(), self.done - first

    def covers(self, state: bytes, end: float) -> bool:
        """Whether the tree below a state, grown until ``end``, is the whole rest of the game."""
        tree = self._rooted(np.frombuffer(state, np.uint8))
        while sheet_cfr.expand(self.game, self.position, tree, 4) and time.monotonic() < end:
            pass
        return bool(tree.counts[EXPANDED] == tree.counts[NODES])

    def stages(self, state: bytes, end: float) -> Stages:
        """The tree below a state, grown until ``end`` and estimated at its edge.

        It grows for a while as far as it can. If that was not the whole game, it is cut back to the part whose edge can
        be estimated in time: a play costs much more than a state.
        """
        tree = self._rooted(np.frombuffer(state, np.uint8))
        if not self.leaf_seconds:
            self._measure(tree)
        now = time.monotonic()
        soon = now + GROWING * max(end - now, 0.0)
        while sheet_cfr.expand(self.game, self.position, tree, 4 if tree.counts[EXPANDED] else 1):
            if time.monotonic() > soon:
                break
        left = max(end - time.monotonic(), 0.0)
        plays = max(FEWEST_PLAYS, min(PLAYS_PER_LEAF, int(left / (LEAVES * self.leaf_seconds))))
        expanded = _with_edge(tree, left / (plays * self.leaf_seconds))
        if expanded < tree.counts[EXPANDED]:
            tree.counts[EXPANDED] = expanded
            sheet_cfr.keep_below(tree, 0)
        self._estimate(tree, plays, end)
        return sheet_cfr.stages_of(tree, self.game.is_chance)

    def _rooted(self, state: NDArray[np.uint8]) -> sheet_cfr.Grown:
        """The tree with a state as its root: what is below it in the kept tree, or a new one."""
        if self.tree is None:
            self.tree = sheet_cfr.make_tree(len(state), self.roles)
        root = sheet_cfr.node_of(self.game, self.position, self.tree, state, FORCED)
        if root < 0:
            sheet_cfr.plant(self.game, self.position, self.tree, state)
            self.done = 0
        elif root > 0:
            sheet_cfr.keep_below(self.tree, root)
        return self.tree

    def _measure(self, tree: sheet_cfr.Grown) -> None:
        """How long a random play from the root takes, among a thousand; the shortest of three times is undisturbed."""
        took = []
        for _ in range(3):
            before = time.monotonic()
            sheet_cfr.play_out(self.game, self.rows, tree, 0, PLAYS_PER_LEAF)
            took.append(time.monotonic() - before)
        self.leaf_seconds = min(took) / PLAYS_PER_LEAF

    def _estimate(self, tree: sheet_cfr.Grown, plays: int, end: float) -> None:
        """Estimate the nodes at the edge, with few plays once the time is over, and by the others' mean in the end."""
        began, first = time.monotonic(), int(max(tree.counts[EXPANDED], tree.counts[ESTIMATED]))
        longest = end + max(end - began, 0.02)
        while sheet_cfr.estimate(self.game, self.rows, tree, 4, plays):
            now = time.monotonic()
            if now > end:
                plays = FEWEST_PLAYS
            if now > longest:
                break
        done, nodes = int(tree.counts[ESTIMATED]), int(tree.counts[NODES])
        if done < nodes:
            mean = tree.value[first:done].mean(axis=0) if done > first else np.full(self.roles, 50.0)
            rest = np.arange(done, nodes)[~tree.over[done:nodes]]
            tree.value[rest] = mean


def _with_edge(tree: sheet_cfr.Grown, most: float) -> int:
    """How many nodes may be expanded, at least one, so that at most ``most`` at the edge have to be estimated."""
    nodes, expanded, children, _, estimated = tree.counts.tolist()
    if expanded < 1:
        return 0
    known = np.maximum.accumulate(tree.child[:children]) + 1 if children else np.zeros(0, np.int32)
    first = np.append(tree.first_child[1:expanded], children)  # by how many are expanded, from 1 on
    found = np.where(first > 0, known[np.maximum(first, 1) - 1], 1) if children else np.ones(expanded, np.int64)
    waits = ~tree.over[:nodes]
    waits[:estimated] = False
    before = np.concatenate([[0], np.cumsum(waits)])
    edge = before[np.maximum(found, np.arange(1, expanded + 1))] - before[np.arange(1, expanded + 1)]
    fits = np.flatnonzero(edge <= most)
    return int(fits[-1]) + 1 if len(fits) else 1
