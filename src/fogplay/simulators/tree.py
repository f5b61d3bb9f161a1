"""A flattened game as a simulator."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fogplay.games.game import CHANCE, TERMINAL
from fogplay.jit import kernel, piece, record
from fogplay.simulators import questions
from fogplay.simulators.interface import BATCH, Learned, Simulator
from fogplay.simulators.policies import BySlot, CallBySlot
from fogplay.simulators.rooted import RootedTree, chance_reach
from fogplay.simulators.streams import below, uniform
from fogplay.strategies.strategy import Situation
from fogplay.strategies.tabular import TabularStrategy, require_tabular
from fogplay.trees import FlatGame

# One record per node, so that a step of an episode reads one line of memory.
NODE = record(
    [
        ("first_child", np.int32),
        ("slot", np.int32),  # first slot at a decision, row of payoffs at a terminal, 1 at chance if it is uneven
        ("count", np.int32),  # of children
        ("player", np.int32),
    ]
)
ROOT = 0
EVEN = 1e-15  # chances that differ by less are taken as even


class TreeGame(NamedTuple):
    """The arrays that an episode on a tree reads. Chance is drawn by Walker's alias method."""

    nodes: NDArray[Any]  # [nodes] NODE
    payoffs: NDArray[np.float64]  # [terminals, players]
    keep: NDArray[np.float64]  # [nodes] chance keeps a child it drew with this probability ...
    instead: NDArray[np.int32]  # [nodes] ... and takes this one instead otherwise


def tree_game(flat: FlatGame) -> TreeGame:
    """A flattened game as kernels play it."""
    tree = flat.tree
    nodes = np.zeros(flat.num_nodes, NODE)
    nodes["first_child"], nodes["count"], nodes["player"] = tree.first_child, tree.num_children, tree.player
    nodes["slot"] = tree.row
    nodes["slot"][tree.player >= 0] = tree.infoset_start[tree.row[tree.player >= 0]]
    keep, instead = np.ones(flat.num_nodes), np.arange(flat.num_nodes, dtype=np.int32)
    widest = int(tree.num_children.max(initial=1))
    _fill_alias(tree, nodes, keep, instead, np.zeros(widest, np.int32), np.zeros(widest))
    return TreeGame(nodes, tree.payoffs, keep, instead)


class TreeSimulator(Simulator):
    """A flattened game."""

    flat: FlatGame

    def __init__(self, flat: FlatGame) -> None:
        self.flat = flat
        self.name, self.game, self.digest = flat.name, flat.game, flat.digest
        self.num_players, self.num_slots = flat.num_players, flat.num_slots
        self.widest, self.deepest, self.payoff_range = flat.widest, flat.deepest, flat.payoff_range
        self.decisions = int((flat.tree.player >= 0).sum())
        self.calibration = flat.calibration

    @functools.cached_property
    def _game(self) -> TreeGame:
        return tree_game(self.flat)

    def worker(self, batch: int = BATCH) -> TreeGame:
        return self._game

    @functools.cached_property
    def _worlds(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Decision nodes by infoset, where each infoset's begin, and how likely chance makes every node."""
        tree, reach = self.flat.tree, np.empty(self.flat.num_nodes)
        chance_reach(tree, reach)
        deciding = np.flatnonzero(tree.player >= 0)
        by_infoset = deciding[np.argsort(tree.row[deciding], kind="stable")]
        begin = np.searchsorted(tree.row[by_infoset], np.arange(self.flat.num_infosets + 1))
        return by_infoset, begin, reach

    def actions_per_infoset(self) -> int:
        return -(-self.num_slots // max(self.flat.num_infosets, 1))

    def rooted(self, view: Situation, rng: np.random.Generator, doubt: bool = False) -> RootedTree:
        nodes, begin, reach = self._worlds
        infoset = self.flat.infoset_number(view.infoset)
        worlds = nodes[begin[infoset] : begin[infoset + 1]]
        return RootedTree(self._game, worlds, np.cumsum(reach[worlds]))

    def exploration(self, k: float, cap: float) -> BySlot | None:
        if self.flat.outlook is None:
            return None
        pot, to_come = self.flat.outlook.T
        return BySlot(self._by_slot(np.minimum(cap, pot + k * to_come), 0.0))

    def calls(self) -> CallBySlot | None:
        return None if self.flat.calling is None else CallBySlot(self._by_slot(self.flat.calling, -1))

    def _by_slot(self, by_infoset: NDArray[Any], elsewhere: float) -> NDArray[Any]:
        """[slots] numbers ``[infosets]`` at the first slot of each."""
        table = np.full(self.num_slots, elsewhere, by_infoset.dtype)
        table[self.flat.tree.infoset_start[:-1]] = by_infoset
        return table

    def strategy(self, learned: Learned, method: str, greedy: bool, **about: Any) -> TabularStrategy:
        return TabularStrategy.learned(self.flat, learned, method, greedy, **about)

    def strategy_by_key(
        self,
        keys: NDArray[np.uint64],
        first: NDArray[np.int64],
        learned: Learned,
        method: str,
        greedy: bool,
        **about: Any,
    ) -> TabularStrategy:
        begin = keys.astype(np.int64) - 1
        starts = self.flat.tree.infoset_start
        counts = np.diff(starts)[np.searchsorted(starts, begin)]
        here, there = consecutive(begin, counts), consecutive(first, counts)
        numbered: dict[str, NDArray[Any]] = {}
        for name, table in learned.items():
            numbered[name] = np.zeros(self.num_slots, table.dtype)
            numbered[name][here] = table[there]
        return self.strategy(numbered, method, greedy, **about)

    def model(self, to: Any) -> NDArray[np.float64]:
        return require_tabular(to, self.name).on(self.flat)

    def joined(self, strategies: Sequence[Any], method: str, **about: Any) -> TabularStrategy:
        probabilities = self.flat.uniform()
        for seat, each in enumerate(strategies):
            own = self.flat.slots_of(seat)
            probabilities[own] = each.probabilities[own]
        return TabularStrategy.of(self.flat, probabilities, method, **about)


def consecutive(first: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.int64]:
    """The ranges of ``counts[i]`` numbers from ``first[i]``, concatenated: ``first[0], first[0] + 1, ...``."""
    counts = np.asarray(counts, np.int64)
    before = np.cumsum(counts) - counts
    return np.repeat(np.asarray(first, np.int64) - before, counts) + np.arange(counts.sum())


@kernel
def _fill_alias(tree, nodes, keep, instead, waiting, left):
    """Make the tables of every chance node and mark the uneven ones in ``nodes``; the last two are scratch."""
    for node in range(len(nodes)):
        if tree.player[node] != CHANCE:
            continue
        first, count = tree.first_child[node], tree.num_children[node]
        low = high = tree.probability[first]
        for child in range(first, first + count):
            low, high = min(low, tree.probability[child]), max(high, tree.probability[child])
        nodes[node].slot = high - low > EVEN
        if high - low > EVEN:
            alias(tree.probability, first, count, keep, instead, waiting, left)


@kernel
def alias(probability, first, count, keep, instead, waiting, left):
    """Walker's tables for ``probability[first ...]``: draw one evenly, keep it with ``keep``, else take ``instead``.

    ``waiting[count]`` and ``left[count]`` are scratch: what has less than its even share waits at the beginning of
    ``waiting``, what has more at its end.
    """
    poor, rich = 0, count
    for number in range(count):
        left[number] = probability[first + number] * count
        if left[number] < 1.0:
            waiting[poor] = number
            poor += 1
        else:
            rich -= 1
            waiting[rich] = number
    while poor > 0 and rich < count:
        poor -= 1
        lacking, giving = waiting[poor], waiting[rich]
        keep[first + lacking], instead[first + lacking] = left[lacking], first + giving
        left[giving] -= 1.0 - left[lacking]
        if left[giving] < 1.0:
            rich += 1
            waiting[poor] = giving
            poor += 1


@piece
def after_chance(game, node, rng):
    """Advance from ``node`` until it is not chance's turn."""
    while game.nodes[node].player == CHANCE:
        here = game.nodes[node]
        child = here.first_child + below(rng, here.count)
        if here.slot == 1 and uniform(rng) >= game.keep[child]:
            child = np.int64(game.instead[child])
        node = child
    return node


@questions.deal.register(TreeGame)
def _deal(game, rng):
    return 0


@questions.start.register(TreeGame)
def _start(game, signals, rng):
    return after_chance(game, np.int64(ROOT), rng)


@questions.is_terminal.register(TreeGame)
def _is_terminal(game, node):
    return game.nodes[node].player == TERMINAL


@questions.player_of.register(TreeGame)
def _player_of(game, node):
    return np.int64(game.nodes[node].player)


@questions.num_actions.register(TreeGame)
def _num_actions(game, node):
    return np.int64(game.nodes[node].count)


@questions.slot_to_read.register(TreeGame)
@questions.slot_of.register(TreeGame)
def _slot_of(game, node, signals):
    return np.int64(game.nodes[node].slot)


@questions.key_of.register(TreeGame)
def _key_of(game, node, signals):
    return np.uint64(game.nodes[node].slot + 1)


@questions.name_infoset.register(TreeGame)
def _name_infoset(game, node, signals):
    pass


@questions.advance.register(TreeGame)
def _advance(game, node, action, signals, rng):
    return after_chance(game, np.int64(game.nodes[node].first_child + action), rng)


@questions.payoff.register(TreeGame)
def _payoff(game, node, signals, player):
    return game.payoffs[game.nodes[node].slot, player]
